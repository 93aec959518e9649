package phantom

import "cxrepro/internal/cxr"

// slice draws an axial slice through a chest, as CT shows one: the body as an oval on
// black, dark lungs, the heart between them, the spine behind, ribs around, a table below.
// It is a sketch: what matters is that it is no radiograph.
func slice(s *stream, long int) (*cxr.Image, error) {
	const width, height = 400.0, 400.0
	w, h := fitted(width, float64(height*s.uniform(0.8, 1)), long)
	f := &frame{width: width, height: width * (float64(h) / float64(w))}
	c := newCanvas(w, h, f)
	d := &axial{c: c, s: s, at: pt{200 + s.clamped(0, 6, -14, 14), float64(0.5*f.height) + s.clamped(0, 5, -12, 12)}, k: s.uniform(0.88, 1.08)}
	for i := range c.body {
		c.body[i] = -1000
	}
	d.trunk()
	d.chest()
	d.bones()
	return d.window(), nil
}

// axial paints on a canvas in the units of CT: -1000 is air, 0 water. Points are
// millimetres from the middle of the body; x grows to the picture's right.
type axial struct {
	c  *canvas
	s  *stream
	at pt
	k  float64
}

// paint sets everything inside an outline.
func (d *axial) paint(g polygon, v float32) {
	d.c.rowsOf(g.each(func(p pt) pt { return d.at.add(p.times(d.k)) }), func(off, a, b int, _ interval) {
		for x := a; x < b; x++ {
			d.c.body[off+x] = v
		}
	})
}

func (d *axial) oval(x, y, rx, ry float64, v float32) { d.paint(ellipse(pt{x, y}, rx, ry, 48), v) }

// jitter is a knot moved a little.
func (d *axial) jitter(x, y float64) pt {
	return pt{x + d.s.clamped(0, 3, -7, 7), y + d.s.clamped(0, 3, -7, 7)}
}

func (d *axial) trunk() {
	if d.s.chance(0.7) { // the table
		line := open([]pt{{-190, 118}, {-90, 140}, {0, 146}, {90, 140}, {190, 118}}, 10)
		d.paint(ribbon(line, func(float64) float64 { return 3 }), -200)
	}
	rx, ry := d.s.uniform(150, 172), d.s.uniform(98, 116)
	outline := closed([]pt{d.jitter(-rx, 0), d.jitter(float64(-0.72*rx), float64(-0.78*ry)), {0, -ry}, d.jitter(float64(0.72*rx), float64(-0.78*ry)), d.jitter(rx, 0),
		d.jitter(float64(0.7*rx), float64(0.84*ry)), {0, ry}, d.jitter(float64(-0.7*rx), float64(0.84*ry))}, 8)
	d.paint(outline, -95)
	in := d.s.uniform(0.84, 0.93)
	d.paint(outline.each(func(p pt) pt { return p.times(in) }), 45)
	if d.s.chance(0.3) { // arms beside the body
		for _, x := range []float64{-186, 186} {
			d.oval(x, 12, 22, 26, 30)
			d.oval(x, 12, 9, 9, 600)
		}
	}
}

func (d *axial) chest() {
	top := d.s.uniform(0.9, 1.05)
	lung := func(side float64) polygon {
		return closed([]pt{d.jitter(float64(side*30), float64(-64*top)), d.jitter(float64(side*78), float64(-66*top)), d.jitter(float64(side*122), -28), d.jitter(float64(side*126), 26), d.jitter(float64(side*92), 70),
			d.jitter(float64(side*46), 74), d.jitter(float64(side*34), 30), d.jitter(float64(side*40), -20)}, 8)
	}
	for _, side := range []float64{-1, 1} {
		d.paint(lung(side), -850)
		for range 26 { // vessels
			x, y := float64(side*d.s.uniform(44, 118)), d.s.uniform(-52, 60)
			r := d.s.uniform(0.8, 2.6)
			d.oval(x, y, r, r, -60)
		}
	}
	blood := float32(d.s.uniform(40, 60))
	if d.s.chance(0.5) { // contrast
		blood = float32(d.s.uniform(160, 320))
	}
	d.paint(closed([]pt{d.jitter(-30, -58), d.jitter(20, -66), d.jitter(66, -36), d.jitter(70, 4), d.jitter(36, 30), d.jitter(-20, 26), d.jitter(-40, -10)}, 8), blood)
	d.oval(-18, 12, 17, 15, float32(float64(blood)*0.9)) // an atrium
	d.oval(22, 46, 13, 13, blood)                        // the aorta before the spine
	d.oval(-6, 28, 8, 6, -950)                           // the airway
	d.oval(2, 42, 6, 5, 30)                              // the gullet
}

func (d *axial) bones() {
	d.oval(0, 68, 19, 15, 380)
	d.oval(0, 68, 14, 10, 240)
	d.oval(0, 90, 9, 8, 30) // the canal
	d.paint(ribbon([]pt{{0, 98}, {0, 106}, {0, 112}}, func(float64) float64 { return 4 }), 420)
	for _, side := range []float64{-1, 1} {
		d.paint(ribbon([]pt{{float64(side * 16), 84}, {float64(side * 30), 86}, {float64(side * 40), 84}}, func(float64) float64 { return 4 }), 420)
		for _, p := range []pt{{132, -34}, {140, 4}, {132, 44}, {100, 80}, {62, 94}, {104, -66}, {60, -84}} {
			if d.s.chance(0.85) {
				l := []pt{{float64(side * p.x), p.y - 9}, {float64(side * (p.x + 1)), p.y}, {float64(side * p.x), p.y + 9}}
				d.paint(ribbon(l, func(float64) float64 { return 4.5 }), 480)
			}
		}
	}
	d.paint(ribbon([]pt{{-14, -82}, {0, -84}, {14, -82}}, func(float64) float64 { return 5 }), 350)
}

// window shows the slice through a soft-tissue or a lung window.
func (d *axial) window() *cxr.Image {
	level, width := float32(d.s.uniform(20, 60)), float32(d.s.uniform(350, 500))
	if d.s.chance(0.5) {
		level, width = float32(d.s.uniform(-650, -500)), float32(d.s.uniform(1300, 1700))
	}
	c := d.c
	c.spread(c.body, d.s.uniform(0.4, 1.1))
	noise := make([]float32, len(c.body))
	c.noiseField(noise, d.s, d.s.chance(0.5))
	amp := float32(d.s.uniform(8, 30))
	im := cxr.NewImage(c.w, c.h)
	for i, v := range c.body {
		v += float32(amp * noise[i])
		g := (v-level)/width + 0.5
		im.Pix[i] = uint8(max(0, min(255, float32(255*g))))
	}
	return im
}
