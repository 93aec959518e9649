package radcot

import (
	"strings"

	"cxrepro/internal/dataset"
)

// Audit counts what a labeller finds in the report examples: all 14 categories must be present.
type Audit struct {
	// By names the labeller and where its table comes from.
	By       string `json:"by"`
	Examples int    `json:"examples"`
	Labelled int    `json:"labelled"`
	// Categories count the mentions of each label, in the order of the table.
	Categories []AuditCategory `json:"categories"`
	// Missing are the categories without a positive mention.
	Missing []string `json:"missing,omitempty"`
}

// AuditCategory are the mentions of one label.
type AuditCategory struct {
	Label     string `json:"label"`
	Positive  int    `json:"positive"`
	Negative  int    `json:"negative"`
	Uncertain int    `json:"uncertain"`
}

// AuditReports reads marks of each report example, as [LabelMarks] writes them; marks returns ""
// for an example that the labeller did not see.
func AuditReports(by string, list []Example, marks func(*Example) string) Audit {
	a := Audit{By: by}
	for _, f := range dataset.Findings() {
		a.Categories = append(a.Categories, AuditCategory{Label: f.String()})
	}
	for i := range list {
		if list[i].Part != Report {
			continue
		}
		a.Examples++
		m := marks(&list[i])
		if len(m) != len(a.Categories) {
			continue
		}
		a.Labelled++
		for k := range a.Categories {
			c := &a.Categories[k]
			switch m[k] {
			case '+':
				c.Positive++
			case '-':
				c.Negative++
			case '?':
				c.Uncertain++
			}
		}
	}
	for _, c := range a.Categories {
		if c.Positive == 0 {
			a.Missing = append(a.Missing, c.Label)
		}
	}
	return a
}

// Complete reports that every report example was labelled and every category is there.
func (a Audit) Complete() bool { return a.Labelled == a.Examples && len(a.Missing) == 0 }

// String says what is missing, in one line.
func (a Audit) String() string {
	if a.Complete() {
		return "all 14 categories are present"
	}
	if len(a.Missing) == 0 {
		return "not every report example was labelled"
	}
	return "without a positive mention: " + strings.Join(a.Missing, ", ")
}
