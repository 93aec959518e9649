package evaluation

import (
	"fmt"
	"slices"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/stats"
)

const (
	formulaTerminal  = "draws"
	formulaAgreement = "agreement"
	formulaKappa     = "kappa"
	formulaForm      = "form"
)

// terminals counts draws by stage and by what came of them.
func (d *Document) terminals() *report.Table {
	columns := []report.Column{left("model"), left("sampling"), left("path"), left("stage"), right("draws"), right("judged")}
	for _, x := range cxreasonbench.Terminals() {
		columns = append(columns, right(terminalWords(x.String())))
	}
	t := d.table("terminals", "Draws by outcome, model and stage", columns...)
	t.Formulas = []report.Formula{{ID: formulaTerminal, Text: "k of the n draws of the stage"}}
	for i := range d.Input.Summary.Evaluations {
		e := &d.Input.Summary.Evaluations[i]
		for k, st := range e.Stages {
			words := append(labelCells(e, k == 0), report.Text(cxreasonbench.PathTitle(st.Path)), report.Text(stageWords(st.Path, st.Stage)))
			if k > 0 && e.Stages[k-1].Path == st.Path {
				words[2] = report.Text("")
			}
			row := append(words, report.Count(st.Draws, ""), report.Figure(report.Number(st.Judged), st.Judged, st.Draws, formulaTerminal))
			for _, x := range cxreasonbench.Terminals() {
				n := 0
				for _, c := range st.Terminals {
					if c.Name == x.String() {
						n = c.N
					}
				}
				row = append(row, report.Figure(report.Number(n), n, st.Draws, formulaTerminal))
			}
			t.Rows = append(t.Rows, report.Row{Head: k == 0, Cells: row})
		}
	}
	return t
}

// labelCells name an evaluation in the first row of its group; in the others they are empty.
func labelCells(e *contract.SummaryEvaluation, first bool) []report.Cell {
	if !first {
		return []report.Cell{report.Text(""), report.Text("")}
	}
	model, sampling := label(e)
	return []report.Cell{report.Text(model), report.Text(sampling)}
}

// terminalWords names a terminal outcome for a reader.
func terminalWords(name string) string {
	switch name {
	case "safety_block":
		return "safety block"
	case "request_invalid":
		return "invalid request"
	}
	return name
}

// undetermined lists the cases without a result, and the tasks that wait for them.
func (d *Document) undetermined() *report.Table {
	t := d.table("undetermined", "Undetermined cases", left("model"), left("sampling"), left("task"), right("case"), left("path"), left("call"), left("why"))
	for i := range d.Input.Summary.Evaluations {
		e := &d.Input.Summary.Evaluations[i]
		model, sampling := label(e)
		for _, u := range e.Undetermined {
			t.Add(report.Text(model), report.Text(sampling), report.Text(taskWords(u.Task)), report.Text(fmt.Sprint(u.Case)),
				report.Text(cxreasonbench.PathTitle(u.Path)), report.Text(u.Call), report.Text(u.Why))
		}
		for _, w := range e.Waiting {
			t.Add(report.Text(model), report.Text(sampling), report.Text(w.Name), report.Text("all"), report.Text(cxreasonbench.PathTitle(cxreasonbench.Path2)),
				report.Text(""), report.Text(fmt.Sprintf("Path 2 waits for Path 1 of %d cases", w.N)))
		}
	}
	return t
}

// agreement compares judge and parser by path.
func (d *Document) agreement() *report.Table {
	t := d.table("agreement", "Judge and parser by path", left("model"), left("sampling"), left("path"), right("same score"), right("Cohen's kappa"), right("parser found no answer"))
	t.Formulas = []report.Formula{
		{ID: formulaAgreement, Text: "k of the n replies that both read get the same score"},
		{ID: formulaKappa, Text: "agreement beyond chance over the four scores"},
		{ID: formulaForm, Text: "k of the n replies"},
	}
	for i := range d.Input.Summary.Evaluations {
		e := &d.Input.Summary.Evaluations[i]
		for k, p := range pathsOf(e) {
			both, unread, all := compareReadings(e, p)
			if all == 0 {
				continue
			}
			same := both.Observed()
			kappa := report.None("every reply has the same score")
			if v, ok := both.Kappa(); ok {
				kappa = report.Figure(fmt.Sprintf("%.3f", v), same.K, same.N, formulaKappa).With(report.Detail{Value: &v})
			}
			row := append(labelCells(e, k == 0), report.Text(cxreasonbench.PathTitle(p)), share(same.K, same.N, formulaAgreement), kappa, share(unread, all, formulaForm))
			t.Rows = append(t.Rows, report.Row{Head: k == 0, Cells: row})
		}
	}
	return t
}

// compareReadings adds up the replies of a path that both readings scored, those that the
// parser found no answer in, and all.
func compareReadings(e *contract.SummaryEvaluation, p cxreasonbench.Path) (both stats.Agreement, unread, all int) {
	scores := scoreNames()
	for _, r := range e.Readings {
		if r.Path != p {
			continue
		}
		all += r.N
		if !slices.Contains(scores, r.Parser) {
			unread += r.N
			continue
		}
		for range r.N {
			both.Add(r.Judge, r.Parser)
		}
	}
	return both, unread, all
}

func scoreNames() []string {
	var names []string
	for _, s := range cxreasonbench.Scores() {
		names = append(names, s.String())
	}
	return names
}

// disagreements lists where the two readings part ways, the most frequent first.
func (d *Document) disagreements() *report.Table {
	t := d.table("disagreements", "Where judge and parser part ways", left("model"), left("sampling"), left("path"), left("stage"), left("judge"), left("parser"), right("replies"))
	for i := range d.Input.Summary.Evaluations {
		e := &d.Input.Summary.Evaluations[i]
		apart := slices.DeleteFunc(slices.Clone(e.Readings), func(r contract.SummaryReading) bool { return r.Judge == r.Parser })
		slices.SortStableFunc(apart, func(a, b contract.SummaryReading) int { return b.N - a.N })
		for k, r := range apart {
			row := append(labelCells(e, k == 0), report.Text(cxreasonbench.PathTitle(r.Path)), report.Text(stageWords(r.Path, r.Stage)),
				report.Text(scoreWords(r.Judge)), report.Text(scoreWords(r.Parser)), report.Count(r.N, ""))
			t.Rows = append(t.Rows, report.Row{Head: k == 0, Cells: row})
		}
	}
	return t
}

func scoreWords(name string) string {
	switch name {
	case cxreasonbench.Unknown.String():
		return "I don't know"
	case cxreasonbench.NoneOfAbove.String():
		return "none of the above"
	}
	return terminalWords(name)
}

// forms counts how values were told.
func (d *Document) forms() *report.Table {
	columns := []report.Column{left("model"), left("sampling"), left("path"), right("final replies")}
	for _, f := range cxreasonbench.ValueForms() {
		columns = append(columns, right(f.String()))
	}
	t := d.table("forms", "How final replies tell their value", columns...)
	t.Formulas = []report.Formula{{ID: formulaForm, Text: "k of the n kept final replies of measurement tasks"}}
	for i := range d.Input.Summary.Evaluations {
		e := &d.Input.Summary.Evaluations[i]
		head := true
		for _, p := range pathsOf(e) {
			counts, all := map[string]int{}, 0
			for _, f := range e.Forms {
				if f.Path == p {
					counts[f.Form] += f.N
					all += f.N
				}
			}
			if all == 0 {
				continue
			}
			row := append(labelCells(e, head), report.Text(cxreasonbench.PathTitle(p)), report.Count(all, ""))
			for _, f := range cxreasonbench.ValueForms() {
				row = append(row, share(counts[f.String()], all, formulaForm))
			}
			t.Rows = append(t.Rows, report.Row{Head: head, Cells: row})
			head = false
		}
	}
	return t
}

// share is k of n with its textbook interval.
func share(k, n int, formula string) report.Cell {
	if n == 0 {
		return report.None("nothing was counted")
	}
	p := stats.Proportion{K: k, N: n}
	v, _ := p.Value()
	low, high, _ := p.Wilson(stats.Z95)
	percent := 100 * v
	return report.Share(k, n, formula).With(report.Detail{Value: &percent, Standard: &report.Range{Mid: v, Low: low, High: high}})
}

func pathsOf(e *contract.SummaryEvaluation) []cxreasonbench.Path {
	var out []cxreasonbench.Path
	for _, p := range e.Paths {
		out = append(out, p.Path)
	}
	return out
}
