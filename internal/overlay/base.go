package overlay

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
)

// Base is a radiograph, or a part of one, reduced to a readable size, from which canvases
// and layers are made. It is immutable and may be shared.
type Base struct {
	grey *image.Gray
	frame
}

// frame is what a canvas shows: a part of a picture of fullW x fullH pixels.
type frame struct {
	fullW, fullH int
	part         image.Rectangle
}

// Reduce reduces the picture to at most size.MaxSide pixels on its longer side, averaging
// the area that each pixel covers, so that thin structures stay visible.
//
// Errors: a picture without pixels, or a MaxSide below 16.
func Reduce(img *cxr.Image, size Size) (*Base, error) {
	return ReducePart(img, geom.Box{X1: img.Width - 1, Y1: img.Height - 1}, size)
}

// ReducePart reduces the part of the picture inside the box, which is clipped to it.
//
// Errors: those of Reduce, or a box without any pixel of the picture.
func ReducePart(img *cxr.Image, part geom.Box, size Size) (*Base, error) {
	if err := img.Check(); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	b, err := Unseen(img.Width, img.Height, part, size)
	if err != nil {
		return nil, err
	}
	reduce(img, b.part, b.grey)
	return b, nil
}

// unseenGrey is the grey of a picture that cannot be shown.
const unseenGrey = 44

// Unseen returns a plain grey base in place of a part of a picture of the given size.
//
// Errors: a size below 1, a MaxSide below 16, a box outside the picture.
func Unseen(width, height int, part geom.Box, size Size) (*Base, error) {
	if width < 1 || height < 1 {
		return nil, fmt.Errorf("overlay: picture of %d x %d pixels", width, height)
	}
	if size.MaxSide < 16 {
		return nil, fmt.Errorf("overlay: longest side %d, at least 16 is needed", size.MaxSide)
	}
	r := image.Rect(part.X0, part.Y0, part.X1+1, part.Y1+1).Intersect(image.Rect(0, 0, width, height))
	if r.Empty() {
		return nil, fmt.Errorf("overlay: part [%d, %d, %d, %d] lies outside the picture of %d x %d", part.X0, part.Y0, part.X1, part.Y1, width, height)
	}
	w, h := fit(r.Dx(), r.Dy(), size)
	b := &Base{grey: image.NewGray(image.Rect(0, 0, w, h)), frame: frame{width, height, r}}
	for i := range b.grey.Pix {
		b.grey.Pix[i] = unseenGrey
	}
	return b, nil
}

func fit(w, h int, size Size) (int, int) {
	long := max(w, h)
	if long <= size.MaxSide && !size.Enlarge {
		return w, h
	}
	return max(1, (w*size.MaxSide+long/2)/long), max(1, (h*size.MaxSide+long/2)/long)
}

// Bounds returns width and height in pixels of the base.
func (b *Base) Bounds() (width, height int) { return b.grey.Rect.Dx(), b.grey.Rect.Dy() }

// Canvas returns a canvas that shows the picture.
func (b *Base) Canvas() *Canvas {
	c := b.Layer()
	for i, g := range b.grey.Pix {
		px := c.rgba.Pix[4*i : 4*i+4 : 4*i+4]
		px[0], px[1], px[2], px[3] = g, g, g, 255
	}
	return c
}

// Layer returns a transparent canvas of the same size and coordinates, for drawings that
// lie over the picture.
func (b *Base) Layer() *Canvas {
	w, h := b.Bounds()
	return blank(w, h, b.frame)
}

// JPEG encodes the picture without drawings. Range: quality 1 to 100.
func (b *Base) JPEG(quality int) ([]byte, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, b.grey, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	return out.Bytes(), nil
}

// reduce writes the area average of a part of img into dst; where dst is larger, pixels
// repeat.
func reduce(img *cxr.Image, part image.Rectangle, dst *image.Gray) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	cols := bounds(part.Dx(), w)
	rows := bounds(part.Dy(), h)
	sums := make([]uint32, w)
	for y := 0; y < h; y++ {
		clear(sums)
		y0, y1 := rows[y], max(rows[y+1], rows[y]+1)
		for sy := y0; sy < y1; sy++ {
			addRow(sums, img.Row(part.Min.Y + sy)[part.Min.X:part.Max.X], cols)
		}
		line := dst.Pix[y*dst.Stride:]
		for x := 0; x < w; x++ {
			n := uint32((max(cols[x+1], cols[x]+1) - cols[x]) * (y1 - y0))
			line[x] = uint8((sums[x] + n/2) / n)
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
