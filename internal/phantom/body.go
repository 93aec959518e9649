package phantom

import "cxrepro/internal/anatomy"

// vertebraY holds the centres of C5..C7, T1..T12 and L1..L3 from the apex, mm.
var vertebraY = [...]float64{-66, -49, -33, -15 + 19, 23, 43, 63, 84, 105, 127, 150, 174, 199, 225, 252, 283, 315, 348}

const firstThoracic = 3 // index of T1 in vertebraY

// wallShape is the half width of the inner chest wall by height, as a share of the
// widest.
var wallShape = spline{{-6, 0.41}, {6, 0.54}, {24, 0.685}, {52, 0.81}, {85, 0.895}, {120, 0.948}, {155, 0.978}, {190, 0.993}, {225, 1}, {262, 1}, {300, 0.985}, {340, 0.97}}

// body is a patient on a film: every outline in film millimetres.
type body struct {
	p *patient
	f *frame

	outline [anatomy.Count + 1]polygon
	// ribs on both sides: 0 right, 1 left; posterior 1..12 and anterior 1..8
	posterior [2][13]polygon
	anterior  [2][9]polygon
	spine     []polygon // bodies of C5..L3
	spineMid  []pt      // their centres
	dome      [2]func(x float64) float64
	torso     polygon
	arms      []polygon
	humeri    []polygon
	breasts   []polygon
	scapLines [2][][]pt
	strip     polygon // soft tissue of the mediastinum from the inlet into the heart
}

// midline is the x of the spine at height y in the patient frame.
func (p *patient) midline(y float64) float64 {
	t := (y - 110) / 130
	return float64(p.curve*(1-float64(t*t))) + float64(p.lean*t)
}

func (p *patient) wall(y float64) float64 { return float64(p.chestHalf * wallShape.at(y)) }

// trachealX is the centre of the trachea at height y.
func (p *patient) trachealX(y float64) float64 {
	amount := float64(smooth(y, -42, 22) * (1 - float64(0.35*smooth(y, 68, 115))))
	return float64(p.tracheaShift*amount) + float64(0.5*p.midline(y))
}

func (p *patient) carina() pt { return pt{p.trachealX(p.carinaY) + 1, p.carinaY} }

// mediastinalX is how far the mediastinum follows a deviated airway.
func (p *patient) mediastinalX() float64 {
	return float64(0.45*max(-20, min(20, p.tracheaShift+2.5))) + float64(0.4*p.midline(80))
}

// build draws all outlines of a patient on a film.
func build(p *patient, f *frame) *body {
	a := &body{p: p, f: f}
	a.buildSpine()
	for side := range 2 {
		a.buildDome(side)
		a.buildLung(side)
		a.buildRibs(side)
		a.buildClavicle(side)
		a.buildScapula(side)
	}
	a.buildAirway()
	a.buildAorta()
	a.buildHeart()
	a.buildBody()
	return a
}

// sided returns -1 for the patient's right (side 0), 1 for the left.
func sided(side int) float64 {
	if side == 0 {
		return -1
	}
	return 1
}

// put maps a patient outline of constant depth to the film.
func (a *body) put(g polygon, z float64) polygon {
	return g.each(func(q pt) pt { return a.f.project(q, z) })
}

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

// buildDome sets the height of the diaphragm over the lateral distance x (mm).
func (a *body) buildDome(side int) {
	p := a.p
	top, sulcus := p.domeRight, p.sulcusR
	peak := 64 + float64(4*p.wobble[0])
	if side == 1 {
		top, sulcus = p.domeLeft, p.sulcusL
		peak = 68 + float64(4*p.wobble[1])
	}
	end := float64(p.wall(top+sulcus) * 0.985)
	flat := 0.62 + float64(0.06*p.wobble[2+side])
	a.dome[side] = func(x float64) float64 {
		if x > peak {
			q := (x - peak) / (end - peak)
			q2 := float64(q * q)
			return top + float64(sulcus*float64(q2*(flat+float64((1-flat)*q2))))
		}
		q := (peak - x) / (peak - 14)
		return top + float64(22*float64(q*q))
	}
	sgn := sided(side)
	var g polygon
	const n = 40
	for i := range n + 1 {
		x := lerp(end, 15, float64(i)/n)
		g = append(g, pt{float64(sgn * x), a.dome[side](x)})
	}
	low := top + sulcus + 20
	g = append(g, pt{float64(sgn * 16), low - 6}, pt{float64(sgn * 30), low}, pt{float64(sgn * (end - 16)), low}, pt{float64(sgn * (end - 2)), low - 8})
	s := anatomy.RightHemidiaphragm
	if side == 1 {
		s = anatomy.LeftHemidiaphragm
	}
	a.outline[s] = a.put(g, -10)
}

// medialEdge is the distance of the lung's inner edge from the midline by height.
var medialEdge = [2]spline{
	{{10, 38}, {20, 31}, {45, 25}, {70, 22}, {95, 19}, {125, 15}, {160, 15}, {200, 18}, {235, 23}, {260, 26}},
	{{10, 39}, {20, 33}, {45, 28}, {70, 27}, {95, 24}, {125, 18}, {160, 17}, {200, 19}, {235, 23}, {260, 26}},
}

func (a *body) buildLung(side int) {
	p := a.p
	top, sulcus, fluid := p.domeRight, p.sulcusR, p.effusionR
	s := anatomy.RightLung
	if side == 1 {
		top, sulcus, fluid = p.domeLeft, p.sulcusL, p.effusionL
		s = anatomy.LeftLung
	}
	sgn := sided(side)
	tip := top + sulcus - fluid
	base := min(top+22, tip-4)
	w := p.wobble[4+side*6 : 10+side*6]
	var knots []pt
	knots = append(knots, pt{medialEdge[side].at(base), base})
	for _, y := range []float64{200, 160, 125, 95, 70, 45, 22} {
		if y < base-18 {
			knots = append(knots, pt{medialEdge[side].at(y) + float64(1.2*w[0]) + float64(0.8*w[1]), y})
		}
	}
	apex := float64(2.5 * w[2])
	knots = append(knots, pt{38, 6 + apex}, pt{50, apex}, pt{p.wall(7), 7 + apex})
	for _, y := range []float64{24, 52, 85, 120, 155, 190, 225, 262} {
		if y < tip-12 {
			knots = append(knots, pt{p.wall(y), y})
		}
	}
	knots = append(knots, pt{float64(p.wall(tip) * 0.985), tip})
	line := open(knots, 7)
	end := knots[len(knots)-1].x
	pool := float64(0.9 * fluid) // the fluid climbs the wall: lower towards the middle
	floor := []pt{
		{end, tip},
		{float64(end * 0.93), tip + 5 + float64(0.55*pool)},
		{float64(end * 0.82), tip + 9 + float64(0.8*pool)},
		{float64(end * 0.6), tip + 8 + float64(0.9*pool)},
		{float64(end * 0.38), tip - 1 + float64(0.6*pool)},
		{float64(end * 0.24), max(base+2, tip-12)},
		{knots[0].x, base},
	}
	line = append(line, open(floor, 5)[1:]...)
	g := make(polygon, len(line))
	for i, q := range line {
		z := float64(-25 * (1 - smooth(q.x, 20, 70)))
		shift := float64(0.35 * p.midline(q.y) * (1 - smooth(q.x, 20, 90)))
		g[i] = a.f.project(pt{float64(sgn*q.x) + shift, q.y}, z)
	}
	a.outline[s] = g
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
