package phantom

import "math"

// pt is a point or vector in millimetres (patient or film frame) or pixels.
type pt struct{ x, y float64 }

func (p pt) add(q pt) pt            { return pt{p.x + q.x, p.y + q.y} }
func (p pt) sub(q pt) pt            { return pt{p.x - q.x, p.y - q.y} }
func (p pt) times(k float64) pt     { return pt{float64(p.x * k), float64(p.y * k)} }
func (p pt) mix(q pt, t float64) pt { return pt{lerp(p.x, q.x, t), lerp(p.y, q.y, t)} }
func (p pt) length() float64        { return math.Sqrt(float64(p.x*p.x) + float64(p.y*p.y)) }

// polygon is a closed outline; the last point joins the first.
type polygon []pt

// closed returns a smooth closed outline through the knots (Catmull-Rom), with n points
// per knot.
func closed(knots []pt, n int) polygon {
	m := len(knots)
	out := make(polygon, 0, m*n)
	for i := range knots {
		a, b, c, d := knots[(i+m-1)%m], knots[i], knots[(i+1)%m], knots[(i+2)%m]
		for k := range n {
			out = append(out, catmull(a, b, c, d, float64(k)/float64(n)))
		}
	}
	return out
}

// open returns a smooth line through the knots with n points per interval, both ends
// included.
func open(knots []pt, n int) []pt {
	m := len(knots)
	out := make([]pt, 0, (m-1)*n+1)
	for i := 0; i+1 < m; i++ {
		a, d := knots[max(i-1, 0)], knots[min(i+2, m-1)]
		for k := range n {
			out = append(out, catmull(a, knots[i], knots[i+1], d, float64(k)/float64(n)))
		}
	}
	return append(out, knots[m-1])
}

func catmull(a, b, c, d pt, t float64) pt {
	return pt{catmull1(a.x, b.x, c.x, d.x, t), catmull1(a.y, b.y, c.y, d.y, t)}
}

func catmull1(a, b, c, d, t float64) float64 {
	k1 := c - a
	k2 := float64(2*a) - float64(5*b) + float64(4*c) - d
	k3 := float64(3*b) - a - float64(3*c) + d
	v := float64(k3*t) + k2
	v = float64(v*t) + k1
	return b + float64(0.5*float64(v*t))
}

// ribbon returns the outline of a line thickened by half(i/(n-1)) to both sides, with
// round ends.
func ribbon(line []pt, half func(t float64) float64) polygon {
	n := len(line)
	up, down := make([]pt, n), make([]pt, n)
	for i := range line {
		d := line[min(i+1, n-1)].sub(line[max(i-1, 0)])
		l := d.length()
		nrm := pt{-d.y / l, d.x / l}.times(half(float64(i) / float64(n-1)))
		up[i], down[i] = line[i].sub(nrm), line[i].add(nrm)
	}
	out := append(polygon{}, up...)
	out = append(out, roundEnd(line[n-1], up[n-1], down[n-1])...)
	for i := n - 1; i >= 0; i-- {
		out = append(out, down[i])
	}
	return append(out, roundEnd(line[0], down[0], up[0])...)
}

// roundEnd returns points of the half circle around c from a to b (flattened).
func roundEnd(c, a, b pt) []pt {
	r := a.sub(c)
	out := make([]pt, 0, 5)
	for k := 1; k <= 5; k++ {
		ang := float64(pi*float64(k)) / 6
		s, co := sine(ang), cosine(ang)
		out = append(out, c.add(pt{float64(r.x*co) - float64(r.y*s), float64(r.x*s) + float64(r.y*co)}))
	}
	return out
}

// ellipse returns an upright ellipse.
func ellipse(c pt, rx, ry float64, n int) polygon {
	out := make(polygon, n)
	for i := range out {
		a := float64(2*pi*float64(i)) / float64(n)
		out[i] = pt{c.x + float64(rx*cosine(a-pi)), c.y + float64(ry*sine(a-pi))}
	}
	return out
}

// each returns the outline with f applied to every point.
func (g polygon) each(f func(pt) pt) polygon {
	out := make(polygon, len(g))
	for i, p := range g {
		out[i] = f(p)
	}
	return out
}

// bounds returns the extremes of the outline.
func (g polygon) bounds() (lo, hi pt) {
	lo, hi = g[0], g[0]
	for _, p := range g[1:] {
		lo = pt{min(lo.x, p.x), min(lo.y, p.y)}
		hi = pt{max(hi.x, p.x), max(hi.y, p.y)}
	}
	return lo, hi
}
