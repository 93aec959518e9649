package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Base and Default are the configurations that others are compared with: the base model with the
// direct prompt, and everything on.
const (
	Base    = "xr.base.v4"
	Default = "xr.default"
	// Baselines begin the names of configurations of other systems.
	Baselines = "xr.baseline."
)

// Analysis holds outcomes by configuration, repeat and item. It remembers figures that were asked
// for, so it serves one goroutine at a time.
type Analysis struct {
	sets map[bench.Benchmark][]*xragent.Item
	by   map[string][]map[string]*xragent.Outcome
	made map[string]Figure
}

// New sorts outcomes of the items of benchmarks; items of other sets are left alone.
//
// Errors: an outcome that contradicts itself, is about no item of those given, or stands twice; a gap
// in the numbers of repeats.
func New(items []xragent.Item, outcomes []xragent.Outcome) (*Analysis, error) {
	a := &Analysis{sets: map[bench.Benchmark][]*xragent.Item{}, by: map[string][]map[string]*xragent.Outcome{}, made: map[string]Figure{}}
	known := map[string]bool{}
	for i := range items {
		if known[items[i].ID] {
			return nil, fmt.Errorf("analysis: item %s stands twice", items[i].ID)
		}
		known[items[i].ID] = true
		if b, ok := bench.Of(items[i].ID); ok {
			a.sets[b] = append(a.sets[b], &items[i])
		}
	}
	for i := range outcomes {
		o := &outcomes[i]
		if err := o.Validate(); err != nil {
			return nil, fmt.Errorf("analysis: %w", err)
		}
		if !known[o.Item] {
			return nil, fmt.Errorf("analysis: outcome of %q in %s: no item has this id", o.Item, o.Config)
		}
		if o.Repeat >= xragent.MaxRepeats {
			return nil, fmt.Errorf("analysis: outcome of %q in %s is of repeat %d, and an evaluation has at most %d", o.Item, o.Config, o.Repeat, xragent.MaxRepeats)
		}
		for len(a.by[o.Config]) <= o.Repeat {
			a.by[o.Config] = append(a.by[o.Config], map[string]*xragent.Outcome{})
		}
		if a.by[o.Config][o.Repeat][o.Item] != nil {
			return nil, fmt.Errorf("analysis: %s, repeat %d: %s has two outcomes", o.Config, o.Repeat, o.Item)
		}
		a.by[o.Config][o.Repeat][o.Item] = o
	}
	for _, config := range slices.Sorted(maps.Keys(a.by)) {
		for r, m := range a.by[config] {
			if len(m) == 0 {
				return nil, fmt.Errorf("analysis: %s has %d repeats and nothing of repeat %d", config, len(a.by[config]), r)
			}
		}
	}
	return a, nil
}

// Configs lists the configurations that have outcomes, in the order of reports: named ones, then
// baselines and others by name.
func (a *Analysis) Configs() []string {
	var out []string
	for _, c := range xragent.Configurations() {
		if a.by[c.Name] != nil {
			out = append(out, c.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.by)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Others lists the baselines that have outcomes.
func (a *Analysis) Others() []string {
	return slices.DeleteFunc(a.Configs(), func(c string) bool { return !strings.HasPrefix(c, Baselines) })
}

// Items are the questions of a benchmark.
func (a *Analysis) Items(b bench.Benchmark) []*xragent.Item { return a.sets[b] }

// Source is the configuration whose outcomes count for another: itself, or one with the same policy
// and the same arm, which is the same experiment under another name. It is empty where there is none.
func (a *Analysis) Source(config string) string {
	if a.by[config] != nil {
		return config
	}
	list := xragent.Configurations()
	at := slices.IndexFunc(list, func(c xragent.Configuration) bool { return c.Name == config })
	if at < 0 {
		return ""
	}
	for _, c := range list {
		if c.Policy == list[at].Policy && c.Arm == list[at].Arm && a.by[c.Name] != nil {
			return c.Name
		}
	}
	return ""
}

func (a *Analysis) repeats(config string) []map[string]*xragent.Outcome {
	return a.by[a.Source(config)]
}

// External reports whether results of a configuration were made elsewhere.
func (a *Analysis) External(config string) bool {
	for _, m := range a.repeats(config) {
		for _, o := range m {
			if o.External {
				return true
			}
		}
	}
	return false
}

// first returns what became of an item in the first repeat; nil where nobody knows.
func (a *Analysis) first(config string, item *xragent.Item) *xragent.Outcome {
	list := a.repeats(config)
	if len(list) == 0 {
		return nil
	}
	return determined(list[0][item.ID])
}

func determined(o *xragent.Outcome) *xragent.Outcome {
	if o == nil || o.Undetermined {
		return nil
	}
	return o
}
