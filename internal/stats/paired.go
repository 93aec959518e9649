package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Paired counts yes and no of two raters, or under two conditions, over the same cases. The
// zero value has seen nothing.
type Paired struct {
	Both       int `json:"both"`
	OnlyFirst  int `json:"only_first"`
	OnlySecond int `json:"only_second"`
	Neither    int `json:"neither"`
}

// Add counts one case.
func (p *Paired) Add(first, second bool) {
	switch {
	case first && second:
		p.Both++
	case first:
		p.OnlyFirst++
	case second:
		p.OnlySecond++
	default:
		p.Neither++
	}
}

// N is the number of cases.
func (p Paired) N() int { return p.Both + p.OnlyFirst + p.OnlySecond + p.Neither }

// McNemar returns the two-sided p-value of McNemar's exact test: whether yes under one
// condition and no under the other is as frequent as the reverse. ok is false where no case
// differs; the data then say nothing.
//
// Source: textbook (McNemar 1947, exact form): the sign test of the cases that differ.
func (p Paired) McNemar() (value float64, ok bool) { return SignTest(p.OnlyFirst, p.OnlySecond) }

// SignTest returns the two-sided p-value of the exact sign test for so many differences in one
// and in the other direction; ties are left out beforehand. ok is false without differences.
//
// Range: 0 < value <= 1. Source: textbook; twice the smaller tail of Binomial(n, 1/2), at most 1.
func SignTest(plus, minus int) (value float64, ok bool) {
	n := plus + minus
	if n == 0 {
		return 1, false
	}
	b := distuv.Binomial{N: float64(n), P: 0.5}
	return math.Min(1, 2*b.CDF(float64(min(plus, minus)))), true
}
