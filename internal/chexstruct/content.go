package chexstruct

import "cxrepro/internal/mask"

// stripReach is how far the strip around a position reaches to both sides.
//
// DEVIATION D7: the strip is clipped at the image border, where the released program's
// becomes empty (TestBordersMatchPixels).
const stripReach = 2

// border is the outermost picture content around a position p along an axis: the first
// content index before p and the last at or after p, p itself where there is none.
// Black collimation is not content; black pixels inside do not matter.
//
// DEVIATION D6: without a black row the content ends with the last row, where the released
// program takes the row after it; and pixels are compared with 0 one by one, where a
// product of neighbours overflows eight bits there (TestBordersMatchPixels).
type border struct{ first, last int }

// total is the extent of the content; 0 means there is none around p.
func (b border) total() int { return b.last - b.first }

// low returns how far p lies behind the first content index, as a share of the extent.
func (b border) low(p int) float64 { return float64(p-b.first) / float64(b.total()) }

// high returns how far p lies before the last content index, as a share of the extent.
func (b border) high(p int) float64 { return float64(b.last-p) / float64(b.total()) }

// rowBorder looks along y at position p: a row is content when all its pixels in the strip
// of columns around x are non-zero.
func rowBorder(nonZero mask.Mask, x, p int) border {
	x0, x1 := max(x-stripReach, 0), min(x+stripReach, nonZero.W-1)
	b := border{p, p}
	for y := 0; y < p; y++ {
		if rowCovers(nonZero, y, x0, x1) {
			b.first = y
			break
		}
	}
	for y := nonZero.H - 1; y >= p; y-- {
		if rowCovers(nonZero, y, x0, x1) {
			b.last = y
			break
		}
	}
	return b
}

// columnBorder looks along x at position p, in the strip of rows around y.
func columnBorder(nonZero mask.Mask, y, p int) border {
	strip := nonZero.Row(max(y-stripReach, 0))
	for k := max(y-stripReach, 0) + 1; k <= min(y+stripReach, nonZero.H-1); k++ {
		strip = mask.IntersectRows(strip, nonZero.Row(k))
	}
	b := border{p, p}
	if len(strip) == 0 {
		return b
	}
	if x := int(strip[0].X0); x < p {
		b.first = x
	}
	if x := int(strip[len(strip)-1].X1) - 1; x >= p {
		b.last = x
	}
	return b
}

// contentRows returns the first and last row whose pixels in columns x0..x1 are all
// non-zero; ok is false when there is no such row.
func contentRows(nonZero mask.Mask, x0, x1 int) (first, last int, ok bool) {
	x0, x1 = max(x0, 0), min(x1, nonZero.W-1)
	first, last = 0, nonZero.H-1
	for first <= last && !rowCovers(nonZero, first, x0, x1) {
		first++
	}
	if first > last {
		return 0, 0, false
	}
	for !rowCovers(nonZero, last, x0, x1) {
		last--
	}
	return first, last, true
}

// rowCovers reports whether columns x0..x1 of row y are all set.
func rowCovers(m mask.Mask, y, x0, x1 int) bool {
	r, ok := m.RunAt(x0, y)
	return ok && int(r.X1) > x1
}
