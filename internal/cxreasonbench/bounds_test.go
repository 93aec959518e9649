package cxreasonbench_test

import (
	"math/rand/v2"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
)

// TestBounds plays dialogues with random replies and verdicts: at every point the calls that
// follow lie within the bounds that were given there, and over many plays both ends are reached.
func TestBounds(t *testing.T) {
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	shape := cxreasonbench.Shape{CriteriaRounds: 2, StructureRounds: 2}
	for _, c := range []struct {
		judged bool
		draws  int
		tasks  []cxreasonbench.Task
	}{{true, 1, cxreasonbench.Tasks()[:4]}, {true, 3, cxreasonbench.Tasks()[4:5]}, {false, 1, cxreasonbench.Tasks()[5:8]}} {
		for _, task := range c.tasks {
			low, high := 1<<30, 0
			var first cxreasonbench.CallBounds
			for range 400 {
				s, _, err := cxreasonbench.Start(rules, task, "1", shape, c.draws)
				if err != nil {
					t.Fatal(err)
				}
				b, made := play(t, r, s, cxreasonbench.SessionOptions{Judged: c.judged, Again: 1})
				first, low, high = b, min(low, made), max(high, made)
			}
			if low != first.Model.Low || high != first.Model.High {
				t.Errorf("%s, judged %t, %d draws: %d to %d calls to the model were seen, the bounds are %+v", task, c.judged, c.draws, low, high, first)
			}
		}
	}
}

// play plays a dialogue, with its Path 2 where it gets there, and returns the bounds before its
// first call and the calls to the model on Path 1.
func play(t *testing.T, r *rand.Rand, s cxreasonbench.State, o cxreasonbench.SessionOptions) (first cxreasonbench.CallBounds, model int) {
	t.Helper()
	session, err := cxreasonbench.NewSession(s, o)
	if err != nil {
		t.Fatal(err)
	}
	type point struct {
		bounds       cxreasonbench.CallBounds
		model, judge int
	}
	var points []point
	judge := 0
	for !session.Done() {
		calls := session.Calls()
		if len(calls) == 0 {
			t.Fatal("nothing is asked and nothing is over")
		}
		points = append(points, point{session.Bounds(), model, judge})
		for _, c := range calls {
			if session.Done() {
				break
			}
			result := cxreasonbench.CallResult{Reply: artifacts.Ref{Digest: artifacts.Sum([]byte(c.String())), Size: 1, MediaType: "x"}}
			right := r.IntN(8) > 0
			switch {
			case c.Kind == cxreasonbench.CallModel:
				model++
				result.Score = cxreasonbench.Right
				if !right {
					result.Score = cxreasonbench.Scores()[r.IntN(4)]
				}
				if r.IntN(10) == 0 {
					result.Terminal = cxreasonbench.Refusal
				}
			default:
				judge++
				if c.Kind == cxreasonbench.CallJudge && r.IntN(6) > 0 {
					result.Score = cxreasonbench.Right
					if !right {
						result.Score = cxreasonbench.Scores()[r.IntN(4)]
					}
				}
			}
			if err := session.Record(c, result); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range points {
		if m := model - p.model; m < p.bounds.Model.Low || m > p.bounds.Model.High {
			t.Errorf("%d calls to the model followed, want %+v", m, p.bounds.Model)
		}
		if j := judge - p.judge; j < p.bounds.Judge.Low || j > p.bounds.Judge.High {
			t.Errorf("%d calls to the judge followed, want %+v", j, p.bounds.Judge)
		}
	}
	if end := session.State().Step(); o.ReviewCase == "" && session.Undetermined() == nil && end.End.Entry() != 0 {
		guided, _, err := cxreasonbench.StartPath2(session.State(), 2)
		if err != nil {
			t.Fatal(err)
		}
		o.ReviewCase, o.ReviewShape = "2", cxreasonbench.Shape{CriteriaRounds: 1, StructureRounds: 2}
		play(t, r, guided, o)
	}
	return points[0].bounds, model
}
