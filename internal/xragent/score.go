package xragent

import (
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
)

// Setting is everything that decides a reward besides the trajectory.
type Setting struct {
	Reward
	Phrases
}

// DefaultSetting returns the gated default reward with both phrase switches off.
func DefaultSetting() Setting { return Setting{DefaultReward(), DefaultPhrases()} }

// Validate refuses weights and switches out of range.
func (s Setting) Validate() error {
	if !(s.PartialSilence >= 0 && s.PartialSilence <= 1) {
		return fmt.Errorf("partial_silence is %v; hint: 0 to 1", s.PartialSilence)
	}
	return s.Weights.Validate()
}

// RewardVersion changes whenever the same trajectory may earn another reward under the same
// setting.
const RewardVersion = 1

// Identity is everything of the setting that can change a reward, with the versions of what
// reads trajectories.
func (s Setting) Identity() map[string]any {
	return map[string]any{
		"reward": RewardVersion, "relevance": RelevanceVersion, "protocol": ProtocolVersion,
		"lambda_c": s.Weights.Evidence, "lambda_t": s.Weights.Cost, "gated": s.Gated, "malformed_counts_as_wrong": s.MalformedCountsAsWrong,
		"partial_silence": s.PartialSilence, "skip_near_threshold": s.SkipNearThreshold,
	}
}

// Digest names the setting: rewards under one digest can be compared.
//
// Errors: a setting that [Setting.Validate] refuses.
func (s Setting) Digest() (artifacts.Digest, error) {
	if err := s.Validate(); err != nil {
		return artifacts.Digest{}, err
	}
	text, err := artifacts.Canonical(s.Identity())
	return artifacts.Sum(text), err
}

// Variant is the reward under one reading of gate and malformed trajectories.
type Variant struct {
	Gated                  bool `json:"gated"`
	MalformedCountsAsWrong bool `json:"malformed_counts_as_wrong"`
	Value
}

// Score is one scored trajectory as `xragent reward --json` prints it.
type Score struct {
	ID       string                   `json:"id"`
	Verdict  string                   `json:"verdict"` // ok or malformed
	Reasons  []Reason                 `json:"reasons"`
	Plan     []Call                   `json:"plan"`
	Answer   *string                  `json:"answer"` // as read; null if none
	Correct  bool                     `json:"answer_correct"`
	Relevant map[Measurement]int      `json:"relevant"`
	Exposed  int                      `json:"exposed"` // 1 when the bundle was shown
	S        map[Measurement]*float64 `json:"s"`       // null when withheld
	Eligible int                      `json:"eligible"`
	CXR      float64                  `json:"R_CXR"`
	Calls    int                      `json:"R_tool"`
	Value
	Rewards []Variant `json:"rewards"` // all four readings with the same weights
}

// ScoreTrajectory judges a trajectory and computes its reward under s.
func ScoreTrajectory(t Trajectory, s Setting) Score {
	j := Judge(t, s.Phrases)
	terms := j.Terms()
	out := Score{ID: t.ID, Verdict: "ok", Reasons: j.Reasons, Plan: j.Plan, Correct: j.Correct, Calls: j.Calls,
		Relevant: map[Measurement]int{}, Value: s.Value(terms)}
	if !j.WellFormed() {
		out.Verdict = "malformed"
	}
	if out.Reasons == nil {
		out.Reasons = []Reason{}
	}
	if out.Plan == nil {
		out.Plan = []Call{}
	}
	if j.Answer != "" {
		out.Answer = &j.Answer
	}
	out.CXR, out.Eligible = terms.Evidence()
	if t.Measurement.Reason == "" {
		out.Exposed, out.S = 1, map[Measurement]*float64{}
	}
	for _, m := range Measurements() {
		i := m.index()
		out.Relevant[m] = 0
		if j.Relevant[i] {
			out.Relevant[m] = 1
		}
		if out.S != nil {
			out.S[m] = nil
			if j.Exposed[i] {
				out.S[m] = &j.S[i]
			}
		}
	}
	for _, gated := range []bool{true, false} {
		for _, wrong := range []bool{true, false} {
			r := Reward{s.Weights, gated, wrong}
			out.Rewards = append(out.Rewards, Variant{gated, wrong, r.Value(terms)})
		}
	}
	return out
}

// ReadTrajectory reads one line of a trajectory file and checks that it can be scored.
// Fields it does not know are left alone.
func ReadTrajectory(line []byte) (Trajectory, error) {
	var in struct {
		Trajectory
		Measurement *Bundle `json:"measurement"` // before the embedded one: nil when absent
	}
	err := json.Unmarshal(line, &in)
	t := in.Trajectory
	if err != nil {
		return t, fmt.Errorf("trajectory: %w", err)
	}
	if in.Measurement == nil {
		return t, fmt.Errorf("trajectory %s: field measurement is missing; hint: the bundle as shown, or {\"status\":\"withheld\",\"reason\":...}", t.ID)
	}
	t.Measurement = *in.Measurement
	if err := t.Question.Validate(); err != nil {
		return t, fmt.Errorf("trajectory %s: %w", t.ID, err)
	}
	return t, nil
}
