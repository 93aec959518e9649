package cxreasonbench

import (
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
)

// CallResult is what came of a call.
type CallResult struct {
	// Reply is the recorded answer, or the recorded outcome without one.
	Reply artifacts.Ref `json:"reply,omitzero"`
	// Terminal is set where there is nothing to judge.
	Terminal Terminal `json:"terminal,omitzero"`
	// Score is, for a judge's call, the verdict, zero where it could not be read; for a
	// model's call the reading without a judge, with Unread where it found no answer.
	Score  Score    `json:"score,omitzero"`
	Unread Terminal `json:"unread,omitzero"`
}

// SessionOptions say how a session is held.
type SessionOptions struct {
	// Judged: a judge scores replies and extracts values. Otherwise the readings count that
	// come with the replies, and nothing is extracted.
	Judged bool `json:"judged,omitempty"`
	// Again is how often a judge is asked again after a verdict that could not be read.
	Again int `json:"again,omitempty"`
	// ReviewCase and ReviewShape are the case of the re-evaluation, chosen before Path 2
	// begins; empty when there is none to choose.
	ReviewCase  string `json:"review_case,omitempty"`
	ReviewShape Shape  `json:"review_shape,omitzero"`
}

// JudgeUnparsable is the reason of a case whose verdict could not be read, also when the judge
// was asked again.
const JudgeUnparsable = "judge_unparsable"

// Undetermined says why a dialogue has no result.
type Undetermined struct {
	// Call is the call that nothing came of.
	Call Call `json:"call"`
	// Why is JudgeUnparsable, or a word of the caller's.
	Why string `json:"why"`
}

// openDraw is how far one draw of the question asked now is.
type openDraw struct {
	// Replied: Reply is there. A score says that nothing more is to be asked.
	Replied  bool          `json:"replied,omitempty"`
	Reply    artifacts.Ref `json:"reply,omitzero"`
	Score    Score         `json:"score,omitzero"`
	Terminal Terminal      `json:"terminal,omitzero"`
	// Again counts verdicts that could not be read.
	Again int `json:"again,omitempty"`
}

// extraction is a value still to be extracted.
type extraction struct {
	Key       Key           `json:"key"`
	Case      string        `json:"case"`
	Judgement Judgement     `json:"judgement"`
	Draw      int           `json:"draw"`
	Reply     artifacts.Ref `json:"reply"`
}

// A Session holds one dialogue call by call: which calls can be made now, and what follows
// from their results. It does nothing by itself, so that a workflow can run it live and a
// reader of recorded answers can run it again with the same outcome: what is asked is a
// function of what was answered, in whatever order the answers of one question come.
//
// It encodes as JSON; a decoded session offers every call again that has no result.
type Session struct {
	opts  SessionOptions
	state State
	// open holds the draws of the question that the state waits for; empty before the
	// first of them came.
	open    []openDraw
	extract []extraction
	failed  *Undetermined
	// handed are the calls that Calls has given out and that have no result.
	handed map[Call]bool
}

// NewSession goes on with a dialogue.
//
// Errors: a re-evaluation on the dialogue's own case, or on a case of an invalid shape.
func NewSession(s State, o SessionOptions) (*Session, error) {
	if o.ReviewCase != "" {
		if o.ReviewCase == s.Case {
			return nil, fmt.Errorf("cxreasonbench: case %s cannot be re-evaluated on itself", s.Case)
		}
		if err := o.ReviewShape.Validate(); err != nil {
			return nil, fmt.Errorf("re-selected case %s: %w", o.ReviewCase, err)
		}
	}
	se := &Session{opts: o, state: s, handed: map[Call]bool{}}
	return se, se.settle()
}

// State returns the dialogue as far as questions have an outcome.
func (s *Session) State() State { return s.state }

// Undetermined returns why the dialogue has no result; nil otherwise.
func (s *Session) Undetermined() *Undetermined { return s.failed }

// Done reports whether nothing is left to be asked: the dialogue is over and its values are
// extracted, or it is undetermined.
func (s *Session) Done() bool {
	return s.failed != nil || (s.state.Step().Kind == StepDone && len(s.extract) == 0)
}

// End returns why the dialogue is over; zero while it is not, or undetermined.
func (s *Session) End() End {
	if s.failed != nil || !s.Done() {
		return 0
	}
	return s.state.Step().End
}

// Calls returns the calls that can be made now and were not given out yet, those of the
// question by draw and then extractions. They count as given out until Record, Fail or
// Return.
func (s *Session) Calls() []Call {
	var out []Call
	for _, c := range s.possible() {
		if !s.handed[c] {
			s.handed[c] = true
			out = append(out, c)
		}
	}
	return out
}

// possible lists every call that waits for a result.
func (s *Session) possible() []Call {
	if s.failed != nil {
		return nil
	}
	var out []Call
	if step := s.state.Step(); step.Kind == StepAsk {
		for i := range s.state.Draws {
			if c, ok := s.callOf(step.Ask.Key, i); ok {
				out = append(out, c)
			}
		}
	}
	for _, x := range s.extract {
		out = append(out, Call{Kind: CallExtract, Key: x.Key, Draw: x.Draw})
	}
	return out
}

// callOf is the call that a draw waits for.
func (s *Session) callOf(k Key, draw int) (Call, bool) {
	if len(s.open) == 0 || !s.open[draw].Replied {
		return Call{Kind: CallModel, Key: k, Draw: draw}, true
	}
	if d := s.open[draw]; !d.Score.Valid() {
		return Call{Kind: CallJudge, Key: k, Draw: draw, Again: d.Again}, true
	}
	return Call{}, false
}

func (s *Session) waitsFor(c Call) bool {
	for _, p := range s.possible() {
		if p == c {
			return true
		}
	}
	return false
}

// Return takes a call back that was given out and will not be made now; Calls gives it out
// again.
func (s *Session) Return(c Call) { delete(s.handed, c) }

// Fail ends the dialogue without a result, because nothing came of a call.
//
// Errors: ErrNotAsked.
func (s *Session) Fail(c Call, why string) error {
	if s.failed != nil {
		return nil
	}
	if !s.waitsFor(c) {
		return fmt.Errorf("case %s: failure of %s: %w", s.state.Case, c, ErrNotAsked)
	}
	s.failed = &Undetermined{Call: c, Why: why}
	return nil
}

// Record takes the result of a call, whether or not Calls gave it out. On an undetermined
// dialogue it does nothing: other draws of the question may still be in hand.
//
// Errors: ErrNotAsked; a reading without a score.
func (s *Session) Record(c Call, r CallResult) error {
	if s.failed != nil {
		return nil
	}
	if !s.waitsFor(c) {
		return fmt.Errorf("case %s: result of %s: %w", s.state.Case, c, ErrNotAsked)
	}
	delete(s.handed, c)
	switch c.Kind {
	case CallExtract:
		for i, x := range s.extract {
			if x.Key == c.Key {
				s.extract = append(append([]extraction(nil), s.extract[:i]...), s.extract[i+1:]...)
				break
			}
		}
		return nil
	case CallModel:
		if len(s.open) == 0 {
			s.open = make([]openDraw, s.state.Draws)
		}
		if err := s.replied(c, r); err != nil {
			return err
		}
	case CallJudge:
		if !s.verdict(c, r) {
			return nil
		}
	}
	return s.advance()
}

// replied takes a reply of the model.
func (s *Session) replied(c Call, r CallResult) error {
	d := openDraw{Replied: true, Reply: r.Reply}
	judged := s.state.Step().Ask.Judgement.Reply
	switch {
	case r.Terminal != 0:
		d.Score, d.Terminal = Wrong, r.Terminal
	case !s.opts.Judged:
		if !r.Score.Valid() {
			return fmt.Errorf("cxreasonbench: case %s: %s has no reading: %s", s.state.Case, c, r.Score)
		}
		d.Score, d.Terminal = r.Score, r.Unread
	case judged != c.Key && s.replyOf(judged, c.Draw).IsZero():
		// The reply that the judge would see was none.
		d.Score = Wrong
	}
	s.open[c.Draw] = d
	return nil
}

// verdict takes a judge's answer. It reports whether the question may be decided.
func (s *Session) verdict(c Call, r CallResult) bool {
	d := &s.open[c.Draw]
	score := r.Score
	if r.Terminal != 0 {
		score = 0
		if s.state.Rules.is(VerdictReading, Substring) {
			score = Wrong // as an empty text is read
		}
	}
	if score.Valid() {
		d.Score = score
		return true
	}
	if d.Again >= s.opts.Again {
		s.failed = &Undetermined{Call: c, Why: JudgeUnparsable}
		return false
	}
	d.Again++
	return false
}

// replyOf returns the judged reply to an earlier question: zero where it was terminal.
func (s *Session) replyOf(k Key, draw int) artifacts.Ref {
	for i := len(s.state.Turns) - 1; i >= 0; i-- {
		if t := s.state.Turns[i]; t.Key == k {
			if draw >= len(t.Draws) || t.Draws[draw].Terminal != 0 {
				return artifacts.Ref{}
			}
			return t.Draws[draw].Reply
		}
	}
	return artifacts.Ref{}
}

// advance goes on to the next question once every draw of this one is scored.
func (s *Session) advance() error {
	o := Outcome{}
	for _, d := range s.open {
		if !d.Score.Valid() {
			return nil
		}
		o.Draws = append(o.Draws, Draw{Score: d.Score, Terminal: d.Terminal, Reply: d.Reply})
	}
	ask := s.state.Step().Ask
	next, _, err := Next(s.state, o)
	if err != nil {
		return err
	}
	turn := next.Turns[len(next.Turns)-1]
	kept := turn.Draws[turn.Kept]
	if s.opts.Judged && ask.Judgement.Extract != 0 && kept.Terminal == 0 {
		s.extract = append(s.extract, extraction{Key: ask.Key, Case: ask.Case, Judgement: ask.Judgement, Draw: turn.Kept, Reply: kept.Reply})
	}
	s.state, s.open = next, nil
	return s.settle()
}

// settle gives the dialogue the case of its re-evaluation when it waits for it.
func (s *Session) settle() error {
	if s.state.Step().Kind != StepReselect {
		return nil
	}
	next, _, err := Reselected(s.state, s.opts.ReviewCase, s.opts.ReviewShape)
	if err != nil {
		return err
	}
	s.state = next
	return nil
}

type sessionJSON struct {
	Options      SessionOptions `json:"options"`
	State        State          `json:"state"`
	Open         []openDraw     `json:"open,omitempty"`
	Extract      []extraction   `json:"extract,omitempty"`
	Undetermined *Undetermined  `json:"undetermined,omitempty"`
}

// MarshalJSON encodes everything but which calls were given out.
func (s *Session) MarshalJSON() ([]byte, error) {
	return json.Marshal(sessionJSON{s.opts, s.state, s.open, s.extract, s.failed})
}

// UnmarshalJSON accepts what MarshalJSON writes.
func (s *Session) UnmarshalJSON(b []byte) error {
	var in sessionJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("cxreasonbench: session: %w", err)
	}
	if n := len(in.Open); n != 0 && n != in.State.Draws {
		return fmt.Errorf("cxreasonbench: session of case %s: %d draws in hand, want %d", in.State.Case, n, in.State.Draws)
	}
	*s = Session{in.Options, in.State, in.Open, in.Extract, in.Undetermined, map[Call]bool{}}
	return nil
}
