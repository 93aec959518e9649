package phantom

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
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
	pic := p.Picture(SampleSize, SampleSize)
	s := newStream(seed, index, "coding")
	pix := pic.Pix
	if s.chance(0.4) {
		var err error
		if pix, err = recode(pix, SampleSize, SampleSize, 60+s.intn(36)); err != nil {
			return nil, fmt.Errorf("phantom %d of seed %d: %w", index, seed, err)
		}
	}
	return &Sample{Pix: pix, Masks: pic.bitPlanes()}, nil
}

// recode passes grey pixels through JPEG.
func recode(pix []uint8, w, h, quality int) ([]uint8, error) {
	var b bytes.Buffer
	src := &image.Gray{Pix: pix, Stride: w, Rect: image.Rect(0, 0, w, h)}
	if err := jpeg.Encode(&b, src, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	im, err := jpeg.Decode(&b)
	if err != nil {
		return nil, err
	}
	g, ok := im.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("recoded picture has type %T, want grey", im)
	}
	out := make([]uint8, 0, w*h)
	for y := range h {
		out = append(out, g.Pix[y*g.Stride:y*g.Stride+w]...)
	}
	return out, nil
}

// bitPlanes packs all masks, one bit per pixel.
func (p *Picture) bitPlanes() []byte {
	stride := (p.Width + 7) / 8
	out := make([]byte, StructureCount*p.Height*stride)
	for _, s := range Structures() {
		plane := out[(int(s)-1)*p.Height*stride:]
		for y, row := range p.masks[s] {
			line := plane[y*stride : (y+1)*stride]
			for _, r := range row {
				for x := r.x0; x < r.x1; x++ {
					if x&7 == 0 && x+8 <= r.x1 {
						line[x>>3] = 0xff
						x += 7
						continue
					}
					line[x>>3] |= 0x80 >> (x & 7)
				}
			}
		}
	}
	return out
}
