package cxr

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// Format is a picture file format. The zero value means "none recognised".
type Format uint8

// The formats read here.
const (
	FormatPNG  Format = 1
	FormatJPEG Format = 2
)

// Valid reports whether f is a format read here.
func (f Format) Valid() bool { return f == FormatPNG || f == FormatJPEG }

// String returns "png", "jpeg" or "none".
func (f Format) String() string {
	switch f {
	case FormatPNG:
		return "png"
	case FormatJPEG:
		return "jpeg"
	}
	return "none"
}

// MediaType returns the registered media type, empty for the zero value.
func (f Format) MediaType() string {
	switch f {
	case FormatPNG:
		return "image/png"
	case FormatJPEG:
		return "image/jpeg"
	}
	return ""
}

// Model is what one stored pixel consists of. The zero value is invalid.
type Model uint8

// The pixel models.
const (
	ModelGrey      Model = 1
	ModelGreyAlpha Model = 2
	ModelRGB       Model = 3
	ModelRGBA      Model = 4
	ModelPalette   Model = 5
	ModelYCbCr     Model = 6
	ModelCMYK      Model = 7
	ModelYCCK      Model = 8
)

var modelText = [...]string{
	ModelGrey: "grey", ModelGreyAlpha: "grey+alpha", ModelRGB: "rgb", ModelRGBA: "rgba",
	ModelPalette: "palette", ModelYCbCr: "ycbcr", ModelCMYK: "cmyk", ModelYCCK: "ycck",
}

// String returns the model's name, "invalid" for the zero value.
func (m Model) String() string {
	if m < ModelGrey || m > ModelYCCK {
		return "invalid"
	}
	return modelText[m]
}

// Header is what a picture file says about itself before its pixels.
type Header struct {
	Format Format
	// Width and Height are the size after the EXIF orientation: what Decode returns.
	Width, Height int
	// StoredWidth and StoredHeight are the size as stored.
	StoredWidth, StoredHeight int
	Model                     Model
	BitDepth                  int // bits per sample
	// Orientation is the EXIF orientation 1 to 8; 1 when absent or invalid.
	Orientation int
	// Layered is true for progressive JPEG and interlaced PNG.
	Layered bool

	exifInvalid bool
	trailing    bool // full scan only: bytes follow the end mark
	greyAlpha   bool // PNG: transparency given by a colour key
	adobe       bool // JPEG: Adobe marker seen
}

// DecodeMemory estimates the bytes that decoding holds at once, the result included.
//
// It counts planes: the standard decoder's output, JPEG coefficients of a progressive
// file (four bytes each), and our grey plane. It is an upper estimate for the formats
// read here, rounded up to whole JPEG blocks.
func (h Header) DecodeMemory() int64 {
	pixels := int64(h.StoredWidth+31) * int64(h.StoredHeight+31)
	per := int64(0)
	switch h.Model {
	case ModelGrey, ModelPalette:
		per = int64(max(h.BitDepth, 8) / 8)
	case ModelGreyAlpha, ModelRGB, ModelRGBA:
		per = 4 * int64(max(h.BitDepth, 8)/8)
	case ModelYCbCr:
		per = 3
	case ModelCMYK, ModelYCCK:
		per = 8
	}
	if h.Format == FormatJPEG && h.Model == ModelRGB {
		per = 7
	}
	if h.greyAlpha {
		per = 4 * int64(max(h.BitDepth, 8)/8)
	}
	if h.Layered {
		switch {
		case h.Format == FormatPNG:
			per += per // each interlace pass is a picture of its own
		case h.Model == ModelGrey:
			per += 4
		case h.Model == ModelYCbCr, h.Model == ModelRGB:
			per += 12
		default:
			per += 16
		}
	}
	if h.BitDepth == 16 {
		per += 2 // our 16-bit plane
	}
	per++ // our grey plane
	if h.Orientation > 1 {
		per++
	}
	return pixels * per
}

// errShort is returned by the scanners when the data ends inside the header.
var errShort = errors.New("header continues after the data")

// headerSteps are the prefix lengths that ReadHeader tries in turn.
var headerSteps = []int64{32 << 10, 512 << 10, 8 << 20}

// ReadHeader reads no more of r than it needs to know size and pixel model, at most 8 MiB.
//
// Errors: a *DecodeError for every file that is no readable picture; limits are not
// applied. An error of r itself is returned as it is.
func ReadHeader(r io.Reader) (Header, error) {
	var buf bytes.Buffer
	for i, limit := range headerSteps {
		n, err := io.CopyN(&buf, r, limit-int64(buf.Len()))
		if err != nil && err != io.EOF {
			return Header{}, err
		}
		h, serr := scan(buf.Bytes(), false)
		if !errors.Is(serr, errShort) {
			return h, serr
		}
		if err == io.EOF || n == 0 {
			return Header{}, decodeErrorf(ClassTruncated, sniff(buf.Bytes()), "ends inside the header after %d bytes", buf.Len())
		}
		if i == len(headerSteps)-1 {
			return Header{}, decodeErrorf(ClassDamaged, sniff(buf.Bytes()), "no picture data in the first %d bytes", buf.Len())
		}
	}
	return Header{}, errShort // not reached: the loop returns
}

// scan reads the header of data. With full it also walks to the end mark, so that a
// truncated file is known as such before anything is decoded.
func scan(data []byte, full bool) (Header, error) {
	var h Header
	var err error
	switch f := sniff(data); f {
	case FormatPNG:
		h, err = scanPNG(data, full)
	case FormatJPEG:
		h, err = scanJPEG(data, full)
	default:
		return Header{}, unknownFormat(data)
	}
	if err != nil {
		return Header{}, err
	}
	if h.StoredWidth == 0 || h.StoredHeight == 0 {
		return Header{}, decodeErrorf(ClassBadDimensions, h.Format, "header says %d x %d pixels", h.StoredWidth, h.StoredHeight)
	}
	if h.Orientation == 0 {
		h.Orientation = 1
	}
	h.Width, h.Height = h.StoredWidth, h.StoredHeight
	if h.Orientation >= 5 {
		h.Width, h.Height = h.Height, h.Width
	}
	return h, nil
}

const pngMagic = "\x89PNG\r\n\x1a\n"

func sniff(data []byte) Format {
	switch {
	case bytes.HasPrefix(data, []byte(pngMagic)):
		return FormatPNG
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return FormatJPEG
	}
	return 0
}

// others are formats worth naming when they are refused.
var others = []struct {
	at    int
	magic string
	name  string
}{
	{0, "GIF8", "a GIF"}, {0, "BM", "a BMP"}, {0, "II*\x00", "a TIFF"}, {0, "MM\x00*", "a TIFF"},
	{8, "WEBP", "a WebP"}, {128, "DICM", "a DICOM file"}, {0, "\x00\x00\x00\x0cjP  ", "a JPEG 2000"},
	{0, "\xff\x4f\xff\x51", "a JPEG 2000 code stream"}, {0, "\xff\x0a", "a JPEG XL"},
	{4, "ftypavif", "an AVIF"}, {4, "ftypheic", "a HEIC"},
}

func unknownFormat(data []byte) error {
	if len(data) == 0 {
		return decodeErrorf(ClassEmpty, 0, "the file has zero bytes")
	}
	for _, o := range others {
		if len(data) >= o.at+len(o.magic) && string(data[o.at:o.at+len(o.magic)]) == o.magic {
			return decodeErrorf(ClassUnsupported, 0, "%s, want PNG or JPEG", o.name)
		}
	}
	if isPrefixOfMagic(data) {
		return decodeErrorf(ClassTruncated, 0, "%d bytes hold no more than the beginning of a format mark", len(data))
	}
	kind := "unknown bytes"
	if looksLikeText(data) {
		kind = "text"
	}
	return decodeErrorf(ClassNotAnImage, 0, "the content is %s, want PNG or JPEG", kind)
}

func isPrefixOfMagic(data []byte) bool {
	return len(data) < len(pngMagic) && bytes.HasPrefix([]byte(pngMagic), data) ||
		len(data) < 3 && bytes.HasPrefix([]byte("\xff\xd8\xff"), data)
}

func looksLikeText(data []byte) bool {
	data = data[:min(len(data), 512)]
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 && len(data) >= utf8.UTFMax {
			return false
		}
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		data = data[n:]
	}
	return true
}
