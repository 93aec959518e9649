package phantom

import "cxrepro/internal/anatomy"

// bodyDepth is the front-to-back extent of the body by height, cm.
var bodyDepth = table{{-200, 15}, {-120, 13}, {-60, 11.5}, {-30, 12.5}, {0, 14.5}, {40, 18}, {100, 20.5}, {200, 21.5}, {420, 22}}

// draw fills the canvas from the anatomy.
func (a *body) draw(c *canvas) {
	p := a.p
	c.rowsOf(a.torso, func(off, x0, x1 int, v interval) {
		y := (float64(off/c.w)+0.5)/c.sy - a.f.origin.y
		d := float32(bodyDepth.at(y/a.f.scaleY) + float64(0.06*(p.fat-20)))
		q := chordOf(v)
		for x := x0; x < x1; x++ {
			k := 1 - q.at(x)
			c.body[off+x] += float32(d * root(1-float32(k*k)))
		}
	})
	for _, g := range a.arms {
		c.tubeMax(g, 1, 8.5, c.body)
	}
	for _, g := range a.breasts {
		c.breast(g, 1.4+float64(1.9*p.breast))
	}
	a.drawLungs(c)
	c.tube(a.outline[anatomy.Heart], 0.8, 10.5, c.solid, c.dense)
	c.tube(a.strip, 1.6, 9, c.solid)
	c.tube(a.outline[anatomy.AorticArch], 1.1, 4.5, c.solid, c.dense)
	c.tube(a.outline[anatomy.DescendingAorta], 1, 6, c.solid, c.dense)
	c.tube(a.outline[anatomy.AscendingAorta], 1, 5, c.solid, c.dense)
	a.sink(c)
	c.tubeMax(a.outline[anatomy.Trachea], 1, 2.2, c.airway)
	c.tubeMax(a.outline[anatomy.TrachealBifurcation], 1, 1.5, c.airway)
	a.drawBones(c)
}

// breast adds a soft body that is thickest in its lower part.
func (c *canvas) breast(g polygon, depth float64) {
	lo, hi := g.bounds()
	inv := float32(1 / (float64((hi.y-lo.y)*c.sy) + 1))
	top := float32(lo.y * c.sy)
	c.rowsOf(g, func(off, a, b int, v interval) {
		s := float32((float32(off/c.w) - top) * inv)
		d := float32(depth) * float32(s*(0.25+s))
		q := chordOf(v)
		for x := a; x < b; x++ {
			r := q.at(x)
			c.body[off+x] += float32(d * (float32(0.7*r) + float32(0.3*root(r))))
		}
	})
}

// sink weakens organs below the domes, where liver and stomach have their density.
func (a *body) sink(c *canvas) {
	for _, dia := range []anatomy.Structure{anatomy.RightHemidiaphragm, anatomy.LeftHemidiaphragm} {
		inv := float32(1 / (18 * c.sy))
		c.scanColumns(a.outline[dia], func(x int, in []interval) {
			for y := max(0, int(in[0].lo+0.5)); y < c.h; y++ {
				c.dense[y*c.w+x] *= max(0.2, 1-float32((float32(y)+0.5-float32(in[0].lo))*inv))
			}
		})
	}
}

// drawLungs adds the lungs, thinned below the domes where liver and stomach displace
// them.
func (a *body) drawLungs(c *canvas) {
	dome := make([]float32, c.w)
	for side := range 2 {
		lung, dia := anatomy.RightLung, anatomy.RightHemidiaphragm
		if side == 1 {
			lung, dia = anatomy.LeftLung, anatomy.LeftHemidiaphragm
		}
		for i := range dome {
			dome[i] = float32(c.h)
		}
		c.scanColumns(a.outline[dia], func(x int, in []interval) { dome[x] = float32(in[0].lo) })
		depth := float32(16.5)
		mm := float32(1 / c.sy)
		c.rowsOf(a.outline[lung], func(off, x0, x1 int, v interval) {
			w := float32((v.hi - v.lo) / c.sx * 0.1)
			d := min(float32(1.7*w), depth)
			q := chordOf(v)
			y := float32(off/c.w) + 0.5
			for x := x0; x < x1; x++ {
				r := root(q.at(x))
				t := float32(d * (float32(0.55*r) + float32(0.45*root(r))))
				if under := float32((y - dome[x]) * mm); under > 0 {
					liver := float32(0.2 * root(float32(180*under)))
					left := t - liver
					t = max(left, float32(t*0.09), 0)
				}
				c.air[off+x] += t
			}
		})
	}
	s := a.p.domeLeft
	for i, g := range a.gasBubbles(s) {
		depth := 4.5
		if i > 0 {
			depth = 1 + float64(0.5*a.p.gas)
		}
		c.tubeMax(g, 0.9, depth, c.gas)
	}
}

// gasBubbles are the stomach bubble under the left dome and some bowel gas.
func (a *body) gasBubbles(dome float64) []polygon {
	p := a.p
	w := &p.wobble
	out := []polygon{a.put(ellipse(pt{58 + float64(7*w[10]), dome + 24 + float64(3*w[11])}, 15+float64(15*p.gas), 7+float64(8*p.gas), 32), 20)}
	for i := range 6 {
		c := pt{20 + float64(26*float64(i)) + float64(9*w[12+i]), dome + 66 + float64(14*w[17-i])}
		if i > 2 {
			c.x = float64(-34*float64(i-2)) + float64(12*w[i])
			c.y += 30
		}
		r := float64(p.gas * (5 + float64(4*max(0, 1.2+w[(7*i)%24]))))
		for k := range 3 {
			q := pt{c.x + float64(0.8*r*w[(i+5*k)%24]), c.y + float64(0.5*r*w[(3*i+k)%24])}
			out = append(out, a.put(ellipse(q, r, float64(0.75*r), 20), 20))
		}
	}
	return out
}

func (a *body) drawBones(c *canvas) {
	p := a.p
	k := p.boneStrength
	for side := range 2 {
		for i := 1; i <= 12; i++ {
			c.boneColumns(a.posterior[side][i], float64(0.30*k), 0.8, 0.45)
		}
		for i := 1; i <= 8; i++ {
			c.boneColumns(a.anterior[side][i], float64(0.13*k), 0.86, 0.5)
		}
		s, cl := anatomy.RightScapula, anatomy.RightClavicle
		if side == 1 {
			s, cl = anatomy.LeftScapula, anatomy.LeftClavicle
		}
		c.boneColumns(a.outline[cl], float64(0.42*k), 0.8, 0.5)
		c.boneRows(a.outline[s], float64(0.38*k), 0.96, 0.92)
		for i, l := range a.scapLines[side] {
			c.line(l, [...]float64{3.6, 3, 1.6, 3.4}[i], [...]float64{0.42, 0.38, 0.4, 0.36}[i]*k)
		}
		c.boneRows(a.humeri[side], float64(0.38*k), 0.82, 0.6)
	}
	for i, g := range a.spine {
		c.boneRows(g, float64(0.38*k), 0.9, 0.75)
		m := a.spineMid[i]
		lo, hi := g.bounds()
		w, h := float64(0.5*(hi.x-lo.x)), float64(0.5*(hi.y-lo.y))
		for _, sgn := range []float64{-1, 1} {
			ped := pt{m.x + float64(sgn*0.58*w), m.y - float64(0.25*h)}
			c.boneRows(ellipse(ped, float64(0.2*w), float64(0.36*h), 16), float64(0.2*k), 0.75, 0.4)
			c.line([]pt{{m.x + float64(sgn*0.6*w), m.y - float64(0.1*h)}, {m.x + float64(sgn*(w+7)), m.y - float64(0.3*h)}}, 2.8, 0.2*k)
		}
		c.boneRows(ellipse(pt{m.x + float64(2*a.f.turn*8), m.y + float64(0.75*h)}, float64(0.17*w), float64(0.55*h), 16), float64(0.2*k), 0.8, 0.6)
	}
}
