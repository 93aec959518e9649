package phantom

import "cxrepro/internal/anatomy"

// columnOf returns an outline from left and right edges given by height: n rows from y0
// to y1.
func columnOf(y0, y1 float64, n int, left, right func(y float64) float64) polygon {
	g := make(polygon, 0, 2*n)
	for i := range n {
		y := lerp(y0, y1, float64(i)/float64(n-1))
		g = append(g, pt{left(y), y})
	}
	for i := n - 1; i >= 0; i-- {
		y := lerp(y0, y1, float64(i)/float64(n-1))
		g = append(g, pt{right(y), y})
	}
	return g
}

// stemLength is the part of the trachea that belongs to the bifurcation, mm.
const stemLength = 14

func (a *body) buildAirway() {
	p := a.p
	half := func(y float64) float64 {
		return float64(0.5 * p.tracheaWidth * (1 + float64(0.06*smooth(y, 40, 90)) - float64(0.12*(1-smooth(y, -52, -30)))))
	}
	tr := columnOf(-50, p.carinaY-stemLength+3, 48,
		func(y float64) float64 { return p.trachealX(y) - half(y) },
		func(y float64) float64 { return p.trachealX(y) + half(y) })
	a.outline[anatomy.Trachea] = a.put(tr, -5)
	a.outline[anatomy.TrachealBifurcation] = a.put(a.bifurcation(half(p.carinaY)), -5)
}

// bifurcation is the inverted Y. Its offsets are drawn with one scale in both axes, so
// that the angle on the film is the patient's.
func (a *body) bifurcation(half float64) polygon {
	p := a.p
	c := p.carina()
	drop := table{{30, 46}, {60, 44}, {112, 33}}.at(p.carinaAngle)
	right := a.bronchus(float64(p.carinaAngle*p.carinaSplit), drop, half, float64(1.35*half), 24)
	left := a.bronchus(float64(p.carinaAngle*(1-p.carinaSplit)), float64(drop*0.94), half, float64(1.2*half), 22)
	var local []pt
	local = append(local, pt{-half, -stemLength})
	for i := len(right) - 1; i >= 0; i-- {
		q := right[i]
		local = append(local, pt{-q.x, q.y})
	}
	// right holds inner..outer; reversed it runs from the outer wall down to the carina
	local = append(local, left[1:]...)
	local = append(local, pt{half, -stemLength}, pt{float64(0.5 * half), -stemLength - 1.2}, pt{0, -stemLength - 1.6}, pt{float64(-0.5 * half), -stemLength - 1.2})
	g := make(polygon, len(local))
	for i, q := range local {
		g[i] = pt{c.x + float64(q.x*a.f.scaleY)/a.f.scaleX, c.y + q.y}
	}
	return g
}

// bronchus returns the wall of one main bronchus for a limb that opens to positive x:
// carina, inner wall (straight for more than half of the drop), end, outer wall up to
// the side of the trachea.
func (a *body) bronchus(angle, drop, half, thick, bend float64) []pt {
	b1 := float64(angle * radians)
	b2 := float64(max(angle, min(angle+bend, 60)) * radians)
	d1, d2 := float64(0.55*drop), float64(0.45*drop)
	p1 := pt{float64(d1 * tangent(b1)), d1}
	p2 := pt{p1.x + float64(d2*tangent(b2)), drop}
	n1 := pt{cosine(b1), -sine(b1)}.times(thick)
	bm := float64(0.5 * (b1 + b2))
	nm := pt{cosine(bm), -sine(bm)}.times(thick)
	n2 := pt{cosine(b2), -sine(b2)}.times(float64(0.85 * thick))
	o1, o2 := p1.add(nm), p2.add(n2)
	// the outer wall meets the side of the trachea
	q := p1.add(n1)
	s := (q.x - half) / sine(b1)
	y := max(q.y-float64(s*cosine(b1)), -stemLength+2)
	mid := p2.add(n2.times(0.5)).add(pt{float64(2.5 * sine(b2)), float64(2.5 * cosine(b2))})
	return []pt{{0, 0}, p1, p2, mid, o2, o1, {half, y}}
}

func (a *body) buildAorta() {
	p := a.p
	shift := float64(0.5 * p.mediastinalX())
	ay, k := p.archY, p.knobEdge
	r := 19 + float64(0.16*(k-34))
	arch := closed([]pt{{k, ay}, {k - 4, ay - 12}, {k - 15, ay - r}, {k - 29, ay - r + 5}, {float64(0.1 * k), ay - 10},
		{-6, ay - 5}, {-7, ay + 4}, {2, ay + 11}, {k - 21, ay + 15}, {k - 7, ay + 12}}, 6)
	a.outline[anatomy.AorticArch] = a.put(arch.each(func(q pt) pt { return pt{q.x + shift, q.y} }), -10)
	a.outline[anatomy.DescendingAorta] = a.put(p.descending(), -40)
	a.outline[anatomy.AscendingAorta] = a.put(p.ascending(), 8)
}

// descendingEdges returns top and bottom of the descending aorta and its edges by height.
func (p *patient) descendingEdges() (y0, y1 float64, left, right func(y float64) float64) {
	y0, y1 = p.archY-2, p.heartBottom+18
	shift := float64(0.3 * p.mediastinalX())
	centre := func(y float64) float64 {
		t := (y - y0) / (y1 - y0)
		s := sine(float64(pi * t))
		c := cosine(float64(pi * t))
		return lerp(p.descTop, p.descBottom, t) + float64(p.descBow*s) + float64(2*p.descSnake*float64(s*c)) + float64(0.6*p.midline(y)) + shift
	}
	half := func(y float64) float64 {
		t := (y - y0) / (y1 - y0)
		cap := float64(0.35*smooth(y-y0, -6, 11)) + 0.65
		return float64(0.5 * p.descWidth * float64((1-float64(0.1*t))*cap))
	}
	return y0, y1, func(y float64) float64 { return centre(y) - half(y) }, func(y float64) float64 { return centre(y) + half(y) }
}

func (p *patient) descending() polygon {
	y0, y1, l, r := p.descendingEdges()
	return columnOf(y0, y1, 60, l, r)
}

// ascending is the outline of the ascending aorta in the patient frame.
func (p *patient) ascending() polygon {
	b, w := p.ascBulge, p.ascWidth
	top := p.carinaY - stemLength + 2 + float64(2*max(0, p.wobble[20]))
	x := p.mediastinalX()
	knots := []pt{{float64(-0.5 * b), top + 3}, {float64(-0.88 * b), top + 18}, {-b, top + 36}, {float64(-0.93 * b), top + 58}, {float64(-0.7 * b), top + 76},
		{float64(0.5*w) - float64(0.8*b), top + 81}, {w - b, top + 68}, {w - b + 1, top + 42}, {w - b - 1, top + 18}, {float64(0.5*w) - float64(0.6*b), top}}
	for i := range knots {
		knots[i].x += x
	}
	return closed(knots, 5)
}

func (a *body) buildHeart() {
	p := a.p
	width := float64(float64(2*p.ctr) * p.wall(min(225, p.domeRight+p.sulcusR-10)))
	r, l := float64(width*p.heartSplit), float64(width*(1-p.heartSplit))
	y0, h := p.heartTop, p.heartBottom-p.heartTop
	round := float64(0.07 * (p.heartRound - 0.5))
	at := func(x, v float64) pt { return pt{x, y0 + float64(v*h)} }
	knots := []pt{at(-13, 0), at(float64(-0.76*r), 0.2), at(-r, 0.54), at(float64(-0.93*r), 0.8), at(float64(-0.58*r), 0.97),
		at(float64(0.1*l), 1.03), at(float64(0.58*l), 1.04), at(float64(0.9*l), 0.98), at(l, 0.85), at(float64((0.86+round)*l), 0.56),
		at(float64((0.62+round)*l), 0.28), at(float64((0.42+round)*l), 0.1), at(float64(0.12*l), -0.04)}
	shift := float64(0.3 * p.mediastinalX())
	for i := range knots {
		knots[i].x += shift
	}
	a.outline[anatomy.Heart] = a.put(closed(knots, 6), 22)
	m := p.mediastinalX()
	right := spline{{-4, 0.8}, {20, 0.84}, {45, 0.9}, {70, 0.98}, {82, 1}, {110, 0.97}}
	left := spline{{-4, 0.74}, {20, 0.78}, {45, 0.88}, {66, 0.99}, {76, 1}, {92, 0.9}, {110, 0.84}}
	follow := func(y float64) float64 { return float64(m * smooth(y, -30, 60)) }
	med := columnOf(-4, p.carinaY+9, 30,
		func(y float64) float64 { return follow(y) - float64(p.mediRight*right.at(y)) },
		func(y float64) float64 { return follow(y) + float64(p.mediLeft*left.at(y)) })
	a.outline[anatomy.UpperMediastinum] = a.put(med, 0)
	low := p.carinaY + 9
	fade := func(y float64) float64 { return 1 - float64(0.5*smooth(y, low-6, low+58)) }
	a.strip = a.put(columnOf(-14, low+62, 44,
		func(y float64) float64 { return follow(y) - float64(p.mediRight*right.at(min(y, low))*fade(y)) },
		func(y float64) float64 { return follow(y) + float64(p.mediLeft*left.at(min(y, low))*fade(y)) }), 0)
}

// buildBody draws what has no mask: skin, arms, upper arms and breasts.
func (a *body) buildBody() {
	p := a.p
	side := p.chestHalf + 16 + p.fat
	half := spline{{-300, 72}, {-220, 74}, {-160, 70}, {-110, 61}, {-70, 56}, {-45, 62}, {-30, 80}, {-14, 122}, {4, 168}, {24, 194}, {60, 188}, {100, side + 10}, {130, side + 2}, {180, side - 3}, {240, side}, {320, side + 8}, {540, side + 16}}
	g := columnOf(-300, 540, 120, func(y float64) float64 { return -half.at(y) }, half.at)
	a.torso = a.put(g, 0)
	out := float64(46 * p.armsOut)
	for _, sgn := range []float64{-1, 1} {
		line := []pt{{float64(sgn * 180), 44}, {float64(sgn * (192 + float64(0.3*out))), 120}, {float64(sgn * (200 + out)), 230}, {float64(sgn * (200 + float64(1.4*out))), 330}}
		a.arms = append(a.arms, a.put(ribbon(open(line, 6), func(t float64) float64 { return 34 - float64(5*t) + float64(0.2*p.fat) }), 0))
		bone := []pt{{float64(sgn * 183), 44}, {float64(sgn * (190 + float64(0.25*out))), 90}, {float64(sgn * (196 + float64(0.6*out))), 160}, {float64(sgn * (200 + out)), 240}}
		a.humeri = append(a.humeri, a.put(ribbon(open(bone, 6), func(t float64) float64 { return 11 + float64(12*(1-smooth(t, 0, 0.22))) }), 0))
		if p.breast > 0 {
			r := 46 + float64(15*p.breast)
			c := pt{float64(sgn * (72 + float64(6*p.wobble[21]))), 158 + float64(18*p.breast)}
			a.breasts = append(a.breasts, a.put(ellipse(c, r, float64(r*1.05), 40), 80))
		}
	}
}
