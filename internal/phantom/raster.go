package phantom

import (
	"math"
	"slices"

	"cxrepro/internal/mask"
)

// interval is a stretch [lo, hi) of a scan line in pixels, ends between pixel centres.
type interval struct{ lo, hi float64 }

// grid is a pixel raster over the film: pixel (x, y) has its centre at
// ((x+0.5)*width/W, (y+0.5)*height/H) millimetres.
type grid struct {
	w, h   int
	sx, sy float64 // pixels per millimetre
}

func (g *grid) point(q pt) pt { return pt{float64(q.x * g.sx), float64(q.y * g.sy)} }

// scan calls f for every row that the outline (film millimetres) crosses with the inside
// intervals of that row (even-odd rule), in pixels.
func (g *grid) scan(outline polygon, f func(y int, in []interval)) {
	scan(outline.each(g.point), g.h, f)
}

// scanColumns is scan by columns: f receives x and intervals along y.
func (g *grid) scanColumns(outline polygon, f func(x int, in []interval)) {
	scan(outline.each(func(q pt) pt {
		r := g.point(q)
		return pt{r.y, r.x}
	}), g.w, f)
}

func scan(px polygon, rows int, f func(row int, in []interval)) {
	lo, hi := px.bounds()
	first := max(0, int(math.Ceil(lo.y-0.5)))
	last := min(rows-1, int(math.Ceil(hi.y-0.5))-1)
	if last < first {
		return
	}
	// edges by first row
	type edge struct {
		x0, y0, slope float64
		last          int
	}
	n := last - first + 1
	start := make([][]edge, n)
	for i, p := range px {
		q := px[(i+1)%len(px)]
		if p.y > q.y {
			p, q = q, p
		}
		a, b := int(math.Ceil(p.y-0.5)), int(math.Ceil(q.y-0.5))-1
		a, b = max(a, first), min(b, last)
		if b < a {
			continue
		}
		start[a-first] = append(start[a-first], edge{p.x, p.y, (q.x - p.x) / (q.y - p.y), b})
	}
	var live []edge
	var xs []float64
	var in []interval
	for row := first; row <= last; row++ {
		live = append(live, start[row-first]...)
		y := float64(row) + 0.5
		xs = xs[:0]
		k := 0
		for _, e := range live {
			if e.last < row {
				continue
			}
			live[k] = e
			k++
			xs = append(xs, e.x0+float64((y-e.y0)*e.slope))
		}
		live = live[:k]
		slices.Sort(xs)
		in = in[:0]
		for i := 0; i+1 < len(xs); i += 2 {
			in = append(in, interval{xs[i], xs[i+1]})
		}
		if len(in) > 0 {
			f(row, in)
		}
	}
}

// pixels returns the pixels whose centres lie in the interval, cut to 0..n.
func (v interval) pixels(n int) (lo, hi int) {
	return max(0, int(math.Ceil(v.lo-0.5))), min(n, int(math.Ceil(v.hi-0.5)))
}

// fill rasterises an outline by the pixel-centre rule inside the field (pixels).
func (g *grid) fill(outline polygon, field [4]int) mask.Mask {
	b := mask.NewBuilder(g.w, g.h)
	g.scan(outline, func(y int, in []interval) {
		if y < field[1] || y >= field[3] {
			return
		}
		end := 0
		for _, v := range in {
			x0, x1 := v.pixels(g.w)
			x0, x1 = max(x0, field[0], end), min(x1, field[2])
			if x1 > x0 {
				b.Add(y, x0, x1)
				end = x1
			}
		}
	})
	return b.Mask()
}

// hull returns, row by row, the span from the first to the last pixel of several masks.
func hull(w, h int, masks ...mask.Mask) mask.Mask {
	b := mask.NewBuilder(w, h)
	for y := range h {
		first, last := w, -1
		for _, m := range masks {
			if x0, x1, ok := m.Span(y); ok {
				first, last = min(first, x0), max(last, x1)
			}
		}
		if last >= 0 {
			b.Add(y, first, last+1)
		}
	}
	return b.Mask()
}
