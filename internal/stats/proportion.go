package stats

import (
	"fmt"
	"math"
)

// Z95 is the two-sided 95 % quantile of the standard normal distribution.
const Z95 = 1.959963984540054

// Proportion is K of N cases. The zero value is a proportion of nothing.
type Proportion struct {
	K int `json:"k"`
	N int `json:"n"`
}

// Validate reports counts that are no proportion: negative, or more than all.
func (p Proportion) Validate() error {
	if p.K < 0 || p.N < 0 || p.K > p.N {
		return fmt.Errorf("stats: %d of %d is no proportion", p.K, p.N)
	}
	return nil
}

// Add pools the cases of two proportions.
func (p Proportion) Add(q Proportion) Proportion { return Proportion{K: p.K + q.K, N: p.N + q.N} }

// Value returns K/N; ok is false for a proportion of nothing.
func (p Proportion) Value() (v float64, ok bool) {
	if p.N == 0 {
		return 0, false
	}
	return float64(p.K) / float64(p.N), true
}

// Wilson returns the bounds of the Wilson score interval with the normal quantile z.
//
// Range: 0 <= low <= K/N <= high <= 1; low is exactly 0 for K = 0 and high exactly 1 for
// K = N, and never is the interval a point. ok is false for a proportion of nothing.
//
// Source: textbook (Wilson 1927), without continuity correction.
func (p Proportion) Wilson(z float64) (low, high float64, ok bool) {
	centre, half, ok := p.WilsonCentre(z)
	if !ok {
		return 0, 0, false
	}
	low, high = centre-half, centre+half
	if p.K == 0 || low < 0 {
		low = 0
	}
	if p.K == p.N || high > 1 {
		high = 1
	}
	return low, high, true
}

// WilsonCentre returns the centre of the Wilson score interval and half its width, before
// bounds are cut at 0 and 1.
func (p Proportion) WilsonCentre(z float64) (centre, half float64, ok bool) {
	if p.N == 0 {
		return 0, 0, false
	}
	n := float64(p.N)
	share := float64(p.K) / n
	zz := float64(z * z)
	d := 1 + zz/n
	centre = (share + zz/float64(2*n)) / d
	inner := float64(share*(1-share))/n + zz/float64(4*float64(n*n))
	half = float64(z*math.Sqrt(inner)) / d
	return centre, half, true
}
