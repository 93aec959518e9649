package chexstruct

import (
	"math"

	"cxrepro/internal/cxr"
)

// sobelReach is how far the 5x5 kernel reaches from its centre.
const sobelReach = 2

// GradientMean returns the mean over all pixels of sqrt(gx^2 + gy^2), where gx and gy are
// the unnormalised 5x5 Sobel derivatives: weights -1 -2 0 2 1 along the derivative, 1 4 6
// 4 1 across. At the border the picture continues mirrored without repeating the edge
// pixel. A ramp of k grey levels per pixel scores 128k.
//
// The derivatives are exact integers and the square root is correctly rounded; rows are
// summed left to right and then top to bottom, so the value is the same on every machine.
// Special cases: a picture without pixels gives 0.
// Source: [official code] window filter; the paper names Sobel only.
func GradientMean(img *cxr.Image) float64 {
	w, h := img.Width, img.Height
	if w == 0 || h == 0 {
		return 0
	}
	s := newSobel(w)
	total := 0.0
	for y := range h {
		total += s.row(img, y)
	}
	return total / (float64(w) * float64(h))
}

// sobel keeps the horizontally filtered rows around the one at hand.
type sobel struct {
	padded []int32    // one picture row with its mirrored ends
	derive [5][]int32 // rows filtered with -1 -2 0 2 1
	smooth [5][]int32 // rows filtered with 1 4 6 4 1
	held   [5]int     // picture row in each slot, -1 for none
}

func newSobel(w int) *sobel {
	s := &sobel{padded: make([]int32, w+2*sobelReach)}
	for i := range s.derive {
		s.derive[i], s.smooth[i], s.held[i] = make([]int32, w), make([]int32, w), -1
	}
	return s
}

// row returns the sum of the edge strengths of picture row y.
func (s *sobel) row(img *cxr.Image, y int) float64 {
	var d, m [5][]int32
	for k := range 5 {
		src := mirror(y+k-sobelReach, img.Height)
		slot := src % 5
		if s.held[slot] != src {
			s.filter(img.Row(src), slot)
			s.held[slot] = src
		}
		d[k], m[k] = s.derive[slot], s.smooth[slot]
	}
	return sumStrength(d, m)
}

// filter runs both horizontal filters over a picture row.
func (s *sobel) filter(pix []uint8, slot int) {
	w := len(pix)
	p := s.padded
	for x, v := range pix {
		p[x+sobelReach] = int32(v)
	}
	for k := 1; k <= sobelReach; k++ {
		p[sobelReach-k] = int32(pix[mirror(-k, w)])
		p[sobelReach+w-1+k] = int32(pix[mirror(w-1+k, w)])
	}
	derive, smooth := s.derive[slot][:w], s.smooth[slot][:w]
	for x := range derive {
		q := p[x : x+5 : x+5]
		derive[x] = q[4] - q[0] + 2*(q[3]-q[1])
		smooth[x] = q[0] + q[4] + 4*(q[1]+q[3]) + 6*q[2]
	}
}

// sumStrength combines five filtered rows, top to bottom, into the edge strengths of the
// middle one and adds them up from left to right.
func sumStrength(d, m [5][]int32) float64 {
	n := len(d[0])
	d0, d1, d2, d3, d4 := d[0][:n], d[1][:n], d[2][:n], d[3][:n], d[4][:n]
	m0, m1, m3, m4 := m[0][:n], m[1][:n], m[3][:n], m[4][:n]
	sum := 0.0
	for x := range n {
		gx := d0[x] + d4[x] + 4*(d1[x]+d3[x]) + 6*d2[x]
		gy := m4[x] - m0[x] + 2*(m3[x]-m1[x])
		sum += math.Sqrt(float64(gx*gx + gy*gy))
	}
	return sum
}

// mirror maps an index outside 0..n-1 inside, without repeating the edge.
func mirror(i, n int) int {
	if n == 1 {
		return 0
	}
	for i < 0 || i >= n {
		if i < 0 {
			i = -i
		} else {
			i = 2*(n-1) - i
		}
	}
	return i
}
