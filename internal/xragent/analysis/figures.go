package analysis

import (
	"fmt"
	"maps"
	"slices"

	"cxrepro/internal/report"
	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Places that figures are about.
var (
	cab   = Place{bench.ChestAgentBench, bench.All}
	macro = Place{bench.CheXbench, bench.Macro}
	slake = Place{bench.SLAKE, bench.All}
)

// where names the benchmarks in the ids of figures.
var where = []struct {
	name string
	at   Place
}{{"chestagentbench", cab}, {"chexbench_macro", macro}, {"slake_closed", slake}}

// figures makes the paper's figures by their ids.
type figures struct {
	a   *Analysis
	out map[string]Figure
}

// Figures returns the paper's figures that outcomes and items can tell, by the ids of its claims,
// and what its orders compare ("xr.reward.acc/slake_closed"). Figures without a value say why.
func (a *Analysis) Figures() map[string]Figure {
	f := &figures{a, map[string]Figure{}}
	f.accuracy()
	f.baselines()
	f.sizes()
	f.pipeline()
	f.ablations()
	f.routing()
	f.gate()
	f.orders()
	return f.out
}

func (f *figures) value(id, config string, at Place) { f.out[id] = f.a.Value(config, at) }

func (f *figures) delta(id, config, against string, at ...Place) {
	f.out[id] = f.a.Delta(config, against, at...)
}

func (f *figures) accuracy() {
	rad := Place{bench.CheXbench, bench.SourceRadReStruct}
	f.value("main.cab.all", Default, cab)
	f.value("main.chexbench.macro", Default, macro)
	f.value("main.slake", Default, slake)
	f.value("main.chexbench.rad_restruct", Default, rad)
	f.value("base.chexbench.rad_restruct", Base, rad)
	for _, w := range where {
		f.value("base."+w.name, Base, w.at)
		f.delta("delta.base."+w.name, Default, Base, w.at)
	}
	f.delta("delta.base.chexbench_slake", Default, Base, Place{bench.CheXbench, bench.SourceSLAKE})
	f.delta("delta.base.chexbench_openi", Default, Base, Place{bench.CheXbench, bench.SourceOpenI})
	f.out["delta.base.cab.capability_min"] = f.extreme(func(a, b float64) bool { return a < b })
	f.out["delta.base.cab.capability_max"] = f.extreme(func(a, b float64) bool { return a > b })
	f.out["derived.base.cab.correct"] = f.right(Base, bench.ChestAgentBench)
}

// extreme is the gain over the base in the capability where it is least, or most.
func (f *figures) extreme(before func(a, b float64) bool) Figure {
	var best Figure
	for _, c := range bench.Capabilities() {
		d := f.a.Delta(Default, Base, Place{bench.ChestAgentBench, c})
		if !d.Known {
			return d
		}
		if !best.Known || before(d.Value, best.Value) {
			best = d
		}
	}
	return best
}

func (f *figures) right(config string, b bench.Benchmark) Figure {
	s := f.a.Score(config, b, b.Columns()[0].Name)
	if s.Why != "" {
		return none(s.Why)
	}
	return countOf(s.Counted(), s.Open(), "")
}

// countOf is how many of n questions are of a kind, with the interval that drawing questions gives.
func countOf(p stats.Proportion, open int, why string) Figure {
	if p.N == 0 {
		return none(why)
	}
	low, high := report.Interval(p.K, p.N)
	n := float64(p.N)
	return Figure{Known: true, Value: float64(p.K), Low: n * low, High: n * high, HasInterval: true, Open: open}
}

// Strongest is the baseline with the highest value in a column; empty without baselines that have
// one.
func (a *Analysis) Strongest(at Place) string {
	best, name := 0.0, ""
	for _, c := range a.Others() {
		if v, ok := a.Score(c, at.Benchmark, at.Column).Mean(); ok && (name == "" || v > best) {
			best, name = v, c
		}
	}
	return name
}

func (f *figures) baselines() {
	ids := map[string]string{"chestagentbench": "intro.cab.strongest_baseline", "chexbench_macro": "derived.best_baseline.chexbench", "slake_closed": "derived.best_baseline.slake"}
	for _, w := range where {
		best := f.a.Strongest(w.at)
		if best == "" {
			f.out[ids[w.name]], f.out["delta.best_baseline."+w.name] = none("no baseline has results on it"), none("no baseline has results on it")
			continue
		}
		f.value(ids[w.name], best, w.at)
		f.delta("delta.best_baseline."+w.name, Default, best, w.at)
	}
	for _, c := range bench.Capabilities() {
		at := Place{bench.ChestAgentBench, c}
		f.value("x-ragent/"+c, Default, at)
		f.out["strongest_baseline/"+c] = none("no baseline has results on it")
		if best := f.a.Strongest(at); best != "" {
			f.value("strongest_baseline/"+c, best, at)
		}
	}
}

// sizes are numbers of questions and pictures of the benchmarks.
func (f *figures) sizes() {
	columns := func(b bench.Benchmark, prefix string) {
		if len(f.a.sets[b]) == 0 {
			return
		}
		f.out[prefix+"total"] = count(len(f.a.sets[b]))
		for _, c := range b.Columns()[1:] {
			n := 0
			for _, item := range f.a.sets[b] {
				if c.Counts(item) {
					n++
				}
			}
			f.out[prefix+c.Name] = count(n)
		}
	}
	columns(bench.ChestAgentBench, "bench.cab.")
	columns(bench.CheXbench, "bench.chexbench.")
	columns(bench.SLAKE, "bench.slake.")
	if n := len(f.a.sets[bench.SLAKE]); n > 0 {
		f.out["bench.slake.one_item"] = Figure{Known: true, Value: 100 / float64(n)}
	}
	groups := map[string]int{}
	for _, item := range f.a.sets[bench.ChestAgentBench] {
		groups[bench.Group(item)]++
	}
	for _, g := range bench.Groups() {
		if len(groups) > 0 {
			f.out["derived.bench.cab.group."+g.Name] = count(groups[g.Name])
		}
	}
	if items := f.a.sets[bench.CheXbench]; len(items) > 0 {
		openi, rad, union := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, item := range items {
			of := map[string]map[string]bool{bench.SourceOpenI: openi, bench.SourceRadReStruct: rad}[item.Source]
			for _, p := range item.Pictures {
				if of != nil {
					of[p.Path], union[p.Path] = true, true
				}
			}
		}
		f.out["integrity.openi_eval_images"], f.out["integrity.rad_restruct_eval_images"] = count(len(openi)), count(len(rad))
		f.out["integrity.exclusion_union"] = count(len(union))
	}
}

func (f *figures) pipeline() {
	const rl, sft, noTools, tools = "xr.pipe.rl_only", "xr.pipe.sft_only", "xr.pipe.sft_rl_notools", "xr.pipe.sft_rl_tools"
	all := Wholes()
	f.delta("pipeline.c.avg_gain", sft, Base, all...)
	f.delta("pipeline.c.slake_gain", sft, Base, slake)
	f.delta("pipeline.c.cab_gain", sft, Base, cab)
	f.delta("pipeline.d.cab_gain", noTools, sft, cab)
	f.delta("pipeline.d.chexbench_gain", noTools, sft, macro)
	f.delta("pipeline.b.avg_gap", rl, sft, all...)
	f.delta("pipeline.e.cab_gain", tools, noTools, cab)
	f.delta("pipeline.e.chexbench_gain", tools, noTools, macro)
	f.delta("pipeline.e.slake_gain", tools, noTools, slake)
	f.value("pipeline.d.slake", noTools, slake)
	f.out["derived.pipeline.a.avg"] = f.a.Average(Base, all...)
	f.out["derived.pipeline.b.avg"] = f.a.Average(rl, all...)
	f.out["derived.pipeline.c.avg"] = f.a.Average(sft, all...)
	f.out["derived.pipeline.e.avg"] = f.a.Average(tools, all...)
	f.value("derived.pipeline.c.cab", sft, cab)
	f.value("derived.pipeline.c.slake", sft, slake)
	f.value("derived.pipeline.c.chexbench", sft, macro)
	f.value("derived.pipeline.d.cab", noTools, cab)
	f.value("derived.pipeline.d.chexbench", noTools, macro)
}

func (f *figures) ablations() {
	for _, w := range where {
		f.delta("data.b."+w.name, "xr.data.no_tooltraj", Default, w.at)
	}
	f.delta("data.c.cab", "xr.data.no_report", Default, cab)
	f.delta("data.e.slake", "xr.data.no_vqa", Default, slake)
	for _, m := range []struct{ delta, value, config string }{
		{"all", "module.none.cab", "xr.module.none"},
		{"measurement", "module.no_measurement.cab", "xr.module.no_measure"},
		{"aux_interpretation", "derived.module.no_aux.cab", "xr.module.no_lookup"},
		{"visual_enhancement", "derived.module.no_visual.cab", "xr.module.no_visual"},
		{"forced_all", "derived.module.forced.cab", "xr.module.force_all"},
	} {
		f.delta("module.delta."+m.delta, m.config, Default, cab)
		f.value(m.value, m.config, cab)
	}
	for _, w := range where[:2] {
		f.value("measure_routing.policy."+w.name, "xr.measure.policy_routed", w.at)
		f.value("measure_routing.default."+w.name, Default, w.at)
	}
	for _, w := range where {
		best := f.a.BestReasoning(w.at)
		if best == "" {
			f.out["derived.prompt.best_reasoning."+w.name] = none("not all of xr.base.v0 to v3 were run")
			f.out["prompt.best_reasoning_gap."+w.name] = none("not all of xr.base.v0 to v3 were run")
			continue
		}
		f.value("derived.prompt.best_reasoning."+w.name, best, w.at)
		f.delta("prompt.best_reasoning_gap."+w.name, Base, best, w.at)
	}
}

// BestReasoning is the best of the four prompts with reasoning in a column; empty unless all four
// have a value.
func (a *Analysis) BestReasoning(at Place) string {
	best, name := 0.0, ""
	for v := range 4 {
		config := fmt.Sprintf("xr.base.v%d", v)
		mean, ok := a.Score(config, at.Benchmark, at.Column).Mean()
		if !ok {
			return ""
		}
		if name == "" || mean > best {
			best, name = mean, config
		}
	}
	return name
}

// share is k of n in percent as a figure.
func share(p stats.Proportion, open int, why string) Figure {
	v, ok := p.Value()
	if !ok {
		return none(why)
	}
	return Figure{Known: true, Value: 100 * v, Counted: p, Open: open}
}

func (f *figures) routing() {
	for _, b := range []struct {
		id string
		b  bench.Benchmark
	}{{"cab", bench.ChestAgentBench}, {"chexbench", bench.CheXbench}} {
		r := f.a.Routing(Base, Default, b.b)
		why := "no question has outcomes of " + Base + " and " + Default
		put := func(id string, x Figure) { f.out["routing."+b.id+"."+id] = x }
		put("base_wrong", share(r.BaseWrong, r.Open, why))
		put("base_right", share(r.BaseRight, r.Open, why))
		ratio, ok := r.Ratio()
		put("ratio", f.ranged(ok, ratio, r.Open, why, func() (float64, float64, bool) { return r.interval("ratio "+b.id, Routing.Ratio) }))
		rescue := f.a.Rescue(Base, Default, b.b)
		ratio, ok = rescue.Ratio()
		cells := spelled([]int{rescue.Rescued(), rescue.Damaged(), rescue.N() - rescue.Rescued() - rescue.Damaged()})
		put("rescue_damage", f.ranged(ok, ratio, rescue.Open, why, func() (float64, float64, bool) {
			return interval("rescue "+b.id, [][]int{cells}, 3, func(c [][]int) (float64, bool) { return float64(c[0][0]) / float64(c[0][1]), c[0][1] > 0 })
		}))
		for id, n := range map[string]int{"damage": rescue.Damaged(), "rescue": rescue.Rescued()} {
			f.out["derived.routing."+b.id+"."+id] = countOf(stats.Proportion{K: n, N: rescue.N()}, rescue.Open, why)
		}
		if b.b != bench.ChestAgentBench {
			continue
		}
		put("overall", share(r.All, r.Open, why))
		gap := func(r Routing) (float64, bool) {
			w, okW := r.BaseWrong.Value()
			x, okX := r.BaseRight.Value()
			return 100 * (w - x), okW && okX
		}
		v, ok := gap(r)
		put("gap", f.ranged(ok, v, r.Open, why, func() (float64, float64, bool) { return r.interval("gap", gap) }))
		for id, p := range map[string]stats.Proportion{"base_correct": r.BaseRight, "base_incorrect": r.BaseWrong, "all": r.All} {
			f.out["derived.routing.cab.tool_invoked."+id] = countOf(p, r.Open, why)
		}
	}
}

// ranged is a value with an interval that is computed only where there is a value.
func (f *figures) ranged(ok bool, v float64, open int, why string, between func() (float64, float64, bool)) Figure {
	if !ok {
		return none(why)
	}
	x := Figure{Known: true, Value: v, Open: open}
	x.Low, x.High, x.HasInterval = between()
	return x
}

func (f *figures) gate() {
	const off = "xr.gate.off"
	g := f.a.Gate(Default, bench.ChestAgentBench)
	why := "the gate decided on no question of " + Default
	f.out["gate.view_check_block_rate"] = share(stats.Proportion{K: g.ViewBlocked, N: g.Gated}, g.Open, why)
	f.out["gate.withheld_rate"] = share(stats.Proportion{K: g.Gated - g.Shown, N: g.Gated}, g.Open, why)
	passed := g.Gated - g.ViewBlocked
	f.out["derived.gate.mask_quality_reject_rate"] = share(stats.Proportion{K: passed - g.Shown, N: passed}, g.Open, why)
	for _, s := range []struct{ id, stratum, pairs string }{{"all", "", ""}, {"frontal", Frontal, Frontal}, {"nonfrontal", Nonfrontal, Nonfrontal}} {
		p := f.a.GatePairs(Default, off, bench.ChestAgentBench, s.stratum)
		why := "no question of the stratum has outcomes of " + Default + " and " + off
		f.out["gate.on."+s.id] = share(stats.Proportion{K: p.Both + p.OnlyFirst, N: p.N()}, p.Open, why)
		f.out["gate.off."+s.id] = share(stats.Proportion{K: p.Both + p.OnlySecond, N: p.N()}, p.Open, why)
		if s.pairs == "" {
			continue
		}
		for id, n := range map[string]int{"g_only": p.OnlyFirst, "ng_only": p.OnlySecond} {
			f.out["gate.pairs."+s.pairs+"."+id] = countOf(stats.Proportion{K: n, N: p.N()}, p.Open, why)
		}
	}
}

// orders are values by configuration and benchmark, which the paper's orders compare.
func (f *figures) orders() {
	for _, c := range xragent.Configurations() {
		for _, w := range where {
			f.value(c.Name+"/"+w.name, c.Name, w.at)
		}
	}
}

// IDs lists the ids of figures, sorted.
func IDs(figures map[string]Figure) []string { return slices.Sorted(maps.Keys(figures)) }
