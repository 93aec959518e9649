package compare_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/compare"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/provenance"
)

const task = "cardiomegaly"

// measured is a side of one window whose images, named by letters, have labels under one task.
func measured(t *testing.T, name, images string, labels ...string) *compare.Side {
	t.Helper()
	sum := contract.SummaryTask{Task: task, Total: len(labels), Labels: []contract.LabelCount{{Label: "normal"}, {Label: "enlarged"}}}
	w := compare.Window{Tasks: []contract.AssessedTask{{Task: task, Result: artifacts.Ref{Digest: artifacts.Sum([]byte(images + fmt.Sprint(labels)))}}}}
	var rows []contract.FindingRow
	for i, label := range labels {
		image := artifacts.Sum([]byte(images[i : i+1]))
		w.Entries = append(w.Entries, contract.Entry{Image: image, Case: i})
		w.Inputs.Images = append(w.Inputs.Images, contract.ImageIn{Image: image})
		rows = append(rows, contract.FindingRow{Image: image, Finding: fmt.Appendf(nil, `{"status":%q,"label":%q}`, chexstruct.StatusOK, label)})
		for k := range sum.Labels {
			if sum.Labels[k].Label == label {
				sum.Labels[k].N++
			}
		}
	}
	w.Rows = func(context.Context, int) ([]contract.FindingRow, error) { return rows, nil }
	return &compare.Side{
		Receipt:  &contract.Receipt{Reproduction: name, ResultDigest: artifacts.Sum([]byte(name))},
		Plan:     &experiments.Plan{},
		Findings: &contract.Summary{Global: contract.SummaryGlobal{Kept: len(labels)}, Tasks: []contract.SummaryTask{sum}},
		Source: compare.Source{
			Windows:   func(_ context.Context, fn func(compare.Window) error) error { return fn(w) },
			Pages:     func(context.Context, int, func(*contract.DialoguesDoc) error) error { return nil },
			Statement: func(context.Context, artifacts.Key) (*provenance.Statement, error) { return nil, nil },
			Made:      func(context.Context, artifacts.Digest) ([]artifacts.Key, error) { return nil, nil },
		},
	}
}

// evaluated adds an evaluation of no cases to a side.
func evaluated(t *testing.T, s *compare.Side, path2 bool) *compare.Side {
	t.Helper()
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Benchmark = &contract.Benchmark{}
	s.Tables = &contract.EvaluationSummary{Evaluations: []contract.SummaryEvaluation{{Name: "one/greedy", Sampling: experiments.Greedy}}}
	s.Evaluations = []contract.EvaluationDoc{{Evaluation: contract.EvaluationRef{Name: "one/greedy", Rules: rules, Path2: path2}}}
	return s
}

func compared(t *testing.T, a, b *compare.Side) *compare.Diff {
	t.Helper()
	d, err := compare.Compare(context.Background(), a, b, compare.Options{Flips: -1})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFindings: of four images and three of them, one of which has another label, the figures that
// differ are tested over what both have, and only what both have can flip.
func TestFindings(t *testing.T) {
	d := compared(t, measured(t, "a", "abcd", "normal", "normal", "enlarged", "normal"), measured(t, "b", "cab", "enlarged", "enlarged", "normal"))
	if d.Equal || d.FlipsAll != 1 || d.FlipsCases != 3 || len(d.Inputs.OnlyImagesA) != 1 || len(d.Inputs.OnlyImagesB) != 0 || len(d.Unpaired) != 0 {
		t.Errorf("%+v", d)
	}
	if f := d.Flips[0]; f.Case != 0 || f.Before != "normal" || f.After != "enlarged" || len(f.Fields) != 1 || f.Fields[0].Field != "label" {
		t.Errorf("flip %+v", f)
	}
	want := map[string]string{
		"global filter": "4 | 3: a count", "labelled": "4 of 4 | 3 of 3: no image of both differs",
		"normal": "3 of 4 | 1 of 3: 1 : 0, p = 1.0000", "enlarged": "1 of 4 | 2 of 3: 0 : 1, p = 1.0000",
	}
	for _, c := range d.Cells {
		column := c.Column
		if column == "images kept" {
			column = c.Row
		}
		if got := c.A.Text + " | " + c.B.Text + ": " + c.Test.String(); got != want[column] {
			t.Errorf("%s: %s, want %s", column, got, want[column])
		}
		delete(want, column)
	}
	if len(want) > 0 {
		t.Errorf("these do not differ: %v", want)
	}
}

// TestOneSided: what only one side measured, asked or evaluated is named, and is a difference
// although no figure of both differs.
func TestOneSided(t *testing.T) {
	plain := func(name string) *compare.Side { return measured(t, name, "ab", "normal", "enlarged") }
	if d := compared(t, plain("a"), plain("b")); !d.Equal || d.Identical || d.FlipsCases != 2 || d.Compared != 4 {
		t.Errorf("equal sides: %+v", d)
	}
	blank := plain("b")
	blank.Findings = nil
	for _, c := range []struct {
		name string
		a, b *compare.Side
		want []string
	}{
		{"asked on one side", evaluated(t, plain("a"), true), plain("b"), []string{"the benchmark is not in B", "the evaluation of models is not in B"}},
		{"measured on one side", blank, plain("a"), []string{"the assessment of images is not in A"}},
		{"one path", evaluated(t, plain("a"), true), evaluated(t, plain("b"), false), []string{"Path 2 of one/greedy is not in B", "Re-evaluated Path 1 of one/greedy is not in B"}},
	} {
		d := compared(t, c.a, c.b)
		if d.Equal || !slices.Equal(d.Unpaired, c.want) || strings.HasPrefix(d.Verdict, "equal") {
			t.Errorf("%s: equal %t, %q, %s; want %q", c.name, d.Equal, d.Unpaired, d.Verdict, c.want)
		}
		if back := compared(t, c.b, c.a); back.Equal || len(back.Unpaired) != len(c.want) {
			t.Errorf("%s, exchanged: %+v", c.name, back)
		}
	}
}

// TestFieldNames: fields of a test are named as docs/schemas.md has them.
func TestFieldNames(t *testing.T) {
	data, err := json.Marshal(compare.Test{Name: compare.TestBootstrap, Known: true, Low: -1.5, High: 2})
	if want := `{"test":"paired bootstrap","pairs":0,"only_a":0,"only_b":0,"unpaired":[0,0],"known":true,"low":-1.5,"high":2}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
}
