package cxr

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
)

// Decode turns the bytes of a PNG or JPEG file into oriented 8-bit grey.
//
// The header and the end mark are checked before any pixel memory is allocated, so a file
// above the limits or cut off costs a scan over its bytes. The same bytes give the same
// pixels and rules.
//
// Special cases: bytes after the end mark are passed over (trailing_data_ignored); an
// orientation outside 1..8 counts as 1. A file that ends early is refused rather than
// filled with grey.
// Errors: always a *DecodeError.
func Decode(data []byte, limits Limits) (*Image, error) {
	l := limits.withDefaults()
	if int64(len(data)) > l.MaxBytes {
		return nil, decodeErrorf(ClassTooLarge, sniff(data), "%d bytes, limit %d", len(data), l.MaxBytes)
	}
	h, err := scan(data, true)
	if err != nil {
		return nil, err
	}
	if err := l.check(h); err != nil {
		return nil, err
	}
	if h.Model == ModelCMYK && !h.adobe {
		return nil, decodeErrorf(ClassUnsupported, FormatJPEG, "four inks without an Adobe marker: their polarity is unknown")
	}
	src, err := decodeStandard(data, h)
	if err != nil {
		return nil, err
	}
	if b := src.Bounds(); b.Dx() != h.StoredWidth || b.Dy() != h.StoredHeight {
		return nil, decodeErrorf(ClassDamaged, h.Format, "header says %d x %d pixels, data %d x %d",
			h.StoredWidth, h.StoredHeight, b.Dx(), b.Dy())
	}
	m, err := toGrey(src, h)
	if err != nil {
		return nil, err
	}
	if h.Orientation > 1 {
		m = orient(m, h.Orientation)
		m.Rules = append(m.Rules, RuleExif(h.Orientation))
	}
	if h.exifInvalid {
		m.Rules = append(m.Rules, RuleExifIgnored)
	}
	if h.trailing {
		m.Rules = append(m.Rules, RuleTrailingIgnored)
	}
	return m, nil
}

// decodeStandard runs the standard library's decoder and sorts its errors. A panic in
// there is a damaged file for us: one picture must not stop a batch.
func decodeStandard(data []byte, h Header) (src image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			src, err = nil, decodeErrorf(ClassDamaged, h.Format, "the decoder gave up: %v", p)
		}
	}()
	if h.Format == FormatPNG {
		src, err = png.Decode(bytes.NewReader(data))
	} else {
		src, err = jpeg.Decode(bytes.NewReader(data))
	}
	if err == nil {
		return src, nil
	}
	e := &DecodeError{Class: ClassDamaged, Format: h.Format, Detail: "picture data", Err: err}
	var pu png.UnsupportedError
	var ju jpeg.UnsupportedError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		e.Class = ClassTruncated
	case errors.As(err, &pu), errors.As(err, &ju):
		e.Class = ClassUnsupported
	}
	return nil, e
}

// toGrey applies the colour rules to what the standard decoders return.
func toGrey(src image.Image, h Header) (*Image, error) {
	w, ht := h.StoredWidth, h.StoredHeight
	switch s := src.(type) {
	case *image.Gray:
		return greyFromGray(s, w, ht, h.BitDepth), nil
	case *image.Gray16:
		m := minMax16(w, ht, plane16(w, ht, 2, s.Stride, s.Pix))
		m.Rules = []string{RuleMinMax16}
		return m, nil
	case *image.RGBA:
		return greyFromRGB8(s.Pix, s.Stride, w, ht), nil
	case *image.NRGBA:
		return greyFromAlpha8(s, w, ht, h), nil
	case *image.RGBA64:
		m := minMax16(w, ht, plane16(w, ht, 8, s.Stride, s.Pix))
		m.Rules = []string{RuleRGBToGrey, RuleMinMax16}
		return m, nil
	case *image.NRGBA64:
		return greyFromAlpha16(s, w, ht, h), nil
	case *image.Paletted:
		return greyFromPalette(s, w, ht), nil
	case *image.YCbCr:
		return greyFromYCbCr(s, w, ht), nil
	case *image.CMYK:
		return greyFromCMYK(s, w, ht, h), nil
	}
	return nil, decodeErrorf(ClassUnsupported, h.Format, "pixel type %T", src)
}
