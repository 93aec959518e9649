package chexstruct

import (
	"math"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

var clavicleOf = [2]anatomy.Structure{right: anatomy.RightClavicle, left: anatomy.LeftClavicle}

// rotation labels how evenly the medial clavicle ends lie beside the spine: the shorter
// over the longer distance, rounded to two decimals, is at least 0.40 unless rotated.
//
// Source: [paper] for the idea and the rules, [official code] for the figures.
func (c *assessment) rotation(f *Finding) Reason {
	if c.missing(clavicleOf[right], clavicleOf[left], lungOf[right], lungOf[left]) {
		return ReasonMissingMask
	}
	var end [2]geom.Point
	var q [2]float64
	for side := range 2 {
		clavicle := c.mask(clavicleOf[side])
		band, ok := clavicleBand(clavicle)
		if !ok {
			return ReasonClavicleVertical
		}
		end[side] = band.medial(clavicle, side)
		f.mark([2]string{right: "clavicle_band_right", left: "clavicle_band_left"}[side],
			band.at(0, band.lo), band.at(1, band.lo), band.at(0, band.hi), band.at(1, band.hi))
	}
	for side := range 2 {
		outer, inner := widestRow(c.lung(side), side)
		if outer == inner {
			return ReasonZeroWidth
		}
		q[side] = float64(end[side].X-outer) / float64(inner-outer)
	}
	c.judgeClavicles(f, end, q)
	f.measure("medial_end_right", PointValue(end[right]))
	f.measure("medial_end_left", PointValue(end[left]))
	return c.rotationRatio(f, end)
}

func (c *assessment) judgeClavicles(f *Finding, end [2]geom.Point, q [2]float64) {
	okR, okL := c.holds(rowClavicleX, q[right]), c.holds(rowClavicleX, q[left])
	f.check(RuleClavicleX, okR && okL, Pair(q[right], q[left]))
	c.judge(f, RuleClavicleGap, rowClavicleGap, float64(end[left].X-end[right].X)/c.w())
	c.judge(f, RuleClavicleYDiff, rowClavicleYDiff, math.Abs(float64(end[right].Y-end[left].Y))/c.h())
	c.judge(f, RuleClavicleYPosition, rowClavicleY, float64(end[right].Y+end[left].Y)/2/c.h())
}

// rotationRatio measures both ends against the line through the vertebrae near them.
func (c *assessment) rotationRatio(f *Finding, end [2]geom.Point) Reason {
	pts := c.vertebraPoints()
	f.markVertebrae(pts[:])
	c.value(rowMidlineOrder)
	ordered := slices.IsSortedFunc(pts[:], func(a, b geom.Vec) int {
		if a.Y < b.Y {
			return -1
		} else if a.Y > b.Y {
			return 1
		}
		return 0
	})
	f.check(RuleMidlineOrder, ordered, None())
	if !ordered {
		return "" // a failed rule; nothing further is measured
	}
	first, last := vertebraRange(pts, min(end[right].Y, end[left].Y), max(end[right].Y, end[left].Y))
	used := pts[first : last+1]
	if slices.ContainsFunc(used, func(p geom.Vec) bool { return math.IsInf(p.Y, 1) }) {
		return ReasonMissingVertebra
	}
	line, reason := c.fitMidline(used)
	if reason != "" {
		return reason
	}
	c.judge(f, RuleMidlineResidual, rowMidlineResidual, line.residual)
	c.judge(f, RuleMidlineXStd, rowMidlineXStd, line.xStd)
	dR := line.At(float64(end[right].Y)) - float64(end[right].X)
	dL := float64(end[left].X) - line.At(float64(end[left].Y))
	okR, okL := c.holds(rowDistancesNonneg, dR), c.holds(rowDistancesNonneg, dL)
	f.check(RuleDistancesNonneg, okR && okL, Pair(dR, dL))
	f.measure("distance_right", Number(dR))
	f.measure("distance_left", Number(dL))
	f.measure("slope", Number(line.Slope))
	f.measure("intercept", Number(line.Intercept))
	f.measure("vertebrae", intRange(first, last))
	f.mark("midline", geom.Vec{X: line.At(used[0].Y), Y: used[0].Y}, geom.Vec{X: line.At(used[len(used)-1].Y), Y: used[len(used)-1].Y})
	if !okR || !okL {
		return ""
	}
	index := 1.0
	if m := max(dR, dL); m != 0 {
		index = min(dR, dL) / m
	}
	f.Index, f.Rounded = Number(index), Number(RoundDecimal(index, 2))
	return ""
}

// vertebraRange returns the first and last vertebra to use: those nearest in y to the
// upper and the lower clavicle end, widened to at least three.
func vertebraRange(pts *[vertebrae]geom.Vec, upper, lower int) (first, last int) {
	i, j := nearestIn(pts, float64(upper)), nearestIn(pts, float64(lower))
	switch {
	case i == j:
		first = min(max(i-1, 0), vertebrae-3)
		return first, first + 2
	case j == i+1 && i == 0:
		return 0, 2
	case j == i+1 && j == vertebrae-1:
		return vertebrae - 3, vertebrae - 1
	case j == i+1:
		return i - 1, j + 1
	}
	return i, j
}

// nearestIn returns the point nearest in y; the lowest index wins ties.
func nearestIn(pts *[vertebrae]geom.Vec, y float64) int {
	best := 0
	for i, p := range pts {
		if math.Abs(p.Y-y) < math.Abs(pts[best].Y-y) {
			best = i
		}
	}
	return best
}

// medialEnd returns the most medial pixel of the clavicle mask that lies within the band
// that the widest component spans along its own chord, so that a detached but collinear
// medial piece counts.
//
// Special cases: ok is false when the widest component is one column wide.
func medialEnd(clavicle mask.Mask, side int) (end geom.Point, ok bool) {
	band, ok := clavicleBand(clavicle)
	if !ok {
		return geom.Point{}, false
	}
	return band.medial(clavicle, side), true
}

// clavicleBand is the band that the widest component spans along its own chord; ok is false
// when that component is one column wide.
func clavicleBand(clavicle mask.Mask) (band chordBand, ok bool) {
	k := clavicle.Widest()
	box, _ := k.Box()
	if box.Width() == 0 {
		return band, false
	}
	ya, _, _ := k.ColumnBounds(box.X0)
	yb, _, _ := k.ColumnBounds(box.X1)
	band = chordBand{dx: box.Width(), dy: yb - ya}
	band.fit(k)
	return band, true
}

// medial returns the most medial pixel of the mask inside the band.
func (band *chordBand) medial(clavicle mask.Mask, side int) (end geom.Point) {
	y0, y1, _ := clavicle.RowBounds()
	found := false
	for y := y0; y <= y1; y++ {
		for _, r := range clavicle.Row(y) {
			x0, x1, ok := band.within(y, int(r.X0), int(r.X1)-1)
			if !ok {
				continue
			}
			x := [2]int{right: x1, left: x0}[side]
			if !found || (side == right && x > end.X) || (side == left && x < end.X) {
				end, found = geom.Point{X: x, Y: y}, true
			}
		}
	}
	return end
}

// chordBand is the set of pixels with lo <= y*dx - dy*x <= hi.
type chordBand struct{ dx, dy, lo, hi int }

// at returns the point of column x on one of the band's edges, lo or hi.
func (b *chordBand) at(x float64, edge int) geom.Vec {
	return geom.Vec{X: x, Y: (float64(float64(b.dy)*x) + float64(edge)) / float64(b.dx)}
}

func (b *chordBand) f(x, y int) int { return y*b.dx - b.dy*x }

// fit sets the limits to the extremes over a mask that is not empty; they lie at run ends.
func (b *chordBand) fit(m mask.Mask) {
	b.lo, b.hi = math.MaxInt, math.MinInt
	y0, y1, _ := m.RowBounds()
	for y := y0; y <= y1; y++ {
		for _, r := range m.Row(y) {
			p, q := b.f(int(r.X0), y), b.f(int(r.X1)-1, y)
			b.lo, b.hi = min(b.lo, p, q), max(b.hi, p, q)
		}
	}
}

// within returns the columns of x0..x1 on row y that lie in the band; ok is false for none.
func (b *chordBand) within(y, x0, x1 int) (first, last int, ok bool) {
	// y*dx - hi <= dy*x <= y*dx - lo
	lo, hi := y*b.dx-b.hi, y*b.dx-b.lo
	switch {
	case b.dy == 0:
		if lo > 0 || hi < 0 {
			return 0, 0, false
		}
		return x0, x1, true
	case b.dy > 0:
		first, last = ceilDiv(lo, b.dy), floorDiv(hi, b.dy)
	default:
		first, last = ceilDiv(-hi, -b.dy), floorDiv(-lo, -b.dy)
	}
	first, last = max(first, x0), min(last, x1)
	return first, last, first <= last
}

// floorDiv and ceilDiv divide by a positive number towards minus and plus infinity.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int) int { return -floorDiv(-a, b) }

// widestRow returns the lateral and the medial end of the lung's row with most pixels,
// the first of them.
func widestRow(lung mask.Mask, side int) (outer, inner int) {
	y0, y1, _ := lung.RowBounds()
	best, row := -1, y0
	for y := y0; y <= y1; y++ {
		if n := lung.RowArea(y); n > best {
			best, row = n, y
		}
	}
	a, b, _ := lung.Span(row)
	if side == right {
		return a, b
	}
	return b, a
}

func intRange(first, last int) Value {
	var v []Value
	for i := first; i <= last; i++ {
		v = append(v, Int(i))
	}
	return List(v...)
}
