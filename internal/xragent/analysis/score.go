package analysis

import (
	"fmt"
	"math"

	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Score is one column of one configuration, over all repeats.
type Score struct {
	Config    string
	Benchmark bench.Benchmark
	Column    string
	Repeats   []Repeat
	// Why there is no value; empty where there is one.
	Why string
}

// Repeat is one column in one repeat. Of a macro column Right is over all questions and Value the
// mean of the sources' shares.
type Repeat struct {
	Right stats.Proportion
	// Value is in percent; Known says whether there is one.
	Value float64
	Known bool
	// Unparsed are wrong because no answer could be read. Open have no outcome, or an undetermined
	// one, and are in no denominator.
	Unparsed, Open int
}

// Score returns a column; without outcomes it says why there is none.
func (a *Analysis) Score(config string, b bench.Benchmark, column string) Score {
	s := Score{Config: config, Benchmark: b, Column: column}
	col, ok := columnOf(b, column)
	switch {
	case !ok:
		s.Why = fmt.Sprintf("%s has no column %q", b, column)
	case len(a.sets[b]) == 0:
		s.Why = b.Title() + " was not imported"
	case len(a.repeats(config)) == 0:
		s.Why = config + " was not run"
	}
	if s.Why != "" {
		return s
	}
	answered := false
	for _, outcomes := range a.repeats(config) {
		r := a.repeat(b, col, outcomes)
		answered = answered || r.Right.N > 0
		s.Repeats = append(s.Repeats, r)
	}
	switch _, known := s.Mean(); {
	case !answered:
		s.Why = config + " was not asked " + b.Title()
	case !known:
		s.Why = "a source of the mean has no outcome"
	}
	return s
}

func columnOf(b bench.Benchmark, name string) (bench.Column, bool) {
	for _, c := range b.Columns() {
		if c.Name == name {
			return c, true
		}
	}
	return bench.Column{}, false
}

func (a *Analysis) repeat(b bench.Benchmark, col bench.Column, outcomes map[string]*xragent.Outcome) Repeat {
	var r Repeat
	if !col.Macro {
		for _, item := range a.sets[b] {
			if col.Counts(item) {
				r.add(outcomes[item.ID])
			}
		}
		r.finish()
		return r
	}
	r.Known = true
	parts := b.Columns()[1:]
	for _, c := range parts {
		one := a.repeat(b, c, outcomes)
		r.Right = r.Right.Add(one.Right)
		r.Unparsed, r.Open = r.Unparsed+one.Unparsed, r.Open+one.Open
		r.Value += one.Value / float64(len(parts))
		r.Known = r.Known && one.Known
	}
	return r
}

func (r *Repeat) add(o *xragent.Outcome) {
	if o = determined(o); o == nil {
		r.Open++
		return
	}
	r.Right.N++
	if o.Correct {
		r.Right.K++
	}
	if o.Unparsed {
		r.Unparsed++
	}
}

func (r *Repeat) finish() {
	share, ok := r.Right.Value()
	r.Value, r.Known = 100*share, ok
}

// Mean is the mean over the repeats that have a value, in percent.
func (s Score) Mean() (v float64, ok bool) {
	n := 0
	for _, r := range s.Repeats {
		if r.Known {
			v, n = v+r.Value, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	return v / float64(n), true
}

// Counted is k of n behind the mean: n questions of the first repeat and as many right ones, to the
// nearest whole number, as give the mean. Asking twice makes no interval narrower.
func (s Score) Counted() stats.Proportion {
	var k float64
	n, list := 0, 0
	for _, r := range s.Repeats {
		if r.Right.N > 0 {
			k += float64(r.Right.K)
			n = max(n, r.Right.N)
			list++
		}
	}
	if list == 0 {
		return stats.Proportion{}
	}
	return stats.Proportion{K: min(n, int(math.RoundToEven(k/float64(list)))), N: n}
}

// Unparsed and Open are sums over the repeats.
func (s Score) Unparsed() (n int) {
	for _, r := range s.Repeats {
		n += r.Unparsed
	}
	return n
}

// Open counts questions without an outcome, or with an undetermined one, over the repeats.
func (s Score) Open() (n int) {
	for _, r := range s.Repeats {
		n += r.Open
	}
	return n
}

// Complete reports that every question has an outcome in every repeat.
func (s Score) Complete() bool { return s.Why == "" && s.Open() == 0 }

// Spread is the largest minus the smallest value of the repeats, in points; ok is false with
// fewer than two, which measure nothing.
func (s Score) Spread() (v float64, ok bool) {
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for _, r := range s.Repeats {
		if r.Known {
			low, high, n = min(low, r.Value), max(high, r.Value), n+1
		}
	}
	if n < 2 {
		return 0, false
	}
	return high - low, true
}

// Flips counts, of all pairs of repeats of one question, those that are right once and wrong once.
// n is 0 with fewer than two repeats.
func (a *Analysis) Flips(config string, b bench.Benchmark) stats.Proportion {
	var p stats.Proportion
	list := a.repeats(config)
	for _, item := range a.sets[b] {
		for i := range list {
			for k := range i {
				x, y := determined(list[i][item.ID]), determined(list[k][item.ID])
				if x == nil || y == nil {
					continue
				}
				p.N++
				if x.Correct != y.Correct {
					p.K++
				}
			}
		}
	}
	return p
}
