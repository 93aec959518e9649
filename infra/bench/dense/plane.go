package dense

// Plane is a bitmap of W x H pixels, row by row, each 0 or 1.
type Plane struct {
	W, H int
	Pix  []uint8
}

// NewPlane returns an empty bitmap.
func NewPlane(w, h int) *Plane { return &Plane{W: w, H: h, Pix: make([]uint8, w*h)} }

// At tells whether pixel (x, y) is set; outside the grid nothing is.
func (p *Plane) At(x, y int) bool {
	return x >= 0 && y >= 0 && x < p.W && y < p.H && p.Pix[y*p.W+x] != 0
}

func (p *Plane) row(y int) []uint8 { return p.Pix[y*p.W : (y+1)*p.W] }

// Area is the number of set pixels.
func (p *Plane) Area() int {
	n := 0
	for _, v := range p.Pix {
		n += int(v)
	}
	return n
}

// Empty tells whether no pixel is set.
func (p *Plane) Empty() bool {
	for _, v := range p.Pix {
		if v != 0 {
			return false
		}
	}
	return true
}

// combine returns the bitmap of f over both pixels.
func combine(a, b *Plane, f func(a, b uint8) uint8) *Plane {
	out := NewPlane(a.W, a.H)
	for i, v := range a.Pix {
		out.Pix[i] = f(v, b.Pix[i])
	}
	return out
}

func and(a, b *Plane) *Plane    { return combine(a, b, func(a, b uint8) uint8 { return a & b }) }
func or(a, b *Plane) *Plane     { return combine(a, b, func(a, b uint8) uint8 { return a | b }) }
func andNot(a, b *Plane) *Plane { return combine(a, b, func(a, b uint8) uint8 { return a &^ b }) }

// rows keeps the rows from..to-1.
func (p *Plane) rows(from, to int) *Plane {
	out := NewPlane(p.W, p.H)
	from, to = max(from, 0), min(to, p.H)
	if from < to {
		copy(out.Pix[from*p.W:to*p.W], p.Pix[from*p.W:to*p.W])
	}
	return out
}

// columns keeps the columns from..to, both included.
func (p *Plane) columns(from, to int) *Plane {
	out := NewPlane(p.W, p.H)
	from, to = max(from, 0), min(to, p.W-1)
	if from <= to {
		for y := range p.H {
			copy(out.row(y)[from:to+1], p.row(y)[from:to+1])
		}
	}
	return out
}

// extent is a bounding box with both ends included.
type extent struct{ x0, y0, x1, y1 int }

func (e extent) width() int  { return e.x1 - e.x0 }
func (e extent) height() int { return e.y1 - e.y0 }

// box returns the bounding box; ok is false for an empty bitmap.
func (p *Plane) box() (e extent, ok bool) {
	e = extent{p.W, p.H, -1, -1}
	for y := range p.H {
		if a, b, any := p.span(y); any {
			e.x0, e.x1 = min(e.x0, a), max(e.x1, b)
			e.y0, e.y1 = min(e.y0, y), y
		}
	}
	return e, e.x1 >= 0
}

// span returns the first and last set x of row y; ok is false for an empty row.
func (p *Plane) span(y int) (a, b int, ok bool) {
	if y < 0 || y >= p.H {
		return 0, 0, false
	}
	row := p.row(y)
	for a = 0; a < p.W && row[a] == 0; a++ {
	}
	if a == p.W {
		return 0, 0, false
	}
	for b = p.W - 1; row[b] == 0; b-- {
	}
	return a, b, true
}

// inRow lists the set x of row y.
func (p *Plane) inRow(y int) []int {
	var xs []int
	for x, v := range p.row(y) {
		if v != 0 {
			xs = append(xs, x)
		}
	}
	return xs
}

// inColumn lists the set y of column x.
func (p *Plane) inColumn(x int) []int {
	var ys []int
	if x < 0 || x >= p.W {
		return nil
	}
	for y := range p.H {
		if p.Pix[y*p.W+x] != 0 {
			ys = append(ys, y)
		}
	}
	return ys
}

// centroid is the mean x and mean y of the set pixels.
func (p *Plane) centroid() (x, y float64, ok bool) {
	var sx, sy, n int
	for j := range p.H {
		for i, v := range p.row(j) {
			if v != 0 {
				sx, sy, n = sx+i, sy+j, n+1
			}
		}
	}
	if n == 0 {
		return 0, 0, false
	}
	return float64(sx) / float64(n), float64(sy) / float64(n), true
}
