package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// bounded is a landmark with its distance to the content border as a share of the
// content's extent, or the reason why there is none.
type bounded struct {
	reason Reason
	at     geom.Point
	ratio  float64
	border border
}

// ends returns the two ends of the content line through the landmark, along x or along y.
func (b bounded) ends(alongX bool) []geom.Vec {
	if alongX {
		return []geom.Vec{vec(b.border.first, b.at.Y), vec(b.border.last, b.at.Y)}
	}
	return []geom.Vec{vec(b.at.X, b.border.first), vec(b.at.X, b.border.last)}
}

// inclusionPart is the inclusion task's result; three other tasks take it as an input and
// build on its sides.
type inclusionPart struct {
	finding Finding
	outcome Reason // why the task is not evaluable

	reason     Reason // an input is missing
	apex, side [2]bounded
	base       [2]bounded
	domeGap    [2]int // rows of lung below the base point

	inner     [2]int // the column of the side component that faces the heart
	sideIn    [2]bool
	sideWidth float64
	widthPass bool
}

// sideReason tells why other tasks cannot use the side results.
func (p *inclusionPart) sideReason() Reason {
	return firstReason(p.reason, p.side[right].reason, p.side[left].reason)
}

func firstReason(list ...Reason) Reason {
	for _, r := range list {
		if r != "" {
			return r
		}
	}
	return ""
}

var diaphragmOf = [2]anatomy.Structure{right: anatomy.RightHemidiaphragm, left: anatomy.LeftHemidiaphragm}

// inclusionPiece computes the inclusion task once.
func (c *assessment) inclusionPiece() *inclusionPart {
	if c.inclusionPart == nil {
		p := c.measureLungs()
		c.inclusionPart = p
		p.finding.Task = Inclusion
		p.outcome = c.concludeInclusion(&p.finding, p)
	}
	return c.inclusionPart
}

// measureLungs finds the landmarks of both lungs.
func (c *assessment) measureLungs() *inclusionPart {
	p := &inclusionPart{}
	switch {
	case c.missing(lungOf[right], lungOf[left], diaphragmOf[right], diaphragmOf[left]):
		p.reason = ReasonMissingMask
		return p
	case c.in.Facts == nil:
		p.reason = ReasonMissingImage
		return p
	}
	nonZero := c.in.Facts.NonZero
	for side := range 2 {
		lung, diaphragm := c.mask(lungOf[side]), c.mask(diaphragmOf[side])
		p.apex[side] = apexPoint(lung.And(nonZero).Largest(), nonZero)
		free := lung.AndNot(diaphragm).And(nonZero).Largest()
		p.side[side] = sidePoint(free, nonZero, side)
		if b, ok := free.Box(); ok {
			p.inner[side] = [2]int{right: b.X1, left: b.X0}[side]
		}
		p.base[side], p.domeGap[side] = basePoint(lung, diaphragm, nonZero, side)
	}
	if p.sideReason() == "" {
		c.judgeSides(p)
	}
	return p
}

// apexPoint takes the middle pixel of the top row.
func apexPoint(lung, nonZero mask.Mask) bounded {
	y, _, ok := lung.RowBounds()
	if !ok {
		return bounded{reason: ReasonApexEmpty}
	}
	x, _ := lung.MiddleOfRow(y)
	b := bounded{at: geom.Point{X: x, Y: y}, border: rowBorder(nonZero, x, y)}
	if b.border.total() == 0 {
		b.reason = ReasonNoContent
		return b
	}
	b.ratio = b.border.low(y)
	return b
}

// sidePoint takes the middle pixel of the most lateral column.
func sidePoint(lung, nonZero mask.Mask, side int) bounded {
	box, ok := lung.Box()
	if !ok {
		return bounded{reason: ReasonSideEmpty}
	}
	x := [2]int{right: box.X0, left: box.X1}[side]
	y, _ := lung.MiddleOfColumn(x)
	b := bounded{at: geom.Point{X: x, Y: y}, border: columnBorder(nonZero, y, x)}
	if b.border.total() == 0 {
		b.reason = ReasonNoContent
		return b
	}
	if side == right {
		b.ratio = b.border.low(x)
	} else {
		b.ratio = b.border.high(x)
	}
	return b
}

// basePoint takes the lowest pixel of the medial third of the lung above its diaphragm,
// and counts the rows of the same piece of lung below it.
func basePoint(lung, diaphragm, nonZero mask.Mask, side int) (b bounded, gap int) {
	d, _ := diaphragm.Box()
	columns := lung.Columns(d.X0, d.X1)
	above := columns.AndNot(diaphragm).And(nonZero).Largest()
	box, ok := above.Box()
	if !ok {
		return bounded{reason: ReasonBaseEmpty}, 0
	}
	if side == right {
		above = above.Columns((2*box.X1+box.X0)/3, box.X1)
	} else {
		above = above.Columns(box.X0, (box.X1+2*box.X0)/3)
	}
	_, y, ok := above.RowBounds()
	if !ok {
		return bounded{reason: ReasonBaseEmpty}, 0
	}
	first, last, _ := above.Span(y)
	x := [2]int{right: last, left: first}[side]
	b = bounded{at: geom.Point{X: x, Y: y}, border: rowBorder(nonZero, x, y)}
	if b.border.total() == 0 {
		b.reason = ReasonNoContent
		return b, 0
	}
	b.ratio = b.border.high(y)

	parts := columns.Components()
	k, _ := parts.At(x, y)
	_, lowest, _ := parts.Mask(k).ColumnBounds(x)
	return b, lowest - y
}

// judgeSides decides which sides are included and compares the two widths.
func (c *assessment) judgeSides(p *inclusionPart) {
	for side := range 2 {
		p.sideIn[side] = c.holds(rowSideMin, p.side[side].ratio)
	}
	wR := p.inner[right] - p.side[right].at.X
	wL := p.side[left].at.X - p.inner[left]
	both := ratioOf(min(wR, wL), max(wR, wL))
	for _, r := range []struct {
		in    [2]bool
		ratio float64
		limit row
	}{
		{[2]bool{true, true}, both, rowWidthBothIn},
		{[2]bool{false, false}, both, rowWidthBothOut},
		{[2]bool{true, false}, ratioOf(wR, wL), rowWidthRightIn},
		{[2]bool{false, true}, ratioOf(wL, wR), rowWidthLeftIn},
	} {
		pass := c.holds(r.limit, r.ratio)
		if p.sideIn == r.in {
			p.sideWidth, p.widthPass = r.ratio, pass
		}
	}
}

// ratioOf divides two widths; a width of 0 or less counts as ratio 0.
func ratioOf(a, b int) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// inclusion tells whether both lungs lie in the picture: apices, sides and bases.
//
// Source: [paper Appendix A, B] for the parts, [official code] for the figures.
func (c *assessment) inclusion(f *Finding) Reason {
	p := c.inclusionPiece()
	*f = p.finding
	return p.outcome
}

// concludeInclusion applies the rules and sets the label.
func (c *assessment) concludeInclusion(f *Finding, p *inclusionPart) Reason {
	if p.reason != "" {
		return p.reason
	}
	h := c.h()
	if firstReason(p.apex[right].reason, p.apex[left].reason) == "" {
		c.judge(f, RuleApexYDiff, rowApexYDiff, math.Abs(float64(p.apex[right].at.Y-p.apex[left].at.Y))/h)
		mean := (p.apex[right].ratio + p.apex[left].ratio) / 2
		f.check(RuleApexPosition, mean >= 0 && c.holds(rowApexPosition, mean), Number(mean))
	}
	if firstReason(p.base[right].reason, p.base[left].reason) == "" {
		c.judge(f, RuleBottomYDiff, rowBottomYDiff, math.Abs(float64(p.base[right].at.Y-p.base[left].at.Y))/h)
		mean := (p.base[right].ratio + p.base[left].ratio) / 2
		f.check(RuleBottomPosition, mean >= 0 && c.holds(rowBottomPosition, mean), Number(mean))
		gapR, gapL := float64(p.domeGap[right])/h, float64(p.domeGap[left])/h
		passR := gapR >= 0 && c.holds(rowBottomDomeGap, gapR)
		passL := gapL >= 0 && c.holds(rowBottomDomeGap, gapL)
		f.check(RuleBottomDomeGap, passR && passL, Pair(gapR, gapL))
	}
	if p.sideReason() == "" {
		f.check(RuleSideWidth, p.widthPass, Number(p.sideWidth))
	}
	c.measureInclusion(f, p)
	reason := firstReason(p.apex[right].reason, p.apex[left].reason, p.side[right].reason, p.side[left].reason,
		p.base[right].reason, p.base[left].reason)
	if reason == "" {
		c.labelInclusion(f, p)
	}
	return reason
}

// measureInclusion records the landmarks that exist, and the costophrenic points, which
// serve for display only.
func (c *assessment) measureInclusion(f *Finding, p *inclusionPart) {
	sides := [2]string{right: "_right", left: "_left"}
	for _, part := range []struct {
		name string
		side *[2]bounded
	}{{"apex", &p.apex}, {"side", &p.side}, {"bottom", &p.base}} {
		for k, b := range part.side {
			if b.reason == "" {
				f.measure(part.name+"_ratio"+sides[k], Number(b.ratio))
				f.measure(part.name+"_point"+sides[k], PointValue(b.at))
				f.mark(part.name+"_border"+sides[k], b.ends(part.name == "side")...)
			}
		}
	}
	if p.sideReason() == "" {
		f.measure("inner_right", Int(p.inner[right]))
		f.measure("inner_left", Int(p.inner[left]))
	}
	offset := c.number(rowCPAOffset)
	for k, b := range p.base {
		if b.reason == "" && p.side[k].reason == "" {
			y := float64(b.border.last) - float64((b.ratio-offset)*float64(b.border.total()))
			f.measure("cpa_point"+sides[k], List(Int(p.side[k].at.X), Number(y)))
		}
	}
}

// labelInclusion sets the six flags that the label follows from.
func (c *assessment) labelInclusion(f *Finding, p *inclusionPart) {
	parts := &Parts{}
	for k := range 2 {
		parts.Apex[k] = flagOf(c.holds(rowApexMin, p.apex[k].ratio))
		parts.Side[k] = flagOf(p.sideIn[k])
		in, out := c.holds(rowBottomMin, p.base[k].ratio), c.holds(rowBottomExcluded, p.base[k].ratio)
		parts.Bottom[k] = flagOf(in)
		if !in && !out {
			parts.Bottom[k] = FlagMixed
		}
	}
	f.Parts = parts
}

func flagOf(in bool) Flag {
	if in {
		return FlagIncluded
	}
	return FlagExcluded
}
