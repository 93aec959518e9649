package picture

import "math"

// Resampling as Pillow does it for 8-bit pictures, from its documented method: a cubic kernel
// (a = -0.5) widened by the scale when shrinking, weights that sum to one, rows first, then
// columns, each pass in fixed point and rounded to 8 bits.
const (
	cubicA    = -0.5
	cubicHalf = 2.0 // the kernel's support
	precision = 22  // bits after the point of a weight
)

func cubic(x float64) float64 {
	x = math.Abs(x)
	switch {
	case x < 1:
		return float64(float64(float64(float64((cubicA+2)*x)-(cubicA+3))*x)*x) + 1
	case x < 2:
		return float64(float64(float64(float64(float64(float64(x-5)*x)+8)*x)-4) * cubicA)
	}
	return 0
}

// taps says for each output sample where its inputs begin, and their weights.
type taps struct {
	first   []int
	weights [][]int32
}

func newTaps(in, out int) taps {
	scale := float64(in) / float64(out)
	wide := max(scale, 1)
	support := float64(cubicHalf * wide)
	t := taps{first: make([]int, out), weights: make([][]int32, out)}
	for i := range out {
		center := float64((float64(i) + 0.5) * scale)
		lo := max(0, int(center-support+0.5))
		hi := min(in, int(center+support+0.5))
		w, sum := make([]float64, hi-lo), 0.0
		for k := range w {
			w[k] = cubic(float64((float64(k+lo) - center + 0.5) * float64(1/wide)))
			sum += w[k]
		}
		fixed := make([]int32, len(w))
		for k := range w {
			x := float64(w[k]/sum) * (1 << precision)
			fixed[k] = int32(x + math.Copysign(0.5, x))
		}
		t.first[i], t.weights[i] = lo, fixed
	}
	return t
}

func clip(sum int) uint8 { return uint8(min(max(sum>>precision, 0), 255)) }

// resize returns the picture at w x h.
func (p plane) resize(w, h int) plane {
	if w != p.w {
		p = p.resizeRows(w)
	}
	if h != p.h {
		p = p.resizeColumns(h)
	}
	return p
}

func (p plane) resizeRows(w int) plane {
	out := plane{w: w, h: p.h, c: p.c, pix: make([]uint8, w*p.h*p.c)}
	t := newTaps(p.w, w)
	for y := range p.h {
		row, dst := p.pix[y*p.w*p.c:(y+1)*p.w*p.c], out.pix[y*w*p.c:(y+1)*w*p.c]
		for x, weights := range t.weights {
			for c := range p.c {
				sum, at := 1<<(precision-1), t.first[x]*p.c+c
				for _, k := range weights {
					sum += int(row[at]) * int(k)
					at += p.c
				}
				dst[x*p.c+c] = clip(sum)
			}
		}
	}
	return out
}

func (p plane) resizeColumns(h int) plane {
	stride := p.w * p.c
	out := plane{w: p.w, h: h, c: p.c, pix: make([]uint8, stride*h)}
	t := newTaps(p.h, h)
	sums := make([]int, stride)
	for y, weights := range t.weights {
		for i := range sums {
			sums[i] = 1 << (precision - 1)
		}
		for k, weight := range weights {
			row := p.pix[(t.first[y]+k)*stride:][:stride]
			for i, s := range row {
				sums[i] += int(s) * int(weight)
			}
		}
		dst := out.pix[y*stride:][:stride]
		for i, s := range sums {
			dst[i] = clip(s)
		}
	}
	return out
}
