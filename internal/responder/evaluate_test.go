package responder

import (
	"testing"

	"cxrepro/internal/cxreasonbench"
)

// everyoneGuided has nobody know the answer, and everybody succeed under guidance and after.
func everyoneGuided(n float64) Table {
	return Table{
		Path1:   &Numbers{Cases: n, Unknown: n},
		Path2:   &Numbers{Cases: n, Structures: n, Measurement: n, Final: n, Consistent: n},
		RePath1: &Numbers{Cases: n, Initial: n, Criteria: n, Structures: n, Measurement: n, Final: n, Consistent: n},
	}
}

// TestEvaluations holds whole evaluations over real connections, with a judge, through the
// state machine: an oracle ends all right, a model that never knows goes to Path 2 and no
// further, guidance leads to the re-evaluation, and a script is followed.
func TestEvaluations(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 3)
	s := serve(t, m, nil,
		Model{Name: "oracle", Behaviour: Oracle},
		Model{Name: "idk", Behaviour: AlwaysIDK},
		Model{Name: "guided", Behaviour: Exact, Tables: map[string]map[string]Table{"all": {"all": everyoneGuided(3)}}},
		Model{Name: "scripted", Behaviour: Scripted, Script: []Line{{Key: "init", Answer: WordUnknown}, {Key: "guidance-final", Answer: WordWrong}}},
		Model{Name: "stubborn", Behaviour: Scripted, Script: []Line{{Key: "criteria_0", Answer: WordNone}}, Otherwise: WordRight},
		Model{Name: "judge", Behaviour: Judge})
	c := open(t, m, s)
	for _, x := range []struct {
		model string
		draws int
		want  func(one, two []cxreasonbench.State) bool
	}{
		{"oracle", 1, func(one, two []cxreasonbench.State) bool {
			return len(two) == 0 && all(one, func(s cxreasonbench.State) bool {
				return s.Step().End == cxreasonbench.EndComplete && all(s.Turns, func(t cxreasonbench.Turn) bool { return t.Score == cxreasonbench.Right })
			})
		}},
		{"idk", 1, func(one, two []cxreasonbench.State) bool {
			return len(two) == len(one) && all(one, func(s cxreasonbench.State) bool {
				return s.Step().End == cxreasonbench.EndUnknown && len(s.Turns) == 1
			}) && all(two, func(s cxreasonbench.State) bool {
				return s.Step().End == cxreasonbench.EndFailed && s.Turns[1].Score == cxreasonbench.NoneOfAbove
			})
		}},
		{"guided", 3, func(one, two []cxreasonbench.State) bool {
			return len(two) == len(one) && all(two, func(s cxreasonbench.State) bool {
				last := s.Turns[len(s.Turns)-1]
				return last.Key == cxreasonbench.Key{Path: cxreasonbench.RePath1, Stage: cxreasonbench.StageFinal} && last.Score == cxreasonbench.Right && last.Case != s.Case
			})
		}},
		{"scripted", 1, func(one, two []cxreasonbench.State) bool {
			return len(two) == len(one) && all(two, func(s cxreasonbench.State) bool {
				last := s.Turns[len(s.Turns)-1]
				return last.Key.String() == "guidance-final" && last.Score == cxreasonbench.Wrong
			})
		}},
		{"stubborn", 1, func(one, two []cxreasonbench.State) bool {
			return len(two) == 0 && all(one, func(s cxreasonbench.State) bool { return len(s.Turns) == 2 && s.Step().End == cxreasonbench.EndFailed })
		}},
	} {
		e := newEvaluate(c, x.model, x.draws)
		for _, task := range cxreasonbench.Tasks() {
			if one, two := e.task(task, m.rules); !x.want(one, two) {
				t.Errorf("%s, %s: %+v\n%+v", x.model, task, one, two)
			}
		}
		if e.calls == 0 {
			t.Errorf("%s: no calls", x.model)
		}
	}
	if n := s.Counts(); n.Requests != n.Answered || n.Statuses["200"] != n.Requests || n.Kinds["judge"] != n.Kinds["model"] || n.InFlight != 0 {
		t.Errorf("counts %+v", n)
	}
}

func all[T any](list []T, holds func(T) bool) bool {
	for _, x := range list {
		if !holds(x) {
			return false
		}
	}
	return len(list) > 0
}

// TestPlayIsTheEvaluation holds that an evaluation over connections comes, turn by turn, to
// the scores that Play foretells, with one draw and with three of which one may dissent.
func TestPlayIsTheEvaluation(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 6)
	s := serve(t, m, nil, Model{Name: "m", Behaviour: Rates, Dissent: 0.5, Tables: map[string]map[string]Table{"all": {"all": {
		Path1:   &Numbers{Unknown: 0.3, Initial: 0.5, Criteria: 0.8, Rejected: 0.3, Structures: 0.8, Measurement: 0.7, Final: 0.7, Consistent: 0.5, Aligned: 0.8},
		Path2:   &Numbers{Structures: 0.8, Measurement: 0.8, Final: 0.9, Consistent: 0.6},
		RePath1: &Numbers{Initial: 0.8, Criteria: 0.8, Structures: 0.8, Measurement: 0.8, Final: 0.8},
	}}}}, Model{Name: "judge", Behaviour: Judge})
	c := open(t, m, s)
	for _, draws := range []int{1, 3} {
		played, err := s.Play("m", m.rules, draws, 1)
		if err != nil {
			t.Fatal(err)
		}
		e := newEvaluate(c, "m", draws)
		reviews := 0
		for _, task := range cxreasonbench.Tasks() {
			one, two := e.task(task, m.rules)
			for _, path := range cxreasonbench.Paths() {
				states := two
				if path == cxreasonbench.Path1 {
					states = one
				}
				if len(states) != len(played[path][task]) {
					t.Fatalf("%d draws, %s, %s: %d cases, foretold %d", draws, path, task, len(states), len(played[path][task]))
				}
				for i, s := range states {
					got, want := cxreasonbench.ScoresOf(s), played[path][task][i]
					if got.Case != want.Case || len(got.Scores) != len(want.Scores) {
						t.Fatalf("%d draws, %s, %s: case %d has %v, foretold %v", draws, path, task, i, got.Scores, want.Scores)
					}
					for k, score := range want.Scores {
						if (got.Scores[k] == cxreasonbench.Right) != (score == cxreasonbench.Right) {
							t.Errorf("%d draws, %s, %s: %s of case %d is %s, foretold %s", draws, path, task, k, i, got.Scores[k], score)
						}
						if k.Path == cxreasonbench.RePath1 {
							reviews++
						}
					}
				}
			}
		}
		if reviews == 0 {
			t.Error("no case came to the re-evaluation")
		}
	}
}
