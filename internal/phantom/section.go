package phantom

import (
	"slices"

	"cxrepro/internal/anatomy"
)

// sectionStep is the distance of the rows in which outlines are cut, film millimetres.
const sectionStep = 0.1

// sections is an outline cut into rows of sectionStep: row i lies at (i+0.5)*sectionStep
// from the film's top and holds the inside as intervals in millimetres, cut by the
// collimated field. Nothing here is rounded to pixels.
type sections struct{ rows [][]interval }

// cut returns the sections of a structure.
func (p *Phantom) cut(s anatomy.Structure) *sections {
	f := p.frame
	g := &grid{w: 1, h: int(f.height / sectionStep), sx: 1, sy: 1 / sectionStep}
	out := &sections{make([][]interval, g.h)}
	g.scan(p.body.outline[s], func(row int, in []interval) {
		if y := out.y(row); y < f.field[1] || y >= f.field[3] {
			return
		}
		for _, v := range in {
			v.lo, v.hi = max(v.lo, f.field[0], 0), min(v.hi, f.field[2], f.width)
			if v.hi > v.lo {
				out.rows[row] = append(out.rows[row], v)
			}
		}
	})
	return out
}

func (s *sections) y(row int) float64 { return float64((float64(row) + 0.5) * sectionStep) }

// row returns the row at height y, clamped to the film.
func (s *sections) row(y float64) int {
	return max(0, min(len(s.rows)-1, int(y/sectionStep)))
}

// bounds returns first and last non-empty row.
func (s *sections) bounds() (first, last int, ok bool) {
	first = slices.IndexFunc(s.rows, func(in []interval) bool { return len(in) > 0 })
	if first < 0 {
		return 0, 0, false
	}
	last = len(s.rows) - 1
	for len(s.rows[last]) == 0 {
		last--
	}
	return first, last, true
}

// span returns the outer ends of a row.
func (s *sections) span(row int) (v interval, ok bool) {
	if row < 0 || row >= len(s.rows) || len(s.rows[row]) == 0 {
		return interval{}, false
	}
	in := s.rows[row]
	return interval{in[0].lo, in[len(in)-1].hi}, true
}

// extent returns the outer ends over rows from..to (inclusive) and the first rows where
// they are reached.
func (s *sections) extent(from, to int) (v interval, loRow, hiRow int, ok bool) {
	for r := max(from, 0); r <= min(to, len(s.rows)-1); r++ {
		w, has := s.span(r)
		if !has {
			continue
		}
		if !ok || w.lo < v.lo {
			v.lo, loRow = w.lo, r
		}
		if !ok || w.hi > v.hi {
			v.hi, hiRow = w.hi, r
		}
		ok = true
	}
	return v, loRow, hiRow, ok
}

// whole is extent over all rows.
func (s *sections) whole() (v interval, loRow, hiRow int, ok bool) {
	return s.extent(0, len(s.rows)-1)
}

// area returns the area in square millimetres.
func (s *sections) area() float64 {
	sum := 0.0
	for _, in := range s.rows {
		for _, v := range in {
			sum += v.hi - v.lo
		}
	}
	return float64(sum * sectionStep)
}

// and returns the common part.
func (s *sections) and(o *sections) *sections {
	out := &sections{make([][]interval, len(s.rows))}
	for r := range s.rows {
		for _, a := range s.rows[r] {
			for _, b := range o.rows[r] {
				if c := (interval{max(a.lo, b.lo), min(a.hi, b.hi)}); c.hi > c.lo {
					out.rows[r] = append(out.rows[r], c)
				}
			}
		}
	}
	return out
}

// minus returns the part outside o.
func (s *sections) minus(o *sections) *sections {
	out := &sections{make([][]interval, len(s.rows))}
	for r := range s.rows {
		for _, a := range s.rows[r] {
			for _, b := range o.rows[r] {
				if b.hi <= a.lo || b.lo >= a.hi {
					continue
				}
				if b.lo > a.lo {
					out.rows[r] = append(out.rows[r], interval{a.lo, b.lo})
				}
				a.lo = b.hi
			}
			if a.hi > a.lo {
				out.rows[r] = append(out.rows[r], a)
			}
		}
	}
	return out
}

// columnRows returns first and last row that hold column x.
func (s *sections) columnRows(x float64) (first, last int, ok bool) {
	for r, in := range s.rows {
		for _, v := range in {
			if x >= v.lo && x < v.hi {
				if !ok {
					first = r
				}
				last, ok = r, true
			}
		}
	}
	return first, last, ok
}
