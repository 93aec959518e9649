package cxreasonbench

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"cxrepro/internal/report"
)

// TestCellRefs: every figure of every table has a reference of its own, which finds what it is
// about again, and the table's cell shows the same k and n.
func TestCellRefs(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	counts := map[Task]Counts{}
	for i, task := range Tasks() {
		counts[task] = Counts{Candidates: 20, Entered: 12 + i%3, Right: [4]int{11, 9 - i%2, 7, 5}, Checked: 5, Consistent: 4, RightConsistent: 4, Aligned: 3}
	}
	var evaluations []Evaluation
	for _, s := range Samplings() {
		for _, model := range []string{"GPT-4.1", "Model (A)", "model a", "\u4e2d"} {
			e := Evaluation{Model: model, Sampling: s}
			for _, p := range Paths() {
				e.Paths = append(e.Paths, ScoreCounts(rules, p, counts))
			}
			evaluations = append(evaluations, e)
		}
	}
	seen := map[string]bool{}
	for _, n := range TableNumbers() {
		cells, err := TableCells(n, evaluations)
		if err != nil || len(cells) == 0 {
			t.Fatalf("table %d: %d cells, %v", n, len(cells), err)
		}
		shown := map[report.Ref]report.Cell{}
		for _, standard := range []bool{false, true} {
			table, err := PaperTable(n, evaluations, TableOptions{Standard: standard})
			if err != nil {
				t.Fatal(err)
			}
			if wrong := table.Check(); wrong != nil {
				t.Errorf("table %d: %v", n, wrong)
			}
			for _, r := range table.Rows {
				for _, c := range r.Cells {
					if !c.Ref.IsZero() {
						shown[c.Ref] = c
					}
				}
			}
		}
		for _, r := range cells {
			text := r.Ref.String()
			if seen[text] {
				t.Errorf("%s twice", text)
			}
			seen[text] = true
			back, err := report.ParseRef(text)
			if err != nil || back != r.Ref {
				t.Errorf("%s reads as %+v, %v", text, back, err)
			}
			c, there := shown[r.Ref.As(r.Ref.Kind)]
			if r.Ref.Kind == report.Refined {
				c, there = shown[r.Ref.As(report.Printed)]
			}
			f := r.Figure(evaluations)
			delete(shown, r.Ref)
			if !there || f.Known && r.Ref.Kind != report.Refined && (c.K != f.K || c.N != f.N || c.Formula != f.Formula && c.Formula != FormulaDepth) {
				t.Errorf("%s: figure %+v, cell %+v", text, f, c)
			}
			if c.Detail != nil && r.Ref.Kind == report.Refined && (c.Detail.Refined == nil || *c.Detail.Refined != f.Value) {
				t.Errorf("%s: refined %v, cell %+v", text, f.Value, c.Detail)
			}
			if r.Ref.Kind == report.Printed {
				shown[r.Ref] = c // the refined one stands in the same cell
			}
		}
		for ref := range shown {
			if !seen[ref.String()] {
				t.Errorf("%s is shown and not listed", ref)
			}
		}
	}
	for text, want := range map[string]CellRef{
		"t3/re-evaluated-path-1.gpt-4.1/depth:refined": {Evaluation: 0, Path: RePath1, Sampling: Greedy, Group: Overall, Column: Depth},
		"t4/overall.model-a-2/completion":              {Evaluation: 2, Path: Path2, Sampling: Greedy, Group: Overall, Column: Completion},
		"t16/aortic-knob-enlargement.gpt-4.1/stage3":   {Evaluation: 4, Path: Path1, Sampling: Stochastic, Task: paperMeasurement[5], Column: Stage3},
		"t11/recognition.model/alignment:standard":     {Evaluation: 3, Path: Path1, Sampling: Greedy, Group: RecognitionTasks, Column: Alignment},
	} {
		got, err := FindCell(text, evaluations)
		want.Ref, want.Model = got.Ref, evaluations[want.Evaluation].Model
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	group, err := FindCell("t11/measurement.gpt-4.1/stage1", evaluations)
	if err != nil || len(group.Tasks()) != 8 || slices.ContainsFunc(group.Tasks(), func(x Task) bool { return KindOf(x) != Measurement }) {
		t.Errorf("tasks %v, %v", group.Tasks(), err)
	}
}

// TestCellRefErrors: what is mistyped names what it may have been.
func TestCellRefErrors(t *testing.T) {
	evaluations := Unasked("GPT-4.1", "RadVLM")
	for text, near := range map[string]string{
		"t3/path-1.gpt-4.1/completeness": "t3/path-1.gpt-4.1/completion",
		"t3/path-1.gpt4.1/depth":         "t3/path-1.gpt-4.1/depth",
		"t4/overall.radvlm/alignment":    "t4/overall.radvlm/",
		"t6/cardiomegaly/normal":         "t",
		"3/path-1.radvlm/depth":          "t3/path-1.radvlm/depth",
		"":                               "t",
	} {
		_, err := FindCell(text, evaluations)
		var unknown *report.UnknownRefError
		if !errors.As(err, &unknown) || len(unknown.Near) != mostNear || !strings.HasPrefix(unknown.Near[0], near) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if r, err := FindCell("t13/rotation.radvlm/stage1", evaluations); err != nil || r.Figure(evaluations).Known || r.Figure(nil).Known {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{"t3/a/b:median", "t03/a/b", "t3/A/b", "t3/a", "t3/a/b/c", "t3//b"} {
		if r, err := report.ParseRef(text); err == nil {
			t.Errorf("%q reads as %+v", text, r)
		}
	}
}
