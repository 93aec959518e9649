package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
)

// descendingRows is the number of rows measured: the first of each of five parts and the
// last of the fifth.
const descendingRows = 6

// descendingPart is the descending aorta above its overlap with the heart, on six rows.
type descendingPart struct {
	right, left [descendingRows]geom.Point // the left points face the patient's left lung
	height      int
	from, to    int // the measured rows, half open
}

// widths returns the six widths.
func (p *descendingPart) widths() []int {
	w := make([]int, descendingRows)
	for i := range w {
		w[i] = p.left[i].X - p.right[i].X
	}
	return w
}

// descendingPiece measures the part of the aorta that two tasks share.
//
// Source: [official code].
func (c *assessment) descendingPiece() (p descendingPart, reason Reason) {
	aorta := c.mask(anatomy.DescendingAorta)
	_, end, ok := aorta.And(c.mask(anatomy.Heart)).Tallest().RowBounds()
	if !ok {
		return p, ReasonNoHeartOverlap
	}
	d := aorta.Rows(0, end-1).Tallest()
	y0, y1, ok := d.RowBounds()
	if !ok {
		return p, ReasonDescEmpty
	}
	trim := int(math.Floor(float64(c.number(rowDescTrim) * float64(y1-y0))))
	from := y0 + trim
	n := y1 - trim - from
	p.height = n
	p.from, p.to = from, from+n
	if n < descendingRows-1 {
		return p, ReasonDescShort
	}
	y := from
	for i := range descendingRows {
		at := y
		if i == descendingRows-1 {
			at = y - 1
		} else {
			y += splitSize(n, descendingRows-1, i)
		}
		a, b, ok := d.Span(at)
		if !ok {
			return p, ReasonDescGap
		}
		p.right[i], p.left[i] = geom.Point{X: a, Y: at}, geom.Point{X: b, Y: at}
	}
	return p, ""
}

// judgeDescending records the two rules of both tasks.
//
// Source: [paper] for the rules, [official code] for the figures.
func (c *assessment) judgeDescending(f *Finding, p *descendingPart) {
	c.judge(f, RuleDescendingHeight, rowDescHeight, float64(p.height)/c.h())
	c.judge(f, RuleDescendingWidthStd, rowDescStd, popStdInts(p.widths())/c.w())
	f.mark("aorta_rows", vec(p.right[0].X, p.from), vec(p.right[0].X, p.to))
}

// descendingEnlargement labels the aorta's largest width over the trachea's, rounded to
// two decimals: enlarged from 2.5.
//
// Source: [official code].
func (c *assessment) descendingEnlargement(f *Finding) Reason {
	if c.missing(anatomy.DescendingAorta, anatomy.Heart, anatomy.Trachea, anatomy.TrachealBifurcation) {
		return ReasonMissingMask
	}
	p, reason := c.descendingPiece()
	if reason != "" {
		return reason
	}
	c.judgeDescending(f, &p)
	t := c.tracheaPiece()
	if t.reason != "" {
		return t.reason
	}
	c.checkTrachea(f, t)
	k := 0
	widths := p.widths()
	for i, w := range widths {
		if w > widths[k] {
			k = i
		}
	}
	// The point names follow the picture: point_right is the one at the image right,
	// towards the patient's left lung.
	f.measure("point_right", PointValue(p.left[k]))
	f.measure("point_left", PointValue(p.right[k]))
	f.measure("width", Int(widths[k]))
	f.measure("trachea_width", Int(t.median))
	if t.median == 0 {
		return ReasonZeroWidth
	}
	f.rateAorta(float64(widths[k]) / float64(t.median))
	return ""
}

// descendingTortuous labels the curvature of the aorta's edge towards the left lung, in
// 1/native pixel rounded to four decimals: tortuous from 0.0009.
//
// Source: [paper] for the formula, [official code] for points and figure.
func (c *assessment) descendingTortuous(f *Finding) Reason {
	if c.missing(anatomy.DescendingAorta, anatomy.Heart) {
		return ReasonMissingMask
	}
	p, reason := c.descendingPiece()
	if reason != "" {
		return reason
	}
	c.judgeDescending(f, &p)
	points := make([]Value, descendingRows)
	for i, q := range p.left {
		points[i] = PointValue(q)
	}
	smooth, truncated := curvature(p.left[:], false), curvature(p.left[:], true)
	s := c.scale()
	f.measure("points", List(points...))
	f.measure("curvature_work", Number(smooth))
	f.measure("curvature_int_trunc_work", Number(truncated))
	f.measure("curvature_native", Number(smooth/s))
	f.measure("curvature_int_trunc_native", Number(truncated/s))
	index := smooth / s
	if c.choice(rowDerivative) == choiceIntTrunc {
		index = truncated / s
	}
	f.Index, f.Rounded = Number(index), Number(RoundDecimal(index, 4))
	return ""
}
