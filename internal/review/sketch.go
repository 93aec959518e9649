package review

import (
	"image/color"
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/overlay"
)

// tileSide is the longer side of a tile's picture in pixels; drawings are sized for it.
const tileSide = 720

// Colours by meaning.
var (
	measured  = overlay.Red
	yardstick = overlay.Blue
	reference = overlay.Amber
	boxColour = overlay.Violet
	contour   = color.RGBA{72, 196, 122, 255}
	white     = overlay.White
)

// sketch is a drawing under way over one part of one picture.
type sketch struct {
	*overlay.Canvas
	in *chexstruct.Input
	// side is the longer side of the part in native pixels.
	side float64
}

func newSketch(c *overlay.Canvas, in *chexstruct.Input, part geom.Box) *sketch {
	return &sketch{Canvas: c, in: in, side: float64(max(part.Width(), part.Height()))}
}

func (k *sketch) mask(s anatomy.Structure) mask.Mask { return k.in.Masks.Mask(s) }

// share returns a length in native pixels from a share of the part's longer side.
func (k *sketch) share(f float64) float64 { return f * k.side }

// outline draws the border of structures.
func (k *sketch) outline(list ...anatomy.Structure) {
	for _, s := range list {
		k.Outline(k.mask(s), overlay.Stroke{Colour: contour, Width: 2})
	}
}

// faint fills structures lightly, so that their place shows.
func (k *sketch) faint(list ...anatomy.Structure) {
	for _, s := range list {
		k.Tint(k.mask(s), contour, 0.14)
	}
}

// rule draws a reference line.
func (k *sketch) rule(a, b geom.Vec) {
	k.Segment(a, b, overlay.Stroke{Colour: reference, Width: 3, Dash: 11})
}

// bar draws a measured extent in the colour of its part in the ratio, with its name.
func (k *sketch) bar(a, b geom.Vec, col color.RGBA, name string, side overlay.Side) {
	k.Span(a, b, overlay.Stroke{Colour: overlay.Ink, Width: 9})
	k.Span(a, b, overlay.Stroke{Colour: col, Width: 5})
	if name != "" {
		k.tag(middle(a, b), side, name, col)
	}
}

// drop draws a thin line from a bar's end to the pixel where the extent is reached.
func (k *sketch) drop(from, to geom.Vec, col color.RGBA) {
	if from != to {
		k.Segment(from, to, overlay.Stroke{Colour: col, Width: 2, Dash: 6})
	}
	k.Dot(to, 4, col)
}

func (k *sketch) dot(p geom.Vec, col color.RGBA) { k.Dot(p, 6, col) }

// tag sets a name in the colour of what it names, light enough to read on its plate.
func (k *sketch) tag(p geom.Vec, side overlay.Side, words string, col color.RGBA) {
	k.Tag(p, side, words, overlay.Text{Size: 24, Colour: lighten(col), Bold: true})
}

func (k *sketch) box(name string) {
	if b, ok := k.in.Boxes[name]; ok {
		k.Box(b, overlay.Stroke{Colour: boxColour, Width: 3, Dash: 14})
	}
}

// lighten mixes a colour halfway to white.
func lighten(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((int(v) + 255) / 2) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

func middle(a, b geom.Vec) geom.Vec { return geom.Vec{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2} }

// whole is the part that shows everything.
func whole(in *chexstruct.Input) geom.Box {
	return geom.Box{X1: in.Masks.GridW - 1, Y1: in.Masks.GridH - 1}
}

// tileAspect is width over height of a part that is cut out.
const tileAspect = 5.0 / 6

// closeUp returns a part around the structures that exist and the extra points, with a
// margin as a share of its height, in the tile's proportions and inside the picture; the
// whole picture when there is nothing to look at.
func closeUp(in *chexstruct.Input, margin float64, extra []geom.Vec, list ...anatomy.Structure) geom.Box {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	grow := func(ax, ay, bx, by float64) {
		x0, y0, x1, y1 = math.Min(x0, ax), math.Min(y0, ay), math.Max(x1, bx), math.Max(y1, by)
	}
	for _, s := range list {
		if b, ok := in.Masks.Mask(s).Box(); ok {
			grow(float64(b.X0), float64(b.Y0), float64(b.X1), float64(b.Y1))
		}
	}
	for _, p := range extra {
		grow(p.X, p.Y, p.X, p.Y)
	}
	if x1 < x0 {
		return whole(in)
	}
	w, h := float64(in.Masks.GridW-1), float64(in.Masks.GridH-1)
	height := math.Max((y1-y0)*(1+2*margin), (x1-x0)*(1+2*margin)/tileAspect)
	height = math.Max(height, 0.12*h)
	width := height * tileAspect
	if width >= w || height >= h {
		return whole(in)
	}
	left := clamp((x0+x1-width)/2, 0, w-width)
	top := clamp((y0+y1-height)/2, 0, h-height)
	return geom.Box{X0: int(left), Y0: int(top), X1: int(left + width), Y1: int(top + height)}
}

func clamp(v, lo, hi float64) float64 { return math.Max(lo, math.Min(v, hi)) }

// num and at read a measurement as a number and as a position.
func num(f *chexstruct.Finding, name string) (float64, bool) {
	v, _ := f.Measurement(name)
	return v.Float()
}

func at(f *chexstruct.Finding, name string) (geom.Vec, bool) {
	v, _ := f.Measurement(name)
	return v.Vec()
}

// positions reads a measurement that is a list of positions.
func positions(f *chexstruct.Finding, name string) []geom.Vec {
	v, _ := f.Measurement(name)
	var list []geom.Vec
	for i := range v.Len() {
		if p, ok := v.At(i).Vec(); ok {
			list = append(list, p)
		}
	}
	return list
}

// marks returns the points of a landmark, nil when it is not there.
func marks(f *chexstruct.Finding, name string) []geom.Vec {
	l, _ := f.Landmark(name)
	return l.Points
}
