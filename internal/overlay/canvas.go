package overlay

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

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

// Canvas is a radiograph with drawings. It is not safe for concurrent use.
type Canvas struct {
	rgba   *image.RGBA
	raster *vector.Rasterizer
	// source size in native pixels and canvas pixels per native pixel on each axis.
	srcW, srcH int
	sx, sy     float64
	letters    *letters
}

// New reduces the picture to at most size.MaxSide pixels on its longer side, averaging the
// area that each canvas pixel covers, so that thin structures stay visible.
//
// Errors: a picture without pixels, or a MaxSide below 16.
func New(img *cxr.Image, size Size) (*Canvas, error) {
	if err := img.Check(); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	if size.MaxSide < 16 {
		return nil, fmt.Errorf("overlay: longest side %d, at least 16 is needed", size.MaxSide)
	}
	w, h := fit(img.Width, img.Height, size)
	c := blank(w, h)
	c.srcW, c.srcH = img.Width, img.Height
	c.sx, c.sy = float64(w)/float64(img.Width), float64(h)/float64(img.Height)
	reduce(img, c.rgba)
	return c, nil
}

// Blank returns a canvas of one colour whose source coordinates are its own pixels.
func Blank(width, height int, background color.RGBA) *Canvas {
	c := blank(width, height)
	c.srcW, c.srcH, c.sx, c.sy = width, height, 1, 1
	c.fillRect(c.rgba.Bounds(), background)
	return c
}

func blank(w, h int) *Canvas {
	return &Canvas{rgba: image.NewRGBA(image.Rect(0, 0, w, h)), raster: vector.NewRasterizer(w, h), letters: newLetters()}
}

func fit(w, h int, size Size) (int, int) {
	long := max(w, h)
	if long <= size.MaxSide && !size.Enlarge {
		return w, h
	}
	return max(1, (w*size.MaxSide+long/2)/long), max(1, (h*size.MaxSide+long/2)/long)
}

// Bounds returns width and height of the canvas in its own pixels.
func (c *Canvas) Bounds() (width, height int) { return c.rgba.Rect.Dx(), c.rgba.Rect.Dy() }

// RGBA returns the pixels drawn so far; they stay the canvas's own.
func (c *Canvas) RGBA() *image.RGBA { return c.rgba }

// Place returns the canvas position of a source position.
func (c *Canvas) Place(p geom.Vec) geom.Vec {
	return geom.Vec{X: float64((p.X+0.5)*c.sx) - 0.5, Y: float64((p.Y+0.5)*c.sy) - 0.5}
}

// PNG encodes the canvas.
func (c *Canvas) PNG() ([]byte, error) {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := e.Encode(&b, c.rgba); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	return b.Bytes(), nil
}

// reduce writes the area average of img into dst; where dst is larger, pixels repeat.
func reduce(img *cxr.Image, dst *image.RGBA) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	cols := bounds(img.Width, w)
	rows := bounds(img.Height, h)
	sums := make([]uint32, w)
	for y := 0; y < h; y++ {
		clear(sums)
		y0, y1 := rows[y], max(rows[y+1], rows[y]+1)
		for sy := y0; sy < y1; sy++ {
			addRow(sums, img.Row(sy), cols)
		}
		line := dst.Pix[y*dst.Stride:]
		for x := 0; x < w; x++ {
			n := uint32((max(cols[x+1], cols[x]+1) - cols[x]) * (y1 - y0))
			g := uint8((sums[x] + n/2) / n)
			line[4*x], line[4*x+1], line[4*x+2], line[4*x+3] = g, g, g, 255
		}
	}
}

func addRow(sums []uint32, row []uint8, cols []int) {
	for x := range sums {
		var s uint32
		for _, v := range row[cols[x]:max(cols[x+1], cols[x]+1)] {
			s += uint32(v)
		}
		sums[x] += s
	}
}

// bounds returns where each of n output cells starts among in source cells, plus the end.
func bounds(in, n int) []int {
	b := make([]int, n+1)
	for i := range b {
		b[i] = i * in / n
	}
	b[n] = in
	return b
}
