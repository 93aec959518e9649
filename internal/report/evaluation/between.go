package evaluation

import (
	"fmt"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

const (
	formulaDifference = "difference"
	formulaHours      = "hours"
)

// at returns a cell of an evaluation's group row, and its published counterpart.
func (d *Document) at(e *cxreasonbench.Evaluation, p cxreasonbench.Path, g cxreasonbench.Group, c cxreasonbench.Column) (ours cxreasonbench.Figure, paper cxreasonbench.PublishedFigure, printed bool) {
	for _, s := range e.Paths {
		if s.Path == p {
			cell, _ := s.Groups[g].Cell(c)
			ours = cell.Plain
		}
	}
	paper, printed = d.published.Figure(cxreasonbench.Place{Model: e.Model, Sampling: e.Sampling, Path: p, Row: g.String(), Column: c})
	return ours, paper, printed
}

// minus is the difference of two figures, beside that of the published ones. Nothing says how
// far such a difference moves from run to run, so only equal ones are called reproduced.
func (d *Document) minus(a, b cxreasonbench.Figure, pa, pb cxreasonbench.PublishedFigure, printed bool) report.Cell {
	var cell report.Cell
	switch {
	case !a.Known:
		cell = report.None("the first has no value: " + a.Why)
	case !b.Known:
		cell = report.None("the second has no value: " + b.Why)
	default:
		v := a.Value - b.Value
		cell = report.Figure(signed(v), a.K, a.N, formulaDifference).With(report.Detail{Value: &v})
	}
	if !printed || !pa.Known || !pb.Known {
		return cell
	}
	want := signed(pa.Value - pb.Value)
	if cell.Why() != "" {
		return cell.Beside(want, report.NotComputable)
	}
	if cell.String() == want {
		return cell.Beside(want, report.Reproduced)
	}
	detail := *cell.Detail
	detail.Why = "a difference has no interval of its own; see the two figures"
	return cell.Beside(want, report.NotComputable).With(detail)
}

func signed(v float64) string {
	s := fmt.Sprintf("%+.2f", v)
	if s == "-0.00" || s == "+0.00" {
		return "0.00"
	}
	return strings.Replace(s, "-", "\u2212", 1)
}

// sampling compares greedy decoding with three draws, model by model.
func (d *Document) sampling() *report.Table {
	columns := []report.Column{left("model"), left("path")}
	all := []cxreasonbench.Column{
		cxreasonbench.Stage1, cxreasonbench.Stage2, cxreasonbench.Stage3, cxreasonbench.Stage4,
		cxreasonbench.Completion, cxreasonbench.Depth, cxreasonbench.Consistency, cxreasonbench.Alignment,
	}
	for _, c := range all {
		columns = append(columns, right(columnWords(c)))
	}
	t := d.table("sampling", "Greedy minus three draws, all tasks", columns...)
	t.Formulas = []report.Formula{{ID: formulaDifference, Text: "greedy minus three draws, both the mean of the tasks in the paper's formulas; k of n tasks have a value (greedy)"}}
	for i := range d.evaluations {
		greedy := &d.evaluations[i]
		if greedy.Sampling != cxreasonbench.Greedy {
			continue
		}
		drawn := d.partner(i)
		if drawn == nil {
			continue
		}
		for k, p := range greedy.Paths {
			row := []report.Cell{report.Text(greedy.Model), report.Text(cxreasonbench.PathTitle(p.Path))}
			if k > 0 {
				row[0] = report.Text("")
			}
			has := map[cxreasonbench.Column]bool{}
			for _, c := range cxreasonbench.Columns(p.Path) {
				has[c] = true
			}
			for _, c := range all {
				if !has[c] {
					row = append(row, report.Text(""))
					continue
				}
				a, pa, okA := d.at(greedy, p.Path, cxreasonbench.Overall, c)
				b, pb, okB := d.at(drawn, p.Path, cxreasonbench.Overall, c)
				row = append(row, d.minus(a, b, pa, pb, okA && okB))
			}
			t.Rows = append(t.Rows, report.Row{Head: k == 0, Cells: row})
		}
	}
	return t
}

// partner is the same model with several draws.
func (d *Document) partner(i int) *cxreasonbench.Evaluation {
	name := d.Input.Summary.Evaluations[i].Model.Name
	for k := range d.evaluations {
		if d.Input.Summary.Evaluations[k].Model.Name == name && d.evaluations[k].Sampling == cxreasonbench.Stochastic {
			return &d.evaluations[k]
		}
	}
	return nil
}

// kinds compares recognition with measurement tasks.
func (d *Document) kinds() *report.Table {
	t := d.table("kinds", "Recognition against measurement, Path 1", left("model"), left("sampling"),
		right("alignment, recognition"), right("alignment, measurement"), right("difference"),
		right("completion, recognition"), right("completion, measurement"), right("difference "))
	t.Formulas = []report.Formula{
		{ID: cxreasonbench.FormulaMean, Text: "unweighted mean over the k of n tasks that have a value"},
		{ID: formulaDifference, Text: "recognition minus measurement; k of n recognition tasks have a value"},
	}
	for i := range d.evaluations {
		e := &d.evaluations[i]
		model, sampling := label(&d.Input.Summary.Evaluations[i])
		row := []report.Cell{report.Text(model), report.Text(sampling)}
		for _, c := range []cxreasonbench.Column{cxreasonbench.Alignment, cxreasonbench.Completion} {
			a, pa, okA := d.at(e, cxreasonbench.Path1, cxreasonbench.RecognitionTasks, c)
			b, pb, okB := d.at(e, cxreasonbench.Path1, cxreasonbench.MeasurementTasks, c)
			row = append(row, d.groupCell(i, cxreasonbench.RecognitionTasks, c), d.groupCell(i, cxreasonbench.MeasurementTasks, c), d.minus(a, b, pa, pb, okA && okB))
		}
		t.AddHead(row...)
	}
	return t
}

// groupCell is a group's figure of Path 1 of the nth evaluation as a cell, beside the published one.
func (d *Document) groupCell(n int, g cxreasonbench.Group, c cxreasonbench.Column) report.Cell {
	return cxreasonbench.GroupCell(n, &d.evaluations[n], cxreasonbench.Path1, g, c, d.beside())
}

func columnWords(c cxreasonbench.Column) string {
	switch c {
	case cxreasonbench.Stage1, cxreasonbench.Stage2, cxreasonbench.Stage3, cxreasonbench.Stage4:
		return "Stage " + strings.TrimPrefix(c.String(), "stage")
	}
	return c.String()
}

// hours lists the time of every task and model.
func (d *Document) hours() *report.Table {
	columns := []report.Column{left("task")}
	for i := range d.Input.Summary.Evaluations {
		model, sampling := label(&d.Input.Summary.Evaluations[i])
		columns = append(columns, right(model+", "+sampling))
	}
	t := d.table("hours", "Hours by task and model", columns...)
	if len(d.Input.Hours) == 0 {
		return t
	}
	t.Formulas = []report.Formula{{ID: formulaHours, Text: "hours that the endpoints took for k calls to the model and n calls in all, judge included, each call once"}}
	sum := make([]Hours, len(d.Input.Summary.Evaluations))
	for _, task := range cxreasonbench.Tasks() {
		row := []report.Cell{report.Text(taskWords(task))}
		for i := range sum {
			cell := report.None("no call was made for it")
			for _, h := range d.Input.Hours {
				if h.Evaluation != i || h.Task != task {
					continue
				}
				cell = d.hoursCell(h, i)
				sum[i].ModelSeconds += h.ModelSeconds
				sum[i].JudgeSeconds += h.JudgeSeconds
				sum[i].ModelCalls += h.ModelCalls
				sum[i].JudgeCalls += h.JudgeCalls
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	row := []report.Cell{report.Text("all tasks")}
	for i := range sum {
		row = append(row, d.hoursCell(sum[i], i))
	}
	t.AddHead(row...)
	if d.Options.Compare && (d.Options.Stated == nil || len(d.Options.Stated.Hours) == 0) {
		t.Notes = append(t.Notes, "The paper's own hours (appendix C.2) are not among the published figures that come with this program; --claims FILE puts them beside ours.")
	}
	return t
}

func (d *Document) hoursCell(h Hours, i int) report.Cell {
	v := (h.ModelSeconds + h.JudgeSeconds) / 3600
	text := fmt.Sprintf("%.2f", v)
	if v < 0.01 {
		text = fmt.Sprintf("%.4f", v)
	}
	cell := report.Figure(text, h.ModelCalls, h.ModelCalls+h.JudgeCalls, formulaHours).With(report.Detail{Value: &v})
	e := &d.Input.Summary.Evaluations[i]
	if want, ok := d.Options.Stated.HoursOf(e.Model.Title, samplingWords(e), h.Task); ok {
		detail := *cell.Detail
		detail.Why = "time depends on machines and endpoints"
		cell = cell.Beside(fmt.Sprintf("%.2f", want), report.NotComputable).With(detail)
	}
	return cell
}
