package dense

// content is the lit range around a point along one axis.
type content struct{ first, last, at int }

// none tells that the range has no extent.
func (c content) none() bool   { return c.last == c.first }
func (c content) low() float64 { return float64(c.at-c.first) / float64(c.last-c.first) }
func (c content) high() float64 {
	return float64(c.last-c.at) / float64(c.last-c.first)
}

// contentAlongY looks up and down from y in the 5 columns around x.
func (p *Picture) contentAlongY(x, y int) content {
	return contentOf(y, p.H, func(j int) bool {
		for i := max(x-2, 0); i <= min(x+2, p.W-1); i++ {
			if p.Grey[j*p.W+i] == 0 {
				return false
			}
		}
		return true
	})
}

// contentAlongX looks left and right from x in the 5 rows around y.
func (p *Picture) contentAlongX(x, y int) content {
	return contentOf(x, p.W, func(i int) bool {
		for j := max(y-2, 0); j <= min(y+2, p.H-1); j++ {
			if p.Grey[j*p.W+i] == 0 {
				return false
			}
		}
		return true
	})
}

func contentOf(at, n int, lit func(int) bool) content {
	c := content{first: at, last: at, at: at}
	for i := 0; i < at; i++ {
		if lit(i) {
			c.first = i
			break
		}
	}
	for i := n - 1; i >= at; i-- {
		if lit(i) {
			c.last = i
			break
		}
	}
	return c
}

// nonZero is the bitmap of pixels that are not black.
func (p *Picture) nonZero() *Plane {
	out := NewPlane(p.W, p.H)
	for i, v := range p.Grey {
		if v != 0 {
			out.Pix[i] = 1
		}
	}
	return out
}
