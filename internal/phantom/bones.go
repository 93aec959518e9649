package phantom

import "cxrepro/internal/anatomy"

// vertebraY holds the centres of C5..C7, T1..T12 and L1..L3 from the apex, mm.
var vertebraY = [...]float64{-66, -49, -33, 4, 23, 43, 63, 84, 105, 127, 150, 174, 199, 225, 252, 283, 315, 348}

const firstThoracic = 3 // index of T1 in vertebraY

func (a *body) buildSpine() {
	p := a.p
	for i, y := range vertebraY {
		pitch := 19.0
		switch {
		case i+1 < len(vertebraY):
			pitch = vertebraY[i+1] - y
		default:
			pitch = 33
		}
		if i > 0 {
			pitch = float64(0.5 * (pitch + (y - vertebraY[i-1])))
		}
		w := 15.0
		if d := i - firstThoracic; d >= 0 {
			w = table{{0, 16}, {3, 13.6}, {5, 13.6}, {8, 15}, {11, 19}, {14, 22}}.at(float64(d))
		}
		h := float64(pitch*0.5) - 2.2
		slope := (p.midline(y+10) - p.midline(y-10)) / 20
		c := pt{p.midline(y), y}
		body := vertebralBody(w, h).each(func(q pt) pt {
			return pt{c.x + q.x + float64(q.y*slope), c.y + q.y - float64(q.x*slope)}
		})
		g := a.put(body, -45)
		a.spine = append(a.spine, g)
		a.spineMid = append(a.spineMid, a.f.project(c, -45))
		if k := i - firstThoracic; k >= 0 && k < 7 {
			a.outline[anatomy.ThoracicVertebra(k+1)] = g
		}
	}
}

// vertebralBody is a block with rounded corners and waisted sides, symmetric about both
// axes, so that its centroid is its centre.
func vertebralBody(w, h float64) polygon {
	q := []pt{{0.84 * w, 0}, {0.9 * w, 0.5 * h}, {w, 0.84 * h}, {0.9 * w, h}, {0.45 * w, 0.97 * h}}
	knots := make([]pt, 0, 18)
	knots = append(knots, q...)
	knots = append(knots, pt{0, float64(0.95 * h)})
	for i := len(q) - 1; i >= 0; i-- {
		knots = append(knots, pt{-q[i].x, q[i].y})
	}
	for i := 1; i < len(q); i++ {
		knots = append(knots, pt{-q[i].x, -q[i].y})
	}
	knots = append(knots, pt{0, float64(-0.95 * h)})
	for i := len(q) - 1; i >= 1; i-- {
		knots = append(knots, pt{q[i].x, -q[i].y})
	}
	return closed(knots, 3)
}

// ribReach holds, for ribs 1..12, the drop from head to lateral end (mm) and the lateral
// end as a share of the chest wall.
var ribReach = [13]pt{1: {20, 0.98}, 2: {28, 1.005}, 3: {36, 1.015}, 4: {42, 1.02}, 5: {47, 1.02}, 6: {51, 1.02}, 7: {54, 1.02}, 8: {56, 1.02}, 9: {58, 1.02}, 10: {57, 1.0}, 11: {48, 0.86}, 12: {34, 0.6}}

func (a *body) buildRibs(side int) {
	p := a.p
	sgn := sided(side)
	for i := 1; i <= 12; i++ {
		y0 := vertebraY[firstThoracic+i-1] - 3
		drop := float64(ribReach[i].x*p.ribDrop) + float64(1.2*p.wobble[(i*5+side*3)%24])
		y1 := y0 + drop
		x1 := float64(p.wall(y1) * ribReach[i].y)
		knots := []pt{{17, y0}, {float64(0.3 * x1), y0 - 1 + float64(0.06*drop)}, {float64(0.55 * x1), y0 + float64(0.22*drop)},
			{float64(0.8 * x1), y0 + float64(0.55*drop)}, {float64(0.95 * x1), y0 + float64(0.84*drop)}, {x1, y1}}
		if i == 1 {
			knots[1], knots[2] = pt{float64(0.45 * x1), y0 - 3}, pt{float64(0.68 * x1), y0 + float64(0.08*drop)}
			knots[3] = pt{float64(0.87 * x1), y0 + float64(0.38*drop)}
		}
		half := p.ribHalf - float64(0.5*smooth(float64(i), 8, 12))
		a.posterior[side][i] = a.rib(knots, sgn, half, -55, -15)
		if side == 0 && i <= 11 {
			a.outline[anatomy.RightPosteriorRib(i)] = a.posterior[side][i]
		}
		if i <= 8 {
			a.anterior[side][i] = a.anteriorRib(i, sgn, x1, y1)
		}
	}
}

// rib thickens a line given for the lateral distance; depth runs from z0 to z1.
func (a *body) rib(knots []pt, sgn, half, z0, z1 float64) polygon {
	line := open(knots, 6)
	n := float64(len(line) - 1)
	for i, q := range line {
		t := float64(i) / n
		head := float64(a.p.midline(q.y) * (1 - smooth(q.x, 15, 110)))
		line[i] = a.f.project(pt{float64(sgn*q.x) + head, q.y}, lerp(z0, z1, t))
	}
	return ribbon(line, func(t float64) float64 {
		return float64(float64(half*a.f.scaleY) * (0.82 + float64(0.36*smooth(t, 0.05, 0.4)) - float64(0.22*smooth(t, 0.75, 1))))
	})
}

// anteriorRib is the front arc from the lateral end towards the sternum.
func (a *body) anteriorRib(i int, sgn, x1, y1 float64) polygon {
	fi := float64(i)
	fall := 30 + float64(5*fi)
	x2 := 34 + float64(4*max(0, fi-3)) + float64(3*fi)
	knots := []pt{{float64(x1 * 0.995), y1 - 2}, {float64(x1 * 0.965), y1 + float64(0.33*fall)}, {lerp(x1, x2, 0.3), y1 + float64(0.7*fall)},
		{lerp(x1, x2, 0.62), y1 + float64(0.95*fall)}, {x2, y1 + float64(1.02*fall)}}
	line := open(knots, 6)
	for j, q := range line {
		line[j] = a.f.project(pt{float64(sgn * q.x), q.y}, float64(60*float64(j))/float64(len(line)))
	}
	return ribbon(line, func(t float64) float64 {
		return float64(a.f.scaleY * (4.6 + float64(2.6*t)))
	})
}

func (a *body) buildClavicle(side int) {
	p := a.p
	sgn := sided(side)
	x0, y0 := p.clavMedialR, p.clavY+float64(0.5*p.clavSkew)
	s := anatomy.RightClavicle
	if side == 1 {
		x0, y0, s = p.clavMedialL, p.clavY-float64(0.5*p.clavSkew), anatomy.LeftClavicle
	}
	r := p.clavRise
	knots := []pt{{x0 + 5, y0}, {44, y0 - float64(0.25*r)}, {72, y0 - float64(0.58*r)}, {104, y0 - float64(0.9*r)}, {136, y0 - float64(1.02*r)}, {164, y0 - float64(0.9*r)}}
	line := open(knots, 7)
	n := float64(len(line) - 1)
	for i, q := range line {
		line[i] = a.f.project(pt{float64(sgn * q.x), q.y}, lerp(55, -15, float64(i)/n))
	}
	a.outline[s] = ribbon(line, func(t float64) float64 {
		return float64(a.f.scaleY * (5.6 + float64(2.2*(1-smooth(t, 0, 0.22))) + float64(1.6*smooth(t, 0.7, 1))))
	})
}

// scapulaShape lists lateral distance and height of the blade, then the neck and the
// acromion.
var scapulaShape = []pt{{94, 24}, {93, 40}, {97, 66}, {105, 98}, {113, 130}, {119, 156}, {124, 167}, {131, 162}, {136, 140}, {143, 108}, {149, 82}, {153, 66},
	{161, 58}, {165, 44}, {163, 33}, {172, 31}, {184, 27}, {191, 17}, {187, 8}, {176, 6}, {164, 12}, {150, 20}, {130, 24}, {110, 19}}

func (a *body) buildScapula(side int) {
	p := a.p
	sgn := sided(side)
	shift, s := p.scapShiftR, anatomy.RightScapula
	if side == 1 {
		shift, s = p.scapShiftL, anatomy.LeftScapula
	}
	place := func(q pt) pt {
		x := q.x - float64(shift*(1-float64(0.55*smooth(q.x, 115, 190))))
		drop := p.scapDrop
		return a.f.project(pt{float64(sgn * x), q.y + drop - float64(0.15*shift)}, -60)
	}
	a.outline[s] = closed(scapulaShape, 4).each(place)
	spineLine := []pt{{100, 44}, {120, 38}, {142, 28}, {166, 15}, {186, 13}}
	lateral := []pt{{126, 160}, {136, 138}, {145, 106}, {152, 74}, {160, 52}}
	medial := []pt{{96, 26}, {95.5, 45}, {100, 72}, {108, 104}, {116, 138}, {122, 162}}
	coracoid := []pt{{153, 36}, {146, 44}, {142, 54}}
	for _, l := range [][]pt{spineLine, lateral, medial, coracoid} {
		o := open(l, 5)
		for i := range o {
			o[i] = place(o[i])
		}
		a.scapLines[side] = append(a.scapLines[side], o)
	}
}
