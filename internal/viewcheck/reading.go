package viewcheck

import "cxrepro/internal/cxr"

// Version names what [Prepare] makes of a picture. It belongs into the key of a reading
// and changes whenever the model's input may.
const Version = 1

// Type is a value of the first head, in the published order.
type Type uint8

// The types.
const (
	PA Type = iota
	AP
	Lateral
	NotCXR
)

// Sizes of the four heads, in their order in the output; Outputs is their sum.
const (
	Types   = 4
	Turns   = 4
	Outputs = Types + Turns + 2
)

// Reading is what the four heads say. Type and Turn are distributions, Inverted and
// Mirrored probabilities.
type Reading struct {
	Type     [Types]float64 `json:"type"` // PA, AP, lateral, no chest radiograph
	Turn     [Turns]float64 `json:"turn"` // 0, 90, 180, 270 degrees clockwise
	Inverted float64        `json:"inverted"`
	Mirrored float64        `json:"mirrored"`
}

// HeadNames lists the values of each head in order.
func HeadNames() [][]string {
	return [][]string{{"PA", "AP", "lateral", "not_cxr"}, {"0", "90", "180", "270"}, {"upright_grey", "inverted"}, {"as_taken", "mirrored"}}
}

// Decided returns the value of each head: the most probable one, the first among equals;
// for the last two 1 above one half.
func (r Reading) Decided() [4]int {
	bit := map[bool]int{true: 1}
	return [4]int{most(r.Type[:]), most(r.Turn[:]), bit[r.Inverted > 0.5], bit[r.Mirrored > 0.5]}
}

func most(p []float64) int {
	best := 0
	for i, v := range p {
		if v > p[best] {
			best = i
		}
	}
	return best
}

// GreyOf returns an 8-bit picture as the numbers that [Prepare] reads.
func GreyOf(m *cxr.Image) Grey {
	g := Grey{Width: m.Width, Height: m.Height, Pix: make([]float64, len(m.Pix))}
	for i, v := range m.Pix {
		g.Pix[i] = float64(v)
	}
	return g
}
