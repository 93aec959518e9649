package evaluation

import (
	"encoding/json"
	"fmt"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// Claims are published figures that stand in no table: hours per task, and figures in the
// text.
type Claims struct {
	// Source says where they were read.
	Source string       `json:"source"`
	Hours  []ClaimHours `json:"hours,omitempty"`
	Text   []ClaimText  `json:"text,omitempty"`
}

// ClaimHours are the published hours of one model and task; without a task, of all tasks.
type ClaimHours struct {
	Model    string             `json:"model"`
	Sampling string             `json:"sampling,omitempty"`
	Task     cxreasonbench.Task `json:"task,omitzero"`
	Hours    float64            `json:"hours"`
}

// ClaimText is a figure in the text, by the cell of a table that it is about.
type ClaimText struct {
	Says     string                 `json:"says"`
	Model    string                 `json:"model"`
	Path     cxreasonbench.Path     `json:"path"`
	Sampling cxreasonbench.Sampling `json:"sampling"`
	// Group is overall, measurement or recognition.
	Group  string  `json:"group"`
	Column string  `json:"column"`
	Value  float64 `json:"value"`
}

// ParseClaims reads claims.
//
// Errors: text that is no claims document, or a claim about no cell of a table.
func ParseClaims(data []byte) (*Claims, error) {
	c := &Claims{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	for i, x := range c.Text {
		if _, ok := cxreasonbench.ParseColumn(x.Column); !ok {
			return nil, fmt.Errorf("claims: text %d: no column is called %q", i, x.Column)
		}
		if _, ok := groupOf(x.Group); !ok {
			return nil, fmt.Errorf("claims: text %d: no group is called %q; there are %v", i, x.Group, cxreasonbench.Groups())
		}
	}
	return c, nil
}

func groupOf(name string) (cxreasonbench.Group, bool) {
	for _, g := range cxreasonbench.Groups() {
		if g.String() == name {
			return g, true
		}
	}
	return 0, false
}

// hours returns the published hours; those of no task are of all.
func (c *Claims) hours(model, sampling string, t cxreasonbench.Task) (float64, bool) {
	if c == nil {
		return 0, false
	}
	for _, h := range c.Hours {
		if h.Model == model && h.Task == t && (h.Sampling == "" || h.Sampling == sampling) {
			return h.Hours, true
		}
	}
	return 0, false
}

// claims compares figures of the text with ours.
func (d *Document) claims() *report.Table {
	t := d.table("claims", "Figures in the paper's text", left("the paper says"), left("model"), left("path"), left("sampling"), left("group"), left("column"), right("ours"))
	t.Formulas = []report.Formula{{ID: cxreasonbench.FormulaMean, Text: "unweighted mean over the k of n tasks that have a value"}}
	c := d.Options.Claims
	if c == nil {
		return t
	}
	for _, x := range c.Text {
		column, _ := cxreasonbench.ParseColumn(x.Column)
		group, _ := groupOf(x.Group)
		cell := report.None("no such evaluation is in this report")
		for i := range d.evaluations {
			if e := &d.evaluations[i]; e.Model == x.Model && e.Sampling == x.Sampling {
				cell = cxreasonbench.GroupCellBeside(e, x.Path, group, column, cxreasonbench.PublishedFigure{Known: true, Value: x.Value})
			}
		}
		if cell.Verdict == 0 { // nothing of ours to compare
			cell = cell.Beside(fmt.Sprintf("%.2f", x.Value), report.NotComputable).With(report.Detail{Why: cell.Why()})
		}
		t.Add(report.Text(x.Says), report.Text(x.Model), report.Text(cxreasonbench.PathTitle(x.Path)), report.Text(x.Sampling.String()),
			report.Text(x.Group), report.Text(columnWords(column)), cell)
	}
	if c.Source != "" {
		t.Notes = append(t.Notes, "Source: "+c.Source)
	}
	return t
}
