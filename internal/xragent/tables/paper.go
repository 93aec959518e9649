package tables

import (
	"fmt"
	"strconv"

	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/analysis"
	"cxrepro/internal/xragent/bench"
)

const wilsonZ = stats.Z95

// wholes are the columns that most tables have, with the words of figures' ids.
var wholes = []struct {
	title, id string
	at        analysis.Place
}{
	{"ChestAgentBench", "chestagentbench", analysis.Place{Benchmark: bench.ChestAgentBench, Column: bench.All}},
	{"CheXbench", "chexbench_macro", analysis.Place{Benchmark: bench.CheXbench, Column: bench.Macro}},
	{"SLAKE closed", "slake_closed", analysis.Place{Benchmark: bench.SLAKE, Column: bench.All}},
}

// value is a column of a configuration as a cell.
func (b *builder) value(config string, at analysis.Place, id string) cell {
	formula := formulaShare
	if at.Column == bench.Macro {
		formula = formulaMacro
	}
	return cell{figure: b.in.Analysis.Value(config, at), formula: formula, decimals: 1, id: id}
}

func (b *builder) average(config, id string) cell {
	return cell{figure: b.in.Analysis.Average(config, analysis.Wholes()...), formula: formulaMean3, decimals: 1, id: id}
}

func (b *builder) delta(config, against string, id string, at ...analysis.Place) cell {
	return cell{figure: b.in.Analysis.Delta(config, against, at...), formula: formulaDelta, decimals: 1, id: id, signed: true}
}

// floor is the noise floor of a difference as a cell.
func (b *builder) floor(config, against string, at analysis.Place) cell {
	v, ok := b.in.Analysis.Floor(config, against, at)
	if !ok {
		return words("not measured")
	}
	return cell{figure: analysis.Figure{Known: true, Value: v}, formula: formulaFloor, decimals: 1}
}

// compared are value, difference and noise floor of a configuration on one benchmark.
func (b *builder) compared(config, against string, at analysis.Place, valueID, deltaID string) []cell {
	out := []cell{b.value(config, at, valueID)}
	if config == against {
		return append(out, words(""), words(""))
	}
	d, floor := b.delta(config, against, deltaID, at), b.floor(config, against, at)
	if !d.figure.Known {
		floor = words("")
	}
	return append(out, d, floor)
}

// comparedColumns are the headings of compared for the three benchmarks.
func comparedColumns() []string {
	var out []string
	for _, w := range wholes {
		out = append(out, w.title, "difference", "floor")
	}
	return out
}

// count is a whole number as a cell.
func count(n int) cell {
	return cell{figure: analysis.Figure{Known: true, Value: float64(n)}, formula: formulaCount}
}

func (b *builder) main() {
	var columns []string
	var places []analysis.Place
	for _, bm := range bench.Benchmarks() {
		for _, c := range bm.Columns() {
			name := columnTitle(bm, c)
			columns, places = append(columns, name), append(places, analysis.Place{Benchmark: bm, Column: c.Name})
		}
	}
	b.begin(1, append(columns, "unparsed", "open", "repeats")...)
	row := func(title, config string, ids map[analysis.Place]string) {
		var cells []cell
		unparsed, open, repeats := 0, 0, 0
		for _, p := range places {
			cells = append(cells, b.value(config, p, ids[p]))
		}
		for _, w := range wholes {
			s := b.in.Analysis.Score(config, w.at.Benchmark, w.at.Column)
			unparsed, open, repeats = unparsed+s.Unparsed(), open+s.Open(), max(repeats, len(s.Repeats))
		}
		if b.in.Analysis.External(config) {
			title += " (made elsewhere)"
		}
		b.row(title, append(cells, count(unparsed), count(open), count(repeats))...)
	}
	for _, c := range b.in.Analysis.Others() {
		row(c, c, nil)
	}
	b.strongest(places)
	row("base model, direct prompt", analysis.Base, map[analysis.Place]string{
		wholes[0].at: "base.chestagentbench", wholes[1].at: "base.chexbench_macro", wholes[2].at: "base.slake_closed",
		{Benchmark: bench.CheXbench, Column: bench.SourceRadReStruct}: "base.chexbench.rad_restruct"})
	row("X-Ragent", analysis.Default, map[analysis.Place]string{
		wholes[0].at: "main.cab.all", wholes[1].at: "main.chexbench.macro", wholes[2].at: "main.slake",
		{Benchmark: bench.CheXbench, Column: bench.SourceRadReStruct}: "main.chexbench.rad_restruct"})
	b.gains(places)
	b.end(b.notes("Unparsed and open are sums over repeats and benchmarks; open questions are in no denominator.",
		fmt.Sprintf("Of the gains over the base in the seven capabilities the text prints the least and the most: ours %s and %s, the paper's %s and %s.",
			b.words("delta.base.cab.capability_min"), b.words("delta.base.cab.capability_max"), b.printed("delta.base.cab.capability_min"), b.printed("delta.base.cab.capability_max")))...)
}

// columnTitle is the heading of a column of Table 1.
func columnTitle(b bench.Benchmark, c bench.Column) string {
	switch {
	case c.Name == bench.All:
		return b.Title()
	case c.Macro:
		return b.Title() + ", mean"
	}
	if title, ok := map[string]string{bench.SourceOpenI: "OpenI", bench.SourceRadReStruct: "Rad-ReStruct", bench.SourceSLAKE: "SLAKE (CheXbench)"}[c.Name]; ok {
		return title
	}
	return c.Name
}

// notes adds the name of the scorer.
func (b *builder) notes(list ...string) []string {
	if b.in.Scorer != "" {
		list = append(list, "Answers were read by scorer "+b.in.Scorer+".")
	}
	return list
}

// words is one of our figures in a sentence.
func (b *builder) words(id string) string {
	f := b.figures[id]
	if !f.Known {
		return "N/A"
	}
	return strconv.FormatFloat(f.Value, 'f', 1, 64)
}

// printed is a published figure in a sentence.
func (b *builder) printed(id string) string {
	if b.in.Beside != nil {
		if x, ok := b.in.Beside.Figure(id); ok {
			return x.Printed
		}
	}
	return "-"
}

// strongest is the best baseline in each column, which need not be the same one.
func (b *builder) strongest(places []analysis.Place) {
	ids := map[analysis.Place]string{wholes[0].at: "intro.cab.strongest_baseline", wholes[1].at: "derived.best_baseline.chexbench", wholes[2].at: "derived.best_baseline.slake"}
	var cells []cell
	for _, p := range places {
		if best := b.in.Analysis.Strongest(p); best != "" {
			cells = append(cells, b.value(best, p, ids[p]))
			continue
		}
		cells = append(cells, cell{figure: analysis.Figure{Why: "no baseline has results on it"}, id: ids[p]})
	}
	b.row("strongest baseline, by column", append(cells, words(""), words(""), words(""))...)
}

// gains are the rows of differences, each with its noise floor below.
func (b *builder) gains(places []analysis.Place) {
	ids := map[analysis.Place]string{
		{Benchmark: bench.CheXbench, Column: bench.SourceSLAKE}: "delta.base.chexbench_slake",
		{Benchmark: bench.CheXbench, Column: bench.SourceOpenI}: "delta.base.chexbench_openi",
	}
	best := map[analysis.Place]string{}
	for _, w := range wholes {
		ids[w.at], best[w.at] = "delta.base."+w.id, "delta.best_baseline."+w.id
	}
	var gain, floor, over []cell
	for _, p := range places {
		gain = append(gain, b.delta(analysis.Default, analysis.Base, ids[p], p))
		floor = append(floor, b.floor(analysis.Default, analysis.Base, p))
		if other := b.in.Analysis.Strongest(p); other != "" {
			over = append(over, b.delta(analysis.Default, other, best[p], p))
			continue
		}
		over = append(over, cell{figure: analysis.Figure{Why: "no baseline has results on it"}, id: best[p]})
	}
	rest := []cell{words(""), words(""), words("")}
	b.row("gain over the base", append(gain, rest...)...)
	b.row("its noise floor", append(floor, rest...)...)
	b.row("gain over the strongest baseline", append(over, rest...)...)
}

func (b *builder) pipeline() {
	b.begin(2, "ChestAgentBench", "CheXbench", "SLAKE closed", "mean of three")
	const rl, sft, noTools, tools = "xr.pipe.rl_only", "xr.pipe.sft_only", "xr.pipe.sft_rl_notools", "xr.pipe.sft_rl_tools"
	row := func(title, config, avg string, ids ...string) {
		var cells []cell
		for i, w := range wholes {
			cells = append(cells, b.value(config, w.at, ids[i]))
		}
		b.row(title, append(cells, b.average(config, avg))...)
	}
	row("(a) base, zero-shot", analysis.Base, "derived.pipeline.a.avg", "base.chestagentbench", "base.chexbench_macro", "base.slake_closed")
	row("(b) RL only", rl, "derived.pipeline.b.avg", "", "", "")
	row("(c) SFT only", sft, "derived.pipeline.c.avg", "derived.pipeline.c.cab", "derived.pipeline.c.chexbench", "derived.pipeline.c.slake")
	row("(d) SFT and RL, no tools", noTools, "", "derived.pipeline.d.cab", "derived.pipeline.d.chexbench", "pipeline.d.slake")
	row("(e) SFT and RL, tools", tools, "derived.pipeline.e.avg", "main.cab.all", "main.chexbench.macro", "main.slake")
	step := func(title, config, against, avg string, ids ...string) {
		var cells, floors []cell
		for i, w := range wholes {
			cells = append(cells, b.delta(config, against, ids[i], w.at))
			floors = append(floors, b.floor(config, against, w.at))
		}
		b.row(title, append(cells, b.delta(config, against, avg, analysis.Wholes()...))...)
		b.row("its noise floor", append(floors, words(""))...)
	}
	step("(c) - (a)", sft, analysis.Base, "pipeline.c.avg_gain", "pipeline.c.cab_gain", "", "pipeline.c.slake_gain")
	step("(b) - (c)", rl, sft, "pipeline.b.avg_gap", "", "", "")
	step("(d) - (c)", noTools, sft, "", "pipeline.d.cab_gain", "pipeline.d.chexbench_gain", "")
	step("(e) - (d)", tools, noTools, "", "pipeline.e.cab_gain", "pipeline.e.chexbench_gain", "pipeline.e.slake_gain")
	b.end(b.notes()...)
}

func (b *builder) rewards() {
	b.begin(3, append(comparedColumns(), "mean of three")...)
	for _, r := range []struct{ title, config string }{
		{"(b) accuracy", "xr.reward.acc"}, {"(c) + tool cost", "xr.reward.acc_tool"}, {"(d) + evidence", "xr.reward.acc_cxr"},
		{"(e) both, not gated", "xr.reward.both_ungated"}, {"(f) both, gated", "xr.reward.both_gated"},
	} {
		var cells []cell
		for _, w := range wholes {
			cells = append(cells, b.compared(r.config, "xr.reward.acc", w.at, "", "")...)
		}
		b.row(r.title, append(cells, b.average(r.config, ""))...)
	}
	b.end(b.notes("Differences are to (b). Of this table the text has only the order; `cxrepro check --paper` tests it.",
		"The text does not say whether (c) and (d) were gated.")...)
}

func (b *builder) data() {
	b.begin(5, comparedColumns()...)
	for _, r := range []struct {
		title, config string
		ids           [3]string
	}{
		{"(a) everything", analysis.Default, [3]string{}},
		{"(b) no tool trajectories", "xr.data.no_tooltraj", [3]string{"data.b.chestagentbench", "data.b.chexbench_macro", "data.b.slake_closed"}},
		{"(c) no report-style reasoning", "xr.data.no_report", [3]string{"data.c.cab"}},
		{"(d) no multiple choice", "xr.data.no_mcq", [3]string{}},
		{"(e) no closed questions", "xr.data.no_vqa", [3]string{2: "data.e.slake"}},
	} {
		var cells []cell
		for i, w := range wholes {
			cells = append(cells, b.compared(r.config, analysis.Default, w.at, "", r.ids[i])...)
		}
		b.row(r.title, cells...)
	}
	b.end(b.notes("Every row trains on as many examples: what is left out is replaced by drawing from the rest.")...)
}

func (b *builder) prompts() {
	b.begin(9, comparedColumns()...)
	for v := range 5 {
		config := fmt.Sprintf("xr.base.v%d", v)
		var cells []cell
		for _, w := range wholes {
			id := ""
			if v == 4 {
				id = "base." + w.id
			}
			cells = append(cells, b.compared(config, analysis.Base, w.at, id, "")...)
		}
		b.row(fmt.Sprintf("v%d: %s", v, titleOf(config)), cells...)
	}
	var best, gap []cell
	for _, w := range wholes {
		name := b.in.Analysis.BestReasoning(w.at)
		missing := analysis.Figure{Why: "not all of xr.base.v0 to v3 were run"}
		x := cell{figure: missing, formula: formulaShare, decimals: 1, id: "derived.prompt.best_reasoning." + w.id}
		g := cell{figure: missing, formula: formulaDelta, decimals: 1, signed: true, id: "prompt.best_reasoning_gap." + w.id}
		f := words("not measured")
		if name != "" {
			x, g = b.value(name, w.at, x.id), b.delta(analysis.Base, name, g.id, w.at)
			f = b.floor(analysis.Base, name, w.at)
		}
		best, gap = append(best, x, words(""), words("")), append(gap, words(""), g, f)
	}
	b.row("best of v0 to v3", best...)
	b.row("v4 minus the best of v0 to v3", gap...)
	b.end(b.notes("Differences of v0 to v3 are to v4.")...)
}

// titleOf is the title of a named configuration.
func titleOf(name string) string {
	for _, c := range xragent.Configurations() {
		if c.Name == name {
			return c.Title
		}
	}
	return name
}

func (b *builder) modules() {
	b.begin(10, comparedColumns()...)
	for _, r := range []struct{ title, config, value, delta string }{
		{"(a) everything on", analysis.Default, "main.cab.all", ""},
		{"no roi_crop, no region_parse", "xr.module.no_visual", "derived.module.no_visual.cab", "module.delta.visual_enhancement"},
		{"no evidence_lookup", "xr.module.no_lookup", "derived.module.no_aux.cab", "module.delta.aux_interpretation"},
		{"(d) no measurement", "xr.module.no_measure", "module.no_measurement.cab", "module.delta.measurement"},
		{"(e) none of them", "xr.module.none", "module.none.cab", "module.delta.all"},
		{"(f) all tools on every question", "xr.module.force_all", "derived.module.forced.cab", "module.delta.forced_all"},
	} {
		var cells []cell
		for i, w := range wholes {
			if i > 0 {
				r.value, r.delta = "", ""
			}
			cells = append(cells, b.compared(r.config, analysis.Default, w.at, r.value, r.delta)...)
		}
		b.row(r.title, cells...)
	}
	b.end(b.notes("Differences are to (a). The paper's table is about ChestAgentBench; which of its rows are (b) and (c) the text does not say.")...)
}

func (b *builder) measuring() {
	b.begin(11, comparedColumns()...)
	for _, r := range []struct{ title, config, id string }{
		{"always, behind the gate", analysis.Default, "measure_routing.default."},
		{"when the policy asks, behind the gate", "xr.measure.policy_routed", "measure_routing.policy."},
		{"never", "xr.module.no_measure", ""},
	} {
		var cells []cell
		for i, w := range wholes {
			id := ""
			if r.id != "" && i < 2 {
				id = r.id + w.id
			}
			cells = append(cells, b.compared(r.config, analysis.Default, w.at, id, "")...)
		}
		b.row(r.title, cells...)
	}
	b.end(b.notes("Differences are to the first row.")...)
}
