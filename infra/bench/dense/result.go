package dense

import "strconv"

// Check is one quality rule of a finding.
type Check struct {
	Pass  bool `json:"pass"`
	Value any  `json:"value"`
}

// Finding is the result of one task.
type Finding struct {
	Status       string           `json:"status"`
	Reason       any              `json:"reason"`
	QC           map[string]Check `json:"qc"`
	Failed       []string         `json:"failed"`
	Measurements map[string]any   `json:"measurements"`
	Index        any              `json:"index"`
	IndexRounded any              `json:"index_rounded"`
	Label        any              `json:"label"`
	Parts        *Parts           `json:"parts,omitempty"`
}

// Parts are the six flags of inclusion, right then left: 1, 0 or nil between the limits.
type Parts struct {
	Apex   [2]any `json:"apex"`
	Side   [2]any `json:"side"`
	Bottom [2]any `json:"bottom"`
}

// Global is the outcome of the filter over the whole picture.
type Global struct {
	QC          map[string]Check `json:"qc"`
	Failed      []string         `json:"failed"`
	Orientation string           `json:"orientation"`
}

// Graded is one X-Ragent value with its category.
type Graded struct {
	Value    any `json:"value"`
	Rounded  any `json:"rounded"`
	Category any `json:"category"`
	Smaller  any `json:"smaller,omitempty"`
	// Direction is "left" or "right" of the patient.
	Direction any `json:"direction,omitempty"`
}

// Bundle is the X-Ragent block.
type Bundle struct {
	Exposed   bool    `json:"exposed"`
	Reason    any     `json:"reason"`
	CTR       *Graded `json:"ctr"`
	Asymmetry *Graded `json:"asymmetry"`
	Shift     *Graded `json:"shift"`
}

// Result is the line of one case.
type Result struct {
	Case    string              `json:"case"`
	Global  Global              `json:"global"`
	Tasks   map[string]*Finding `json:"tasks"`
	XRagent Bundle              `json:"xragent"`
}

func newFinding() *Finding {
	return &Finding{QC: map[string]Check{}, Failed: []string{}, Measurements: map[string]any{}}
}

// check records a rule.
func (f *Finding) check(rule string, pass bool, value any) {
	f.QC[rule] = Check{pass, value}
	if !pass {
		f.Failed = append(f.Failed, rule)
	}
}

// finish sets the status: undefined steps come first, then failed rules, then no label.
func (f *Finding) finish(r reason, label string) {
	switch {
	case r != "":
		f.Status, f.Reason = "not_evaluable", string(r)
		f.Index, f.IndexRounded, f.Parts = nil, nil, nil
	case len(f.Failed) > 0:
		f.Status = "qc_failed"
	case label == "":
		f.Status = "undecided"
	default:
		f.Status, f.Label = "ok", label
	}
}

// reason says which step was undefined; empty means none.
type reason string

// round is the correctly rounded decimal of the exact binary value, ties to even.
func round(v float64, digits int) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64)
	if err != nil {
		panic(err) // the text comes from FormatFloat
	}
	return out
}

// point is a pixel in results.
type point [2]int
