package scoring

import (
	"cmp"
	"slices"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// Bootstrap says how the intervals are drawn.
type Bootstrap struct {
	Draws int
	Seed  uint64
}

// Summary computes every figure of the evaluation. model describes who answered, sampling how.
func (e *Evaluation) Summary(model contract.SummaryModel, sampling string, b Bootstrap) contract.SummaryEvaluation {
	s := contract.SummaryEvaluation{
		Name: e.ref.Name, Model: model, Sampling: sampling, Draws: e.ref.Draws, JudgedAgain: e.again,
		Undetermined: e.sortedUndetermined(), Waiting: e.waiting,
		Stages: []contract.SummaryStage{}, Readings: []contract.SummaryReading{}, Forms: []contract.SummaryForm{},
	}
	if s.Waiting == nil {
		s.Waiting = []contract.Count{}
	}
	for _, p := range e.Paths() {
		s.Paths = append(s.Paths, e.path(p, b))
	}
	for _, st := range e.stages {
		s.Stages = append(s.Stages, *st)
	}
	slices.SortFunc(s.Stages, func(a, b contract.SummaryStage) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Stage, b.Stage))
	})
	for k, n := range e.readings {
		s.Readings = append(s.Readings, contract.SummaryReading{Path: k.path, Stage: k.stage, Judge: k.judge, Parser: k.parser, N: n})
	}
	slices.SortFunc(s.Readings, func(a, b contract.SummaryReading) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Judge, b.Judge), cmp.Compare(a.Parser, b.Parser))
	})
	for k, n := range e.forms {
		s.Forms = append(s.Forms, contract.SummaryForm{Path: k.path, Task: k.task, Form: k.form, N: n})
	}
	slices.SortFunc(s.Forms, func(a, b contract.SummaryForm) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Form, b.Form))
	})
	return s
}

// path computes the figures of one path with their intervals.
func (e *Evaluation) path(p cxreasonbench.Path, b Bootstrap) contract.SummaryPath {
	cases := e.Cases(p)
	scores := cxreasonbench.ScorePath(e.ref.Rules, p, cases)
	intervals := &cxreasonbench.Intervals{}
	if b.Draws > 0 {
		intervals = cxreasonbench.Bootstrap(e.ref.Rules, p, cases, b.Seed, b.Draws)
	}
	out := contract.SummaryPath{Path: p}
	for _, t := range cxreasonbench.Tasks() {
		counts := scores.Counts[t]
		out.Tasks = append(out.Tasks, contract.SummaryRow{Name: t.String(), Counts: &counts, Cells: cells(p, scores.Tasks[t], intervals.Tasks[t])})
	}
	for _, g := range cxreasonbench.Groups() {
		out.Groups = append(out.Groups, contract.SummaryRow{Name: g.String(), Cells: cells(p, scores.Groups[g], intervals.Groups[g])})
	}
	return out
}

func cells(p cxreasonbench.Path, row cxreasonbench.ScoreRow, in map[cxreasonbench.Column]cxreasonbench.CellInterval) []contract.SummaryCell {
	out := make([]contract.SummaryCell, 0, len(row.Cells))
	for _, c := range row.Cells {
		cell := contract.SummaryCell{Column: c.Column.String(), Plain: figure(c.Plain, in[c.Column].Plain)}
		if cxreasonbench.Refines(p, c.Column) {
			refined := figure(c.Refined, in[c.Column].Refined)
			cell.Refined = &refined
		}
		out = append(out, cell)
	}
	return out
}

func figure(f cxreasonbench.Figure, in cxreasonbench.Interval) contract.SummaryFigure {
	out := contract.SummaryFigure{Formula: f.Formula, Why: f.Why, Interval: in}
	if f.Known {
		v := f.Value
		out.Value, out.K, out.N = &v, f.K, f.N
	}
	return out
}

// Scored turns an evaluation of a summary back into figures for the tables. They are computed
// anew from the counts, so that a table and its summary cannot part ways.
func Scored(rules cxreasonbench.Rules, s *contract.SummaryEvaluation) cxreasonbench.Evaluation {
	e := cxreasonbench.Evaluation{
		Model: s.Model.Title, Sampling: cxreasonbench.Greedy, Simulated: s.Model.Simulated,
		Intervals: map[cxreasonbench.Path]*cxreasonbench.Intervals{}, Undetermined: undeterminedCases(s),
	}
	if s.Draws > 1 {
		e.Sampling = cxreasonbench.Stochastic
	}
	for _, p := range s.Paths {
		counts := map[cxreasonbench.Task]cxreasonbench.Counts{}
		in := &cxreasonbench.Intervals{
			Tasks:  map[cxreasonbench.Task]map[cxreasonbench.Column]cxreasonbench.CellInterval{},
			Groups: map[cxreasonbench.Group]map[cxreasonbench.Column]cxreasonbench.CellInterval{},
		}
		for i, t := range cxreasonbench.Tasks() {
			if i < len(p.Tasks) && p.Tasks[i].Counts != nil {
				counts[t], in.Tasks[t] = *p.Tasks[i].Counts, intervalsOf(p.Tasks[i])
			}
		}
		for i, g := range cxreasonbench.Groups() {
			if i < len(p.Groups) {
				in.Groups[g] = intervalsOf(p.Groups[i])
			}
		}
		e.Paths = append(e.Paths, cxreasonbench.ScoreCounts(rules, p.Path, counts))
		e.Intervals[p.Path] = in
	}
	return e
}

// undeterminedCases names the open cases of each path. Where Path 2 of a task waits for
// Path 1, the cases that it waits for are open in Path 2 and the re-evaluation too.
func undeterminedCases(s *contract.SummaryEvaluation) map[cxreasonbench.Path][]int {
	open := map[cxreasonbench.Path][]int{}
	later := func(c int) {
		open[cxreasonbench.Path2] = append(open[cxreasonbench.Path2], c)
		open[cxreasonbench.RePath1] = append(open[cxreasonbench.RePath1], c)
	}
	waits := map[string]int{}
	for _, w := range s.Waiting {
		waits[w.Name] += w.N
	}
	for _, u := range s.Undetermined {
		if u.Path == cxreasonbench.Path2 {
			later(u.Case)
			continue
		}
		open[u.Path] = append(open[u.Path], u.Case)
		if waits[u.Task.String()] > 0 {
			waits[u.Task.String()]--
			later(u.Case)
		}
	}
	unnamed := 0 // waited for without being listed: each counts once
	for _, n := range waits {
		for ; n > 0; n-- {
			unnamed--
			later(unnamed)
		}
	}
	return open
}

func intervalsOf(r contract.SummaryRow) map[cxreasonbench.Column]cxreasonbench.CellInterval {
	out := map[cxreasonbench.Column]cxreasonbench.CellInterval{}
	for _, c := range r.Cells {
		column, ok := cxreasonbench.ParseColumn(c.Column)
		if !ok {
			continue
		}
		in := cxreasonbench.CellInterval{Plain: c.Plain.Interval}
		if c.Refined != nil {
			in.Refined = c.Refined.Interval
		}
		out[column] = in
	}
	return out
}
