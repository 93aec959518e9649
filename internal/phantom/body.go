package phantom

import "cxrepro/internal/anatomy"

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
