package claims

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// Stated are published figures that stand in no table: hours per task, and figures in the text.
type Stated struct {
	// Source says where they were read.
	Source string        `json:"source"`
	Hours  []StatedHours `json:"hours,omitempty"`
	Text   []StatedText  `json:"text,omitempty"`
}

// StatedHours are the published hours of one model and task; without a task, of all tasks.
type StatedHours struct {
	Model    string             `json:"model"`
	Sampling string             `json:"sampling,omitempty"`
	Task     cxreasonbench.Task `json:"task,omitzero"`
	Hours    float64            `json:"hours"`
}

// StatedText is a figure in the text, by the cell of a table that it is about.
type StatedText struct {
	Says     string                 `json:"says"`
	Model    string                 `json:"model"`
	Path     cxreasonbench.Path     `json:"path"`
	Sampling cxreasonbench.Sampling `json:"sampling"`
	// Group is overall, measurement or recognition.
	Group  string  `json:"group"`
	Column string  `json:"column"`
	Value  float64 `json:"value"`
}

// Place is the cell that the figure is about.
func (s StatedText) Place() cxreasonbench.Place {
	column, _ := cxreasonbench.ParseColumn(s.Column)
	return cxreasonbench.Place{Model: s.Model, Sampling: s.Sampling, Path: s.Path, Row: s.Group, Column: column}
}

// ParseStated reads stated figures.
//
// Errors: text that is no such document, or a figure about no cell of a table.
func ParseStated(data []byte) (*Stated, error) {
	c := &Stated{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	for i, x := range c.Text {
		at := x.Place()
		_, group := at.Group()
		switch {
		case !x.Path.Valid():
			return nil, fmt.Errorf("claims: text %d: path is missing; there are %v", i, cxreasonbench.Paths())
		case !x.Sampling.Valid():
			return nil, fmt.Errorf("claims: text %d: sampling is missing; there are %v", i, cxreasonbench.Samplings())
		case !group:
			return nil, fmt.Errorf("claims: text %d: no group is called %q; there are %v", i, x.Group, cxreasonbench.Groups())
		case !slices.Contains(cxreasonbench.Columns(x.Path), at.Column):
			return nil, fmt.Errorf("claims: text %d: no column of %s is called %q; there are %v", i, x.Path, x.Column, cxreasonbench.Columns(x.Path))
		}
	}
	return c, nil
}

// HoursOf returns the published hours; those of no task are of all.
func (s *Stated) HoursOf(model, sampling string, t cxreasonbench.Task) (float64, bool) {
	if s == nil {
		return 0, false
	}
	for _, h := range s.Hours {
		if h.Model == model && h.Task == t && (h.Sampling == "" || h.Sampling == sampling) {
			return h.Hours, true
		}
	}
	return 0, false
}

// stated checks the figures of the text.
func (c *Checked) stated(in Input, asked []*evaluated) {
	if in.Stated == nil {
		return
	}
	for i, x := range in.Stated.Text {
		f := cxreasonbench.PublishedFigure{Known: true, Value: x.Value}
		claim := Claim{
			ID: fmt.Sprintf("text/%d", i+1), Paper: CXReasonBench, Source: strings.TrimSpace("text: " + x.Says), Printed: f.String(),
			Formula: cxreasonbench.FormulaMean, Population: population(x.Place()), Rounding: "two decimals", Tolerance: tieTolerance, place: x.Place(),
		}
		r := Result{Claim: claim, Evaluation: -1, Verdict: report.NotComputable, Why: "no such evaluation is in this report"}
		for _, e := range asked {
			if e.scored.Model == x.Model && e.scored.Sampling == x.Sampling {
				r = in.block(e.result(claim, f))
			}
		}
		c.Text = append(c.Text, len(c.Results))
		c.Results = append(c.Results, r)
	}
}
