package agent

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/report"
	"cxrepro/internal/stats"
)

// Formulas of the tables.
const (
	formulaCorrect = "correct"
	formulaCount   = "count"
	formulaMean    = "mean"
	formulaSpread  = "spread"
)

var formulas = map[string]string{
	formulaCorrect: "right answers of those questions that have an outcome, over all repeats; an answer that cannot be read is wrong",
	formulaCount:   "a number of rollouts, calls or bundles",
	formulaMean:    "mean over the rollouts with two turns, of all repeats",
	formulaSpread:  "largest minus smallest share of right answers of the repeats, in points: differences below it are noise",
}

// z95 is the quantile of a 95 % interval.
const z95 = 1.959963984540054

// row is a policy under an arm, all repeats.
type row struct {
	policy, arm, config string
	sets                []*contract.AgentSet
}

// rows joins the sets that differ in the repeat alone, in their order.
func rows(t *contract.AgentTables) []row {
	var out []row
	for i := range t.Sets {
		s := &t.Sets[i]
		k := slices.IndexFunc(out, func(r row) bool { return r.policy == s.Policy && r.arm == s.Arm })
		if k < 0 {
			k = len(out)
			out = append(out, row{policy: s.Policy, arm: s.Arm, config: s.Config})
		}
		out[k].sets = append(out[k].sets, s)
	}
	return out
}

// group sums a part of the questions over the repeats.
func (r row) group(name string) (g contract.AgentGroup) {
	for _, s := range r.sets {
		for _, part := range s.Groups {
			if part.Name == name {
				g.Items += part.Items
				g.Answered += part.Answered
				g.Correct += part.Correct
				g.Unparsed += part.Unparsed
				g.Undetermined += part.Undetermined
				g.Called += part.Called
			}
		}
	}
	return g
}

// spread is the difference of the best and the worst repeat in points; ok is false with one.
func (r row) spread() (points float64, ok bool) {
	low, high := 101.0, -1.0
	for _, s := range r.sets {
		g := s.Groups[0]
		if g.Answered == 0 {
			return 0, false
		}
		share := 100 * float64(g.Correct) / float64(g.Answered)
		low, high = min(low, share), max(high, share)
	}
	return high - low, len(r.sets) > 1
}

// Tables returns every table.
func Tables(t *contract.AgentTables) []*report.Table {
	list := rows(t)
	return []*report.Table{answers(t, list), tools(list), bundles(list), rewards(list)}
}

// Simulated reports whether a stand-in answered.
func Simulated(t *contract.AgentTables) bool {
	return slices.ContainsFunc(t.Models, func(m contract.SummaryModel) bool { return m.Simulated }) || t.Lookup != nil && t.Lookup.Simulated
}

// Complete reports whether every question of every set has an outcome.
func Complete(t *contract.AgentTables) bool {
	return !slices.ContainsFunc(t.Sets, func(s contract.AgentSet) bool { return len(s.Reasons) > 0 })
}

func legend(names ...string) []report.Formula {
	var out []report.Formula
	for _, n := range names {
		out = append(out, report.Formula{ID: n, Text: formulas[n]})
	}
	return out
}

// groups lists the parts of the questions, in the order of the first set.
func groups(t *contract.AgentTables) []string {
	var out []string
	if len(t.Sets) > 0 {
		for _, g := range t.Sets[0].Groups {
			out = append(out, g.Name)
		}
	}
	return out
}

// answers is how often each row was right.
func answers(t *contract.AgentTables, list []row) *report.Table {
	out := &report.Table{
		Title: "Right answers", Name: "answers", Formulas: legend(formulaCorrect, formulaCount, formulaSpread),
		Columns: []report.Column{{Name: "policy"}, {Name: "arm"}},
	}
	parts := groups(t)
	for _, name := range parts {
		out.Columns = append(out.Columns, report.Column{Name: name, Right: true})
	}
	for _, name := range []string{"interval 95 %", "spread", "unparsed", "undetermined"} {
		out.Columns = append(out.Columns, report.Column{Name: name, Right: true})
	}
	for _, r := range list {
		cells := []report.Cell{report.Text(r.policy), report.Text(r.arm)}
		for _, name := range parts {
			g := r.group(name)
			cells = append(cells, report.Share(g.Correct, g.Answered, formulaCorrect))
		}
		all := r.group(parts[0])
		interval := report.Absent("no question has an outcome")
		if low, high, ok := (stats.Proportion{K: all.Correct, N: all.Answered}).Wilson(z95); ok {
			interval = report.Text(fmt.Sprintf("%.1f to %.1f", 100*low, 100*high))
		}
		spread := report.Absent("one repeat")
		if points, ok := r.spread(); ok {
			spread = report.Text(fmt.Sprintf("%.1f", points))
		}
		out.Add(append(cells, interval, spread, report.Count(all.Unparsed, formulaCount), report.Count(all.Undetermined, formulaCount))...)
	}
	out.Notes = append(out.Notes, fmt.Sprintf("%d questions of %s (%s), %d pictures, %d repeats; replies are read by scorer %s.",
		t.Questions.Items, t.Questions.Layout, t.Questions.Version, t.Questions.Pictures, t.Agent.Repeats, t.Agent.Scorer))
	out.Notes = append(out.Notes, t.Questions.Notes...)
	if t.Agent.Repeats < 3 {
		out.Notes = append(out.Notes, "Fewer than three repeats: a difference between rows cannot be told from noise.")
	}
	if Simulated(t) {
		out.Notes = append(out.Notes, "Simulated: stand-ins answered. This shows that the machinery works, and nothing of a model.")
	}
	if !Complete(t) {
		out.Notes = append(out.Notes, "Not complete: questions whose endpoint failed are in no denominator.")
	}
	return out
}

// sum adds counts of all repeats.
func (r row) sum(of func(s *contract.AgentSet) []contract.Count) []contract.Count {
	var out []contract.Count
	for _, s := range r.sets {
		out = contract.AddCounts(out, of(s))
	}
	return out
}

// counted is a table of counts by name, one column for each name that occurs.
func counted(title, name string, list []row, first []report.Column, lead func(r row) []report.Cell, of func(s *contract.AgentSet) []contract.Count) *report.Table {
	out := &report.Table{Title: title, Name: name, Formulas: legend(formulaCount),
		Columns: append([]report.Column{{Name: "policy"}, {Name: "arm"}}, first...)}
	var names []contract.Count
	for _, r := range list {
		names = contract.AddCounts(names, r.sum(of))
	}
	for _, n := range names {
		out.Columns = append(out.Columns, report.Column{Name: strings.ReplaceAll(n.Name, "_", " "), Right: true})
	}
	for _, r := range list {
		cells := append([]report.Cell{report.Text(r.policy), report.Text(r.arm)}, lead(r)...)
		counts := r.sum(of)
		for _, n := range names {
			k := 0
			for _, c := range counts {
				if c.Name == n.Name {
					k = c.N
				}
			}
			cells = append(cells, report.Count(k, formulaCount))
		}
		out.Add(cells...)
	}
	return out
}

func tools(list []row) *report.Table {
	return counted("Tools that policies called", "tools", list, []report.Column{{Name: "questions with a call", Right: true}},
		func(r row) []report.Cell {
			g := r.group("all")
			return []report.Cell{report.Share(g.Called, g.Answered, formulaCount)}
		},
		func(s *contract.AgentSet) []contract.Count { return s.Tools })
}

func bundles(list []row) *report.Table {
	return counted("Measurements shown and withheld", "bundles", list, []report.Column{{Name: "shown", Right: true}},
		func(r row) []report.Cell {
			shown, all := 0, 0
			for _, s := range r.sets {
				shown += s.Shown
				all += s.Bundles
			}
			return []report.Cell{report.Share(shown, all, formulaCount)}
		},
		func(s *contract.AgentSet) []contract.Count { return s.Withheld })
}

// rewards is what rollouts were worth.
func rewards(list []row) *report.Table {
	out := &report.Table{
		Title: "Rewards", Name: "rewards", Formulas: legend(formulaMean, formulaCount),
		Columns: []report.Column{{Name: "policy"}, {Name: "arm"}, {Name: "rollouts", Right: true}, {Name: "reward", Right: true}, {Name: "evidence", Right: true}, {Name: "calls", Right: true}},
	}
	for _, r := range list {
		n, reward, evidence, calls := 0, 0.0, 0.0, 0.0
		for _, s := range r.sets {
			k := float64(s.Rewarded)
			n += s.Rewarded
			reward += k * s.Reward
			evidence += k * s.Evidence
			calls += k * s.Calls
		}
		cells := []report.Cell{report.Text(r.policy), report.Text(r.arm), report.Count(n, formulaCount)}
		for _, sum := range []float64{reward, evidence, calls} {
			if n == 0 {
				cells = append(cells, report.Absent("one turn has no reward"))
				continue
			}
			cells = append(cells, report.Text(fmt.Sprintf("%.3f", sum/float64(n))))
		}
		out.Add(cells...)
	}
	return out
}
