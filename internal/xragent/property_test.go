package xragent

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// A rewarder computes the reward of terms; a scorer that of a whole trajectory. Each
// property below is a function of one of them, so that a mutant can be put in its place.
type (
	rewarder func(Terms) float64
	scorer   func(Trajectory) float64
)

func real(r Reward) rewarder { return func(t Terms) float64 { return r.Value(t).R } }

func realScorer(t Trajectory) float64 { return ScoreTrajectory(t, DefaultSetting()).R }

// draw returns random terms with at most [MaxCalls] calls.
func draw(r *rand.Rand) Terms {
	t := Terms{Correct: r.IntN(2) == 0, WellFormed: r.IntN(4) > 0, Calls: r.IntN(MaxCalls + 1)}
	for i := range t.CXR {
		t.CXR[i] = Term{r.IntN(2) == 0, r.IntN(3) > 0, float64(r.IntN(5)) / 4}
	}
	return t
}

func each(n int, holds func(Terms, *rand.Rand) bool) bool {
	r := rand.New(rand.NewPCG(5, 9))
	for range n {
		if !holds(draw(r), r) {
			return false
		}
	}
	return true
}

const draws = 20_000

// Property 1: every well-formed correct trajectory beats every incorrect one.
func separates(f rewarder) bool {
	correct, wrong := math.Inf(1), math.Inf(-1)
	each(draws, func(t Terms, _ *rand.Rand) bool {
		if t.WellFormed && t.Correct {
			correct = min(correct, f(t))
		} else if !t.Correct {
			wrong = max(wrong, f(t))
		}
		return true
	})
	return correct > wrong
}

// Property 3: each further call lowers a correct one's reward and leaves a wrong one's.
func chargesCalls(f rewarder) bool {
	return each(draws, func(t Terms, _ *rand.Rand) bool {
		t.WellFormed = true
		for t.Calls = 0; t.Calls < MaxCalls; t.Calls++ {
			more := t
			more.Calls++
			if t.Correct && f(more) >= f(t) || !t.Correct && f(more) != f(t) {
				return false
			}
		}
		return true
	})
}

// Property 4: more consistency never lowers a correct one's reward.
func monotone(f rewarder) bool {
	return each(draws, func(t Terms, r *rand.Rand) bool {
		more, k := t, r.IntN(3)
		more.CXR[k].Consistency = min(1, t.CXR[k].Consistency+r.Float64())
		return !t.Correct || f(more) >= f(t)
	})
}

// Property 5: what was withheld never counts.
func ignoresWithheld(f rewarder) bool {
	return each(draws, func(t Terms, r *rand.Rand) bool {
		k := r.IntN(3)
		t.CXR[k].Exposed = false
		other := t
		other.CXR[k] = Term{Relevant: !t.CXR[k].Relevant, Consistency: r.Float64()}
		return f(t) == f(other)
	})
}

// Property 6: what the question does not ask never counts.
func ignoresIrrelevant(f rewarder) bool {
	return each(draws, func(t Terms, r *rand.Rand) bool {
		k := r.IntN(3)
		t.CXR[k].Relevant = false
		other := t
		other.CXR[k] = Term{Exposed: !t.CXR[k].Exposed, Consistency: r.Float64()}
		return f(t) == f(other)
	})
}

// Property 7: the ungated form rewards a wrong trajectory with evidence above a correct
// one that used its calls, with weights the loader accepts.
func ungatedInverts(f rewarder) bool {
	all := Term{Relevant: true, Exposed: true, Consistency: 1}
	wrong := Terms{WellFormed: true, CXR: [3]Term{all, all, all}}
	correct := Terms{WellFormed: true, Correct: true, Calls: MaxCalls}
	return f(wrong) > f(correct)
}

// samples are well-formed and malformed trajectories of the golden file.
func samples(t testing.TB) []Trajectory { return rows[Trajectory](t, "raw.jsonl", 40) }

// Property 2: backend calls never change the reward.
func ignoresBackend(list []Trajectory, f scorer) bool {
	for _, t := range list {
		more := t
		more.Observations = append(append([]Observation{}, t.Observations...),
			Observation{Name: "view_check", Status: "ok"}, Observation{Name: ToolParse, Status: "ok"})
		if f(t) != f(more) {
			return false
		}
	}
	return true
}

// Property 8: the same trajectory and bundle give the same reward, in any order and after
// a round through JSON.
func deterministic(list []Trajectory, f scorer) bool {
	first := make([]float64, len(list))
	for i, t := range list {
		first[i] = f(t)
	}
	for i := len(list) - 1; i >= 0; i-- {
		data, err := json.Marshal(list[i])
		var again Trajectory
		if err != nil || json.Unmarshal(data, &again) != nil || f(again) != first[i] {
			return false
		}
	}
	return true
}

// TestRewardProperties holds each property for the reward and shows that it fails for a
// mutant: a reward with the one fault that the property is there to find.
func TestRewardProperties(t *testing.T) {
	strong := Weights{Evidence: 0.5, Cost: 0.15}
	gated, ungated := DefaultReward(), Reward{Weights: strong}
	base := real(gated)
	for _, p := range []struct {
		name    string
		holds   func(rewarder) bool
		subject rewarder
		mutant  rewarder
	}{
		{"1 separates", separates, base, real(ungated)},
		{"1 separates, cost too high", separates, base, real(Reward{Weights{0.2, 0.25}, true, true})},
		{"3 charges calls", chargesCalls, base, func(t Terms) float64 { t.Calls = min(t.Calls, 3); return base(t) }},
		{"3 charges calls, wrong ones too", chargesCalls, base, real(Reward{DefaultWeights(), false, true})},
		{"4 monotone", monotone, base, func(t Terms) float64 { return gated.Value(t).R - 2*gated.Evidence*first(t.Evidence()) }},
		{"5 withheld", ignoresWithheld, base, func(t Terms) float64 {
			for i := range t.CXR {
				t.CXR[i].Exposed = true
			}
			return base(t)
		}},
		{"6 irrelevant", ignoresIrrelevant, base, func(t Terms) float64 {
			for i := range t.CXR {
				t.CXR[i].Relevant = true
			}
			return base(t)
		}},
		{"7 ungated inverts", ungatedInverts, real(ungated), real(Reward{Weights: strong, Gated: true})},
	} {
		if !p.holds(p.subject) {
			t.Errorf("property %s does not hold", p.name)
		}
		if p.holds(p.mutant) {
			t.Errorf("property %s does not catch its mutant", p.name)
		}
	}
}

func first(v float64, _ int) float64 { return v }

func TestTrajectoryProperties(t *testing.T) {
	list, n := samples(t), 0
	for _, p := range []struct {
		name   string
		holds  func([]Trajectory, scorer) bool
		mutant scorer
	}{
		{"2 backend calls", ignoresBackend, func(t Trajectory) float64 {
			j := Judge(t, DefaultPhrases())
			j.Calls = len(t.Observations)
			return DefaultReward().Value(j.Terms()).R
		}},
		{"8 deterministic", deterministic, func(t Trajectory) float64 { n++; return realScorer(t) + float64(n%2)*1e-9 }},
	} {
		if !p.holds(list, realScorer) {
			t.Errorf("property %s does not hold", p.name)
		}
		if p.holds(list, p.mutant) {
			t.Errorf("property %s does not catch its mutant", p.name)
		}
	}
}

// TestOrderingOfAMillion holds the paper's claim on a million random trajectories.
func TestOrderingOfAMillion(t *testing.T) {
	r, f := rand.New(rand.NewPCG(7, 1)), DefaultReward()
	correct, wrong := math.Inf(1), math.Inf(-1)
	for range 1_000_000 {
		x := draw(r)
		switch v := f.Value(x).R; {
		case !x.Correct:
			wrong = max(wrong, v)
		case x.WellFormed:
			correct = min(correct, v)
		}
	}
	if correct != 0.75 || wrong != 0 {
		t.Errorf("well-formed correct from %v, incorrect up to %v; want 0.75 and 0", correct, wrong)
	}
}

func TestWeightsRefused(t *testing.T) {
	for _, w := range []Weights{{-0.1, 0.05}, {0.2, -0.01}, {0.2, 0.2}, {0.2, 1}, {math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}} {
		if w.Validate() == nil {
			t.Errorf("weights %+v accepted", w)
		}
	}
	for _, w := range []Weights{{}, DefaultWeights(), {0.5, 0.15}, {3, 0.199}} {
		if err := w.Validate(); err != nil {
			t.Errorf("weights %+v: %v", w, err)
		}
	}
}
