package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// aorticKnob labels the width of the aortic knob over the trachea's, rounded to two
// decimals: enlarged from 2.5.
//
// Source: [paper] for the idea, [official code] for steps and figures.
func (c *assessment) aorticKnob(f *Finding) Reason {
	if c.missing(anatomy.Trachea, anatomy.TrachealBifurcation, anatomy.DescendingAorta, anatomy.AorticArch) {
		return ReasonMissingMask
	}
	p := c.tracheaPiece()
	if p.reason != "" {
		return p.reason
	}
	c.checkTrachea(f, p)
	d, reason := c.upperDescending(p.end)
	if reason != "" {
		return reason
	}
	f.mark("upper_descending", vec(d.box.X0, d.box.Y0), vec(d.box.X1, d.box.Y1))
	c.judge(f, RuleKnobDescHeight, rowKnobDescHeight, float64(d.box.Height())/c.h())
	arch, ok := c.mask(anatomy.AorticArch).Rows(0, d.box.Y1-1).Touching(d.box.X0, d.box.X1).Box()
	if !ok {
		return ReasonNoArchOverDesc
	}
	c.judge(f, RuleKnobXAlignment, rowKnobX, float64(arch.X1-d.outer)/c.w())
	c.judge(f, RuleKnobDescStartGap, rowKnobGap, float64(d.box.Y0-p.end)/c.h())
	from, ok := meanRightEdge(p.trimmed, arch.Y0, arch.Y1)
	if !ok {
		return ReasonNoTracheaAtArch
	}
	to := max(arch.X1, d.outer)
	width := float64(to) - from
	c.judge(f, RuleKnobWidth, rowKnobWidth, width)
	f.measure("knob_xmin", Number(from))
	f.measure("knob_xmax", Int(to))
	f.measure("knob_width", Number(width))
	f.measure("trachea_width", Int(p.median))
	f.measure("arch_xmax", Int(arch.X1))
	f.measure("desc_xmax", Int(d.outer))
	y := float64(arch.Y0+arch.Y1) / 2
	f.mark("knob_width", geom.Vec{X: from, Y: y}, geom.Vec{X: float64(to), Y: y})
	if p.median == 0 {
		return ReasonZeroWidth
	}
	f.rateAorta(width / float64(p.median))
	return ""
}

// rateAorta sets the index of a width over the trachea's width.
func (f *Finding) rateAorta(index float64) {
	f.Index, f.Rounded = Number(index), Number(RoundDecimal(index, 2))
}

// upperDescendingPart is the upper part of the descending aorta below the trachea's end.
type upperDescendingPart struct {
	box geom.Box
	// outer is the last column of the first row that reaches the first column.
	outer int
}

func (c *assessment) upperDescending(tracheaEnd int) (p upperDescendingPart, reason Reason) {
	aorta := c.mask(anatomy.DescendingAorta).Rows(tracheaEnd, c.in.Masks.GridH-1)
	y0, y1, ok := aorta.RowBounds()
	if !ok {
		return p, ReasonDescAboveTrachea
	}
	end := y0 + int(math.Floor(float64(c.number(rowKnobDescPart)*float64(y1-y0))))
	part := aorta.Rows(y0, end-1).Widest()
	if p.box, ok = part.Box(); !ok {
		return p, ReasonDescPartEmpty
	}
	y, _, _ := part.ColumnBounds(p.box.X0)
	_, p.outer, _ = part.Span(y)
	return p, ""
}

// meanRightEdge returns the mean of the last columns of rows y0..y1, rows without pixels
// left out; ok is false when all are.
func meanRightEdge(m mask.Mask, y0, y1 int) (x float64, ok bool) {
	sum, n := 0, 0
	for y := y0; y <= y1; y++ {
		if _, b, ok := m.Span(y); ok {
			sum += b
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return float64(sum) / float64(n), true
}
