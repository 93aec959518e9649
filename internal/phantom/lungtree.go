package phantom

// drawVessels grows the pulmonary vessels from both hila and draws them inside the lungs.
func (a *body) drawVessels(c *canvas, s *stream) {
	p := a.p
	for side := range 2 {
		sgn := sided(side)
		hy := p.carinaY + 22
		if side == 1 {
			hy -= 9
		}
		hilum := pt{float64(sgn * 30), hy}
		if side == 1 {
			hilum.x += 4
		}
		n := 9
		for i := range n {
			// angles fan from up to down-lateral, in degrees from straight up
			ang := lerp(12, 172, (float64(i)+s.uniform(0.1, 0.9))/float64(n))
			r := s.uniform(2.6, 4.4)
			start := hilum.add(pt{float64(sgn * s.uniform(-3, 6)), lerp(-16, 26, float64(i)/float64(n)) + s.uniform(-3, 3)})
			a.branch(c, s, sgn, start, ang, r, s.uniform(20, 34), 0)
		}
		// the hilum itself: overlapping short thick vessels
		for range 5 {
			q := hilum.add(pt{float64(sgn * s.uniform(-4, 8)), s.uniform(-16, 22)})
			e := q.add(pt{float64(sgn * s.uniform(2, 12)), s.uniform(-4, 16)})
			c.capsule(a.f.project(q, 5), a.f.project(e, 5), s.uniform(4, 7.5), s.uniform(3, 5), c.vessel, 1)
		}
	}
}

// branch draws one vessel with its daughters.
func (a *body) branch(c *canvas, s *stream, sgn float64, from pt, angle, radius, length float64, depth int) {
	bend := s.normal(0, 9)
	steps := 3
	q := from
	r := radius
	for range steps {
		angle += bend / float64(steps)
		l := length / float64(steps)
		e := q.add(pt{float64(sgn * float64(l*sine(float64(clamp(angle, -40, 220)*radians)))), float64(-l * cosine(float64(clamp(angle, -40, 220)*radians)))})
		r2 := float64(r * 0.9)
		c.capsule(a.f.project(q, 0), a.f.project(e, 0), float64(r*a.f.scaleY), float64(r2*a.f.scaleY), c.vessel, 1)
		q, r = e, r2
	}
	if depth >= 4 || r < 0.35 {
		return
	}
	spread := s.uniform(16, 34)
	tilt := s.normal(0, 8)
	a.branch(c, s, sgn, q, angle+spread+tilt, float64(r*s.uniform(0.62, 0.85)), float64(length*s.uniform(0.68, 0.95)), depth+1)
	a.branch(c, s, sgn, q, angle-spread+tilt, float64(r*s.uniform(0.62, 0.85)), float64(length*s.uniform(0.68, 0.95)), depth+1)
}

// drawOpacities fills patches of lung with fluid or tissue.
func (a *body) drawOpacities(c *canvas, s *stream) {
	for _, o := range a.p.opacities {
		at := a.f.project(o.at, 0)
		n := 7
		if o.nodule {
			n = 1
		}
		for range n {
			m := at
			rx, ry := o.rx, o.ry
			if !o.nodule {
				m = at.add(pt{s.normal(0, float64(0.5*o.rx)), s.normal(0, float64(0.5*o.ry))})
				rx, ry = float64(o.rx*s.uniform(0.4, 1)), float64(o.ry*s.uniform(0.4, 1))
			}
			c.blob(m, rx, ry, o.dense, o.nodule)
		}
	}
}

// blob lowers the air around m: by a soft hill, or as a ball for a nodule.
func (c *canvas) blob(m pt, rx, ry, dense float64, ball bool) {
	x0, x1 := max(0, int(float64((m.x-rx)*c.sx))), min(c.w-1, int(float64((m.x+rx)*c.sx)))
	y0, y1 := max(0, int(float64((m.y-ry)*c.sy))), min(c.h-1, int(float64((m.y+ry)*c.sy)))
	for y := y0; y <= y1; y++ {
		v := ((float64(y)+0.5)/c.sy - m.y) / ry
		for x := x0; x <= x1; x++ {
			u := ((float64(x)+0.5)/c.sx - m.x) / rx
			q := 1 - float64(u*u) - float64(v*v)
			if q <= 0 {
				continue
			}
			i := y*c.w + x
			if ball {
				c.air[i] -= min(c.air[i], float32(0.2*rx*dense)*root(float32(q)))
			} else {
				c.air[i] -= float32(c.air[i] * float32(0.55*dense*float64(q*q)))
			}
		}
	}
}
