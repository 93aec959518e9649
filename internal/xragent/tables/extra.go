package tables

import (
	"maps"
	"slices"

	"cxrepro/internal/report"
	"cxrepro/internal/stats"
	"cxrepro/internal/xragent/analysis"
	"cxrepro/internal/xragent/bench"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// noise is what repeats measure, configuration by configuration.
func (b *builder) noise() {
	b.open("Noise floor: repeats of one experiment", "noise", []string{"configuration", "benchmark"}, []string{"repeats", "mean", "spread", "flips", "unparsed", "open"})
	for _, config := range b.in.Analysis.Configs() {
		for _, w := range wholes {
			s := b.in.Analysis.Score(config, w.at.Benchmark, w.at.Column)
			if s.Why != "" {
				continue
			}
			spread := words("not measured")
			if v, ok := s.Spread(); ok {
				spread = cell{figure: analysis.Figure{Known: true, Value: v}, formula: formulaFloor, decimals: 2}
			}
			flips := words("not measured")
			if p := b.in.Analysis.Flips(config, w.at.Benchmark); p.N > 0 {
				flips = share(p, "", "")
				flips.decimals = 2
				flips.formula = formulaFlips
			}
			b.line([]string{config, w.title}, count(len(s.Repeats)), b.value(config, w.at, ""), spread, flips, count(s.Unparsed()), count(s.Open()))
		}
	}
	b.end("Flips: of all pairs of repeats of one question, those that are right once and wrong once, in per cent.")
}

// line adds a row of ours alone, with words before the figures.
func (b *builder) line(before []string, cells ...cell) {
	var out []report.Cell
	for _, w := range before {
		out = append(out, report.Text(w))
	}
	for _, c := range cells {
		o, _ := b.render(c)
		out = append(out, o)
	}
	b.t.Add(out...)
}

func (b *builder) calls() {
	b.open("Calls per tool", "calls", []string{"configuration", "benchmark", "tool"}, []string{"calls", "questions with one", "%"})
	for _, config := range b.in.Analysis.Configs() {
		for _, bm := range bench.Benchmarks() {
			for _, u := range b.in.Analysis.Calls(config, bm) {
				if u.Questions.N == 0 || u.Calls == 0 {
					continue
				}
				b.line([]string{config, bm.Title(), u.Tool}, count(u.Calls), count(u.Questions.K), share(u.Questions, "", ""))
			}
		}
	}
	b.end("Calls are counted as the reward counts them: run or not, repeats too. First repeats; tools that were never called are left out.")
}

func (b *builder) withheld() {
	b.open("Why measurements were withheld", "withheld", []string{"configuration", "benchmark", "reason"}, []string{"questions", "% of those the gate decided on"})
	for _, config := range b.in.Analysis.Configs() {
		for _, bm := range bench.Benchmarks() {
			g := b.in.Analysis.Gate(config, bm)
			if g.Gated == 0 {
				continue
			}
			line := func(reason string, n int) {
				p := share(stats.Proportion{K: n, N: g.Gated}, "", "")
				b.line([]string{config, bm.Title(), reason}, count(n), p)
			}
			line("shown", g.Shown)
			for _, r := range g.Withheld {
				line(r.Code, r.N)
			}
		}
	}
	b.end("Of a question with several pictures the first that passes is measured. First repeats.")
}

// mostFlips bounds the list of answers that flip; the rest is counted.
const mostFlips = 60

func (b *builder) flips() {
	b.open("Answers that flip between gate on and gate off", "gate-flips", []string{"question", "stratum", "key", "gate on", "gate off", "withheld with the gate on"}, nil)
	list := b.in.Analysis.Flipped(analysis.Default, "xr.gate.off", bench.ChestAgentBench)
	for i, f := range list {
		if i == mostFlips {
			break
		}
		mark := func(answer string, right bool) string {
			if right {
				return answer + " (right)"
			}
			return answer
		}
		b.line([]string{f.Item, f.Stratum, f.Key, mark(f.First, f.FirstRight), mark(f.Second, f.SecondRight), f.Withheld})
	}
	notes := []string{"Their transcripts are worth reading side by side. First repeats, ChestAgentBench."}
	switch {
	case len(list) > mostFlips:
		notes = append(notes, report.Number(len(list)-mostFlips)+" more are not listed.")
	case len(list) == 0:
		notes = append(notes, "None: no question has different answers, or one of the two was not run.")
	}
	b.end(notes...)
}
