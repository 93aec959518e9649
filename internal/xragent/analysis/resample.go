package analysis

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"cxrepro/internal/stats"
)

// draws is how many resamples an interval is made of. [ours]
const draws = 1000

// Figure is a number of ours with what it is made of. Without a value Why says the reason.
type Figure struct {
	Known bool `json:"known"`
	// Value is in percent, points, a ratio or a count, as the figure's definition says.
	Value float64 `json:"value"`
	// Counted is k of n where the figure is a share.
	Counted stats.Proportion `json:"counted"`
	// Low and High are a 95 % bootstrap interval over questions, wider by the decoding noise where
	// questions were repeated.
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	HasInterval bool    `json:"has_interval"`
	// Repeated is the decoding noise behind a share or a difference; nil where nothing was repeated.
	Repeated *Repeated `json:"repeated,omitempty"`
	// Open counts questions without an outcome behind the figure.
	Open int    `json:"open,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Repeated counts questions that were answered more than once.
type Repeated struct {
	// Pairs: K of N pairs of repeats of one question differ in being right.
	Pairs stats.Proportion `json:"pairs"`
	// Questions were answered more than once, Split of them not always alike.
	Questions int `json:"questions"`
	Split     int `json:"split"`
}

func none(why string) Figure { return Figure{Why: why} }

// count is a figure that is a whole number of things.
func count(n int) Figure { return Figure{Known: true, Value: float64(n)} }

// named is the stream of draws of a figure.
func named(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte("xragent/analysis/" + name))
	return rand.New(rand.NewPCG(1, h.Sum64()))
}

// interval is the 95 % percentile interval of a statistic of counts: strata hold the kind of each
// question, 0 to kinds-1, and are drawn from with replacement each by itself.
func interval(name string, strata [][]int, kinds int, statistic func(counts [][]int) (float64, bool)) (low, high float64, ok bool) {
	rng := named(name)
	counts := make([][]int, len(strata))
	for s := range counts {
		counts[s] = make([]int, kinds)
	}
	var values []float64
	for range draws {
		for s, questions := range strata {
			clear(counts[s])
			redraw(questions, counts[s], rng)
		}
		if v, has := statistic(counts); has {
			values = append(values, v)
		}
	}
	if len(values) < draws/2 {
		return 0, 0, false
	}
	slices.Sort(values)
	return stats.Quantile(values, 0.025), stats.Quantile(values, 0.975), true
}

// redraw draws as many questions as there are, with replacement, and counts their kinds. One number of
// 64 bits draws two; the bias of cutting 32 bits to at most 2^16 questions is below 2^-16.
func redraw(questions, counts []int, rng *rand.Rand) {
	n := uint64(len(questions))
	for k := 0; k < len(questions); k += 2 {
		bits := rng.Uint64()
		counts[questions[(bits>>32)*n>>32]]++
		if k+1 < len(questions) {
			counts[questions[(bits&0xffffffff)*n>>32]]++
		}
	}
}

// widened adds half widths, given as squares, to both sides of an interval around a value: half widths
// add as squares.
func widened(value, low, high, below, above float64) (float64, float64) {
	return value - math.Sqrt((value-low)*(value-low)+below), value + math.Sqrt((high-value)*(high-value)+above)
}

// unseen is the share, in percent, at which a kind of question that n questions do not hold has a chance
// of 2.5 % to be missed: the half width where every draw is alike.
func unseen(n int) float64 { return 100 * (1 - math.Pow(0.025, 1/float64(n))) }
