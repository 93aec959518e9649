package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"cxrepro/internal/cxr"
)

// longSide is the longest side that long1024 and cxrb_original let pass.
const longSide = 1024

// Prepare applies the rule to the bytes of a PNG or JPEG file and returns what is sent, and
// the media type that it is declared as. mediaType is what the source is known as; empty
// means what its first bytes say.
//
// The same input gives the same bytes. Errors: *cxr.DecodeError for bytes that are no
// readable picture.
func Prepare(r Rule, data []byte, mediaType string) ([]byte, string, error) {
	if !r.Valid() {
		return nil, "", fmt.Errorf("prepare picture: %s", r)
	}
	h, err := cxr.ReadHeader(bytes.NewReader(data))
	if err != nil {
		return nil, "", err
	}
	stored := h.Format.MediaType()
	if mediaType == "" {
		mediaType = stored
	}
	turned := r == Long1024 && h.Orientation > 1
	if r == Original || max(h.StoredWidth, h.StoredHeight) <= longSide && !turned {
		if r != CXRBOriginal {
			mediaType = stored // a wrong label is the quirk of that rule alone
		}
		return data, mediaType, nil
	}
	p, err := decode(data, h, turned)
	if err != nil {
		return nil, "", err
	}
	w, ht := reduced(p.w, p.h)
	out, err := p.resize(w, ht).encode()
	if err != nil {
		return nil, "", err
	}
	if r != CXRBOriginal {
		mediaType = cxr.FormatPNG.MediaType()
	}
	return out, mediaType, nil
}

// reduced returns the size of a picture with its longer side at most longSide.
func reduced(w, h int) (int, int) {
	long := max(w, h)
	if long <= longSide {
		return w, h
	}
	return max(1, w*longSide/long), max(1, h*longSide/long)
}

// plane holds interleaved 8-bit samples of c channels, 1 or 3.
type plane struct {
	w, h, c int
	pix     []uint8
}

// decode returns the stored pixels, one channel where colour says nothing. turned applies the
// EXIF orientation.
//
// Colours are kept for 8-bit pictures; pictures with more bits and inks become grey by the
// rules of package cxr.
func decode(data []byte, h cxr.Header, turned bool) (plane, error) {
	grey, err := cxr.Decode(data, cxr.Limits{}) // also the check that the file is whole
	if err != nil {
		return plane{}, err
	}
	colour := false
	switch h.Model {
	case cxr.ModelRGB, cxr.ModelRGBA, cxr.ModelPalette, cxr.ModelYCbCr:
		colour = h.BitDepth <= 8
	}
	if !colour {
		p := plane{w: grey.Width, h: grey.Height, c: 1, pix: grey.Pix}
		if h.Orientation > 1 && !turned {
			p = p.orient(inverse(h.Orientation))
		}
		return p, nil
	}
	var src image.Image
	if h.Format == cxr.FormatPNG {
		src, err = png.Decode(bytes.NewReader(data))
	} else {
		src, err = jpeg.Decode(bytes.NewReader(data))
	}
	if err != nil {
		return plane{}, fmt.Errorf("prepare picture: %w", err)
	}
	p := colours(src)
	if turned {
		p = p.orient(h.Orientation)
	}
	return p, nil
}

// colours copies the stored colours; alpha is dropped, nothing is composited.
func colours(src image.Image) plane {
	b := src.Bounds()
	p := plane{w: b.Dx(), h: b.Dy(), c: 3, pix: make([]uint8, 3*b.Dx()*b.Dy())}
	set := func(i int, r, g, bl uint8) { p.pix[i], p.pix[i+1], p.pix[i+2] = r, g, bl }
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			switch s := src.(type) {
			case *image.RGBA:
				c := s.RGBAAt(x, y)
				set(i, c.R, c.G, c.B)
			case *image.NRGBA:
				c := s.NRGBAAt(x, y)
				set(i, c.R, c.G, c.B)
			case *image.YCbCr:
				r, g, bl, _ := s.YCbCrAt(x, y).RGBA()
				set(i, uint8(r>>8), uint8(g>>8), uint8(bl>>8))
			case *image.Paletted:
				set(i, 0, 0, 0)
				if k := int(s.ColorIndexAt(x, y)); k < len(s.Palette) {
					c := nrgba(s.Palette[k])
					set(i, c.R, c.G, c.B)
				}
			default:
				r, g, bl, _ := s.At(x, y).RGBA()
				set(i, uint8(r>>8), uint8(g>>8), uint8(bl>>8))
			}
			i += 3
		}
	}
	return p.simplified()
}

// simplified drops two channels where all three say the same everywhere.
func (p plane) simplified() plane {
	for i := 0; i < len(p.pix); i += 3 {
		if p.pix[i] != p.pix[i+1] || p.pix[i] != p.pix[i+2] {
			return p
		}
	}
	out := plane{w: p.w, h: p.h, c: 1, pix: make([]uint8, p.w*p.h)}
	for i := range out.pix {
		out.pix[i] = p.pix[3*i]
	}
	return out
}

// encode returns the samples as PNG.
func (p plane) encode() ([]byte, error) {
	var src image.Image = &image.Gray{Pix: p.pix, Stride: p.w, Rect: image.Rect(0, 0, p.w, p.h)}
	if p.c == 3 {
		m := image.NewNRGBA(image.Rect(0, 0, p.w, p.h))
		for i := range p.w * p.h {
			copy(m.Pix[4*i:], p.pix[3*i:3*i+3])
			m.Pix[4*i+3] = 255
		}
		src = m
	}
	var b bytes.Buffer
	if err := png.Encode(&b, src); err != nil {
		return nil, fmt.Errorf("prepare picture: %w", err)
	}
	return b.Bytes(), nil
}
