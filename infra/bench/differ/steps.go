package differ

import (
	"fmt"
	"slices"

	"cxrepro/infra/bench/dense"
)

func paint(p *dense.Plane, x0, y0, x1, y1 int, v uint8) {
	for y := max(y0, 0); y <= min(y1, p.H-1); y++ {
		for x := max(x0, 0); x <= min(x1, p.W-1); x++ {
			p.Pix[y*p.W+x] = v
		}
	}
}

func shifted(p *dense.Plane, dx, dy int) *dense.Plane {
	out := dense.NewPlane(p.W, p.H)
	for y := range p.H {
		for x := range p.W {
			if p.At(x-dx, y-dy) {
				out.Pix[y*p.W+x] = 1
			}
		}
	}
	return out
}

func mirrored(p *dense.Plane) *dense.Plane {
	out := dense.NewPlane(p.W, p.H)
	for y := range p.H {
		for x := range p.W {
			out.Pix[y*p.W+x] = p.Pix[y*p.W+p.W-1-x]
		}
	}
	return out
}

func grown(p *dense.Plane, times int) *dense.Plane {
	for range times {
		out := dense.NewPlane(p.W, p.H)
		for y := range p.H {
			for x := range p.W {
				if p.At(x, y) || p.At(x-1, y) || p.At(x+1, y) || p.At(x, y-1) || p.At(x, y+1) {
					out.Pix[y*p.W+x] = 1
				}
			}
		}
		p = out
	}
	return p
}

func inverted(p *dense.Plane) *dense.Plane {
	out := dense.NewPlane(p.W, p.H)
	for i, v := range p.Pix {
		out.Pix[i] = 1 - v
	}
	return out
}

func (m *mutator) erase() {
	name, p := m.structure()
	x0, y0, x1, y1 := m.near(p)
	paint(p, x0, y0, x1, y1, 0)
	m.say("erase %s %d,%d..%d,%d", name, x0, y0, x1, y1)
}

// split clears a line, across or down.
func (m *mutator) split() {
	name, p := m.structure()
	x0, y0, _, _ := m.near(p)
	if m.IntN(2) == 0 {
		paint(p, 0, y0, p.W-1, y0+m.IntN(2), 0)
	} else {
		paint(p, x0, 0, x0+m.IntN(2), p.H-1, 0)
	}
	m.say("split %s at %d,%d", name, x0, y0)
}

func (m *mutator) specks() {
	name, p := m.structure()
	n := 1 + m.IntN(6)
	for range n {
		x, y := m.IntN(p.W), m.IntN(p.H)
		paint(p, x, y, x+m.IntN(3), y+m.IntN(3), 1)
	}
	m.say("specks %s %d", name, n)
}

func (m *mutator) move() {
	name, p := m.structure()
	dx, dy := m.IntN(1+m.c.W/4)-m.c.W/8, m.IntN(1+m.c.H/4)-m.c.H/8
	if m.IntN(2) == 0 {
		dx, dy = m.IntN(5)-2, m.IntN(5)-2
	}
	m.c.Masks[name] = shifted(p, dx, dy)
	m.say("move %s %d,%d", name, dx, dy)
}

func (m *mutator) swap() {
	a, p := m.structure()
	b, q := m.structure()
	m.c.Masks[a], m.c.Masks[b] = q, p
	m.say("swap %s and %s", a, b)
}

func (m *mutator) swapRibs() {
	i := len(read) - 11 + m.IntN(10)
	j := i + 1
	if m.IntN(3) == 0 {
		j = len(read) - 11 + m.IntN(11)
	}
	a, b := read[i], read[j]
	pa, pb := m.c.Masks[a], m.c.Masks[b]
	if pa == nil || pb == nil {
		return
	}
	m.c.Masks[a], m.c.Masks[b] = pb, pa
	m.say("swap %s and %s", a, b)
}

// moveRibs shifts a range of ribs.
func (m *mutator) moveRibs() {
	i := len(read) - 11 + m.IntN(11)
	j := min(len(read)-1, i+m.IntN(11))
	dx, dy := m.IntN(1+m.c.W/5)-m.c.W/10, m.IntN(1+m.c.H/5)-m.c.H/10
	for _, name := range read[i : j+1] {
		if p := m.c.Masks[name]; p != nil {
			m.c.Masks[name] = shifted(p, dx, dy)
		}
	}
	m.say("move %s..%s %d,%d", read[i], read[j], dx, dy)
}

func (m *mutator) grow() {
	name, p := m.structure()
	n := 1 + m.IntN(3)
	m.c.Masks[name] = grown(p, n)
	m.say("grow %s %d", name, n)
}

func (m *mutator) shrink() {
	name, p := m.structure()
	n := 1 + m.IntN(2)
	m.c.Masks[name] = inverted(grown(inverted(p), n))
	m.say("shrink %s %d", name, n)
}

func (m *mutator) clear() {
	name, p := m.structure()
	if m.IntN(2) == 0 {
		delete(m.c.Masks, name)
	} else {
		m.c.Masks[name] = dense.NewPlane(p.W, p.H)
	}
	m.say("clear %s", name)
}

// blob replaces a structure by a rectangle, an ellipse, a line or a pixel.
func (m *mutator) blob() {
	name, p := m.structure()
	x0, y0, x1, y1 := m.rect()
	kind := m.IntN(5)
	paint(p, 0, 0, p.W, p.H, 0)
	switch kind {
	case 0:
		paint(p, x0, y0, x1, y1, 1)
	case 1:
		for y := y0; y <= y1; y++ {
			for x := x0; x <= x1; x++ {
				dx, dy := float64(2*x-x0-x1)/float64(x1-x0+1), float64(2*y-y0-y1)/float64(y1-y0+1)
				if dx*dx+dy*dy <= 1 {
					p.Pix[y*p.W+x] = 1
				}
			}
		}
	case 2:
		paint(p, x0, y0, x0, y1, 1)
	case 3:
		paint(p, x0, y0, x1, y0, 1)
	case 4:
		paint(p, x0, y0, x0, y0, 1)
	}
	m.say("blob %s kind %d %d,%d..%d,%d", name, kind, x0, y0, x1, y1)
}

func (m *mutator) noise() {
	name, p := m.structure()
	share := m.Float64()
	x0, y0, x1, y1 := m.near(p)
	if m.IntN(4) == 0 {
		x0, y0, x1, y1 = 0, 0, p.W-1, p.H-1
	}
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			if m.Float64() < share {
				p.Pix[y*p.W+x] ^= 1
			}
		}
	}
	m.say("noise %s %.2f", name, share)
}

// stretch scales one structure about its box's corner.
func (m *mutator) stretch() {
	name, p := m.structure()
	b := boxOf(p)
	w, h := b[2]-b[0]+1, b[3]-b[1]+1
	nw, nh := max(1, w*(50+m.IntN(110))/100), max(1, h*(50+m.IntN(110))/100)
	out := dense.NewPlane(p.W, p.H)
	xs, ys := nearest(w, nw), nearest(h, nh)
	for y := range nh {
		for x := range nw {
			if p.At(b[0]+xs[x], b[1]+ys[y]) && b[0]+x < p.W && b[1]+y < p.H {
				out.Pix[(b[1]+y)*p.W+b[0]+x] = 1
			}
		}
	}
	m.c.Masks[name] = out
	m.say("stretch %s to %dx%d", name, nw, nh)
}

// flip turns one structure upside down or left to right inside its box.
func (m *mutator) flip() {
	name, p := m.structure()
	b := boxOf(p)
	out := dense.NewPlane(p.W, p.H)
	across := m.IntN(2) == 0
	for y := b[1]; y <= b[3]; y++ {
		for x := b[0]; x <= b[2]; x++ {
			sx, sy := x, b[1]+b[3]-y
			if across {
				sx, sy = b[0]+b[2]-x, y
			}
			if p.At(sx, sy) {
				out.Pix[y*p.W+x] = 1
			}
		}
	}
	m.c.Masks[name] = out
	m.say("flip %s across %v", name, across)
}

// copyOver adds one structure to another.
func (m *mutator) copyOver() {
	a, p := m.structure()
	b, q := m.structure()
	for i, v := range q.Pix {
		p.Pix[i] |= v
	}
	m.say("add %s to %s", b, a)
}

// nibble changes a few pixels near a mask's edge rows or columns, where landmarks sit.
func (m *mutator) nibble() {
	name, p := m.structure()
	b := boxOf(p)
	n := 1 + m.IntN(8)
	for range n {
		x, y := b[0]+m.IntN(b[2]-b[0]+3)-1, b[1]+m.IntN(b[3]-b[1]+3)-1
		switch m.IntN(4) {
		case 0:
			x = b[0] + m.IntN(2)
		case 1:
			x = b[2] - m.IntN(2)
		case 2:
			y = b[1] + m.IntN(2)
		case 3:
			y = b[3] - m.IntN(2)
		}
		if x >= 0 && y >= 0 && x < p.W && y < p.H {
			p.Pix[y*p.W+x] ^= 1
		}
	}
	m.say("nibble %s %d", name, n)
}

// slim keeps only one column or row of a structure.
func (m *mutator) slim() {
	name, p := m.structure()
	x0, y0, x1, y1 := m.near(p)
	if m.IntN(2) == 0 {
		x1 = x0 + m.IntN(2)
		y0, y1 = 0, p.H-1
	} else {
		y1 = y0 + m.IntN(2)
		x0, x1 = 0, p.W-1
	}
	for y := range p.H {
		for x := range p.W {
			if x < x0 || x > x1 || y < y0 || y > y1 {
				p.Pix[y*p.W+x] = 0
			}
		}
	}
	m.say("slim %s to %d,%d..%d,%d", name, x0, y0, x1, y1)
}

// notch redraws the tracheal bifurcation as an inverted Y of random legs.
func (m *mutator) notch() {
	p := dense.NewPlane(m.c.W, m.c.H)
	x, y, h := m.c.W/2+m.IntN(7)-3, m.c.H/4+m.IntN(1+m.c.H/6), 3+m.IntN(1+m.c.H/5)
	top, thick := m.IntN(1+h), 1+m.IntN(1+m.c.W/20)
	paint(p, x-thick, y, x+thick, y+top, 1)
	left, right := m.Float64()*2, m.Float64()*2
	for j := range h {
		l, r := x-int(left*float64(j)), x+int(right*float64(j))
		paint(p, l-2*thick, y+top+j, l-m.IntN(2), y+top+j, 1)
		paint(p, r+m.IntN(2), y+top+j, r+2*thick, y+top+j, 1)
	}
	m.c.Masks["tracheal bifurcation"] = p
	m.say("notch at %d,%d height %d", x, y, h)
}

// slope shears a structure along x.
func (m *mutator) slope() {
	name, p := m.structure()
	b := boxOf(p)
	k := m.Float64()*2 - 1
	out := dense.NewPlane(p.W, p.H)
	for y := b[1]; y <= b[3]; y++ {
		d := int(k * float64(y-(b[1]+b[3])/2))
		for x := range p.W {
			if p.At(x-d, y) {
				out.Pix[y*p.W+x] = 1
			}
		}
	}
	m.c.Masks[name] = out
	m.say("slope %s by %.2f", name, k)
}

// every applies f to all masks.
func (m *mutator) every(f func(*dense.Plane) *dense.Plane) {
	for name, p := range m.c.Masks {
		m.c.Masks[name] = f(p)
	}
	if m.c.CheXmask != nil {
		m.c.CheXmask = f(m.c.CheXmask)
	}
}

func (m *mutator) shiftAll() {
	dx, dy := m.IntN(1+m.c.W/3)-m.c.W/6, m.IntN(1+m.c.H/3)-m.c.H/6
	m.every(func(p *dense.Plane) *dense.Plane { return shifted(p, dx, dy) })
	m.say("shift all %d,%d", dx, dy)
}

func (m *mutator) mirrorAll() {
	m.every(mirrored)
	if m.IntN(2) == 0 {
		for i := 0; i < 8; i += 2 {
			a, b := read[i], read[i+1]
			m.c.Masks[a], m.c.Masks[b] = orEmpty(m.c, b), orEmpty(m.c, a)
		}
	}
	m.say("mirror all")
}

func orEmpty(c *dense.Case, name string) *dense.Plane {
	if p := c.Masks[name]; p != nil {
		return p
	}
	return dense.NewPlane(c.W, c.H)
}

// crop cuts or widens the grid on all sides.
func (m *mutator) crop() {
	at := func(n int) int { return m.IntN(1+n/4) - n/10 }
	x0, y0 := at(m.c.W), at(m.c.H)
	w, h := max(1, m.c.W-x0-at(m.c.W)), max(1, m.c.H-y0-at(m.c.H))
	m.frame(x0, y0, w, h)
	m.say("crop to %dx%d from %d,%d", w, h, x0, y0)
}

// frame moves the grid; new pixels are empty, and grey 90 in the picture.
func (m *mutator) frame(x0, y0, w, h int) {
	m.every(func(p *dense.Plane) *dense.Plane {
		out := dense.NewPlane(w, h)
		for y := range h {
			for x := range w {
				if p.At(x+x0, y+y0) {
					out.Pix[y*w+x] = 1
				}
			}
		}
		return out
	})
	old := m.c.Picture
	pic := &dense.Picture{W: w, H: h, Grey: slices.Repeat([]uint8{90}, w*h)}
	for y := range h {
		for x := range w {
			if sx, sy := x+x0, y+y0; sx >= 0 && sy >= 0 && sx < old.W && sy < old.H {
				pic.Grey[y*w+x] = old.Grey[sy*old.W+sx]
			}
		}
	}
	for name, b := range m.c.Boxes {
		m.c.Boxes[name] = [4]int{b[0] - x0, b[1] - y0, b[2] - x0, b[3] - y0}
	}
	m.c.W, m.c.H, m.c.Picture = w, h, pic
}

func (m *mutator) black(x0, y0, x1, y1 int) {
	p := m.c.Picture
	for y := max(y0, 0); y <= min(y1, p.H-1); y++ {
		for x := max(x0, 0); x <= min(x1, p.W-1); x++ {
			p.Grey[y*p.W+x] = 0
		}
	}
}

// collimate blackens strips along the borders, sometimes ragged.
func (m *mutator) collimate() {
	w, h := m.c.W, m.c.H
	var what []string
	for side := range 4 {
		if m.IntN(2) == 0 {
			continue
		}
		d := m.IntN(1 + min(w, h)/5)
		if m.IntN(10) == 0 {
			d = m.IntN(1 + min(w, h))
		}
		ragged := m.IntN(3) == 0
		for i := range max(w, h) {
			e := d
			if ragged {
				e += m.IntN(3) - 1
			}
			switch side {
			case 0:
				m.black(i, 0, i, e-1)
			case 1:
				m.black(i, h-e, i, h)
			case 2:
				m.black(0, i, e-1, i)
			case 3:
				m.black(w-e, i, w, i)
			}
		}
		what = append(what, fmt.Sprintf("%d:%d", side, d))
	}
	m.say("collimate %v", what)
}

func (m *mutator) blackSpots() {
	n := 1 + m.IntN(5)
	for range n {
		x0, y0, x1, y1 := m.rect()
		if m.IntN(2) == 0 {
			x1, y1 = x0, y0
		}
		m.black(x0, y0, x1, y1)
	}
	m.say("black spots %d", n)
}
