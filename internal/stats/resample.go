package stats

import (
	"math/rand/v2"
	"sort"
)

// Bootstrap returns the percentile interval of a statistic over cases: statistic is called
// with draws resamples of the case indices 0..n-1, each n indices with replacement and
// sorted, and level (for example 0.95) of its values lie between low and high.
//
// A statistic that has no value on a resample says ok == false; such resamples are left out
// and counted. ok is false if none has a value. The generator is the caller's, so that equal
// seeds give equal bounds.
func Bootstrap(n, draws int, level float64, rng *rand.Rand, statistic func(cases []int) (v float64, ok bool)) (low, high float64, without int, ok bool) {
	if n == 0 || draws == 0 {
		return 0, 0, 0, false
	}
	cases := make([]int, n)
	values := make([]float64, 0, draws)
	for range draws {
		for i := range cases {
			cases[i] = rng.IntN(n)
		}
		sort.Ints(cases)
		if v, has := statistic(cases); has {
			values = append(values, v)
		} else {
			without++
		}
	}
	if len(values) == 0 {
		return 0, 0, without, false
	}
	sort.Float64s(values)
	tail := (1 - level) / 2
	return Quantile(values, tail), Quantile(values, 1-tail), without, true
}

// Quantile returns the q quantile of sorted values, linearly between the two nearest ranks
// (type 7 of Hyndman and Fan). It panics without values.
func Quantile(sorted []float64, q float64) float64 {
	at := float64(q * float64(len(sorted)-1))
	i := int(at)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	if i < 0 {
		return sorted[0]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}
