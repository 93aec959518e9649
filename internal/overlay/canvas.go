package overlay

import (
	"fmt"
	"image"
	"image/color"

	"golang.org/x/image/draw"
	"golang.org/x/image/vector"

	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
)

// Size bounds a canvas. MaxSide is the longer side in pixels; a picture that is smaller is
// not enlarged unless Enlarge is set.
type Size struct {
	MaxSide int
	Enlarge bool
}

// Canvas is a radiograph with drawings, or drawings alone. It is not safe for concurrent
// use.
type Canvas struct {
	rgba   *image.RGBA // premultiplied
	raster *vector.Rasterizer
	frame
	letters *letters
	stained []bool // see Tint
}

// New reduces the picture to at most size.MaxSide pixels on its longer side and returns a
// canvas that shows it.
//
// Errors: a picture without pixels, or a MaxSide below 16.
func New(img *cxr.Image, size Size) (*Canvas, error) {
	b, err := Reduce(img, size)
	if err != nil {
		return nil, err
	}
	return b.Canvas(), nil
}

// Blank returns a canvas of one colour whose source coordinates are its own pixels.
func Blank(width, height int, background color.RGBA) *Canvas {
	c := blank(width, height, frame{width, height, image.Rect(0, 0, width, height)})
	c.fillRect(c.rgba.Bounds(), background)
	return c
}

func blank(w, h int, f frame) *Canvas {
	return &Canvas{rgba: image.NewRGBA(image.Rect(0, 0, w, h)), raster: vector.NewRasterizer(w, h), letters: newLetters(), frame: f}
}

// Bounds returns width and height of the canvas in its own pixels.
func (c *Canvas) Bounds() (width, height int) { return c.rgba.Rect.Dx(), c.rgba.Rect.Dy() }

// RGBA returns the pixels drawn so far; they stay the canvas's own.
func (c *Canvas) RGBA() *image.RGBA { return c.rgba }

// Place returns the canvas position of a source position.
func (c *Canvas) Place(p geom.Vec) geom.Vec {
	w, h := c.Bounds()
	sx, sy := float64(w)/float64(c.part.Dx()), float64(h)/float64(c.part.Dy())
	return geom.Vec{X: float64((p.X+0.5-float64(c.part.Min.X))*sx) - 0.5, Y: float64((p.Y+0.5-float64(c.part.Min.Y))*sy) - 0.5}
}

// Lay puts a layer of the same size over the canvas.
//
// Errors: another size.
func (c *Canvas) Lay(layer *Canvas) error {
	if c.rgba.Rect != layer.rgba.Rect {
		return fmt.Errorf("overlay: a layer of %v over a canvas of %v", layer.rgba.Rect.Size(), c.rgba.Rect.Size())
	}
	draw.Draw(c.rgba, c.rgba.Rect, layer.rgba, image.Point{}, draw.Over)
	return nil
}

// Paste draws another canvas with its top left corner at (x, y), scaled to the given
// width and height.
func (c *Canvas) Paste(x, y, width, height int, from *Canvas) {
	to := image.Rect(x, y, x+width, y+height)
	draw.ApproxBiLinear.Scale(c.rgba, to, from.rgba, from.rgba.Rect, draw.Over, nil)
}

// Fill paints a rectangle of the canvas's own pixels.
func (c *Canvas) Fill(x, y, width, height int, col color.RGBA) {
	c.fillRect(image.Rect(x, y, x+width, y+height), col)
}
