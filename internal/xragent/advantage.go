package xragent

import "math"

// stdEpsilon is added to the group's standard deviation, as verl does.
const stdEpsilon = 1e-6

// Advantages returns the group-relative advantage of each rollout of one example:
// (R - mean)/(sample standard deviation + 1e-6), or R - mean when scale is false.
//
// Special cases: equal rewards give exactly 0; a group of one is taken as mean 0 and
// standard deviation 1; an empty group gives nil.
// Source: scaling and group of one as verl [official code]; no scaling is the variant.
func Advantages(rewards []float64, scale bool) []float64 {
	if len(rewards) == 0 {
		return nil
	}
	out := make([]float64, len(rewards))
	mean, std := 0.0, 1.0
	if len(rewards) > 1 {
		if Degenerate(rewards) {
			return out
		}
		mean, std = moments(rewards)
	}
	for i, r := range rewards {
		out[i] = r - mean
		if scale {
			out[i] /= std + stdEpsilon
		}
	}
	return out
}

// Degenerate reports a group in which all rewards are equal: it teaches nothing.
func Degenerate(rewards []float64) bool {
	for _, r := range rewards {
		if r != rewards[0] {
			return false
		}
	}
	return true
}

func moments(rewards []float64) (mean, std float64) {
	n := float64(len(rewards))
	for _, r := range rewards {
		mean += r
	}
	mean /= n
	sum := 0.0
	for _, r := range rewards {
		d := r - mean
		sum += float64(d * d)
	}
	return mean, math.Sqrt(sum / (n - 1))
}
