package xragent

import (
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// ProtocolVersion changes whenever the same rollout may lead to other messages.
const ProtocolVersion = 1

// Agent is the two-turn protocol with its switches. The zero value is the whole protocol
// under profile "table"; one agent serves data construction, rollouts and evaluation.
type Agent struct {
	// Off lists tools that are switched off: their calls count as ever and are answered
	// with status disabled.
	Off []string `json:"off,omitempty"`
	// NoMeasurement withholds every bundle with reason disabled.
	NoMeasurement bool `json:"no_measurement,omitempty"`
	// Routed leaves measuring to the policy: measure joins the tools, and without a call
	// the bundle is withheld with reason not_requested. The gate decides all the same.
	Routed bool `json:"policy_routed,omitempty"`
	// Forced runs all three tools on every question, whatever the plan asks for.
	Forced bool `json:"forced,omitempty"`
	// Direct names a direct prompt: one turn with that system text, without tools.
	Direct  string  `json:"direct,omitempty"`
	Profile Profile `json:"profile,omitempty"` // empty is "table"
}

// Validate refuses unknown tools and profiles.
func (a Agent) Validate() error {
	for _, name := range a.Off {
		if _, known := schemas[name]; !known || name == ToolMeasure {
			return fmt.Errorf("agent: off: %q is no tool; hint: %s, %s or %s", name, ToolCrop, ToolParse, ToolLookup)
		}
	}
	if a.Routed && a.NoMeasurement {
		return fmt.Errorf("agent: policy_routed and no_measurement exclude each other")
	}
	if a.Forced && (a.Routed || len(a.Off) > 0) {
		return fmt.Errorf("agent: forced goes with all tools on and measurements that are not routed")
	}
	if a.Direct != "" {
		if a.Forced || a.Routed || a.NoMeasurement || len(a.Off) > 0 {
			return fmt.Errorf("agent: direct %s has no tools to switch", a.Direct)
		}
		if _, err := DirectPrompt(a.Direct); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
	}
	if _, err := a.Profile.Bounds(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// Identity is everything of the agent that can change a message: for keys and plans.
func (a Agent) Identity() map[string]any {
	off := slices.Clone(a.Off)
	slices.Sort(off)
	return map[string]any{"protocol": ProtocolVersion, "prompts": a.promptDigests(), "off": slices.Compact(off),
		"no_measurement": a.NoMeasurement, "policy_routed": a.Routed, "forced": a.Forced, "direct": a.Direct, "profile": string(a.Profile.orDefault()), "max_calls": MaxCalls}
}

// Rollout is what is known of one trajectory so far. It is data: store it, take it up
// again anywhere, or build it from the records of its calls.
type Rollout struct {
	ID       string          `json:"id"`
	Question Question        `json:"question"`
	Pictures []artifacts.Ref `json:"pictures"`
	Turn1    *Turn           `json:"turn1,omitempty"`
	// Results are in any order; each names its call.
	Results     []Observation `json:"results,omitempty"`
	Measurement *Bundle       `json:"measurement,omitempty"`
	Turn2       *Turn         `json:"turn2,omitempty"`
}

// Ending says how a rollout ended. The zero value: it goes on.
type Ending string

// Endings. A malformed turn 1 ends the rollout at once: no tool runs, no turn 2 is asked.
const (
	Completed      Ending = "completed"
	MalformedTurn1 Ending = "malformed_turn1"
	MalformedTurn2 Ending = "malformed_turn2"
)

// Step is what a rollout needs now. Either it has ended, or a turn is to be asked for, or
// calls and the measurement are missing; these may be obtained in any order and at once.
type Step struct {
	Turn    int                 // 1 or 2 when a turn is to be asked for
	Ask     dialogue.Transcript // everything that is sent for it
	Run     []ToolCall          // calls that can run now
	Measure bool                // the bundle is missing
	Ending  Ending
}

// Next says what is missing. The same rollout gives the same step, byte for byte.
//
// Errors: a rollout that no sequence of events leads to.
func (a Agent) Next(r Rollout) (Step, error) {
	if r.Turn1 == nil {
		if r.Turn2 != nil || len(r.Results) > 0 || r.Measurement != nil {
			return Step{}, r.fault("it has results but no first turn")
		}
		t, err := a.opening(r)
		return Step{Turn: 1, Ask: t}, err
	}
	followed := r.Turn2 != nil || len(r.Results) > 0 || r.Measurement != nil
	if a.Direct != "" {
		if followed {
			return Step{}, r.fault("it has one turn, yet something followed")
		}
		return Step{Ending: Completed}, nil
	}
	plan := readTurn1(*r.Turn1, a.Routed)
	if !plan.WellFormed() {
		if followed {
			return Step{}, r.fault("its first turn is malformed, yet something followed")
		}
		return Step{Ending: MalformedTurn1}, nil
	}
	if a.Forced {
		plan.Calls = forcedCalls(r.Question)
	}
	results, err := a.byCall(r, plan)
	if err != nil {
		return Step{}, err
	}
	step := Step{Measure: r.Measurement == nil && a.wants(plan)}
	open := false
	for i, c := range plan.Calls {
		if results[i] != nil {
			continue
		}
		open = true
		if c.ready(results) {
			step.Run = append(step.Run, c)
		}
	}
	switch {
	case (open || step.Measure) && r.Turn2 != nil:
		return Step{}, r.fault("its second turn came before all results")
	case open || step.Measure:
		return step, nil
	case r.Turn2 == nil:
		t, err := a.closing(r, plan, results)
		return Step{Turn: 2, Ask: t}, err
	}
	if p := Parse(a.Trajectory(r)); !p.WellFormed() {
		return Step{Ending: MalformedTurn2}, nil
	}
	return Step{Ending: Completed}, nil
}

// byCall returns the result of each call of the plan, nil where it is missing. Calls of a
// tool that is switched off have theirs from the start.
func (a Agent) byCall(r Rollout, plan Plan) ([]*Observation, error) {
	out := make([]*Observation, len(plan.Calls))
	for i, c := range plan.Calls {
		if why := a.refused(r, plan, c); why != "" {
			out[i] = &Observation{Call: c.Number, Name: c.Name, Status: why}
		}
	}
	for i := range r.Results {
		o := &r.Results[i]
		switch {
		case o.Call < 1 || o.Call > len(plan.Calls):
			return nil, r.fault("it has a result of call %d, its plan has %d", o.Call, len(plan.Calls))
		case o.Name != plan.Calls[o.Call-1].Name:
			return nil, r.fault("the result of call %d is from %s, the call is %s", o.Call, o.Name, plan.Calls[o.Call-1].Name)
		case out[o.Call-1] != nil:
			return nil, r.fault("call %d has two results", o.Call)
		case !validStatus(o.Status):
			return nil, r.fault("the result of call %d has status %q", o.Call, o.Status)
		}
		out[o.Call-1] = o
	}
	for i, c := range plan.Calls { // a crop of what was not found is not found
		if !c.missed(out) || a.refused(r, plan, c) != "" {
			continue
		}
		if out[i] != nil {
			return nil, r.fault("call %d has a result, yet the calls %v found nothing to crop", c.Number, c.needs())
		}
		out[i] = &Observation{Call: c.Number, Name: c.Name, Status: StatusNotFound}
	}
	return out, nil
}

// located reports that the observation has a place in the picture.
func (o *Observation) located() bool { return o.Status == StatusOK && o.Box != nil }

// refused answers a call without running it; empty where it is to be run.
func (a Agent) refused(r Rollout, plan Plan, c ToolCall) Status {
	switch {
	case slices.Contains(a.Off, c.Name):
		return StatusDisabled
	case c.Name == ToolMeasure: // the measurement block answers it
		return StatusOK
	case c.Name != ToolLookup && c.Image >= len(r.Pictures):
		return StatusNoPicture
	case c.After > 0 && slices.Contains(a.Off, ToolParse):
		return StatusDisabled
	}
	return ""
}

// wants reports that a rollout with this plan has a measurement.
func (a Agent) wants(plan Plan) bool {
	if a.Routed {
		return slices.ContainsFunc(plan.Calls, func(c ToolCall) bool { return c.Name == ToolMeasure })
	}
	return !a.NoMeasurement
}

// MeasuredPictures are the pictures whose measurements are taken: the one that the first call of
// measure is about where the policy routes measurements, else all.
func (a Agent) MeasuredPictures(r Rollout) []artifacts.Ref {
	if !a.Routed || r.Turn1 == nil {
		return r.Pictures
	}
	calls := readTurn1(*r.Turn1, true).Calls
	first := slices.IndexFunc(calls, func(c ToolCall) bool { return c.Name == ToolMeasure })
	if first < 0 || calls[first].Image >= len(r.Pictures) {
		return r.Pictures
	}
	k := calls[first].Image
	return r.Pictures[k : k+1]
}

// unmeasured is the reason of a bundle that was never asked for.
func (a Agent) unmeasured() string {
	if a.Routed {
		return ReasonNotRequested
	}
	return ReasonDisabled
}

func (r Rollout) fault(format string, args ...any) error {
	return fmt.Errorf("rollout %s: %s", r.ID, fmt.Sprintf(format, args...))
}

// ErrNotAsked reports an event that the rollout does not wait for.
var ErrNotAsked = errors.New("the rollout does not wait for it")

// Answered adds the turn that is asked for. A reply that never came as text (a refusal, an
// empty or truncated reply) is a turn with the endpoint's word as finish reason.
func (a Agent) Answered(r Rollout, turn Turn) (Rollout, error) {
	step, err := a.Next(r)
	if err != nil {
		return r, err
	}
	switch step.Turn {
	case 1:
		r.Turn1 = &turn
	case 2:
		r.Turn2 = &turn
	default:
		return r, fmt.Errorf("rollout %s: a turn: %w", r.ID, ErrNotAsked)
	}
	return r, nil
}

// Observed adds the result of a call that could run.
func (a Agent) Observed(r Rollout, o Observation) (Rollout, error) {
	step, err := a.Next(r)
	if err != nil {
		return r, err
	}
	if !slices.ContainsFunc(step.Run, func(c ToolCall) bool { return c.Number == o.Call }) {
		return r, fmt.Errorf("rollout %s: a result of call %d: %w", r.ID, o.Call, ErrNotAsked)
	}
	next := r
	next.Results = append(slices.Clone(r.Results), o)
	if _, err := a.Next(next); err != nil {
		return r, err
	}
	return next, nil
}

// Measured adds the bundle of the gate.
//
// Errors: a bundle whose values lie outside the profile's bounds.
func (a Agent) Measured(r Rollout, b Bundle) (Rollout, error) {
	step, err := a.Next(r)
	if err != nil {
		return r, err
	}
	if !step.Measure {
		return r, fmt.Errorf("rollout %s: a measurement: %w", r.ID, ErrNotAsked)
	}
	if err := b.Check(a.Profile); err != nil {
		return r, fmt.Errorf("rollout %s: %w", r.ID, err)
	}
	r.Measurement = &b
	return r, nil
}

// Trajectory is the rollout as the reward reads it: observations in call order, the bundle
// as it was shown.
func (a Agent) Trajectory(r Rollout) Trajectory {
	t := Trajectory{ID: r.ID, Question: r.Question, Turn1: r.Turn1, Turn2: r.Turn2, Routed: a.Routed, Measurement: Bundle{Reason: a.unmeasured()}}
	if r.Measurement != nil {
		t.Measurement = *r.Measurement
	} else if r.Turn2 == nil {
		t.Measurement = Bundle{Reason: ReasonNotReached}
	}
	t.Observations = slices.Clone(r.Results)
	slices.SortFunc(t.Observations, func(a, b Observation) int { return a.Call - b.Call })
	return t
}
