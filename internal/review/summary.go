package review

import (
	"fmt"
	"io"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/report"
)

// Formula names of the summary's figures.
const (
	formulaFailed   = "rule_failed"
	formulaKept     = "kept"
	formulaLabelled = "labelled"
	formulaLabel    = "label_share"
	formulaOutcome  = "outcome"
)

var formulas = map[string]string{
	formulaFailed:   "k images for which the rule is false, of n images that entered; one image may fail several rules",
	formulaKept:     "k images that pass mask count, heart position and gradient, of n images that entered",
	formulaLabelled: "k images with status ok (geometry defined, every quality rule passed, a label given), of n kept by the global filter",
	formulaLabel:    "k images with the label, of n with status ok",
	formulaOutcome:  "images of those kept by the global filter; ok + qc_failed + undecided + not_evaluable = kept",
}

func formulasOf(ids ...string) []report.Formula {
	list := make([]report.Formula, len(ids))
	for i, id := range ids {
		list[i] = report.Formula{ID: id, Text: formulas[id]}
	}
	return list
}

// FilterTable is the account of the global filter: a row per rule, then kept and removed.
//
// Source: [paper A.3.1].
func FilterTable(s *contract.Summary) *report.Table {
	t := &report.Table{
		Title: "Global filter", Formulas: formulasOf(formulaFailed, formulaKept),
		Columns: []report.Column{{Name: "rule"}, {Name: "images", Right: true}, {Name: "effect"}},
	}
	n := s.Images.Images
	published := s.Global.ExpectedImages > 0
	if published {
		t.Columns = append(t.Columns, report.Column{Name: "published", Right: true}, report.Column{Name: "comparison"})
	}
	add := func(head bool, c report.Cell, name, effect string) {
		cells := []report.Cell{report.Text(name), c, report.Text(effect)}
		if published {
			cells = append(cells, publishedCell(c), report.Text(c.Verdict.String()))
		}
		t.Rows = append(t.Rows, report.Row{Head: head, Cells: cells})
	}
	failed := map[string]int{}
	for _, c := range s.Global.Failed {
		failed[c.Name] = c.N
	}
	for _, rule := range []chexstruct.Rule{chexstruct.RuleMaskCount, chexstruct.RuleHeartPosition, chexstruct.RuleGradient, chexstruct.RuleOrientation} {
		effect := "removes the image"
		if rule == chexstruct.RuleOrientation {
			effect = "makes its tasks not evaluable"
		}
		add(false, report.Share(failed[rule.String()], n, formulaFailed), rule.String()+" failed", effect)
	}
	kept, removed := report.Share(s.Global.Kept, n, formulaKept), report.Share(s.Global.Removed, n, formulaKept)
	if published {
		kept = kept.Against(report.Published{K: s.Global.ExpectedKept, N: s.Global.ExpectedImages})
		removed = removed.Against(report.Published{K: s.Global.ExpectedImages - s.Global.ExpectedKept, N: s.Global.ExpectedImages})
	}
	add(true, kept, "kept", "")
	add(false, removed, "removed", "")
	return t
}

func publishedCell(c report.Cell) report.Cell {
	if c.Published == nil {
		return report.Text("")
	}
	return report.Share(c.Published.K, c.Published.N, "")
}

// LabelTable is the label table in the form of the paper's Table 6: per task how many
// images have a label, and each label's share; published figures stand beside where the
// experiment states some.
func LabelTable(s *contract.Summary) *report.Table {
	t := &report.Table{
		Title: "Labels per diagnostic task (form of Table 6)", Formulas: formulasOf(formulaLabelled, formulaLabel),
		Columns: []report.Column{{Name: "task"}, {Name: "labelled of kept", Right: true}, {Name: "label"}, {Name: "of labelled", Right: true}},
	}
	published := s.Expected != ""
	if published {
		t.Columns = append(t.Columns, report.Column{Name: "published", Right: true}, report.Column{Name: "comparison"})
		t.Notes = append(t.Notes, "published: "+s.Expected+". Comparison: reproduced = equal as printed; within noise = the published share lies in our 95 % bootstrap interval over cases; else off.")
	}
	for _, task := range s.Tasks {
		labelled := report.Share(task.Total, s.Global.Kept, formulaLabelled).Named(contract.LabelRef(task.Task, ""))
		if task.Expected > 0 && s.Global.ExpectedKept > 0 {
			labelled = labelled.Against(report.Published{K: task.Expected, N: s.Global.ExpectedKept})
		}
		head := []report.Cell{report.Text(task.Task), labelled}
		if published {
			// The published total has a line of its own, the labels follow.
			t.AddHead(append(head, report.Text("all labels"), report.Text(""), publishedCell(labelled), report.Text(labelled.Verdict.String()))...)
			head = []report.Cell{report.Text(""), report.Text("")}
		}
		for i, l := range task.Labels {
			share := report.Share(l.N, task.Total, formulaLabel)
			if task.Total == 0 {
				share = report.Absent("none labelled")
			}
			if task.Expected > 0 {
				share = share.Against(report.Published{K: l.Expected, N: task.Expected})
			}
			cells := append(append([]report.Cell{}, head...), report.Text(l.Label), share.Named(contract.LabelRef(task.Task, l.Label)))
			if published {
				cells = append(cells, publishedCell(share), report.Text(share.Verdict.String()))
			}
			t.Rows = append(t.Rows, report.Row{Head: i == 0 && !published, Cells: cells})
			head = []report.Cell{report.Text(""), report.Text("")}
		}
	}
	return t
}

// OutcomeTable says what became of every kept image, per task, and what stopped most of
// the others.
func OutcomeTable(s *contract.Summary) *report.Table {
	t := &report.Table{
		Title: "Outcome of every kept image", Formulas: formulasOf(formulaOutcome),
		Columns: []report.Column{{Name: "task"}, {Name: "kept", Right: true}, {Name: "ok", Right: true}, {Name: "qc failed", Right: true},
			{Name: "undecided", Right: true}, {Name: "not evaluable", Right: true}, {Name: "most frequent causes"}},
	}
	for _, task := range s.Tasks {
		n := map[string]int{}
		for _, c := range task.Statuses {
			n[c.Name] = c.N
		}
		cells := []report.Cell{report.Text(task.Task), report.Count(s.Global.Kept, formulaOutcome)}
		for _, st := range chexstruct.Statuses() {
			cells = append(cells, report.Count(n[st.String()], formulaOutcome))
		}
		t.AddHead(append(cells, report.Text(strings.Join(frequent(append(append([]contract.Count{}, task.Failed...), task.Reasons...), 2), ", ")))...)
	}
	return t
}

// frequent names the most frequent causes with their counts; the name decides ties.
func frequent(counts []contract.Count, most int) []string {
	var out []string
	used := make([]bool, len(counts))
	for range most {
		best := -1
		for i, c := range counts {
			if used[i] || c.N == 0 {
				continue
			}
			if best < 0 || c.N > counts[best].N || c.N == counts[best].N && c.Name < counts[best].Name {
				best = i
			}
		}
		if best < 0 {
			break
		}
		used[best] = true
		out = append(out, fmt.Sprintf("%s %s", counts[best].Name, report.Number(counts[best].N)))
	}
	return out
}

// Account is the data set's account in one line: in = kept + filtered + quarantined.
func Account(s *contract.Summary) string {
	return fmt.Sprintf("%s in = %s kept + %s filtered%s + %s quarantined%s", report.Number(s.Images.In), report.Number(s.Images.Images),
		report.Number(contract.Total(s.Images.Filtered)), inBrackets(s.Images.Filtered),
		report.Number(contract.Total(s.Images.Quarantined)), inBrackets(s.Images.Quarantined))
}

func inBrackets(counts []contract.Count) string {
	if len(counts) == 0 {
		return ""
	}
	var out []string
	for _, c := range counts {
		out = append(out, fmt.Sprintf("%s %s", report.Number(c.N), c.Name))
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// filterLine is the filter's table in one line.
func filterLine(s *contract.Summary) string {
	line := fmt.Sprintf("%s of %s images kept", report.Number(s.Global.Kept), report.Number(s.Images.Images))
	if s.Global.ExpectedImages > 0 {
		line += fmt.Sprintf(" (published: %s of %s)", report.Number(s.Global.ExpectedKept), report.Number(s.Global.ExpectedImages))
	}
	if len(s.Global.Failed) > 0 {
		line += "; failed rules" + inBrackets(s.Global.Failed)
	}
	return line
}

// Tables returns the tables of a summary in their order.
func Tables(s *contract.Summary) []*report.Table {
	return []*report.Table{FilterTable(s), LabelTable(s), OutcomeTable(s)}
}

// WriteText prints a summary for a terminal: the filter in one line, then labels and
// outcomes.
func WriteText(w io.Writer, s *contract.Summary) error {
	if _, err := fmt.Fprintf(w, "%s: %s\nrules: %s\nimages: %s\nglobal filter: %s\n", s.Name, s.Paper, s.Rules, Account(s), filterLine(s)); err != nil {
		return err
	}
	for _, t := range Tables(s)[1:] {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := t.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown writes a summary as Markdown.
func WriteMarkdown(w io.Writer, s *contract.Summary) error {
	if _, err := fmt.Fprintf(w, "# %s\n\n%s\n\nRules: `%s`\n\nImages: %s\n", s.Name, s.Paper, s.Rules, Account(s)); err != nil {
		return err
	}
	for _, t := range Tables(s) {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := t.WriteMarkdown(w); err != nil {
			return err
		}
	}
	return nil
}
