package report

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Verdict says how our figure relates to a published one. The zero value means that there
// was nothing to compare with.
type Verdict uint8

// Verdicts.
const (
	// Reproduced: equal as printed.
	Reproduced Verdict = iota + 1
	// WithinNoise: the published share lies inside our 95 % interval.
	WithinNoise
	// Off: it lies outside.
	Off
	// NotComputable: one of the two has no figure.
	NotComputable
	// Undetermined: cases behind our figure have no outcome yet.
	Undetermined
)

var verdictText = [...]string{Reproduced: "reproduced", WithinNoise: "within noise", Off: "off", NotComputable: "not computable", Undetermined: "undetermined"}

// Verdicts returns every verdict.
func Verdicts() []Verdict {
	return []Verdict{Reproduced, WithinNoise, Off, NotComputable, Undetermined}
}

// String is the verdict in words; empty for the zero value.
func (v Verdict) String() string {
	if int(v) >= len(verdictText) {
		return ""
	}
	return verdictText[v]
}

func compare(c Cell, p Published) Verdict {
	switch {
	case c.kind == kindCount && c.K == p.K, c.kind == kindShare && c.N > 0 && c.K == p.K && c.N == p.N:
		return Reproduced
	case c.kind == kindCount:
		return Off
	case c.kind != kindShare || c.N == 0 || p.N == 0:
		return NotComputable
	}
	lo, hi := Interval(c.K, c.N)
	if share := float64(p.K) / float64(p.N); share >= lo && share <= hi {
		return WithinNoise
	}
	return Off
}

// Interval returns the 95 % bootstrap interval over cases of the share k of n, for n > 0.
//
// Drawing n cases with replacement and counting gives a binomial number, so the quantiles
// need no draws: they are those of Binomial(n, k/n) / n. Special cases: with k = 0 or
// k = n every draw is alike; the bound on the open side is then the share at which such a
// count has a chance of 2.5 %, so that 0 of 20 does not look exact.
func Interval(k, n int) (lo, hi float64) {
	open := 1 - math.Pow(0.025, 1/float64(n))
	switch k {
	case 0:
		return 0, open
	case n:
		return 1 - open, 1
	}
	b := distuv.Binomial{N: float64(n), P: float64(k) / float64(n)}
	quantile := func(q float64) float64 {
		low, high := 0, n // the first count whose probability to be reached is q
		for low < high {
			if mid := (low + high) / 2; b.CDF(float64(mid)) >= q {
				high = mid
			} else {
				low = mid + 1
			}
		}
		return float64(low) / float64(n)
	}
	return quantile(0.025), quantile(0.975)
}
