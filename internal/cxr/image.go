package cxr

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
)

// Image is one radiograph as 8-bit grey.
//
// Shape: Pix holds Height rows of Width samples, row-major, no padding. Range: 0 black to
// 255 white. Frame: see the package comment. The zero value is an empty picture.
type Image struct {
	Width, Height int
	Pix           []uint8
	// Rules are the named conversion rules that led from the file to Pix, in the order
	// in which they were applied. Empty for a picture that never was a file.
	Rules []string
}

// NewImage returns a black picture of the given size.
func NewImage(width, height int) *Image {
	return &Image{Width: width, Height: height, Pix: make([]uint8, width*height)}
}

// At returns the grey value at (x, y), 0 outside the picture.
func (m *Image) At(x, y int) uint8 {
	if x < 0 || y < 0 || x >= m.Width || y >= m.Height {
		return 0
	}
	return m.Pix[y*m.Width+x]
}

// Row returns row y, sharing memory with the picture.
func (m *Image) Row(y int) []uint8 { return m.Pix[y*m.Width : (y+1)*m.Width] }

// Check reports a picture whose size and number of samples contradict each other.
func (m *Image) Check() error {
	if m.Width <= 0 || m.Height <= 0 {
		return fmt.Errorf("picture of %d x %d pixels has no area", m.Width, m.Height)
	}
	if len(m.Pix) != m.Width*m.Height {
		return fmt.Errorf("picture of %d x %d pixels holds %d samples, want %d", m.Width, m.Height, len(m.Pix), m.Width*m.Height)
	}
	return nil
}

func (m *Image) gray() *image.Gray {
	return &image.Gray{Pix: m.Pix, Stride: m.Width, Rect: image.Rect(0, 0, m.Width, m.Height)}
}

// EncodePNG returns the picture as an 8-bit grey PNG. Decoding it gives the same samples.
func EncodePNG(m *Image) ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("encode png: %w", err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m.gray()); err != nil {
		return nil, fmt.Errorf("encode png: %w", err)
	}
	return b.Bytes(), nil
}

// EncodeJPEG returns the picture as a baseline one-component (grey) JPEG. One component
// has no chroma, so nothing is subsampled. Range: quality 1 to 100.
func EncodeJPEG(m *Image, quality int) ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("encode jpeg: %w", err)
	}
	if quality < 1 || quality > 100 {
		return nil, fmt.Errorf("encode jpeg: quality %d outside 1..100", quality)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m.gray(), &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode jpeg: %w", err)
	}
	return b.Bytes(), nil
}
