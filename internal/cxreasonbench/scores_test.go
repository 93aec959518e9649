package cxreasonbench

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/internal/report"
)

// drawCase draws a case that a dialogue could have left behind.
func drawCase(t *rapid.T, task Task) CaseScores {
	c := CaseScores{Case: rapid.StringMatching(`[a-z]{6}`).Draw(t, "case"), Scores: map[Key]Score{}, Consistent: map[Path]bool{}}
	score := func(k Key) Score {
		s := rapid.SampledFrom([]Score{Right, Right, Right, Right, Wrong, Unknown, NoneOfAbove}).Draw(t, k.String())
		c.Scores[k] = s
		return s
	}
	if score(Key{Path: Path1, Stage: StageInit}) == Unknown || score(Key{Path: Path1, Stage: StageCriteria}) != Right {
		return c
	}
	if ExpertDefined(task) && score(Key{Path: Path1, Stage: StageRefined}) != Right {
		return c
	}
	for _, s := range []Stage{StageStructures, StageMeasurement} {
		if score(Key{Path: Path1, Stage: s}) != Right {
			return c
		}
	}
	score(Key{Path: Path1, Stage: StageFinal})
	if KindOf(task) == Measurement {
		c.Consistent[Path1] = rapid.Bool().Draw(t, "consistent")
	}
	return c
}

// TestScoreProperties: order and shards do not matter; figures are in their ranges; a refined
// figure is at most the plain one; a group's figure lies between those of its tasks; a figure
// without a value says why.
func TestScoreProperties(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	rapid.Check(t, func(t *rapid.T) {
		cases := map[Task][]CaseScores{}
		for _, task := range []Task{Tasks()[0], Tasks()[1], Tasks()[8], Tasks()[10]} {
			n := rapid.IntRange(0, 12).Draw(t, "n")
			for range n {
				cases[task] = append(cases[task], drawCase(t, task))
			}
			perm := rapid.Permutation(cases[task]).Draw(t, "order")
			cut := rapid.IntRange(0, n).Draw(t, "cut")
			if whole := Count(Path1, cases[task]); Count(Path1, perm[:cut]).Add(Count(Path1, perm[cut:])) != whole {
				t.Fatal("counts depend on order or shards")
			}
		}
		p := ScorePath(rules, Path1, cases)
		for _, g := range Groups() {
			for i, cell := range p.Groups[g].Cells {
				low, high := 1e9, -1e9
				for _, task := range Tasks() {
					f := p.Tasks[task].Cells[i].Plain
					checkFigure(t, cell.Column, f, p.Tasks[task].Cells[i].Refined)
					if g.Has(task) && f.Known {
						low, high = min(low, f.Value), max(high, f.Value)
					}
				}
				if cell.Plain.Known != (high >= low) || cell.Plain.Known && (cell.Plain.Value < low-0.01 || cell.Plain.Value > high+0.01) {
					t.Fatalf("%s %s: %+v outside [%v, %v]", g, cell.Column, cell.Plain, low, high)
				}
			}
		}
	})
}

func checkFigure(t *rapid.T, c Column, f, refined Figure) {
	limit := 100.0
	if c == Depth {
		limit = 4
	}
	switch {
	case f.Formula == "" || !f.Known && f.Why == "":
		t.Fatalf("%s: %+v without origin or reason", c, f)
	case f.Known && (f.Value < 0 || f.Value > limit || f.K < 0 || c != Depth && f.K > f.N):
		t.Fatalf("%s: %+v out of range", c, f)
	case Refines(Path1, c) && (refined.Known != f.Known || refined.Value > f.Value+0.0051):
		t.Fatalf("%s: refined %+v of %+v", c, refined, f)
	}
}

// TestProportionProperties: the adjusted figure lies in [0, 100] and below the plain share,
// and it grows with k.
func TestProportionProperties(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	for n := 1; n <= 150; n++ {
		before := -1.0
		for k := 0; k <= n; k++ {
			f := proportion(rules, k, n, "")
			s, _ := f.Standard()
			if f.Value <= before || f.Value > 100*s.High || f.Value < 0 || s.Low > s.Share || s.Share > s.High {
				t.Fatalf("%d of %d: %+v, standard %+v, before %v", k, n, f, s, before)
			}
			before = f.Value
		}
	}
}

// TestBootstrapPaths: seeds repeat, the order of cases does not matter, the interval holds
// the figure, and a task without cases has none.
func TestBootstrapPaths(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	cases := map[Task][]CaseScores{}
	for task, list := range load[inputSet](t, "s01.input.json").Tasks {
		for _, c := range list {
			s, _ := c.scores(t, rules, task)
			cases[task] = append(cases[task], s)
		}
	}
	delete(cases, Tasks()[8])
	a := Bootstrap(rules, Path1, cases, 7, 200)
	list := cases[Tasks()[0]]
	for i, k := 0, len(list)-1; i < k; i, k = i+1, k-1 {
		list[i], list[k] = list[k], list[i]
	}
	if b := Bootstrap(rules, Path1, cases, 7, 200); !reflect.DeepEqual(a, b) {
		t.Error("the order of cases matters")
	}
	if reflect.DeepEqual(a, Bootstrap(rules, Path1, cases, 8, 200)) {
		t.Error("the seed does not matter")
	}
	p := ScorePath(rules, Path1, cases)
	for _, cell := range p.Groups[Overall].Cells {
		in := a.Groups[Overall][cell.Column].Plain
		if !in.Holds(cell.Plain.Value) || in.Low >= in.High {
			t.Errorf("%s: %v outside %+v", cell.Column, cell.Plain.Value, in)
		}
	}
	if a.Tasks[Tasks()[8]][Stage1].Plain.Known {
		t.Error("an interval without cases")
	}
}

// TestPaperTables lays a result set out as every table of the paper, beside the paper's
// figures, and the paper's own figures beside themselves.
func TestPaperTables(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	var evaluations []Evaluation
	for _, set := range []struct {
		name     string
		sampling Sampling
		paths    []Path
	}{{"s01", Greedy, []Path{Path1}}, {"s29", Greedy, []Path{Path2, RePath1}}, {"s23", Stochastic, []Path{Path1}}, {"s39", Stochastic, []Path{Path2, RePath1}}} {
		cases := map[Task][]CaseScores{}
		for task, list := range load[inputSet](t, set.name+".input.json").Tasks {
			for _, c := range list {
				s, _ := c.scores(t, rulesOf(t, AsReleased, nil), task)
				cases[task] = append(cases[task], s)
			}
		}
		e := Evaluation{Model: "GPT-4.1", Sampling: set.sampling, Intervals: map[Path]*Intervals{}, Simulated: true}
		for _, p := range set.paths {
			e.Paths = append(e.Paths, ScorePath(rules, p, cases))
			e.Intervals[p] = Bootstrap(rules, p, cases, 1, 100)
		}
		evaluations = append(evaluations, e)
	}
	published := beside{evaluations, printedFigures(t)}
	if got, want := len(TableNumbers()), 23; got != want {
		t.Errorf("%d tables, want %d", got, want)
	}
	for _, n := range TableNumbers() {
		table, err := PaperTable(n, evaluations, TableOptions{Beside: published})
		if err != nil {
			t.Fatal(err)
		}
		if wrong := table.Check(); wrong != nil {
			t.Errorf("table %d: %v", n, wrong)
		}
		var b bytes.Buffer
		if err := table.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !strings.Contains(text, "GPT-4.1") || !strings.Contains(text, "paper  ") || !strings.Contains(text, "simulated") {
			t.Errorf("table %d:\n%s", n, text)
		}
		if why, err := TableMissing(n, evaluations); why != "" || err != nil {
			t.Errorf("table %d is missing: %s %v", n, why, err)
		}
		standard, err := PaperTable(n, evaluations, TableOptions{Beside: published, Standard: true})
		if err != nil {
			t.Fatal(err)
		}
		if wrong := standard.Check(); wrong != nil || len(standard.Rows)*2 != len(table.Rows) || len(standard.Tally()) > 0 {
			t.Errorf("table %d, textbook: %v, %d rows beside %d", n, wrong, len(standard.Rows), len(table.Rows))
		}
		if n == 3 && !strings.Contains(text, "16.90 (14.35)") {
			t.Errorf("table 3 lacks the completion of the set:\n%s", text)
		}
	}
	if _, err := PaperTable(5, nil, TableOptions{}); err == nil {
		t.Error("table 5 has no results of models")
	}
}

// beside puts the published figures beside the evaluations; whoever compares gives the verdict.
type beside struct {
	evaluations []Evaluation
	*Published
}

func (b beside) Compared(n int, at Place) (Comparison, bool) {
	f, ok := b.Figure(at)
	if b.evaluations[n].Model != at.Model || b.evaluations[n].Sampling != at.Sampling {
		return Comparison{}, false
	}
	return Comparison{Printed: f.String(), Verdict: report.Off, Why: "a test"}, ok
}

func printedFigures(t testing.TB) *Published {
	t.Helper()
	data, err := os.ReadFile("../../experiments/cxreasonbench/claims/tables.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePublished(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
