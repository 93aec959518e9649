package evaluation

import (
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// stated compares figures of the paper's text with ours.
func (d *Document) stated() *report.Table {
	t := d.table("claims", "Figures in the paper's text", left("the paper says"), left("model"), left("path"), left("sampling"), left("group"), left("column"), right("ours"))
	t.Formulas = []report.Formula{{ID: cxreasonbench.FormulaMean, Text: "unweighted mean over the k of n tasks that have a value"}}
	s, checked := d.Options.Stated, d.Input.Claims
	if s == nil || checked == nil {
		return t
	}
	for i, x := range s.Text {
		r := &checked.Results[checked.Text[i]]
		at := x.Place()
		cell := report.None(r.Why)
		if r.Evaluation >= 0 {
			cell = cxreasonbench.CellAt(&d.evaluations[r.Evaluation], at)
		}
		cell = cxreasonbench.Comparison{Printed: r.Claim.Printed, Verdict: r.Verdict, Why: r.Why}.Beside(cell)
		t.Add(report.Text(x.Says), report.Text(x.Model), report.Text(cxreasonbench.PathTitle(x.Path)), report.Text(x.Sampling.String()),
			report.Text(x.Group), report.Text(columnWords(at.Column)), cell)
	}
	if s.Source != "" {
		t.Notes = append(t.Notes, "Source: "+s.Source)
	}
	return t
}
