package dataset

import (
	"cmp"
	"slices"

	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// fillPolygon returns the pixels whose centres lie inside or on the closed polygon through
// the given pixel centres, by the even-odd rule, clipped to w x h.
//
// Arithmetic is exact, so the result does not depend on the machine. Source: ours; the
// published masks were filled by another rule, which also takes pixels that an edge only
// touches, and so are wider by up to a pixel.
func fillPolygon(w, h int, pts []geom.Point) mask.Mask {
	b := mask.NewBuilder(w, h)
	if len(pts) < 3 {
		return b.Mask()
	}
	var spans []mask.Run
	for y := range h {
		spans = polygonRow(spans[:0], pts, y)
		slices.SortFunc(spans, func(a, c mask.Run) int { return cmp.Compare(a.X0, c.X0) })
		end := 0
		for _, s := range spans {
			x0, x1 := max(int(s.X0), end), min(int(s.X1), w)
			b.Add(y, x0, x1)
			end = max(end, x1)
		}
	}
	return b.Mask()
}

// crossing is where an edge meets a row: x = num/den, den > 0.
type crossing struct{ num, den int64 }

func (c crossing) compare(d crossing) int { return cmp.Compare(c.num*d.den, d.num*c.den) }

func (c crossing) ceil() int32  { return int32(-floorDiv(-c.num, c.den)) }
func (c crossing) floor() int32 { return int32(floorDiv(c.num, c.den)) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// polygonRow appends the half-open spans of row y. A pixel of the closed polygon is inside,
// which holds just below the row as well, or on an edge through it: between two crossings;
// or else a corner or on an edge along the row. So rows of an edge include its upper end
// and not its lower one.
func polygonRow(spans []mask.Run, pts []geom.Point, y int) []mask.Run {
	var cross []crossing
	for i, p := range pts {
		q := pts[(i+1)%len(pts)]
		if p.Y == y && q.Y == y {
			spans = append(spans, mask.Run{X0: int32(min(p.X, q.X)), X1: int32(max(p.X, q.X)) + 1})
			continue
		}
		if p.Y == y {
			spans = append(spans, mask.Run{X0: int32(p.X), X1: int32(p.X) + 1})
		}
		lo, hi := p, q
		if lo.Y > hi.Y {
			lo, hi = hi, lo
		}
		if y < lo.Y || y >= hi.Y {
			continue
		}
		den := int64(hi.Y - lo.Y)
		cross = append(cross, crossing{int64(lo.X)*den + int64(y-lo.Y)*int64(hi.X-lo.X), den})
	}
	slices.SortFunc(cross, crossing.compare)
	for i := 0; i+1 < len(cross); i += 2 {
		if x0, x1 := cross[i].ceil(), cross[i+1].floor(); x0 <= x1 {
			spans = append(spans, mask.Run{X0: x0, X1: x1 + 1})
		}
	}
	return spans
}
