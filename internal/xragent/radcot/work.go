package radcot

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/xragent"
)

// Phase is what a candidate is at.
type Phase string

// The phases: the teacher writes from findings; the teacher is the policy of the agent.
const (
	Writing Phase = "write"
	Routing Phase = "route"
)

// Work is what is known of one candidate. It is data: build it from the records of its calls
// and ask [Spec.Next] again.
type Work struct {
	Candidate Candidate `json:"candidate"`
	// Written are the replies of the writing phase, Rollouts the trajectories of the routing
	// phase, by attempt.
	Written  []xragent.Turn    `json:"written,omitempty"`
	Rollouts []xragent.Rollout `json:"rollouts,omitempty"`
}

// Step is what a candidate needs now: a reply to Ask, results of calls and the measurement, or
// nothing any more.
type Step struct {
	Phase   Phase
	Attempt int // from 0; also the draw of its calls, so that a retry is another call
	Turn    int // of a routed attempt
	Ask     dialogue.Transcript
	Run     []xragent.ToolCall
	Measure bool
	Done    bool
}

// written reads the writing phase: the verdicts so far, and what came out of the accepted one.
func (s Spec) written(w *Work) (verdicts []Verdict, rationale string, question *xragent.Question) {
	for i := range w.Written {
		var v Verdict
		if w.Candidate.Part == Report {
			v, rationale = s.Rules.Rationale(&w.Candidate, w.Written[i])
		} else {
			v, question = s.Question(&w.Candidate, w.Written[i])
		}
		if verdicts = append(verdicts, v); v.Accepted {
			break
		}
	}
	return verdicts, rationale, question
}

func accepted(list []Verdict) bool { return len(list) > 0 && list[len(list)-1].Accepted }

// Next says what a candidate needs. The same work gives the same step, byte for byte.
//
// Errors: work that no sequence of steps leads to.
func (s Spec) Next(w Work) (Step, error) {
	c := &w.Candidate
	if c.Picture.Image.IsZero() {
		return Step{}, fmt.Errorf("candidate %s: its picture is not in the store", c.ID)
	}
	question := c.Question
	if c.Written() {
		verdicts, _, q := s.written(&w)
		question = q
		switch {
		case len(verdicts) < len(w.Written):
			return Step{}, fmt.Errorf("candidate %s: a reply was asked for after one was accepted", c.ID)
		case accepted(verdicts):
		case len(w.Rollouts) > 0:
			return Step{}, fmt.Errorf("candidate %s: it was routed without a question", c.ID)
		case len(verdicts) < s.Rules.Attempts:
			return Step{Phase: Writing, Attempt: len(verdicts), Ask: s.writing(c)}, nil
		default:
			return Step{Done: true}, nil
		}
	}
	if !c.Part.Routed() {
		return Step{Done: true}, nil
	}
	return s.route(w, *question)
}

// route is Next for the routing phase.
func (s Spec) route(w Work, q xragent.Question) (Step, error) {
	for i := range len(w.Rollouts) + 1 {
		if i == s.Rules.Attempts {
			return Step{Done: true}, nil
		}
		r := s.Rollout(w.Candidate, q, i)
		if i < len(w.Rollouts) {
			r = w.Rollouts[i]
		}
		step, err := s.Agent.Next(r)
		if err != nil {
			return Step{}, fmt.Errorf("candidate %s: attempt %d: %w", w.Candidate.ID, i, err)
		}
		if step.Ending == "" {
			if i+1 < len(w.Rollouts) {
				return Step{}, fmt.Errorf("candidate %s: attempt %d has not ended, yet another followed", w.Candidate.ID, i)
			}
			return Step{Phase: Routing, Attempt: i, Turn: step.Turn, Ask: step.Ask, Run: step.Run, Measure: step.Measure}, nil
		}
		if s.Trajectory(r).Accepted {
			return Step{Done: true}, nil
		}
	}
	return Step{Done: true}, nil
}

// Rollout begins a routed attempt.
func (s Spec) Rollout(c Candidate, q xragent.Question, attempt int) xragent.Rollout {
	return xragent.Rollout{ID: fmt.Sprintf("%s/%d", c.ID, attempt), Question: q, Pictures: c.Pictures()}
}

// Routed returns the attempt that a step of the routing phase belongs to, begun where it is new.
func (s Spec) Routed(w Work, step Step) (xragent.Rollout, error) {
	if step.Attempt < len(w.Rollouts) {
		return w.Rollouts[step.Attempt], nil
	}
	q := w.Candidate.Question
	if q == nil {
		_, _, q = s.written(&w)
	}
	if q == nil {
		return xragent.Rollout{}, fmt.Errorf("candidate %s: it has no question to route", w.Candidate.ID)
	}
	return s.Rollout(w.Candidate, *q, step.Attempt), nil
}

// Outcome is what came of a candidate.
type Outcome struct {
	// Entries are its lines of the ledger, in order.
	Entries []Entry
	// Example is nil where every attempt was rejected; Rejected is then the deciding code of
	// the last one, after its phase.
	Example  *Example
	Rejected string
}

// Outcome reads work that is done.
func (s Spec) Outcome(w Work) (Outcome, error) {
	step, err := s.Next(w)
	if err != nil {
		return Outcome{}, err
	}
	if !step.Done {
		return Outcome{}, fmt.Errorf("candidate %s: it is not done: attempt %d of phase %s is open", w.Candidate.ID, step.Attempt, step.Phase)
	}
	var out Outcome
	c := &w.Candidate
	verdicts, rationale, question := s.written(&w)
	if c.Question != nil {
		question = c.Question
	}
	for i, v := range verdicts {
		digest, err := RequestDigest(s.writing(c))
		if err != nil {
			return out, err
		}
		out.add(Entry{Candidate: c.ID, Phase: Writing, Attempt: i, Requests: []artifacts.Digest{digest}, Verdict: v})
	}
	for i := range w.Rollouts {
		e := Entry{Candidate: c.ID, Phase: Routing, Attempt: i, Verdict: s.Trajectory(w.Rollouts[i])}
		if e.Requests, err = s.requests(w.Rollouts[i]); err != nil {
			return out, err
		}
		out.add(e)
	}
	if out.Rejected != "" {
		return out, nil
	}
	switch {
	case c.Part == Report:
		out.Example = reportExample(c, rationale)
	case c.Part == ChoiceRL:
		out.Example = &Example{Question: question}
	default:
		out.Example, err = s.routedExample(w.Rollouts[len(w.Rollouts)-1])
	}
	if err != nil {
		return out, fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	out.Example.identify(c)
	return out, nil
}

// add appends an entry; the last one says whether the candidate is rejected.
func (o *Outcome) add(e Entry) {
	o.Entries = append(o.Entries, e)
	o.Rejected = ""
	if !e.Verdict.Accepted {
		o.Rejected = string(e.Phase) + "/" + string(e.Verdict.Code())
	}
}

// requests are the digests of what a routed attempt asked, turn by turn.
func (s Spec) requests(r xragent.Rollout) ([]artifacts.Digest, error) {
	var out []artifacts.Digest
	first := xragent.Rollout{ID: r.ID, Question: r.Question, Pictures: r.Pictures}
	second := r
	second.Turn2 = nil
	for _, at := range []xragent.Rollout{first, second} {
		step, err := s.Agent.Next(at)
		if err != nil {
			return nil, err
		}
		if step.Turn == 0 {
			break // turn 1 ended it
		}
		d, err := RequestDigest(step.Ask)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}
