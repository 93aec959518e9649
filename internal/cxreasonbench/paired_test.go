package cxreasonbench

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomCase is a case that went through Path 1 as far as its luck held.
func randomCase(r *rand.Rand, id string, task Task) CaseScores {
	c := CaseScores{Case: id, Scores: map[Key]Score{}, Consistent: map[Path]bool{}}
	first := []Score{Right, Wrong, Unknown}[r.IntN(3)]
	c.Scores[Key{Path: Path1, Stage: StageInit}] = first
	if first == Unknown {
		return c
	}
	for _, stage := range path1Stages(task)[1:] {
		s := Right
		if r.IntN(4) == 0 {
			s = []Score{Wrong, Unknown}[r.IntN(2)]
		}
		c.Scores[Key{Path: Path1, Stage: stage}] = s
		if stage == StageFinal && KindOf(task) == Measurement {
			c.Consistent[Path1] = r.IntN(2) == 0
		}
		if s != Right {
			break
		}
	}
	return c
}

// TestCaseRow: what single cases add to a figure adds up to the figure's k of n, in every column.
func TestCaseRow(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	r := rand.New(rand.NewPCG(3, 1))
	for _, task := range Tasks() {
		var cases []CaseScores
		for i := range 60 {
			cases = append(cases, randomCase(r, fmt.Sprint(i), task))
		}
		row := ScorePath(rules, Path1, map[Task][]CaseScores{task: cases}).Tasks[task]
		for i, cell := range row.Cells {
			k, n := 0, 0
			for _, c := range cases {
				f := CaseRow(rules, task, Path1, c).Cells[i].Plain
				if f.N > 1 || cell.Column != Depth && f.K > f.N {
					t.Errorf("%s %s: one case is %d of %d", task, cell.Column, f.K, f.N)
				}
				k, n = k+f.K, n+f.N
			}
			if cell.Plain.Known && (k != cell.Plain.K || n != cell.Plain.N) {
				t.Errorf("%s %s: cases add up to %d of %d, the figure has %d of %d", task, cell.Column, k, n, cell.Plain.K, cell.Plain.N)
			}
		}
	}
}

// TestBootstrapDifference: a side does not differ from itself, exchanging sides mirrors the interval,
// the order of cases does not matter, and sides that differ everywhere have an interval beside zero.
func TestBootstrapDifference(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	r := rand.New(rand.NewPCG(5, 1))
	pairs, mirrored, self, turned := map[Task][]Pair{}, map[Task][]Pair{}, map[Task][]Pair{}, map[Task][]Pair{}
	for _, task := range Tasks()[:4] {
		for i := range 30 {
			a := randomCase(r, fmt.Sprint(i), task)
			b := CaseScores{Case: a.Case, Scores: map[Key]Score{}, Consistent: map[Path]bool{}}
			for _, stage := range path1Stages(task) {
				b.Scores[Key{Path: Path1, Stage: stage}] = Right
			}
			pairs[task] = append(pairs[task], Pair{a, b})
			mirrored[task] = append(mirrored[task], Pair{b, a})
			self[task] = append(self[task], Pair{a, a})
			turned[task] = append([]Pair{{a, b}}, turned[task]...)
		}
	}
	in := BootstrapDifference(rules, rules, Path1, pairs, 1, 200).Groups[Overall][Completion].Plain
	if !in.Known || in.Low <= 0 || in.High <= in.Low {
		t.Errorf("all right against some: %+v", in)
	}
	if o := BootstrapDifference(rules, rules, Path1, turned, 1, 200).Groups[Overall][Completion].Plain; o != in {
		t.Errorf("in another order %+v, want %+v", o, in)
	}
	near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
	if m := BootstrapDifference(rules, rules, Path1, mirrored, 1, 200).Groups[Overall][Completion].Plain; !near(m.Low, -in.High) || !near(m.High, -in.Low) {
		t.Errorf("exchanged %+v, want the mirror of %+v", m, in)
	}
	if s := BootstrapDifference(rules, rules, Path1, self, 1, 50).Groups[Overall][Depth].Plain; !s.Known || s.Low != 0 || s.High != 0 {
		t.Errorf("against itself %+v", s)
	}
}
