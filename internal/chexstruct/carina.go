package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// gapRow is a row of the bifurcation with exactly one gap, columns x0..x1.
type gapRow struct{ y, x0, x1 int }

// singleGap returns the only gap of row y strictly between its first and last pixel.
func singleGap(m mask.Mask, y int) (g gapRow, ok bool) {
	row := m.Row(y)
	if len(row) != 2 {
		return gapRow{}, false
	}
	return gapRow{y: y, x0: int(row[0].X1), x1: int(row[1].X0) - 1}, true
}

// notch returns the first row of the longest run of consecutive rows with one gap each
// whose gaps touch; the lower run wins ties.
func notch(m mask.Mask) (first gapRow, ok bool) {
	y0, y1, _ := m.RowBounds()
	var start, last gapRow
	length, best := 0, 0
	for y := y0; y <= y1; y++ {
		g, single := singleGap(m, y)
		switch {
		case !single:
			length = 0
			continue
		case length > 0 && g.x0 <= last.x1+1 && last.x0 <= g.x1+1:
			length++
		default:
			start, length = g, 1
		}
		last = g
		if length >= best {
			best, first = length, start
		}
	}
	return first, best > 0
}

// carinaAngle labels the angle between the main bronchi at the carina, in whole degrees:
// normal from 40 to 80.
//
// DEVIATION D4: the released program looks for the carina on a simplified contour; row
// gaps give the same points and angles on clean forks. Gap ends are background pixels and
// the carina is a mask pixel, so on a small grid the angle reads low: measure at native
// size.
// Source: [paper] and [official code].
func (c *assessment) carinaAngle(f *Finding) Reason {
	if c.missing(anatomy.TrachealBifurcation) {
		return ReasonMissingMask
	}
	m := c.mask(anatomy.TrachealBifurcation).Largest()
	box, _ := m.Box()
	first, ok := notch(m)
	if !ok {
		return ReasonNoNotch
	}
	carina := geom.Point{X: (first.x0 + first.x1) / 2, Y: first.y - 1}
	if !m.At(carina.X, carina.Y) {
		return ReasonNoCarina
	}
	arms, reason := c.carinaArms(m, carina, box.Y1)
	if reason != "" {
		return reason
	}
	c.judgeCarina(f, m, box, carina, arms.angles)
	a, apex, b := arms.mean(0), carina, arms.mean(1)
	index, ok := geom.AngleAt(apex.Vec(), a.Vec(), b.Vec())
	if !ok {
		return ReasonZeroWidth
	}
	xt, _ := m.MiddleOfRow(box.Y0)
	f.measure("point_a", PointValue(a))
	f.measure("point_b", PointValue(apex))
	f.measure("point_c", PointValue(b))
	f.measure("x_top", Int(xt))
	f.measure("y_top", Int(box.Y0))
	f.measure("angles", numbers(arms.angles))
	f.Index, f.Rounded = Number(index), Number(RoundDecimal(index, 0))
	return ""
}

// carinaArms are the gap ends on the levels below the carina with the angle at each.
type carinaArms struct {
	ends   [2][]geom.Point // the patient's right first
	angles []float64
}

// mean returns the mean of one side's points, rounded half to even.
func (a carinaArms) mean(side int) geom.Point {
	var sx, sy int
	for _, p := range a.ends[side] {
		sx += p.X
		sy += p.Y
	}
	n := float64(len(a.ends[side]))
	return geom.Point{X: int(math.RoundToEven(float64(sx) / n)), Y: int(math.RoundToEven(float64(sy) / n))}
}

func (c *assessment) carinaArms(m mask.Mask, carina geom.Point, bottom int) (a carinaArms, reason Reason) {
	for _, p := range c.value(rowCarinaLevels).list {
		y := carina.Y + (bottom-carina.Y)*int(p)/100
		g, ok := singleGap(m, y)
		if !ok || g.x0 > carina.X || g.x1 < carina.X {
			return a, ReasonCarinaRows
		}
		l, r := geom.Point{X: g.x0, Y: y}, geom.Point{X: g.x1, Y: y}
		angle, ok := geom.AngleAt(carina.Vec(), l.Vec(), r.Vec())
		if !ok {
			return a, ReasonZeroWidth
		}
		a.ends[0], a.ends[1] = append(a.ends[0], l), append(a.ends[1], r)
		a.angles = append(a.angles, angle)
	}
	return a, ""
}

func (c *assessment) judgeCarina(f *Finding, m mask.Mask, box geom.Box, carina geom.Point, angles []float64) {
	xt, _ := m.MiddleOfRow(box.Y0)
	dy := float64(carina.Y - box.Y0)
	c.judge(f, RuleCarinaTopXDiff, rowCarinaTopX, math.Abs(float64(carina.X-xt))/c.w())
	c.judge(f, RuleCarinaTopYDiff, rowCarinaTopY, dy/c.h())
	c.judge(f, RuleCarinaMaskWidth, rowCarinaWidth, float64(box.Width())/c.w())
	c.judge(f, RuleCarinaMaskHeight, rowCarinaHeight, float64(box.Height())/c.h())
	c.judge(f, RuleCarinaPositionX, rowCarinaX, float64(carina.X-box.X0)/float64(box.Width()))
	c.judge(f, RuleCarinaPositionY, rowCarinaY, dy/float64(box.Height()))
	c.judge(f, RuleCarinaAngleStd, rowCarinaStd, popStd(angles))
}

func numbers(list []float64) Value {
	v := make([]Value, len(list))
	for i, x := range list {
		v[i] = Number(x)
	}
	return List(v...)
}
