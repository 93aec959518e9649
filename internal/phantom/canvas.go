package phantom

import "math"

// canvas holds the path lengths of one picture, pixel by pixel. Tissue lengths are
// centimetres of water; bone is already an attenuation.
type canvas struct {
	grid
	body   []float32 // soft tissue of the whole body
	air    []float32 // lung along the path
	solid  []float32 // organs that displace lung
	dense  []float32 // organs against fat: contrast inside the mediastinum
	bone   []float32
	airway []float32
	vessel []float32
	gas    []float32
}

func newCanvas(w, h int, f *frame) *canvas {
	c := &canvas{grid: grid{w, h, float64(w) / f.width, float64(h) / f.height}}
	all := make([]float32, 8*w*h)
	for i, p := range []*[]float32{&c.body, &c.air, &c.solid, &c.dense, &c.bone, &c.airway, &c.vessel, &c.gas} {
		*p = all[i*w*h : (i+1)*w*h : (i+1)*w*h]
	}
	return c
}

func root(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// rowsOf walks the pixels of an outline row by row: f receives the row slice offset, the
// pixel range and the interval.
func (c *canvas) rowsOf(g polygon, f func(off, a, b int, v interval)) {
	c.scan(g, func(y int, in []interval) {
		for _, v := range in {
			if a, b := v.pixels(c.w); b > a {
				f(y*c.w, a, b, v)
			}
		}
	})
}

// chordSquare steps 1-u^2 over the pixels of an interval, u = -1..1 across it.
type chordSquare struct{ mid, inv float32 }

func chordOf(v interval) chordSquare {
	return chordSquare{float32(0.5 * (v.lo + v.hi)), float32(2 / max(v.hi-v.lo, 1e-6))}
}

func (c chordSquare) at(x int) float32 {
	u := (float32(x) + 0.5 - c.mid) * c.inv
	q := 1 - float32(u*u)
	if q < 0 {
		return 0
	}
	return q
}

// tube adds a body whose axial sections are ellipses: depth is flat times the width, at
// most limit (cm).
func (c *canvas) tube(g polygon, flat, limit float64, into ...[]float32) {
	c.rowsOf(g, func(off, a, b int, v interval) {
		d := float32(min(float64(flat*(v.hi-v.lo))/c.sx*0.1, limit))
		q := chordOf(v)
		for x := a; x < b; x++ {
			t := float32(d * root(q.at(x)))
			for _, m := range into {
				m[off+x] += t
			}
		}
	})
}

// tubeMax is tube keeping the longest path instead of the sum.
func (c *canvas) tubeMax(g polygon, flat, limit float64, m []float32) {
	c.rowsOf(g, func(off, a, b int, v interval) {
		d := float32(min(float64(flat*(v.hi-v.lo))/c.sx*0.1, limit))
		q := chordOf(v)
		for x := a; x < b; x++ {
			m[off+x] = max(m[off+x], float32(d*root(q.at(x))))
		}
	})
}

// shell is the profile of a hollow bone: wall at share r of the radius, plus marrow.
func shell(q, r2, marrow float32) float32 {
	t := root(q)
	if in := q - (1 - r2); in > 0 {
		return t - float32((1-marrow)*root(in))
	}
	return t
}

// boneColumns adds a bone that runs across the picture, shaded along columns.
func (c *canvas) boneColumns(g polygon, strength float64, wall, marrow float32) {
	s, r2 := float32(strength), float32(wall*wall)
	limit := float64(26 * c.sy)
	c.scanColumns(g, func(x int, in []interval) {
		for _, v := range in {
			k := s
			if v.hi-v.lo > limit {
				k = float32(float64(s) * limit / (v.hi - v.lo))
			}
			a, b := v.pixels(c.h)
			q := chordOf(v)
			for y := a; y < b; y++ {
				c.bone[y*c.w+x] += float32(k * shell(q.at(y), r2, marrow))
			}
		}
	})
}

// boneRows adds a bone that runs down the picture, shaded along rows.
func (c *canvas) boneRows(g polygon, strength float64, wall, marrow float32) {
	s, r2 := float32(strength), float32(wall*wall)
	c.rowsOf(g, func(off, a, b int, v interval) {
		q := chordOf(v)
		for x := a; x < b; x++ {
			c.bone[off+x] += float32(s * shell(q.at(x), r2, marrow))
		}
	})
}

// capsule adds a straight round vessel from p to q (film mm) with end radii in mm: its
// path length in cm.
func (c *canvas) capsule(p, q pt, rp, rq float64, m []float32, strength float64) {
	r := max(rp, rq)
	x0 := max(0, int(float64((min(p.x, q.x)-r)*c.sx)))
	x1 := min(c.w-1, int(float64((max(p.x, q.x)+r)*c.sx)))
	y0 := max(0, int(float64((min(p.y, q.y)-r)*c.sy)))
	y1 := min(c.h-1, int(float64((max(p.y, q.y)+r)*c.sy)))
	d := q.sub(p)
	l2 := max(float64(d.x*d.x)+float64(d.y*d.y), 1e-9)
	k := float64(0.2 * strength)
	for y := y0; y <= y1; y++ {
		fy := (float64(y)+0.5)/c.sy - p.y
		for x := x0; x <= x1; x++ {
			fx := (float64(x)+0.5)/c.sx - p.x
			t := clamp((float64(fx*d.x)+float64(fy*d.y))/l2, 0, 1)
			ex, ey := fx-float64(t*d.x), fy-float64(t*d.y)
			rr := lerp(rp, rq, t)
			if e := float64(rr*rr) - float64(ex*ex) - float64(ey*ey); e > 0 {
				v := float32(k * math.Sqrt(e))
				if v > m[y*c.w+x] {
					m[y*c.w+x] = v
				}
			}
		}
	}
}

// line adds a thin line (bone map) of half width r.
func (c *canvas) line(l []pt, r, strength float64) {
	for i := 0; i+1 < len(l); i++ {
		c.capsule(l[i], l[i+1], r, r, c.bone, strength)
	}
}
