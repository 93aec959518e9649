package review

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"cxrepro/internal/report"
)

// Judgement is what a reviewer says of one case of a value range. The zero value means
// nothing yet.
type Judgement uint8

// Judgements.
const (
	Accept Judgement = iota + 1 // the measurement may be used
	Refuse                      // it may not
	Unsure
)

var judgementText = [...]string{Accept: "accept", Refuse: "reject", Unsure: "unsure"}

// String is the text form; empty for the zero value.
func (j Judgement) String() string {
	if int(j) >= len(judgementText) {
		return ""
	}
	return judgementText[j]
}

// RangeLabel is one line of the table of a rule's value ranges.
type RangeLabel struct {
	Rule      string
	Bin       int
	Low, High float64
	Case      int
	Value     float64
	Pass      bool
	Label     Judgement
	Note      string
}

var labelHeader = []string{"rule", "range", "low", "high", "case", "value", "pass", "label", "note"}

// exact writes a value kept to single precision so that it reads back as the same.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 32) }

func encodeLabels(rows []RangeLabel) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// Writing to memory does not fail.
	_ = w.Write(labelHeader)
	for _, r := range rows {
		_ = w.Write([]string{r.Rule, strconv.Itoa(r.Bin), exact(r.Low), exact(r.High), strconv.Itoa(r.Case), exact(r.Value), strconv.FormatBool(r.Pass), r.Label.String(), r.Note})
	}
	w.Flush()
	return b.Bytes()
}

// readLabels reads a filled-in table for the series of a rule. Lines without a label are
// left out. What the lines say of value and verdict is compared with the results at hand.
func readLabels(file string, r io.Reader, s *scan, keys []seriesKey, ordinalOf map[int]int) ([]RangeLabel, error) {
	byName := map[string]seriesKey{}
	for _, k := range keys {
		byName[k.name()] = k
	}
	var out []RangeLabel
	seen := map[string]bool{}
	err := readTable(file, r, labelHeader, func(f []string) string {
		key, ok := byName[f[0]]
		if !ok {
			return fmt.Sprintf("the line is for rule %q, not for the one asked for", f[0])
		}
		n, why := readCase(f[4], func(c int) bool { _, ok := ordinalOf[c]; return ok })
		if why != "" {
			return why
		}
		v, pass, ok := s.series[key].value(ordinalOf[n])
		if !ok {
			return fmt.Sprintf("case %d has no value of %s here", n, f[0])
		}
		stated, err := strconv.ParseFloat(f[5], 64)
		if err != nil || math.Abs(stated-v) > 1e-4*math.Max(1, math.Abs(v)) {
			return fmt.Sprintf("the line says value %q for case %d, here it is %s: the table was made for other results", f[5], n, exact(v))
		}
		if f[7] == "" {
			return ""
		}
		i := slices.Index(judgementText[:], f[7])
		if i <= 0 {
			return fmt.Sprintf("label %q is not one of accept, reject, unsure", f[7])
		}
		if id := f[0] + " " + f[4]; seen[id] {
			return fmt.Sprintf("case %d has a label already", n)
		} else {
			seen[id] = true
		}
		bin, err := strconv.Atoi(f[1])
		if err != nil {
			return fmt.Sprintf("range %q is not a whole number", f[1])
		}
		out = append(out, RangeLabel{Rule: f[0], Bin: bin, Case: n, Value: v, Pass: pass, Label: Judgement(i), Note: f[8]})
		return ""
	})
	return out, err
}

// Agreement compares a reviewer's labels with a rule's verdicts.
type Agreement struct {
	Rule string `json:"rule"`
	// Accepted and Refused split by the verdict of the limit in force; Unsure labels count
	// for nothing else.
	AcceptedPass int `json:"accepted_pass"`
	AcceptedFail int `json:"accepted_fail"`
	RefusedPass  int `json:"rejected_pass"`
	RefusedFail  int `json:"rejected_fail"`
	Unsure       int `json:"unsure"`
	// Best is the single limit that agrees with most labels, for rules that have one;
	// BestAgrees says with how many. The nearest to the limit in force wins ties.
	Best       *float64 `json:"best_limit,omitempty"`
	BestAgrees int      `json:"best_agrees,omitempty"`
}

// Agrees is with how many labels the limit in force agrees, of how many.
func (a *Agreement) Agrees() (k, n int) {
	return a.AcceptedPass + a.RefusedFail, a.AcceptedPass + a.AcceptedFail + a.RefusedPass + a.RefusedFail
}

// agreement counts the labels of one series and looks for a limit that fits them better.
func (l limits) agreement(key seriesKey, labels []RangeLabel) Agreement {
	a := Agreement{Rule: key.name()}
	var values []float64
	for _, r := range labels {
		if r.Rule != a.Rule {
			continue
		}
		switch {
		case r.Label == Unsure:
			a.Unsure++
			continue
		case r.Label == Accept && r.Pass:
			a.AcceptedPass++
		case r.Label == Accept:
			a.AcceptedFail++
		case r.Pass:
			a.RefusedPass++
		default:
			a.RefusedFail++
		}
		values = append(values, r.Value)
	}
	rows := key.rows()
	if len(rows) != 1 || len(values) == 0 || key.rule == 0 {
		return a
	}
	limit, _ := l.rules.Limit(rows[0])
	now, ok := limit.Value.(float64)
	below := limit.Compare == "<" || limit.Compare == "<="
	if !ok || (!below && limit.Compare != ">" && limit.Compare != ">=") {
		return a
	}
	best, agrees := now, 0
	for _, c := range append([]float64{now}, between(values)...) {
		n := 0
		for _, r := range labels {
			if r.Rule != a.Rule || r.Label == Unsure {
				continue
			}
			pass := r.Value > c
			if below {
				pass = r.Value < c
			}
			if c == now {
				pass = r.Pass
			}
			if pass == (r.Label == Accept) {
				n++
			}
		}
		if n > agrees || n == agrees && math.Abs(c-now) < math.Abs(best-now) {
			best, agrees = c, n
		}
	}
	a.Best, a.BestAgrees = &best, agrees
	return a
}

// between returns limits that separate values in every possible way: the middles of
// neighbours, and one beyond either end.
func between(values []float64) []float64 {
	v := slices.Clone(values)
	slices.Sort(v)
	v = slices.Compact(v)
	step := (v[len(v)-1] - v[0]) / float64(max(1, len(v)-1))
	if step == 0 {
		step = math.Max(1, math.Abs(v[0])) / 10
	}
	out := []float64{v[0] - step/2, v[len(v)-1] + step/2}
	for i := 1; i < len(v); i++ {
		out = append(out, (v[i-1]+v[i])/2)
	}
	return out
}

// AgreementTable sets agreements side by side.
func AgreementTable(list []Agreement) *report.Table {
	t := &report.Table{
		Title:    "Labels against the limits in force",
		Columns:  []report.Column{{Name: "rule"}, {Name: "agrees", Right: true}, {Name: "accepted but failed", Right: true}, {Name: "rejected but passed", Right: true}, {Name: "unsure", Right: true}, {Name: "limit that agrees best"}},
		Formulas: []report.Formula{{ID: "agrees", Text: "k labels with which the rule's verdict agrees (accept and pass, reject and fail), of n accept or reject"}, {ID: "labels", Text: "labelled cases"}},
	}
	for i := range list {
		a := &list[i]
		k, n := a.Agrees()
		best := report.Text("")
		if a.Best != nil {
			best = report.Text(fmt.Sprintf("%s (agrees with %d)", figureText(*a.Best), a.BestAgrees))
		}
		t.AddHead(report.Text(a.Rule), report.Share(k, n, "agrees"), report.Count(a.AcceptedFail, "labels"), report.Count(a.RefusedPass, "labels"), report.Count(a.Unsure, "labels"), best)
	}
	return t
}
