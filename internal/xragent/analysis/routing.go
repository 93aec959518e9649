package analysis

import (
	"maps"
	"slices"

	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Routing says how often tools were called on questions that the base model gets right, and on those
// that it gets wrong. A question counts once, however many calls it has.
type Routing struct {
	BaseRight, BaseWrong stats.Proportion
	// All are the questions of both; Open those that one side has no outcome of.
	All  stats.Proportion
	Open int
}

// Routing counts over the first repeats.
func (a *Analysis) Routing(base, ours string, b bench.Benchmark) Routing {
	var r Routing
	for _, item := range a.sets[b] {
		x, y := a.first(base, item), a.first(ours, item)
		if x == nil || y == nil {
			r.Open++
			continue
		}
		one := stats.Proportion{N: 1}
		if len(y.Calls) > 0 {
			one.K = 1
		}
		if r.All = r.All.Add(one); x.Correct {
			r.BaseRight = r.BaseRight.Add(one)
		} else {
			r.BaseWrong = r.BaseWrong.Add(one)
		}
	}
	return r
}

// Ratio is the rate on wrong over that on right questions; ok is false where one has no value.
func (r Routing) Ratio() (float64, bool) {
	wrong, okWrong := r.BaseWrong.Value()
	right, okRight := r.BaseRight.Value()
	if !okWrong || !okRight || right == 0 {
		return 0, false
	}
	return wrong / right, true
}

// interval is that of a statistic of the four kinds of questions: base right or wrong, tool or none.
func (r Routing) interval(name string, statistic func(Routing) (float64, bool)) (low, high float64, ok bool) {
	cells := []int{r.BaseRight.K, r.BaseRight.N - r.BaseRight.K, r.BaseWrong.K, r.BaseWrong.N - r.BaseWrong.K}
	return interval(name, [][]int{spelled(cells)}, len(cells), func(c [][]int) (float64, bool) {
		n := c[0]
		right, wrong := stats.Proportion{K: n[0], N: n[0] + n[1]}, stats.Proportion{K: n[2], N: n[2] + n[3]}
		return statistic(Routing{BaseRight: right, BaseWrong: wrong, All: right.Add(wrong)})
	})
}

// spelled turns counts of kinds into a list of questions.
func spelled(cells []int) []int {
	var out []int
	for kind, n := range cells {
		for range n {
			out = append(out, kind)
		}
	}
	return out
}

// Usage is how often a tool was called.
type Usage struct {
	Tool string `json:"tool"`
	// Calls counts every call, Questions those with at least one of N.
	Calls     int              `json:"calls"`
	Questions stats.Proportion `json:"questions"`
}

// Calls counts calls per tool in the first repeat, tools in the order of the protocol, then others
// by name.
func (a *Analysis) Calls(config string, b bench.Benchmark) []Usage {
	calls, questions, n := map[string]int{}, map[string]int{}, 0
	for _, item := range a.sets[b] {
		o := a.first(config, item)
		if o == nil {
			continue
		}
		n++
		once := map[string]bool{}
		for _, c := range o.Calls {
			calls[c]++
			once[c] = true
		}
		for c := range once {
			questions[c]++
		}
	}
	tools := []string{xragent.ToolCrop, xragent.ToolParse, xragent.ToolLookup}
	for _, t := range slices.Sorted(maps.Keys(calls)) {
		if !slices.Contains(tools, t) {
			tools = append(tools, t)
		}
	}
	var out []Usage
	for _, t := range tools {
		out = append(out, Usage{t, calls[t], stats.Proportion{K: questions[t], N: n}})
	}
	return out
}

// Reason is why bundles were withheld, with how many.
type Reason struct {
	Code string `json:"code"`
	N    int    `json:"n"`
}

// Gate is what the gate let through.
type Gate struct {
	// Gated are the questions that it decided on; Shown of them the bundle was shown.
	Gated, Shown int
	// ViewBlocked are those without a picture that passes the view check.
	ViewBlocked int
	// Open counts questions without an outcome: nobody knows what the gate decided on them.
	Open int
	// Withheld by reason, most frequent first.
	Withheld []Reason
}

// Gate counts decisions of the gate in the first repeat.
func (a *Analysis) Gate(config string, b bench.Benchmark) Gate {
	var g Gate
	reasons := map[string]int{}
	for _, item := range a.sets[b] {
		o := a.first(config, item)
		if o == nil {
			g.Open++
			continue
		}
		if !o.Gated {
			continue
		}
		g.Gated++
		if !o.ViewOK {
			g.ViewBlocked++
		}
		if o.Withheld == "" {
			g.Shown++
		} else {
			reasons[o.Withheld]++
		}
	}
	for _, code := range slices.Sorted(maps.Keys(reasons)) {
		g.Withheld = append(g.Withheld, Reason{code, reasons[code]})
	}
	slices.SortStableFunc(g.Withheld, func(x, y Reason) int { return y.N - x.N })
	return g
}
