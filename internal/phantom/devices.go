package phantom

// drawDevices adds wires, electrodes and a tube to bedside films.
func (a *body) drawDevices(c *canvas, s *stream) {
	if !a.p.devices {
		return
	}
	for range 2 + s.intn(3) {
		from := pt{s.uniform(-130, 130), s.uniform(20, 200)}
		to := pt{from.x + s.normal(0, 60), s.uniform(240, 330)}
		mid := from.mix(to, 0.5).add(pt{s.normal(0, 30), s.normal(0, 20)})
		l := open([]pt{from, mid, to}, 14)
		for i := range l {
			l[i] = a.f.project(l[i], 90)
		}
		c.line(l, 0.7, 3)
		c.boneRows(ellipse(l[0], 6, 6, 24), 0.22, 0.75, 0.3)
		c.boneRows(ellipse(l[0], 2.2, 2.2, 16), 0.7, 0.5, 1)
	}
	if s.chance(0.5) { // a tube in the trachea
		var l []pt
		end := a.p.carinaY - s.uniform(25, 45)
		for y := -60.0; y < end; y += 4 {
			l = append(l, a.f.project(pt{a.p.trachealX(y) + 1.5, y}, 0))
		}
		if len(l) > 1 {
			c.line(l, 0.9, 1.6)
		}
	}
	if s.chance(0.4) { // a line from the neck to the right atrium
		sgn := s.sign()
		l := open([]pt{{float64(sgn * 60), -20}, {float64(sgn * 34), 18}, {-14, 50}, {-22, 90}, {-26, 130}}, 8)
		for i := range l {
			l[i] = a.f.project(l[i], 10)
		}
		c.line(l, 0.9, 1.8)
	}
}

// glyphs are the side markers, 7 x 9.
var glyphs = [3][9]string{
	1: {"##.....", "##.....", "##.....", "##.....", "##.....", "##.....", "##.....", "#######", "#######"},
	2: {"######.", "##...##", "##...##", "##...##", "######.", "##.##..", "##..##.", "##...##", "##...##"},
}

// stamp writes the side marker.
func (c *canvas) stamp(pix []uint8, e *exposure, field [4]int) {
	if e.marker == 0 {
		return
	}
	const cell = 1.7 // mm
	g := glyphs[e.marker]
	x0, y0 := float64(e.markerAt.x*float64(c.w)), float64(e.markerAt.y*float64(c.h))
	px, py := float64(cell*c.sx), float64(cell*c.sy)
	for y := int(y0); y < int(y0+float64(9*py)); y++ {
		for x := int(x0 - float64(3.5*px)); x < int(x0+float64(3.5*px)); x++ {
			if x < field[0] || x >= field[2] || y < field[1] || y >= field[3] {
				continue
			}
			i, j := int((float64(y)-y0)/py), int((float64(x)-x0)/px+3.5)
			if i >= 0 && i < 9 && j >= 0 && j < 7 && g[i][j] == '#' {
				pix[y*c.w+x] = max(pix[y*c.w+x], 235)
			}
		}
	}
}
