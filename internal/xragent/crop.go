package xragent

import (
	"fmt"
	"math"

	"cxrepro/internal/cxr"
)

// CropVersion changes whenever a crop's pixels may.
const CropVersion = 1

// Limits of a crop, pixels. [ours]
const (
	CropMinSide = 28   // of the part that is cut out
	CropMinLong = 448  // of the longer side after enlarging
	CropMaxLong = 1024 // and the most it may be
)

// CropOptions choose how a crop is made.
type CropOptions struct {
	// Margin is added on every side, as a share of the box's sides; 0.10 is the variant.
	Margin float64 `json:"margin,omitempty"`
}

// Crop cuts a box (thousandths of the picture's sides) out of a picture and resamples it
// by Lanczos so that its longer side lies between [CropMinLong] and [CropMaxLong]. It
// returns the crop and the box really used.
//
// Special cases: the box is cut to the picture, then grown to [CropMinSide] where it is
// smaller, inside the picture; a picture smaller than that is taken whole.
func Crop(m *cxr.Image, box [4]int, o CropOptions) (*cxr.Image, [4]int, error) {
	if err := m.Check(); err != nil {
		return nil, box, fmt.Errorf("crop: %w", err)
	}
	if !(o.Margin >= 0 && o.Margin <= 1) {
		return nil, box, fmt.Errorf("crop: margin %v; hint: 0 to 1", o.Margin)
	}
	x0, x1 := span(box[0], box[2], m.Width, o.Margin)
	y0, y1 := span(box[1], box[3], m.Height, o.Margin)
	part := cxr.NewImage(x1-x0, y1-y0)
	for y := range part.Height {
		copy(part.Row(y), m.Row(y0 + y)[x0:x1])
	}
	w, h := cropSize(part.Width, part.Height)
	return lanczos(part, w, h), Thousandths(x0, y0, x1, y1, m.Width, m.Height), nil
}

// Thousandths writes a pixel box (ends exclusive) in thousandths of the sides, rounded
// outwards.
func Thousandths(x0, y0, x1, y1, width, height int) [4]int {
	down := func(v, side int) int { return v * 1000 / side }
	up := func(v, side int) int { return (v*1000 + side - 1) / side }
	return [4]int{down(x0, width), down(y0, height), up(x1, width), up(y1, height)}
}

// span maps one side of a box to pixels lo..hi, hi exclusive, inside 0..side.
func span(a, b, side int, margin float64) (lo, hi int) {
	extra := float64(margin * float64(b-a))
	scale := float64(side) / 1000
	lo = int(math.Floor((float64(a) - extra) * scale))
	hi = int(math.Ceil((float64(b) + extra) * scale))
	lo, hi = min(max(lo, 0), side), min(max(hi, 0), side)
	if short := min(CropMinSide, side) - (hi - lo); short > 0 {
		lo -= short / 2
		hi = lo + min(CropMinSide, side)
		if lo < 0 {
			lo, hi = 0, hi-lo
		}
		if hi > side {
			lo, hi = lo-(hi-side), side
		}
	}
	return lo, hi
}

// cropSize scales a crop so that its longer side is inside the limits.
func cropSize(w, h int) (int, int) {
	long := max(w, h)
	want := min(max(long, CropMinLong), CropMaxLong)
	if long == want {
		return w, h
	}
	scale := func(v int) int { return max(1, (v*want+long/2)/long) }
	return scale(w), scale(h)
}

// lanczos resamples by a windowed sinc of three lobes, widened when shrinking, first along
// rows, then along columns; weights sum to one, values are rounded once at the end.
func lanczos(m *cxr.Image, w, h int) *cxr.Image {
	if w == m.Width && h == m.Height {
		return m
	}
	across := lanczosWeights(m.Width, w)
	wide := make([]float64, w*m.Height)
	for y := range m.Height {
		row := m.Row(y)
		for x, k := range across {
			sum := 0.0
			for i, weight := range k.weights {
				sum += float64(weight * float64(row[k.first+i]))
			}
			wide[y*w+x] = sum
		}
	}
	out := cxr.NewImage(w, h)
	for y, k := range lanczosWeights(m.Height, h) {
		for x := range w {
			sum := 0.0
			for i, weight := range k.weights {
				sum += float64(weight * wide[(k.first+i)*w+x])
			}
			out.Pix[y*w+x] = uint8(min(max(math.Floor(sum+0.5), 0), 255))
		}
	}
	return out
}

type lanczosKernel struct {
	first   int
	weights []float64
}

func lanczosWeights(n, to int) []lanczosKernel {
	const lobes = 3
	scale := float64(n) / float64(to)
	stretch := max(scale, 1)
	out := make([]lanczosKernel, to)
	for i := range out {
		centre := (float64(i) + 0.5) * scale
		first := max(0, int(math.Floor(centre-float64(lobes*stretch)+0.5)))
		last := min(n, int(math.Floor(centre+float64(lobes*stretch)+0.5)))
		k := lanczosKernel{first: first, weights: make([]float64, last-first)}
		sum := 0.0
		for j := range k.weights {
			v := sinc3((float64(first+j) + 0.5 - centre) / stretch)
			k.weights[j] = v
			sum += v
		}
		for j := range k.weights {
			k.weights[j] /= sum
		}
		out[i] = k
	}
	return out
}

func sinc3(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case x <= -3 || x >= 3:
		return 0
	}
	t := math.Pi * x
	return 3 * math.Sin(t) * math.Sin(t/3) / float64(t*t)
}
