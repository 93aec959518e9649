package phantom

import (
	"fmt"

	"cxrepro/internal/cxr"
)

// SampleSize is the edge of a training sample in pixels.
const SampleSize = 512

// SampleMaskBytes is the size of a training sample's packed masks: one bit plane of
// SampleSize rows for each structure.
const SampleMaskBytes = StructureCount * SampleSize * SampleSize / 8

// Sample is one training pair at 512 x 512 over the whole film, each axis with its own
// scale: grey bytes row by row, and bit planes in the order of [Structures], rows of 64
// bytes, the most significant bit leftmost.
type Sample struct{ Pix, Masks []byte }

// TrainingSample draws training pair (seed, index) with wide exposure. It does not depend
// on which other samples are drawn.
func TrainingSample(seed uint64, index int) (*Sample, error) {
	p := New(seed, index, Options{Wide: true})
	pic, err := p.Picture(SampleSize, SampleSize)
	if err != nil {
		return nil, err
	}
	s := newStream(seed, index, "coding")
	im := pic.Image
	if s.chance(0.4) {
		if im, err = recode(im, 60+s.intn(36)); err != nil {
			return nil, fmt.Errorf("phantom %d of seed %d: %w", index, seed, err)
		}
	}
	return &Sample{Pix: im.Pix, Masks: pic.bitPlanes()}, nil
}

// recode passes a picture through JPEG.
func recode(m *cxr.Image, quality int) (*cxr.Image, error) {
	data, err := cxr.EncodeJPEG(m, quality)
	if err != nil {
		return nil, err
	}
	return cxr.Decode(data, cxr.Limits{})
}

// bitPlanes packs all masks, one bit per pixel.
func (p *Picture) bitPlanes() []byte {
	stride := (p.Image.Width + 7) / 8
	list := Structures()
	out := make([]byte, len(list)*p.Image.Height*stride)
	for i, s := range list {
		plane := out[i*p.Image.Height*stride:]
		m := p.Masks.Mask(s)
		for y := range p.Image.Height {
			for _, r := range m.Row(y) {
				setBits(plane[y*stride:(y+1)*stride], int(r.X0), int(r.X1))
			}
		}
	}
	return out
}

// setBits sets bits a up to, not including, b of a line, the most significant bit first.
func setBits(line []byte, a, b int) {
	for a < b && a&7 != 0 {
		line[a>>3] |= 0x80 >> (a & 7)
		a++
	}
	for ; a+8 <= b; a += 8 {
		line[a>>3] = 0xff
	}
	for ; a < b; a++ {
		line[a>>3] |= 0x80 >> (a & 7)
	}
}
