package tables

import (
	"fmt"
	"maps"
	"strconv"

	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/analysis"
	"cxrepro/internal/xragent/bench"
)

// share is k of n in per cent as a cell.
func share(p stats.Proportion, why, id string) cell {
	v, ok := p.Value()
	f := analysis.Figure{Known: ok, Value: 100 * v, Counted: p, Why: why}
	return cell{figure: f, formula: formulaShare, decimals: 1, id: id}
}

// wilson is the interval of k of n as a cell.
func wilson(p stats.Proportion) cell {
	low, high, ok := p.Wilson(wilsonZ)
	if !ok {
		return words("")
	}
	return words(fmt.Sprintf("%.1f to %.1f", 100*low, 100*high))
}

// exact is the p-value of McNemar's exact test as a cell.
func exact(p stats.Paired) cell {
	v, ok := p.McNemar()
	if ok && v < 0.0005 {
		return words("< 0.001")
	}
	return cell{figure: analysis.Figure{Known: ok, Value: v, Why: "no question differs between the two sides"}, formula: formulaExact, decimals: 3}
}

// of is one of the analysis's figures as a cell.
func (b *builder) of(id, formula string, decimals int) cell {
	f, ok := b.figures[id]
	if !ok {
		f.Why = "there is no figure " + id
	}
	return cell{figure: f, formula: formula, decimals: decimals, id: id}
}

func (b *builder) selective() {
	b.begin(4, "questions", "with a tool call, %", "95 % interval", "wrong - right", "wrong / right", "rescued", "damaged", "rescued / damaged", "p", "open")
	for _, x := range []struct {
		id string
		b  bench.Benchmark
	}{{"cab", bench.ChestAgentBench}, {"chexbench", bench.CheXbench}, {"", bench.SLAKE}} {
		r, rescue := b.in.Analysis.Routing(analysis.Base, analysis.Default, x.b), b.in.Analysis.Rescue(analysis.Base, analysis.Default, x.b)
		why := "no question of " + x.b.Title() + " has outcomes of " + analysis.Base + " and " + analysis.Default
		id := func(name string) string {
			if x.id == "" {
				return ""
			}
			return "routing." + x.id + "." + name
		}
		stratum := func(name, figure string, p stats.Proportion) {
			b.row(x.b.Title()+", "+name, count(p.N), share(p, why, id(figure)), wilson(p), words(""), words(""), words(""), words(""), words(""), words(""), words(""))
		}
		stratum("base wrong", "base_wrong", r.BaseWrong)
		stratum("base right", "base_right", r.BaseRight)
		overall := ""
		gap := cell{figure: analysis.Figure{Why: why}, formula: formulaDelta, decimals: 1, signed: true}
		if w, ok := r.BaseWrong.Value(); ok && r.BaseRight.N > 0 {
			v, _ := r.BaseRight.Value()
			gap.figure = analysis.Figure{Known: true, Value: 100 * (w - v)}
		}
		if x.b == bench.ChestAgentBench {
			overall, gap = "overall", b.of("routing.cab.gap", formulaDelta, 1)
			gap.signed = true
		}
		if overall != "" {
			overall = id(overall)
		}
		ratio, damage := cell{figure: analysis.Figure{Why: why}, formula: formulaRatio, decimals: 2}, cell{figure: analysis.Figure{Why: why}, formula: formulaRatio, decimals: 2}
		rescued, damaged := count(rescue.Rescued()), count(rescue.Damaged())
		if x.id != "" {
			ratio, damage = b.of(id("ratio"), formulaRatio, 2), b.of(id("rescue_damage"), formulaRatio, 2)
			rescued, damaged = b.of("derived.routing."+x.id+".rescue", formulaCount, 0), b.of("derived.routing."+x.id+".damage", formulaCount, 0)
		} else {
			v, ok := r.Ratio()
			ratio.figure = analysis.Figure{Known: ok, Value: v, Why: why}
			v, ok = rescue.Ratio()
			damage.figure = analysis.Figure{Known: ok, Value: v, Why: why}
		}
		b.row(x.b.Title()+", all", count(r.All.N), share(r.All, why, overall), wilson(r.All), gap, ratio, rescued, damaged, damage, exact(rescue.Paired), count(r.Open))
	}
	b.end(b.notes("Rescued: wrong with the base model, right with ours; damaged: the reverse; p tests the two against each other. First repeats.")...)
}

func (b *builder) validity() {
	b.begin(6, "questions", "gate on", "gate off", "difference", "only on", "only off", "p", "open")
	const off = "xr.gate.off"
	for _, s := range []struct{ title, id, stratum string }{
		{"frontal", "frontal", analysis.Frontal}, {"non-frontal or atypical", "nonfrontal", analysis.Nonfrontal}, {"all", "all", ""},
	} {
		p := b.in.Analysis.GatePairs(analysis.Default, off, bench.ChestAgentBench, s.stratum)
		only := func(id string, n int) cell {
			if s.stratum == "" {
				return count(n)
			}
			return b.of("gate.pairs."+s.stratum+"."+id, formulaCount, 0)
		}
		on, without := b.of("gate.on."+s.id, formulaShare, 2), b.of("gate.off."+s.id, formulaShare, 2)
		d := cell{figure: analysis.Figure{Why: on.figure.Why}, formula: formulaDelta, decimals: 2, signed: true}
		if on.figure.Known && without.figure.Known {
			d.figure = analysis.Figure{Known: true, Value: on.figure.Value - without.figure.Value}
		}
		b.row(s.title, count(p.N()), on, without, d, only("g_only", p.OnlyFirst), only("ng_only", p.OnlySecond), exact(p.Paired), count(p.Open))
	}
	at := wholes[0].at
	b.row("noise floor", words(""), words(""), words(""), b.floor(analysis.Default, off, at), words(""), words(""), words(""), words(""))
	fill := []cell{words(""), words(""), words(""), words(""), words(""), words(""), words("")}
	for _, r := range []struct{ title, id string }{
		{"blocked by the view check, %", "gate.view_check_block_rate"}, {"withheld in all, %", "gate.withheld_rate"},
		{"masks refused of those that passed the view check, %", "derived.gate.mask_quality_reject_rate"},
	} {
		b.row(r.title, append([]cell{b.of(r.id, formulaShare, 1)}, fill...)...)
	}
	b.end(b.notes("A question belongs to a stratum by the view check of the run with the gate on. The gate wants a PA view, the paper's strata speak of frontal ones.",
		"Both runs expose the same values on frontal pictures: what differs there is decoding. First repeats.")...)
}

// protocol are settings that the agent and the default reward have in every experiment.
func protocol() map[string]string {
	w := xragent.DefaultReward().Weights
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return map[string]string{
		"turns": "2", "grpo.max_aux_calls": strconv.Itoa(xragent.MaxCalls), "reward.R_acc_values": "[0, 1]", "reward.R_format_values": "[0, -1]", "reward.R_cxr_min": "0",
		"reward.lambda_c": number(w.Evidence), "reward.lambda_t": number(w.Cost), "reward.lambda_t_times_K_max_upper_bound_exclusive": number(w.Cost*xragent.MaxCalls) + " < 1",
	}
}

// settings are the paper's constants beside ours.
func (b *builder) settings() error {
	b.open(titles[7], "table-7", []string{"setting", "printed in"}, []string{"paper", "ours"})
	var list []Setting
	if b.in.Beside != nil {
		var err error
		if list, err = b.in.Beside.Constants(); err != nil {
			return fmt.Errorf("tables: settings: %w", err)
		}
	}
	row := func(name, where, paper, ours string) {
		p, _ := b.render(words(paper))
		o, _ := b.render(words(ours))
		n, _ := b.render(words(name))
		w, _ := b.render(words(where))
		b.t.Add(n, w, p, o)
	}
	mine := protocol()
	maps.Copy(mine, b.in.Settings)
	seen := map[string]bool{}
	for _, s := range list {
		seen[s.Name] = true
		ours, ok := mine[s.Name]
		if !ok {
			ours = "not set here"
		}
		row(s.Name, s.Where, s.Value, ours)
	}
	for _, name := range sortedKeys(mine) {
		if !seen[name] {
			row(name, "", "-", mine[name])
		}
	}
	b.end("The paper's Table 7 is not in the text: its column holds what the text prints elsewhere.",
		"\"not set here\": nothing in this reproduction used it, for example because nothing was trained.")
	return nil
}

func (b *builder) counts() {
	b.begin(8, "number")
	for _, r := range []struct{ title, id string }{
		{"ChestAgentBench, questions", "bench.cab.total"},
		{"  detection", "bench.cab.detection"}, {"  classification", "bench.cab.classification"}, {"  localization", "bench.cab.localization"},
		{"  comparison", "bench.cab.comparison"}, {"  relationship", "bench.cab.relationship"}, {"  diagnosis", "bench.cab.diagnosis"},
		{"  characterization", "bench.cab.characterization"},
		{"CheXbench, questions", "bench.chexbench.total"}, {"  OpenI", "bench.chexbench.openi"}, {"  Rad-ReStruct", "bench.chexbench.rad_restruct"}, {"  SLAKE", "bench.chexbench.slake"},
		{"  pictures of OpenI", "integrity.openi_eval_images"}, {"  pictures of Rad-ReStruct", "integrity.rad_restruct_eval_images"},
		{"  pictures of either", "integrity.exclusion_union"},
		{"SLAKE closed, questions", "bench.slake.total"},
		{"SFT examples", "corpus.sft_total"}, {"  with two turns", "corpus.sft_routed"}, {"  report-style", "corpus.sft_report_cot"},
		{"  multiple choice", "corpus.mcq_sft"}, {"  closed", "corpus.closed_vqa"}, {"  binary", "corpus.binary_vqa"},
		{"GRPO examples", "corpus.grpo_total"}, {"  multiple choice unseen in SFT", "corpus.grpo_extra_mcq"}, {"multiple choice in all", "corpus.mcq_total"},
		{"report candidates", "corpus.report_candidates"}, {"evaluated pictures in training", "integrity.overlap_after"},
	} {
		c := cell{figure: b.figures[r.id], formula: formulaCount, id: r.id}
		if n, ok := b.in.Corpus[r.id]; ok {
			c.figure = analysis.Figure{Known: true, Value: float64(n)}
		}
		if !c.figure.Known && c.figure.Why == "" {
			c.figure.Why = "not imported or built in this reproduction"
		}
		b.row(r.title, c)
	}
	b.end("Labels of ChestAgentBench overlap: each question has three of the seven.")
}
