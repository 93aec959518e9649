package chexstruct

import (
	"math"

	"cxrepro/internal/geom"
)

// curvature returns the mean curvature of points along their index, in 1/pixel: the mean
// of |x”y' - y”x'| / (x'^2 + y'^2)^(3/2), 0 where the denominator is 0. Derivatives are
// the forward difference at the first point, the backward one at the last, and half the
// two-step difference inside.
//
// DEVIATION D2: the released program stores derivatives as integers and so truncates each
// towards zero; that is the meaning of truncate, a switch (TestDerivativeSwitch).
// Source: [paper] for the formula, [official code] for the differences.
func curvature(pts []geom.Point, truncate bool) float64 {
	x, y := make([]float64, len(pts)), make([]float64, len(pts))
	for i, p := range pts {
		x[i], y[i] = float64(p.X), float64(p.Y)
	}
	x1, y1 := derivative(x, truncate), derivative(y, truncate)
	x2, y2 := derivative(x1, truncate), derivative(y1, truncate)
	sum := 0.0
	for i := range pts {
		v := float64(x1[i]*x1[i]) + float64(y1[i]*y1[i])
		d := float64(v * math.Sqrt(v))
		if d == 0 {
			continue
		}
		sum += math.Abs(float64(x2[i]*y1[i])-float64(y2[i]*x1[i])) / d
	}
	return sum / float64(len(pts))
}

func derivative(v []float64, truncate bool) []float64 {
	n := len(v)
	d := make([]float64, n)
	for i := range v {
		switch {
		case n == 1:
		case i == 0:
			d[i] = v[1] - v[0]
		case i == n-1:
			d[i] = v[n-1] - v[n-2]
		default:
			d[i] = (v[i+1] - v[i-1]) / 2
		}
		if truncate {
			d[i] = math.Trunc(d[i])
		}
	}
	return d
}
