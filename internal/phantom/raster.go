package phantom

import (
	"math"
	"slices"
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

// run is a half-open stretch of set pixels in a row.
type run struct{ x0, x1 int32 }

// rows is a mask: runs by row, sorted, disjoint.
type rows [][]run

// fill rasterises an outline by the pixel-centre rule inside the field (pixels).
func (g *grid) fill(outline polygon, field [4]int) rows {
	out := make(rows, g.h)
	g.scan(outline, func(y int, in []interval) {
		if y < field[1] || y >= field[3] {
			return
		}
		for _, v := range in {
			a, b := v.pixels(g.w)
			a, b = max(a, field[0]), min(b, field[2])
			if b <= a {
				continue
			}
			if k := len(out[y]); k > 0 && out[y][k-1].x1 >= int32(a) {
				out[y][k-1].x1 = max(out[y][k-1].x1, int32(b))
				continue
			}
			out[y] = append(out[y], run{int32(a), int32(b)})
		}
	})
	return out
}

// hull returns, row by row, the span from the first to the last pixel of several masks.
func hull(h int, masks ...rows) rows {
	out := make(rows, h)
	for y := range out {
		var r run
		seen := false
		for _, m := range masks {
			for _, q := range m[y] {
				if !seen {
					r, seen = q, true
				}
				r = run{min(r.x0, q.x0), max(r.x1, q.x1)}
			}
		}
		if seen {
			out[y] = []run{r}
		}
	}
	return out
}

// area returns the number of set pixels.
func (m rows) area() int {
	n := 0
	for _, r := range m {
		for _, q := range r {
			n += int(q.x1 - q.x0)
		}
	}
	return n
}
