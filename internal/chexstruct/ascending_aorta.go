package chexstruct

import (
	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// ascendingAorta labels the share of the ascending aorta beyond the line from the heart's
// right border to the trachea's end: none is normal, 0.1 up to 0.3 enlarged, the rest has
// no label.
//
// Source: [official code].
func (c *assessment) ascendingAorta(f *Finding) Reason {
	if c.missing(anatomy.AscendingAorta, anatomy.Heart, anatomy.Trachea, anatomy.TrachealBifurcation) {
		return ReasonMissingMask
	}
	p := c.tracheaPiece()
	if p.reason != "" {
		return p.reason
	}
	c.checkTrachea(f, p)
	side := c.inclusionPiece()
	if r := side.sideReason(); r != "" {
		return r
	}
	boxPass, _, reason := c.heartBox()
	if reason != "" {
		return reason
	}
	f.check(RuleHeartBox, boxPass && side.sideIn[right] && side.sideIn[left] && side.widthPass, None())

	aorta := c.mask(anatomy.AscendingAorta).Largest()
	box, _ := aorta.Box()
	l := c.aortaLine(p)
	c.judge(f, RuleAscendingHeight, rowAscHeight, float64(box.Height())/c.h())
	c.judge(f, RuleAscendingVerticalOffset, rowAscOffset, float64(box.Y0-l.trachea.Y)/c.h())
	ordered := c.holds(rowAscLineOrder, float64(l.dx()))
	f.check(RuleAscendingLineOrder, ordered, Int(l.dx()))
	f.measure("heart_point", PointValue(l.heart))
	f.measure("trachea_point", PointValue(l.trachea))
	vertical := c.number(rowAscVertical)
	if l.dx() < 0 {
		return "" // the rule failed; there is no ratio
	}
	f.Index = Number(l.beyond(aorta, vertical))
	return ""
}

// aortaLine runs from the heart's right border to the trachea's end.
type aortaLine struct{ heart, trachea geom.Point }

func (c *assessment) aortaLine(p *tracheaPart) aortaLine {
	heart := c.heartPart()
	box, _ := heart.Box()
	y, _, _ := heart.ColumnBounds(box.X0)
	x, _, _ := p.full.Span(p.end)
	return aortaLine{heart: geom.Point{X: box.X0, Y: y}, trachea: geom.Point{X: x, Y: p.end}}
}

func (l aortaLine) dx() int { return l.trachea.X - l.heart.X }
func (l aortaLine) dy() int { return l.trachea.Y - l.heart.Y }

// side returns (y-yh)*dx - dy*(x-xh): negative strictly above the line.
func (l aortaLine) side(x, y int) int { return (y-l.heart.Y)*l.dx() - l.dy()*(x-l.heart.X) }

// beyond returns the share of a mask that is not empty beyond the line; vertical is what
// a mask wholly beyond a vertical line gives. dx must not be negative.
func (l aortaLine) beyond(m mask.Mask, vertical float64) float64 {
	if l.dx() == 0 {
		return l.beyondVertical(m, vertical)
	}
	y0, y1, _ := m.RowBounds()
	anyAbove, n := false, 0
	for y := y0; y <= y1; y++ {
		for _, r := range m.Row(y) {
			x0, x1 := int(r.X0), int(r.X1)-1
			anyAbove = anyAbove || l.side(x0, y) < 0 || l.side(x1, y) < 0
			n += l.count(x0, x1, y)
		}
	}
	if !anyAbove {
		return 0
	}
	return float64(n) / float64(m.Area())
}

// count returns how many of columns x0..x1 on row y lie beyond the line: at or above it
// when it rises (dy <= 0), strictly below it when it falls.
func (l aortaLine) count(x0, x1, y int) int {
	k, dy := l.side(x0, y), l.dy()
	width := x1 - x0 + 1
	if dy <= 0 {
		// k + t*(-dy) <= 0 for t = x-x0
		if k > 0 {
			return 0
		}
		if dy == 0 {
			return width
		}
		return min(width, floorDiv(-k, -dy)+1)
	}
	// k - t*dy > 0
	if k <= 0 {
		return 0
	}
	return min(width, floorDiv(k-1, dy)+1)
}

// beyondVertical handles a vertical line: the share left of it where the mask meets it,
// else all or nothing.
//
// DEVIATION D10: the released program gives nothing for a mask wholly beyond the line; a
// switch (TestSwitches).
func (l aortaLine) beyondVertical(m mask.Mask, vertical float64) float64 {
	box, _ := m.Box()
	if _, _, ok := m.ColumnBounds(l.heart.X); ok {
		return float64(m.Columns(0, l.heart.X-1).Area()) / float64(m.Area())
	}
	if box.X1 < l.heart.X {
		return vertical
	}
	return 0
}
