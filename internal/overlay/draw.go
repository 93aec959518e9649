package overlay

import (
	"image"
	"image/color"
	"math"

	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// Stroke is how a line is drawn: colour, width in canvas pixels, and Dash, the length in
// canvas pixels of strokes and gaps (0 draws through).
type Stroke struct {
	Colour color.RGBA
	Width  float64
	Dash   float64
}

// Tint lays a transparent colour over the set pixels of a mask; alpha is in (0, 1]. The
// mask may have any grid: it is stretched over the whole source picture.
func (c *Canvas) Tint(m mask.Mask, col color.RGBA, alpha float64) {
	a := uint32(math.Round(alpha * 256))
	c.eachRun(m, func(y, x0, x1 int) {
		line := c.rgba.Pix[y*c.rgba.Stride:]
		for x := x0; x < x1; x++ {
			blend(line[4*x:4*x+4], col, a)
		}
	})
}

// eachRun calls fn for every run of canvas pixels, columns x0 to x1 (exclusive), whose
// centres lie on set pixels of the mask.
func (c *Canvas) eachRun(m mask.Mask, fn func(y, x0, x1 int)) {
	if m.IsEmpty() {
		return
	}
	w, h := c.Bounds()
	columns := firstAt(m.W, c.fullW, c.part.Min.X, c.part.Dx(), w)
	for y := 0; y < h; y++ {
		// The centre of canvas row y in the mask's rows.
		at := (2*h*c.part.Min.Y + (2*y+1)*c.part.Dy()) * m.H / (2 * h * c.fullH)
		for _, r := range m.Row(at) {
			if x0, x1 := columns[r.X0], columns[r.X1]; x0 < x1 {
				fn(y, x0, x1)
			}
		}
	}
}

// firstAt returns, for every column of a mask, the first of w canvas columns whose centre
// lies in it or after it, when the canvas shows size columns from min of a picture of full
// columns.
func firstAt(grid, full, min, size, w int) []int {
	first := make([]int, grid+1)
	x := 0
	for g := range first {
		for x < w && (2*w*min+(2*x+1)*size)*grid < 2*w*g*full {
			x++
		}
		first[g] = x
	}
	return first
}

// Outline draws the border of a mask, from within, about as wide as the stroke.
func (c *Canvas) Outline(m mask.Mask, s Stroke) {
	if m.IsEmpty() {
		return
	}
	w, h := c.Bounds()
	stride := w + 2
	if len(c.stained) < stride*(h+2) {
		c.stained = make([]bool, stride*(h+2))
	}
	set := c.stained
	clear(set)
	c.eachRun(m, func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			set[(y+1)*stride+x+1] = true
		}
	})
	full := max(1, int(math.Round(s.Width)))
	for y := 0; y < h; y++ {
		for x := 0; x < w; x++ {
			i := (y+1)*stride + x + 1
			if !set[i] || (set[i-1] && set[i+1] && set[i-stride] && set[i+stride]) {
				continue
			}
			c.fillRect(image.Rect(x-full/2, y-full/2, x+(full+1)/2, y+(full+1)/2), s.Colour)
		}
	}
}

// Segment draws a straight line between two source positions.
func (c *Canvas) Segment(a, b geom.Vec, s Stroke) { c.stroke(c.Place(a), c.Place(b), s) }

// Path draws straight lines through source positions in order.
func (c *Canvas) Path(points []geom.Vec, s Stroke) {
	for i := 1; i < len(points); i++ {
		c.Segment(points[i-1], points[i], s)
	}
}

// Box draws the edge of a box.
func (c *Canvas) Box(b geom.Box, s Stroke) {
	x0, y0, x1, y1 := float64(b.X0), float64(b.Y0), float64(b.X1), float64(b.Y1)
	c.Path([]geom.Vec{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}, {X: x0, Y: y0}}, s)
}

// Span draws a measured distance: a line with bars across both ends.
func (c *Canvas) Span(a, b geom.Vec, s Stroke) {
	p, q := c.Place(a), c.Place(b)
	s.Dash = 0
	c.stroke(p, q, s)
	d := q.Sub(p)
	if l := d.Length(); l > 0 {
		n := geom.Vec{X: -d.Y / l * (4 + s.Width), Y: d.X / l * (4 + s.Width)}
		for _, e := range []geom.Vec{p, q} {
			c.stroke(geom.Vec{X: e.X - n.X, Y: e.Y - n.Y}, geom.Vec{X: e.X + n.X, Y: e.Y + n.Y}, s)
		}
	}
}

// Dot draws a filled disc of the given radius in canvas pixels with a dark rim.
func (c *Canvas) Dot(p geom.Vec, radius float64, col color.RGBA) {
	q := c.Place(p)
	c.disc(q, radius+1.2, Ink)
	c.disc(q, radius, col)
}

// Cross draws a small upright cross of the given arm length in canvas pixels.
func (c *Canvas) Cross(p geom.Vec, arm float64, s Stroke) {
	q := c.Place(p)
	c.stroke(geom.Vec{X: q.X - arm, Y: q.Y}, geom.Vec{X: q.X + arm, Y: q.Y}, s)
	c.stroke(geom.Vec{X: q.X, Y: q.Y - arm}, geom.Vec{X: q.X, Y: q.Y + arm}, s)
}

func (c *Canvas) stroke(p, q geom.Vec, s Stroke) {
	if s.Dash <= 0 {
		c.bar(p, q, s)
		return
	}
	d := q.Sub(p)
	l := d.Length()
	at := func(t float64) geom.Vec { return geom.Vec{X: p.X + float64(d.X*t/l), Y: p.Y + float64(d.Y*t/l)} }
	for t := 0.0; t < l; t += 2 * s.Dash {
		c.bar(at(t), at(math.Min(t+s.Dash, l)), s)
	}
}

// bar fills the rectangle of a stroke; a zero-length stroke is a dot.
func (c *Canvas) bar(p, q geom.Vec, s Stroke) {
	d := q.Sub(p)
	l := d.Length()
	half := s.Width / 2
	if l == 0 {
		c.disc(p, half, s.Colour)
		return
	}
	n := geom.Vec{X: -d.Y / l * half, Y: d.X / l * half}
	c.polygon([]geom.Vec{{X: p.X + n.X, Y: p.Y + n.Y}, {X: q.X + n.X, Y: q.Y + n.Y}, {X: q.X - n.X, Y: q.Y - n.Y}, {X: p.X - n.X, Y: p.Y - n.Y}}, s.Colour)
}

func (c *Canvas) disc(p geom.Vec, r float64, col color.RGBA) {
	const corners = 32
	pts := make([]geom.Vec, corners)
	for i := range pts {
		a := 2 * math.Pi * float64(i) / corners
		pts[i] = geom.Vec{X: p.X + float64(r*math.Cos(a)), Y: p.Y + float64(r*math.Sin(a))}
	}
	c.polygon(pts, col)
}

// polygon fills a polygon given in canvas coordinates (pixel centres at whole numbers). It
// works on the polygon's own rectangle, so that small marks cost little.
func (c *Canvas) polygon(pts []geom.Vec, col color.RGBA) {
	r := around(pts).Intersect(c.rgba.Rect)
	if r.Empty() {
		return
	}
	c.raster.Reset(r.Dx(), r.Dy())
	x := func(p geom.Vec) float32 { return float32(p.X + 0.5 - float64(r.Min.X)) }
	y := func(p geom.Vec) float32 { return float32(p.Y + 0.5 - float64(r.Min.Y)) }
	c.raster.MoveTo(x(pts[0]), y(pts[0]))
	for _, p := range pts[1:] {
		c.raster.LineTo(x(p), y(p))
	}
	c.raster.ClosePath()
	c.raster.Draw(c.rgba, r, image.NewUniform(col), image.Point{})
}

// around returns the canvas pixels that a polygon can touch.
func around(pts []geom.Vec) image.Rectangle {
	x0, y0, x1, y1 := pts[0].X, pts[0].Y, pts[0].X, pts[0].Y
	for _, p := range pts[1:] {
		x0, x1 = math.Min(x0, p.X), math.Max(x1, p.X)
		y0, y1 = math.Min(y0, p.Y), math.Max(y1, p.Y)
	}
	return image.Rect(int(math.Floor(x0)), int(math.Floor(y0)), int(math.Ceil(x1))+2, int(math.Ceil(y1))+2)
}

func (c *Canvas) fillRect(r image.Rectangle, col color.RGBA) {
	r = r.Intersect(c.rgba.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		line := c.rgba.Pix[c.rgba.PixOffset(r.Min.X, y):c.rgba.PixOffset(r.Max.X, y)]
		for i := 0; i < len(line); i += 4 {
			line[i], line[i+1], line[i+2], line[i+3] = col.R, col.G, col.B, col.A
		}
	}
}

// blend lays a colour over one premultiplied pixel with weight a of 256.
func blend(px []uint8, col color.RGBA, a uint32) {
	px[0] = uint8((uint32(px[0])*(256-a) + uint32(col.R)*a) >> 8)
	px[1] = uint8((uint32(px[1])*(256-a) + uint32(col.G)*a) >> 8)
	px[2] = uint8((uint32(px[2])*(256-a) + uint32(col.B)*a) >> 8)
	px[3] = uint8((uint32(px[3])*(256-a) + 255*a) >> 8)
}
