package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// pictureMasks reads one grey picture per structure: <stem>/<official name><ext>. Samples
// of at least the threshold are set: any non-zero one for PNG, 128 for JPEG, whose coding
// blurs the edges of what were two values.
type pictureMasks struct {
	fsys      fs.FS
	want      anatomy.Set
	ext       string
	threshold uint8
}

func (p *pictureMasks) Declared() anatomy.Set { return p.want }
func (p *pictureMasks) Close() error          { return nil }

func (p *pictureMasks) Masks(stem string, width, height int) (*anatomy.Masks, error) {
	if err := stemName(stem); err != nil {
		return nil, err
	}
	out, err := newMasks(width, height, p.want)
	if err != nil {
		return nil, err
	}
	for _, s := range p.want.List() {
		m, err := p.one(stem, s, width, height)
		if err != nil {
			return nil, err
		}
		if err := out.Put(s, m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *pictureMasks) one(stem string, s anatomy.Structure, width, height int) (mask.Mask, error) {
	f, err := p.fsys.Open(stem + "/" + s.Name() + p.ext)
	if errors.Is(err, fs.ErrNotExist) {
		return mask.Mask{}, maskErrorf(MasksMissing, s, "no %s file of this name in the picture's folder", p.ext[1:])
	}
	if err != nil {
		return mask.Mask{}, fmt.Errorf("read mask of %s: %w", s.Name(), withoutPath(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, cxr.DefaultMaxBytes+1))
	if err != nil {
		return mask.Mask{}, fmt.Errorf("read mask of %s: %w", s.Name(), withoutPath(err))
	}
	return p.decode(data, s, width, height)
}

// decode turns a file's bytes into runs: packed bits, the program's usual form, without
// unpacking them, anything else through grey.
func (p *pictureMasks) decode(data []byte, s anatomy.Structure, width, height int) (mask.Mask, error) {
	limits := cxr.Limits{MaxPixels: max(int64(width)*int64(height), 1)}
	m, err := packedMask(data, s, limits, width, height)
	if errors.Is(err, cxr.ErrNotBits) {
		var img *cxr.Image
		if img, err = cxr.Decode(data, limits); err == nil {
			if img.Width != width || img.Height != height {
				return mask.Mask{}, wrongSize(s, img.Width, img.Height, width, height)
			}
			return thresholded(img, p.threshold), nil
		}
	}
	var bad *cxr.DecodeError
	switch {
	case errors.As(err, &bad) && bad.Class == cxr.ClassTooLarge:
		return mask.Mask{}, maskErrorf(MasksWrongSize, s, "the mask is larger than the picture of %d x %d: %s", width, height, bad.Detail)
	case errors.As(err, &bad):
		return mask.Mask{}, &MaskFileError{Class: MasksDamaged, Structure: s, Detail: "the mask's picture", Err: err}
	}
	return m, err
}

// packedMask reads a one-bit PNG.
func packedMask(data []byte, s anatomy.Structure, limits cxr.Limits, width, height int) (mask.Mask, error) {
	var b *mask.Builder
	err := cxr.ScanBits(data, limits, func(h cxr.Header) error {
		if h.Width != width || h.Height != height {
			return wrongSize(s, h.Width, h.Height, width, height)
		}
		b = mask.NewBuilder(width, height)
		return nil
	}, func(y int, packed []byte) error {
		addPacked(b, y, packed, width)
		return nil
	})
	if err != nil {
		return mask.Mask{}, err
	}
	return b.Mask(), nil
}

// addPacked adds the runs of a row of packed bits, leftmost pixel in the highest bit: a
// word at a time, from one change of colour to the next.
func addPacked(b *mask.Builder, y int, packed []byte, width int) {
	start := -1 // of an open run
	last := uint64(0)
	var word [8]byte
	for at := 0; at < len(packed); at += 8 {
		clear(word[:])
		copy(word[:], packed[at:])
		w := binary.BigEndian.Uint64(word[:])
		if rest := width - 8*at; rest < 64 {
			w &= ^(^uint64(0) >> rest) // bits beyond the row are undefined
		}
		changes := w ^ (w>>1 | last<<63)
		for changes != 0 {
			n := bits.LeadingZeros64(changes)
			changes &^= 1 << (63 - n)
			if start < 0 {
				start = 8*at + n
			} else {
				b.Add(y, start, 8*at+n)
				start = -1
			}
		}
		last = w & 1
	}
	if start >= 0 {
		b.Add(y, start, width)
	}
}

func wrongSize(s anatomy.Structure, w, h, width, height int) error {
	return maskErrorf(MasksWrongSize, s, "the masks are %d x %d pixels, the picture %d x %d", w, h, width, height)
}

// thresholded returns the pixels of at least t.
func thresholded(img *cxr.Image, t uint8) mask.Mask {
	b := mask.NewBuilder(img.Width, img.Height)
	for y := range img.Height {
		row := img.Row(y)
		for x := nextSet(row, 0); x < len(row); x = nextSet(row, x) {
			if row[x] < t {
				x++
				continue
			}
			x0 := x
			for x < len(row) && row[x] >= t {
				x++
			}
			b.Add(y, x0, x)
		}
	}
	return b.Mask()
}
