package chexstruct

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// PixelFacts is all that the pipeline needs to know of a picture's pixels, so that no
// later step decodes it again.
type PixelFacts struct {
	Width, Height int
	// GradientMean is the mean edge strength, see [GradientMean].
	GradientMean float64
	// NonZero are the pixels that are not black.
	NonZero mask.Mask
}

// FactsMediaType of the stored form of [PixelFacts].
const FactsMediaType = "application/vnd.cxrepro.pixel-facts"

// ErrFacts marks bytes that are not stored pixel facts.
var ErrFacts = errors.New("chexstruct: malformed pixel facts")

var factsMagic = []byte("cxfacts\x01")

const maxFactsSide = 1 << 16

// Facts measures a picture at the resolution it has. It must be the native one: edge
// strength depends on resolution.
func Facts(img *cxr.Image) PixelFacts {
	return PixelFacts{Width: img.Width, Height: img.Height, GradientMean: GradientMean(img), NonZero: NonZero(img)}
}

// NonZero returns the mask of the pixels that are not black.
func NonZero(img *cxr.Image) mask.Mask {
	b := mask.NewBuilder(img.Width, img.Height)
	b.Reserve(img.Height, img.Height)
	for y := range img.Height {
		row := img.Row(y)
		for x := 0; x < len(row); {
			if row[x] == 0 {
				x++
				continue
			}
			n := bytes.IndexByte(row[x:], 0)
			if n < 0 {
				n = len(row) - x
			}
			b.Add(y, x, x+n)
			x += n
		}
	}
	return b.Mask()
}

// Encode returns the compact stored form: the magic "cxfacts" and a version byte, width
// and height as varints, the gradient mean as eight bytes, then the runs of non-zero
// pixels as [mask.Mask.AppendBinary] writes them.
func (f PixelFacts) Encode() []byte {
	b := append([]byte(nil), factsMagic...)
	b = binary.AppendUvarint(b, uint64(f.Width))
	b = binary.AppendUvarint(b, uint64(f.Height))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(f.GradientMean))
	return f.NonZero.AppendBinary(b)
}

// DecodeFacts reads the stored form. It accepts exactly what [PixelFacts.Encode] writes
// for the facts of a picture.
//
// Errors wrap [ErrFacts].
func DecodeFacts(data []byte) (PixelFacts, error) {
	bad := func(format string, args ...any) (PixelFacts, error) {
		return PixelFacts{}, fmt.Errorf("%w: %s", ErrFacts, fmt.Sprintf(format, args...))
	}
	if !bytes.HasPrefix(data, factsMagic) {
		return bad("no magic of version %d", factsMagic[len(factsMagic)-1])
	}
	rest := data[len(factsMagic):]
	var size [2]int
	for i := range size {
		v, n := binary.Uvarint(rest)
		if n <= 0 || (n > 1 && rest[n-1] == 0) || v < 1 || v > maxFactsSide {
			return bad("side cut off, not in shortest form or outside 1..%d", maxFactsSide)
		}
		size[i], rest = int(v), rest[n:]
	}
	if len(rest) < 8 {
		return bad("cut off")
	}
	g := math.Float64frombits(binary.BigEndian.Uint64(rest))
	if math.IsNaN(g) || math.IsInf(g, 0) || g < 0 || math.Signbit(g) {
		return bad("gradient mean %v", g)
	}
	m, rest, err := mask.ReadBinary(size[0], size[1], rest[8:])
	if err != nil {
		return PixelFacts{}, fmt.Errorf("%w: %w", ErrFacts, err)
	}
	if len(rest) > 0 {
		return bad("%d bytes after the end", len(rest))
	}
	return PixelFacts{Width: size[0], Height: size[1], GradientMean: g, NonZero: m}, nil
}
