package contract

import (
	"cxrepro/experiments"
	"cxrepro/internal/report"
)

// Summary holds the tables of a reproduction: the global filter, and per task the counts
// that the paper's Table 6 gives, with what became of all other images. Equal inputs give
// equal bytes; it names no time, id or attempt.
type Summary struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Paper  string `json:"paper"`
	// Rules names preset, caveats and overridden rows.
	Rules  string        `json:"rules"`
	Images SummaryImages `json:"images"`
	Global SummaryGlobal `json:"global"`
	Tasks  []SummaryTask `json:"tasks"`
	// Expected names the source of the published figures, where the spec states some.
	Expected string `json:"expected,omitempty"`
}

// SummaryFormat is Summary.Format.
const SummaryFormat = "cxrepro-summary-1"

// SummaryImages is the account of the data set: In = Images + Filtered + Quarantined.
type SummaryImages struct {
	In          int     `json:"in"`
	Images      int     `json:"images"`
	Filtered    []Count `json:"filtered"`
	Quarantined []Count `json:"quarantined"`
}

// SummaryGlobal is the outcome of the global filter: Images = Kept + Removed.
type SummaryGlobal struct {
	Kept    int `json:"kept"`
	Removed int `json:"removed"`
	// Failed counts failed rules; one image may fail several.
	Failed      []Count `json:"failed"`
	Orientation []Count `json:"orientation"`
	// ExpectedImages and ExpectedKept are published figures, 0 without.
	ExpectedImages int `json:"expected_images,omitempty"`
	ExpectedKept   int `json:"expected_kept,omitempty"`
}

// SummaryTask is one diagnostic task over the images that the global filter kept.
//
// Kept = sum of Statuses; Total, the row of Table 6, is the status ok.
type SummaryTask struct {
	Task     string       `json:"task"`
	Total    int          `json:"total"`
	Labels   []LabelCount `json:"labels"`
	Statuses []Count      `json:"statuses"`
	// Reasons counts why images were not evaluable, Failed which quality rules failed.
	Reasons []Count `json:"reasons"`
	Failed  []Count `json:"failed"`
	// Expected is the published total, 0 without.
	Expected int `json:"expected,omitempty"`
}

// LabelTable is the number of the paper's table of labels, allLabels the column that counts
// the images with any of them.
const (
	LabelTable = 6
	allLabels  = "labelled"
)

// LabelRef names a figure of the table of labels: the images of a task with one label, or with
// any label where it is empty.
func LabelRef(task, label string) report.Ref {
	if label == "" {
		label = allLabels
	}
	return report.NewRef(LabelTable, []string{task}, label)
}

// Label is what a figure of the table of labels is about.
type Label struct {
	Ref  report.Ref
	Task string
	// Label is empty for the images with any label.
	Label string
	// K of N: images with the label of those with any, or those with any of those that the
	// global filter kept.
	K, N int
}

// Labels lists the figures of the table of labels.
func (s *Summary) Labels() []Label {
	var list []Label
	for _, t := range s.Tasks {
		list = append(list, Label{LabelRef(t.Task, ""), t.Task, "", t.Total, s.Global.Kept})
		for _, l := range t.Labels {
			list = append(list, Label{LabelRef(t.Task, l.Label), t.Task, l.Label, l.N, t.Total})
		}
	}
	return list
}

// LabelCount is one label of one task, in the order of the paper: the normal one first.
type LabelCount struct {
	Label string `json:"label"`
	N     int    `json:"n"`
	// Fraction is N / Total; absent when Total is 0.
	Fraction *float64 `json:"fraction"`
	Expected int      `json:"expected,omitempty"`
}

// ReportPlan is what a report says about the experiment it belongs to.
type ReportPlan struct {
	Spec    experiments.Spec
	DataUse string
}
