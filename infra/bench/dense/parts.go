package dense

// part is one 4-connected component.
type part struct {
	area int
	box  extent
}

// parts numbers the 4-connected components in raster order of their first pixel.
// label holds the number plus one for each pixel, 0 for background.
func (p *Plane) parts() (label []int32, list []part) {
	label = make([]int32, len(p.Pix))
	var stack []int32
	w := int32(p.W)
	for start, v := range p.Pix {
		if v == 0 || label[start] != 0 {
			continue
		}
		number := int32(len(list) + 1)
		c := part{box: extent{p.W, p.H, -1, -1}}
		label[start] = number
		stack = append(stack[:0], int32(start))
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			x, y := int(i%w), int(i/w)
			c.area++
			c.box = extent{min(c.box.x0, x), min(c.box.y0, y), max(c.box.x1, x), max(c.box.y1, y)}
			visit := func(j int32) {
				if p.Pix[j] != 0 && label[j] == 0 {
					label[j] = number
					stack = append(stack, j)
				}
			}
			if x > 0 {
				visit(i - 1)
			}
			if x < p.W-1 {
				visit(i + 1)
			}
			if y > 0 {
				visit(i - w)
			}
			if y < p.H-1 {
				visit(i + w)
			}
		}
		list = append(list, c)
	}
	return label, list
}

// pick keeps the component of the greatest size; the lowest number wins ties.
func (p *Plane) pick(size func(part) int) *Plane {
	label, list := p.parts()
	if len(list) == 0 {
		return p
	}
	best := 0
	for i, c := range list {
		if size(c) > size(list[best]) {
			best = i
		}
	}
	return p.only(label, func(n int) bool { return n == best })
}

// only keeps the components that keep accepts, by number from 0.
func (p *Plane) only(label []int32, keep func(int) bool) *Plane {
	out := NewPlane(p.W, p.H)
	for i, n := range label {
		if n != 0 && keep(int(n)-1) {
			out.Pix[i] = 1
		}
	}
	return out
}

// largest, widest and tallest are LA, LW and LH.
func (p *Plane) largest() *Plane { return p.pick(func(c part) int { return c.area }) }
func (p *Plane) widest() *Plane  { return p.pick(func(c part) int { return c.box.width() }) }
func (p *Plane) tallest() *Plane { return p.pick(func(c part) int { return c.box.height() }) }
