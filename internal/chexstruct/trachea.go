package chexstruct

import (
	"math"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// tracheaPart is the trachea above its bifurcation, shared by four tasks.
type tracheaPart struct {
	reason    Reason
	full      mask.Mask     // the largest component above the bifurcation
	trimmed   mask.Mask     // full without its upper quarter
	top, end  int           // first and last row of trimmed
	median    int           // upper median of its row widths
	widthStd  float64       // in native pixels
	widestRow [2]geom.Point // ends of the first row of median width
}

// tracheaPiece prepares the trachea once.
func (c *assessment) tracheaPiece() *tracheaPart {
	if c.tracheaPart == nil {
		c.tracheaPart = c.prepareTrachea()
	}
	return c.tracheaPart
}

func (c *assessment) prepareTrachea() *tracheaPart {
	if c.missing(anatomy.Trachea, anatomy.TrachealBifurcation) {
		return &tracheaPart{reason: ReasonMissingMask}
	}
	fork, _, _ := c.mask(anatomy.TrachealBifurcation).RowBounds()
	full := c.mask(anatomy.Trachea).Rows(0, fork-1).Largest()
	ya, yb, ok := full.RowBounds()
	if !ok {
		return &tracheaPart{reason: ReasonTracheaEmpty}
	}
	cut := ya + int(math.Floor(float64(c.number(rowTracheaTrim)*float64(yb-ya))))
	p := &tracheaPart{full: full, trimmed: full.Rows(cut, yb), top: cut, end: yb}
	widths := make([]int, 0, yb-cut+1)
	for y := cut; y <= yb; y++ {
		a, b, _ := p.trimmed.Span(y)
		widths = append(widths, b-a)
	}
	sorted := slices.Sorted(slices.Values(widths))
	p.median = sorted[len(sorted)/2]
	row := slices.Index(widths, p.median)
	a, b, _ := p.trimmed.Span(cut + row)
	p.widestRow = [2]geom.Point{{X: a, Y: cut + row}, {X: b, Y: cut + row}}
	p.widthStd = float64(popStdInts(widths) * c.scale())
	return p
}

// checkTrachea records the three rules of the trachea.
//
// Source: [paper] rules Trachea 1 to 3, figures [official code].
func (c *assessment) checkTrachea(f *Finding, p *tracheaPart) {
	c.judge(f, RuleTracheaHeight, rowTracheaHeight, float64(p.end-p.top)/c.h())
	c.judge(f, RuleTracheaWidthMedian, rowTracheaWidth, float64(p.median)/c.w())
	c.judge(f, RuleTracheaWidthStd, rowTracheaStd, p.widthStd)
	f.mark("trachea_width", p.widestRow[0].Vec(), p.widestRow[1].Vec())
}

// popStd returns the population standard deviation (divided by n); 0 for an empty list.
func popStd(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	n := float64(len(v))
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	mean := sum / n
	sq := 0.0
	for _, x := range v {
		sq += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(sq / n)
}

func popStdInts(v []int) float64 {
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = float64(x)
	}
	return popStd(f)
}
