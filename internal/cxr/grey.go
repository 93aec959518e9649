package cxr

import (
	"encoding/binary"
	"image"
	"image/color"
	"slices"
)

// luma is BT.601 luma in 16-bit fixed point. Range: channels up to 16 bits; equal channels
// return their value.
// Source: the weights and rounding of Pillow's RGB -> L, which the published segmentation
// code and most readers of these data sets use.
func luma(r, g, b uint64) uint64 { return (19595*r + 38470*g + 7471*b + 0x8000) >> 16 }

func greyFromGray(s *image.Gray, w, h, depth int) *Image {
	m := &Image{Width: w, Height: h, Rules: []string{RuleGrey8}}
	if depth < 8 {
		m.Rules = []string{RuleGreyExpanded}
	}
	if s.Stride == w {
		m.Pix = s.Pix[: w*h : w*h]
		return m
	}
	m.Pix = make([]uint8, w*h)
	for y := range h {
		copy(m.Row(y), s.Pix[y*s.Stride:y*s.Stride+w])
	}
	return m
}

func greyFromRGB8(pix []uint8, stride, w, h int) *Image {
	m := NewImage(w, h)
	for y := range h {
		src, dst := pix[y*stride:y*stride+4*w], m.Row(y)
		for x := range dst {
			p := src[4*x : 4*x+3 : 4*x+3]
			dst[x] = uint8(luma(uint64(p[0]), uint64(p[1]), uint64(p[2])))
		}
	}
	m.Rules = []string{RuleRGBToGrey}
	return m
}

// greyFromAlpha8 serves grey and colour with alpha: the decoder repeats grey in three
// channels, whose luma is that grey.
func greyFromAlpha8(s *image.NRGBA, w, h int, hd Header) *Image {
	m := greyFromRGB8(s.Pix, s.Stride, w, h)
	opaque := true
	for y := 0; y < h && opaque; y++ {
		row := s.Pix[y*s.Stride : y*s.Stride+4*w]
		for x := 3; x < len(row); x += 4 {
			if row[x] != 0xff {
				opaque = false
				break
			}
		}
	}
	m.Rules = alphaRules(opaque)
	if isGrey(hd) {
		m.Rules = append(m.Rules, greyRule(hd))
	} else {
		m.Rules = append(m.Rules, RuleRGBToGrey)
	}
	return m
}

func greyFromAlpha16(s *image.NRGBA64, w, h int, hd Header) *Image {
	opaque := true
	for y := 0; y < h && opaque; y++ {
		row := s.Pix[y*s.Stride : y*s.Stride+8*w]
		for x := 6; x < len(row); x += 8 {
			if row[x] != 0xff || row[x+1] != 0xff {
				opaque = false
				break
			}
		}
	}
	m := minMax16(w, h, plane16(w, h, 8, s.Stride, s.Pix))
	m.Rules = alphaRules(opaque)
	if !isGrey(hd) { // luma of three equal channels changes nothing and is no rule
		m.Rules = append(m.Rules, RuleRGBToGrey)
	}
	m.Rules = append(m.Rules, RuleMinMax16)
	return m
}

func isGrey(h Header) bool { return h.Model == ModelGrey || h.Model == ModelGreyAlpha }

func greyRule(h Header) string {
	if h.BitDepth < 8 {
		return RuleGreyExpanded
	}
	return RuleGrey8
}

func alphaRules(opaque bool) []string {
	if opaque {
		return []string{RuleAlphaOpaque}
	}
	return []string{RuleAlphaDropped}
}

// plane16 collects 16-bit grey from big-endian samples. Pixels take step bytes: 2 is grey,
// 8 is colour, which becomes luma at 16 bits.
func plane16(w, h, step, stride int, pix []uint8) []uint16 {
	plane := make([]uint16, w*h)
	for y := range h {
		row, dst := pix[y*stride:y*stride+step*w], plane[y*w:(y+1)*w]
		if step == 2 {
			for x := range dst {
				dst[x] = binary.BigEndian.Uint16(row[2*x:])
			}
			continue
		}
		for x := range dst {
			p := row[8*x : 8*x+6 : 8*x+6]
			dst[x] = uint16(luma(uint64(binary.BigEndian.Uint16(p)), uint64(binary.BigEndian.Uint16(p[2:])), uint64(binary.BigEndian.Uint16(p[4:]))))
		}
	}
	return plane
}

// minMax16 applies rule minmax16.
func minMax16(w, h int, plane []uint16) *Image {
	lo, hi := slices.Min(plane), slices.Max(plane)
	m := NewImage(w, h)
	if hi == lo {
		return m
	}
	table := make([]uint8, int(hi-lo)+1)
	span := uint32(hi - lo)
	for d := range table {
		table[d] = uint8((2*255*uint32(d) + span) / (2 * span))
	}
	for i, v := range plane {
		m.Pix[i] = table[v-lo]
	}
	return m
}

func greyFromPalette(s *image.Paletted, w, h int) *Image {
	var table [256]uint8
	used, transparent := [256]bool{}, [256]bool{}
	for i, c := range s.Palette {
		var r, g, b, a uint8
		switch c := c.(type) {
		case color.NRGBA: // colour as stored, alpha apart
			r, g, b, a = c.R, c.G, c.B, c.A
		case color.RGBA:
			r, g, b, a = c.R, c.G, c.B, c.A
		}
		table[i] = uint8(luma(uint64(r), uint64(g), uint64(b)))
		transparent[i] = a != 0xff
	}
	m := NewImage(w, h)
	for y := range h {
		dst := m.Row(y)
		for x, i := range s.Pix[y*s.Stride : y*s.Stride+w] {
			dst[x] = table[i]
			used[i] = true
		}
	}
	m.Rules = []string{RulePalette}
	for i := range len(s.Palette) {
		if used[i] && transparent[i] {
			m.Rules = append(m.Rules, RuleAlphaDropped)
			break
		}
	}
	m.Rules = append(m.Rules, RuleRGBToGrey)
	return m
}

func greyFromYCbCr(s *image.YCbCr, w, h int) *Image {
	m := NewImage(w, h)
	shift := 0 // columns that share a chroma sample, as a power of two
	switch s.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	for y := range h {
		dst := m.Row(y)
		luminance := s.Y[y*s.YStride : y*s.YStride+w]
		chroma := s.COffset(s.Rect.Min.X, s.Rect.Min.Y+y)
		for x := range dst {
			cb, cr := s.Cb[chroma+x>>shift], s.Cr[chroma+x>>shift]
			if cb == 128 && cr == 128 { // grey stored as colour
				dst[x] = luminance[x]
				continue
			}
			r, g, b := color.YCbCrToRGB(luminance[x], cb, cr)
			dst[x] = uint8(luma(uint64(r), uint64(g), uint64(b)))
		}
	}
	m.Rules = []string{RuleYCbCr, RuleRGBToGrey}
	return m
}

// inkToLight is (255-ink)(255-black)/255, rounded the way 8-bit imaging code does it.
func inkToLight(ink, black uint8) uint64 {
	k := 255 - uint32(black)
	t := uint32(ink)*k + 128
	return uint64(k - ((t>>8)+t)>>8)
}

// greyFromCMYK works on ink amounts: the standard decoder has already undone Adobe's
// inversion and, for YCCK, the YCbCr coding.
func greyFromCMYK(s *image.CMYK, w, h int, hd Header) *Image {
	m := NewImage(w, h)
	for y := range h {
		src, dst := s.Pix[y*s.Stride:y*s.Stride+4*w], m.Row(y)
		for x := range dst {
			p := src[4*x : 4*x+4 : 4*x+4]
			dst[x] = uint8(luma(inkToLight(p[0], p[3]), inkToLight(p[1], p[3]), inkToLight(p[2], p[3])))
		}
	}
	if hd.Model == ModelYCCK {
		m.Rules = append(m.Rules, RuleYCCK)
	}
	m.Rules = append(m.Rules, RuleAdobeInverted, RuleCMYK, RuleRGBToGrey)
	return m
}
