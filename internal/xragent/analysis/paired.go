package analysis

import (
	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Pairs compares two configurations question by question, in the first repeat of each.
type Pairs struct {
	stats.Paired
	// Open counts questions that one side has no outcome of.
	Open int
}

// Pairs counts the questions of a benchmark that belong to a stratum; in may be nil for all.
func (a *Analysis) Pairs(first, second string, b bench.Benchmark, in func(item *xragent.Item) bool) Pairs {
	var p Pairs
	for _, item := range a.sets[b] {
		if in != nil && !in(item) {
			continue
		}
		x, y := a.first(first, item), a.first(second, item)
		if x == nil || y == nil {
			p.Open++
			continue
		}
		p.Add(x.Correct, y.Correct)
	}
	return p
}

// Rescue is what a configuration does to the base model's answers.
type Rescue struct {
	Pairs
	Base, Ours string
}

// Rescued are wrong in the base and right in ours; Damaged the reverse.
func (r Rescue) Rescued() int { return r.OnlySecond }

// Damaged are right in the base and wrong in ours.
func (r Rescue) Damaged() int { return r.OnlyFirst }

// Ratio is rescued over damaged; ok is false where nothing is damaged.
func (r Rescue) Ratio() (float64, bool) {
	if r.Damaged() == 0 {
		return 0, false
	}
	return float64(r.Rescued()) / float64(r.Damaged()), true
}

// Rescue compares a configuration with a base on a benchmark.
func (a *Analysis) Rescue(base, ours string, b bench.Benchmark) Rescue {
	return Rescue{a.Pairs(base, ours, b, nil), base, ours}
}

// Strata of the validity gate. A question belongs to a stratum by the view check of the run with the
// gate on; a question with several pictures passes with the first picture that does.
const (
	Frontal    = "frontal"
	Nonfrontal = "nonfrontal_or_atypical"
)

// stratum returns the stratum of a question; empty where nobody looked at its pictures.
func (a *Analysis) stratum(config string, item *xragent.Item) string {
	o := a.first(config, item)
	switch {
	case o == nil || !o.Gated:
		return ""
	case o.ViewOK:
		return Frontal
	}
	return Nonfrontal
}

// GatePairs compares gate on with gate off in a stratum; an empty stratum is all questions.
func (a *Analysis) GatePairs(on, off string, b bench.Benchmark, stratum string) Pairs {
	return a.Pairs(on, off, b, func(item *xragent.Item) bool { return stratum == "" || a.stratum(on, item) == stratum })
}

// Flip is a question that two configurations answer differently.
type Flip struct {
	Item    string `json:"item"`
	Stratum string `json:"stratum,omitempty"`
	Key     string `json:"key"`
	First   string `json:"first"`
	Second  string `json:"second"`
	// FirstRight and SecondRight say who is right; both may be wrong in different ways.
	FirstRight  bool `json:"first_right"`
	SecondRight bool `json:"second_right"`
	// Withheld is why the bundle was withheld in the first; empty where it was shown.
	Withheld string `json:"withheld,omitempty"`
}

// Flipped lists the questions whose answers differ, in the order of the benchmark: the transcripts
// that are worth reading side by side.
func (a *Analysis) Flipped(first, second string, b bench.Benchmark) []Flip {
	var out []Flip
	for _, item := range a.sets[b] {
		x, y := a.first(first, item), a.first(second, item)
		if x == nil || y == nil || x.Answer == y.Answer && x.Correct == y.Correct {
			continue
		}
		out = append(out, Flip{item.ID, a.stratum(first, item), item.Question.Key, said(x), said(y), x.Correct, y.Correct, x.Withheld})
	}
	return out
}

// said is the answer in words.
func said(o *xragent.Outcome) string {
	if o.Unparsed {
		return "unparsed"
	}
	return o.Answer
}
