package claims

import (
	"strings"
	"testing"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/report/scoring"
)

// TestUndetermined: figures with cases that have no outcome have no verdict, not even where they
// are equal as printed; others are not touched.
func TestUndetermined(t *testing.T) {
	rules := released()
	e := scoring.New(contract.EvaluationRef{Name: "m/greedy", Draws: 1, Path2: true, Rules: rules})
	s := &contract.EvaluationSummary{Rules: rules, Evaluations: []contract.SummaryEvaluation{
		e.Summary(contract.SummaryModel{Title: "RadVLM"}, "greedy", scoring.Bootstrap{}),
	}}
	s.Evaluations[0].Undetermined = []contract.SummaryUndetermined{{Case: 3, Task: chexstruct.Rotation, Path: cxreasonbench.Path1, Why: "endpoint_gone"}}
	s.Evaluations[0].Waiting = []contract.Count{{Name: chexstruct.Rotation.String(), N: 1}}
	c, err := Check(Input{Summary: s})
	if err != nil {
		t.Fatal(err)
	}
	open := map[cxreasonbench.Path]int{}
	for _, r := range c.Results {
		at := r.Claim.place
		of := at.Row == chexstruct.Rotation.String() || at.Row == cxreasonbench.Overall.String() || at.Row == cxreasonbench.MeasurementTasks.String()
		if (r.Verdict == report.Undetermined) != of {
			t.Errorf("%s: %s, %s", r.Claim.ID, r.Verdict, r.Why)
		}
		if of {
			open[at.Path]++
		}
	}
	if open[cxreasonbench.Path1] != 24 || open[cxreasonbench.Path2] != 18 || open[cxreasonbench.RePath1] != 24 {
		t.Errorf("undetermined: %v", open)
	}
}

// TestBlocked: no claim about a model that was trained on what it is judged on has a verdict, be it
// printed in a table or in the text; our figures stay, and those of other models keep theirs.
func TestBlocked(t *testing.T) {
	rules := released()
	s := &contract.EvaluationSummary{Rules: rules}
	for _, title := range []string{"RadVLM", "GPT-4.1"} {
		e := scoring.New(contract.EvaluationRef{Name: title + "/greedy", Draws: 1, Path2: true, Rules: rules})
		s.Evaluations = append(s.Evaluations, e.Summary(contract.SummaryModel{Title: title}, "greedy", scoring.Bootstrap{}))
	}
	stated := &Stated{Text: []StatedText{
		{Says: "of the blocked", Model: "RadVLM", Path: cxreasonbench.Path1, Sampling: cxreasonbench.Greedy, Group: "overall", Column: "completion", Value: 50},
		{Says: "of the other", Model: "GPT-4.1", Path: cxreasonbench.Path1, Sampling: cxreasonbench.Greedy, Group: "overall", Column: "completion", Value: 50},
	}}
	free, err := Check(Input{Summary: s, Stated: stated})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Check(Input{Summary: s, Stated: stated, Blocked: []string{"checkpoint x was trained on what it is judged on: same_study: image a and training image b", ""}})
	if err != nil || len(c.Results) != len(free.Results) {
		t.Fatalf("%d results, %v", len(c.Results), err)
	}
	counts := map[int]int{}
	for i, r := range c.Results {
		was := free.Results[i]
		blocked := r.Verdict == report.NotComputable && strings.HasPrefix(r.Why, "blocked: checkpoint x") && strings.Contains(r.Why, "same_study")
		if blocked != (r.Evaluation == 0) || r.Ours != was.Ours || r.Evaluation != 0 && (r.Verdict != was.Verdict || r.Why != was.Why) {
			t.Errorf("%s of evaluation %d: %s (%s), free %s (%s)", r.Claim.ID, r.Evaluation, r.Verdict, r.Why, was.Verdict, was.Why)
		}
		counts[r.Evaluation]++
	}
	if counts[0] == 0 || counts[1] == 0 || len(c.Text) != 2 {
		t.Errorf("results by evaluation: %v", counts)
	}
}

// TestParseStated: a figure of the text that is about no cell of a table is refused, by the field
// that is wrong.
func TestParseStated(t *testing.T) {
	for text, why := range map[string]string{
		`"path": "path2", "sampling": "greedy", "group": "overall", "column": "stage3"`:    "",
		`"path": "path2", "sampling": "greedy", "group": "overall", "column": "alignment"`: "no column of path2",
		`"path": "path2", "sampling": "greedy", "group": "overall", "column": "x"`:         "no column of path2",
		`"path": "path2", "sampling": "greedy", "group": "rotation", "column": "stage3"`:   "no group",
		`"path": "path2", "group": "overall", "column": "stage3"`:                          "sampling is missing",
		`"sampling": "greedy", "group": "overall", "column": "stage3"`:                     "path is missing",
	} {
		s, err := ParseStated([]byte(`{"text": [{"says": "a", "model": "m", "value": 1, ` + text + `}]}`))
		if why == "" && (err != nil || len(s.Text) != 1) || why != "" && (err == nil || !strings.Contains(err.Error(), "text 0: "+why)) {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
}

// TestTableClaims: every printed figure is a claim once, with every cell that prints it, and says
// what it is made of.
func TestTableClaims(t *testing.T) {
	list, err := TableClaims()
	if err != nil {
		t.Fatal(err)
	}
	p, err := PaperFigures()
	if err != nil {
		t.Fatal(err)
	}
	asked := cxreasonbench.Unasked(p.Models()...)
	ids, cells := map[string]bool{}, map[string]bool{}
	for i, c := range list {
		for _, ref := range c.Cells {
			if cells[ref] {
				t.Errorf("%s is printed by two claims", ref)
			}
			cells[ref] = true
			if i%500 != 0 {
				continue
			}
			if found, err := cxreasonbench.FindCell(ref, asked); err != nil || found.Place() != c.place {
				t.Errorf("%s: %+v, %v", ref, found, err)
			}
		}
		if ids[c.ID] || !strings.Contains(c.Population, "sampling=") || strings.HasSuffix(c.Population, ": ") || c.Rounding == "" || c.Formula == "" {
			t.Errorf("%s: %+v", c.ID, c)
		}
		ids[c.ID] = true
	}
	// Tables 3, 4 and 8 to 10 print 210 figures again.
	if len(list) != 6450 || len(cells) != len(list)+210 {
		t.Errorf("%d claims in %d cells", len(list), len(cells))
	}
}

// TestFindings: the published counts are claims about a run that names them, and about no other.
func TestFindings(t *testing.T) {
	list, counts, err := FindingClaims()
	if err != nil || len(list) != 2+12*3 || len(counts) != len(list) {
		t.Fatalf("%d claims, %d counts, %v", len(list), len(counts), err)
	}
	s := &contract.Summary{Expected: "the paper"}
	s.Images.Images, s.Global.Kept, s.Global.Removed = 243334, 235747, 7587
	s.Tasks = []contract.SummaryTask{{Task: "cardiomegaly", Total: 184292, Labels: []contract.LabelCount{{Label: "normal", N: 117514}, {Label: "enlarged", N: 60000}}}}
	c, err := Check(Input{Findings: s})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]report.Verdict{}
	for _, r := range c.Results {
		got[r.Claim.ID] = r.Verdict
	}
	for id, want := range map[string]report.Verdict{
		"chexstruct/kept": report.Reproduced, "t6/cardiomegaly/labelled": report.Reproduced, "t6/cardiomegaly/normal": report.Reproduced,
		"t6/cardiomegaly/enlarged": report.Off, "t6/rotation/rotated": report.NotComputable,
	} {
		if got[id] != want {
			t.Errorf("%s: %s, want %s", id, got[id], want)
		}
	}
	s.Expected = ""
	if c, err = Check(Input{Findings: s}); err != nil || len(c.Results) != 0 {
		t.Errorf("%d results, %v", len(c.Results), err)
	}
}
