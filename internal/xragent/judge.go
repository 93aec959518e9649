package xragent

import "math"

// Phrases are the switches of the consistency term.
type Phrases struct {
	// PartialSilence is s_k where the reasoning states no category; 0 by default, 0.5 as
	// the variant.
	PartialSilence float64 `json:"partial_silence"`
	// SkipNearThreshold leaves a CTR within 0.02 of its limit out of scoring.
	SkipNearThreshold bool `json:"skip_near_threshold"`
}

// DefaultPhrases returns both switches off.
func DefaultPhrases() Phrases { return Phrases{} }

// Judged is a trajectory with every term its reward depends on.
type Judged struct {
	Parsed
	Relevant [3]bool
	Exposed  [3]bool
	S        [3]float64 // zero where not exposed
	Skipped  [3]bool    // near the limit and left out
}

// Judge parses a trajectory and computes its reward terms. Pure and deterministic.
func Judge(t Trajectory, o Phrases) Judged {
	j := Judged{Parsed: Parse(t)}
	text := prepare(j.Reasoning)
	for _, m := range Measurements() {
		i := m.index()
		j.Relevant[i] = Relevant(m, t.Question)
		j.Exposed[i] = t.Measurement.Exposed(m)
		if !j.Exposed[i] {
			continue
		}
		v := t.Measurement.Values[i]
		c, err := v.Read(m)
		if err != nil { // refused when the bundle was read
			j.Exposed[i] = false
			continue
		}
		j.Skipped[i] = o.SkipNearThreshold && m == CTR && abs(hundredths(v.Value)-50) <= 2
		if j.Reasoning == "" {
			continue
		}
		switch compare(m, c, v.Value, text) {
		case Agrees:
			j.S[i] = 1
		case Silent:
			j.S[i] = o.PartialSilence
		}
	}
	return j
}

// Terms returns what the reward depends on.
func (j Judged) Terms() Terms {
	t := Terms{Correct: j.Correct, WellFormed: j.WellFormed(), Calls: j.Calls}
	for i := range t.CXR {
		t.CXR[i] = Term{Relevant: j.Relevant[i] && !j.Skipped[i], Exposed: j.Exposed[i], Consistency: j.S[i]}
	}
	return t
}

func hundredths(v float64) int { return int(math.Round(v * 100)) }

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
