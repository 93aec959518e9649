package segment

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// Resize names how a picture comes onto the model's grid. The name is part of a result's
// identity.
type Resize uint8

// The rules. Each squeezes the whole picture onto the grid without padding.
const (
	// ResizeNearest takes source index min(floor(d*s), in-1) on each axis, s being
	// float32(in)/float32(out) and the product taken in float32: the rule of the
	// published pipeline, which aliases. Source: [official code].
	ResizeNearest Resize = iota + 1
	// ResizeArea is the mean over the source rectangle that a grid pixel covers, in exact
	// integers, rounded half up to 8 bits. Source: [ours].
	ResizeArea
	// ResizeBilinear interpolates between the four source pixels around the grid pixel's
	// centre (half-pixel centres, edges repeated), rounded half up to 8 bits; it does not
	// smooth before it shrinks. Source: [ours].
	ResizeBilinear
)

var resizeNames = [...]string{ResizeNearest: "nearest", ResizeArea: "area", ResizeBilinear: "bilinear"}

// Resizes lists every rule.
func Resizes() []Resize { return []Resize{ResizeNearest, ResizeArea, ResizeBilinear} }

func resizeList() string { return strings.Join(resizeNames[1:], ", ") }

// Valid reports whether r is one of the rules.
func (r Resize) Valid() bool { return r >= ResizeNearest && int(r) < len(resizeNames) }

// String returns the stable text form.
func (r Resize) String() string {
	if !r.Valid() {
		return "invalid"
	}
	return resizeNames[r]
}

// MarshalText writes the text form.
func (r Resize) MarshalText() ([]byte, error) {
	if !r.Valid() {
		return nil, fmt.Errorf("segment: resize rule %d is invalid", r)
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads the text form.
func (r *Resize) UnmarshalText(b []byte) error {
	i := slices.Index(resizeNames[:], string(b))
	if i < int(ResizeNearest) {
		return fmt.Errorf("resize rule %q is unknown; use one of %s", b, resizeList())
	}
	*r = Resize(i)
	return nil
}

// sampler brings pictures onto a w x h grid; it remembers the index tables of the last
// picture size. Not for concurrent use.
type sampler struct {
	rule       Resize
	w, h       int
	inW, inH   int
	cols, rows []int32 // source index per grid index, nearest
	sums       []int64 // one grid row of area sums
}

// sample writes the grid's grey values, row-major, into dst.
func (s *sampler) sample(m *cxr.Image, dst []uint8) {
	switch s.rule {
	case ResizeNearest:
		s.nearest(m, dst)
	case ResizeArea:
		s.area(m, dst)
	case ResizeBilinear:
		s.bilinear(m, dst)
	default:
		panic(fmt.Sprintf("segment: resize rule %d", s.rule)) // cards are validated
	}
}

func (s *sampler) nearest(m *cxr.Image, dst []uint8) {
	if s.inW != m.Width || s.inH != m.Height {
		s.inW, s.inH = m.Width, m.Height
		s.cols, s.rows = mask.NearestIndex(m.Width, s.w), mask.NearestIndex(m.Height, s.h)
	}
	for y, sy := range s.rows {
		src, out := m.Row(int(sy)), dst[y*s.w:(y+1)*s.w]
		for x, sx := range s.cols {
			out[x] = src[sx]
		}
	}
}

// area measures in units in which a source pixel is as long as the grid has pixels, so
// that all weights are whole numbers: grid pixel d covers [d*in, (d+1)*in), source pixel
// i covers [i*out, (i+1)*out).
func (s *sampler) area(m *cxr.Image, dst []uint8) {
	if len(s.sums) != s.w {
		s.sums = make([]int64, s.w)
	}
	total := int64(m.Width) * int64(m.Height)
	for y := range s.h {
		clear(s.sums)
		from, to := y*m.Height, (y+1)*m.Height
		for sy := from / s.h; sy*s.h < to; sy++ {
			wy := int64(min(to, (sy+1)*s.h) - max(from, sy*s.h))
			s.addRow(m.Row(sy), wy)
		}
		for x, v := range s.sums {
			dst[y*s.w+x] = uint8((v + total/2) / total)
		}
	}
}

func (s *sampler) addRow(src []uint8, wy int64) {
	for x := range s.w {
		from, to := x*len(src), (x+1)*len(src)
		first, last := from/s.w, (to-1)/s.w
		if first == last {
			s.sums[x] += wy * int64(to-from) * int64(src[first])
			continue
		}
		sum := int64((first+1)*s.w-from)*int64(src[first]) + int64(to-last*s.w)*int64(src[last])
		whole := 0
		for _, p := range src[first+1 : last] {
			whole += int(p)
		}
		s.sums[x] += wy * (sum + int64(whole)*int64(s.w))
	}
}

func (s *sampler) bilinear(m *cxr.Image, dst []uint8) {
	for y := range s.h {
		y0, y1, fy := between(y, m.Height, s.h)
		top, bottom := m.Row(y0), m.Row(y1)
		for x := range s.w {
			x0, x1, fx := between(x, m.Width, s.w)
			a := lerp(float64(top[x0]), float64(top[x1]), fx)
			b := lerp(float64(bottom[x0]), float64(bottom[x1]), fx)
			dst[y*s.w+x] = uint8(lerp(a, b, fy) + 0.5)
		}
	}
}

// between returns the two source indices around a grid pixel's centre and how far it
// lies towards the second.
func between(d, in, out int) (i, j int, f float64) {
	c := float64((float64(d)+0.5)*float64(in)/float64(out)) - 0.5
	if c <= 0 {
		return 0, 0, 0
	}
	i = min(int(c), in-1)
	return i, min(i+1, in-1), c - float64(i)
}

func lerp(a, b, f float64) float64 { return a + float64((b-a)*f) }
