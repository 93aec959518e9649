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
	var rows [2*sobelReach + 1][]uint8
	columns := make([]int64, w+2*sobelReach)
	total := 0.0
	for y := range h {
		for k := range rows {
			rows[k] = img.Row(mirror(y+k-sobelReach, h))
		}
		filterColumns(columns[sobelReach:sobelReach+w], &rows)
		for k := 1; k <= sobelReach; k++ {
			columns[sobelReach-k] = columns[sobelReach+mirror(-k, w)]
			columns[sobelReach+w-1+k] = columns[sobelReach+mirror(w-1+k, w)]
		}
		total += sumStrength(columns)
	}
	return total / (float64(w) * float64(h))
}

// filterColumns runs both vertical filters over five picture rows, top to bottom. Each
// entry holds the derivative in its upper and the smoothed value in its lower half; the
// latter is never negative.
func filterColumns(columns []int64, rows *[2*sobelReach + 1][]uint8) {
	n := len(columns)
	r0, r1, r2, r3, r4 := rows[0][:n], rows[1][:n], rows[2][:n], rows[3][:n], rows[4][:n]
	for x := range columns {
		a, b, c, d, e := int64(r0[x]), int64(r1[x]), int64(r2[x]), int64(r3[x]), int64(r4[x])
		columns[x] = (e-a+2*(d-b))<<32 + (a + e + 4*(b+d) + 6*c)
	}
}

// sumStrength runs both horizontal filters over the filtered columns and adds the edge
// strengths up from left to right.
func sumStrength(columns []int64) float64 {
	s0, s1, s2, s3 := unpack(columns[0]), unpack(columns[1]), unpack(columns[2]), unpack(columns[3])
	d0, d1, d2, d3 := unpackHigh(columns[0]), unpackHigh(columns[1]), unpackHigh(columns[2]), unpackHigh(columns[3])
	sum := 0.0
	for _, c := range columns[2*sobelReach:] {
		s4, d4 := unpack(c), unpackHigh(c)
		gx := s4 - s0 + 2*(s3-s1)
		gy := d0 + d4 + 4*(d1+d3) + 6*d2
		sum += math.Sqrt(float64(gx*gx + gy*gy))
		s0, s1, s2, s3 = s1, s2, s3, s4
		d0, d1, d2, d3 = d1, d2, d3, d4
	}
	return sum
}

func unpack(c int64) int32     { return int32(c) }
func unpackHigh(c int64) int32 { return int32(c >> 32) }

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
