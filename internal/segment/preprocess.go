package segment

import (
	"cxrepro/internal/cxr"
)

// preprocessor fills a model's input from pictures. Not for concurrent use.
type preprocessor struct {
	sampler sampler
	grid    []uint8 // the picture on the model's grid
	luts    [][256]float32
}

func newPreprocessor(in Input) *preprocessor {
	p := &preprocessor{
		sampler: sampler{rule: in.Resize, w: in.Width, h: in.Height},
		grid:    make([]uint8, in.Width*in.Height),
		luts:    make([][256]float32, in.Channels),
	}
	for c := range p.luts {
		p.luts[c] = lut(float32(in.Divisor), float32(in.Mean[c]), float32(in.Std[c]))
	}
	return p
}

// lut holds (p/divisor - mean)/std for every grey value, each step rounded to float32 as
// the published pipeline does. Normalising after the resize gives the same numbers as
// before it, because a nearest resize only picks.
func lut(divisor, mean, std float32) (t [256]float32) {
	for p := range t {
		v := float32(float32(p) / divisor)
		v = float32(v - mean)
		t[p] = float32(v / std)
	}
	return t
}

// fill writes the input tensor, channel after channel.
func (p *preprocessor) fill(m *cxr.Image, dst []float32) {
	p.sampler.sample(m, p.grid)
	for c := range p.luts {
		t, out := &p.luts[c], dst[c*len(p.grid):(c+1)*len(p.grid)]
		for i, g := range p.grid {
			out[i] = t[g]
		}
	}
}
