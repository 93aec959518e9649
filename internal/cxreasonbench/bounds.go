package cxreasonbench

import (
	"fmt"
	"strings"
)

// Span is a fewest and a most.
type Span struct {
	Low  int `json:"low"`
	High int `json:"high"`
}

// CallBounds are the fewest and the most calls of each kind, whatever is answered; Judge counts
// extractions too. Both ends of both kinds need not come from one course of the dialogue.
type CallBounds struct {
	Model Span `json:"model"`
	Judge Span `json:"judge"`
}

// Bounds returns how many calls the dialogue still takes, those that wait for a result
// included. They are found by running the state machine itself through every score that a
// question can get.
//
// Special cases: nothing is left of a dialogue that is done or undetermined.
func (s *Session) Bounds() CallBounds {
	if s.Done() {
		return CallBounds{}
	}
	b := s.possibleNext(s.state, s.open)
	b.Judge.High += len(s.extract)
	if s.state.Step().Kind == StepDone {
		b.Judge.Low += len(s.extract) // a failure before would leave them out
	}
	return b
}

// Course says everything that Bounds depends on but the rules: dialogues of one course have the
// same bounds.
func (s *Session) Course() string {
	var b strings.Builder
	st := &s.state
	fmt.Fprint(&b, s.opts.Judged, s.opts.Again, s.opts.ReviewCase != "", s.opts.ReviewShape, st.Task, st.Draws, st.Entry, st.Shape, st.Guidance,
		st.ReviewCase != "", st.ReviewShape, st.NoReview, len(s.extract), s.failed != nil)
	for _, t := range st.Turns[st.Replayed:] {
		fmt.Fprint(&b, " ", t.Key, t.Score)
	}
	for _, d := range s.open {
		fmt.Fprint(&b, " ", d.Replied, d.Score.Valid(), d.Again)
	}
	return b.String()
}

// possibleNext bounds what follows in a state whose question has some draws already.
func (s *Session) possibleNext(state State, open []openDraw) CallBounds {
	step := state.Step()
	if step.Kind != StepAsk {
		return CallBounds{}
	}
	var here CallBounds
	for i := range state.Draws {
		var d openDraw
		if len(open) > 0 {
			d = open[i]
		}
		if !d.Replied {
			here.Model.Low++
			here.Model.High++
		}
		if !s.opts.Judged || d.Score.Valid() {
			continue
		}
		// A reply that is none needs no judge; a verdict that cannot be read is asked for again.
		here.Judge.High += 1 + s.opts.Again - d.Again
		if d.Replied {
			here.Judge.Low = 1 // the first of several may end the dialogue
		}
	}
	// A verdict that stays unreadable ends the dialogue here.
	after, ends := CallBounds{}, s.opts.Judged && here.Judge.High > 0
	for i, score := range Scores() {
		b := s.after(state, score)
		if i == 0 {
			after = b
		} else {
			after = after.either(b)
		}
	}
	if ends {
		after = after.either(CallBounds{})
	}
	if s.opts.Judged && step.Ask.Judgement.Extract != 0 {
		after.Judge.High++
	}
	return CallBounds{Model: here.Model.plus(after.Model), Judge: here.Judge.plus(after.Judge)}
}

// after bounds what follows when every draw of the question gets a score.
func (s *Session) after(state State, score Score) CallBounds {
	o := Outcome{Draws: make([]Draw, state.Draws)}
	for i := range o.Draws {
		o.Draws[i].Score = score
	}
	next, step, err := Next(state, o)
	if err == nil && step.Kind == StepReselect {
		next, _, err = Reselected(next, s.opts.ReviewCase, s.opts.ReviewShape)
	}
	if err != nil {
		// Only a question that is asked gets here, and NewSession checked the review.
		panic("cxreasonbench: bounds: " + err.Error())
	}
	return s.possibleNext(next, nil)
}

func (a CallBounds) either(b CallBounds) CallBounds {
	return CallBounds{Model: a.Model.either(b.Model), Judge: a.Judge.either(b.Judge)}
}

func (a Span) either(b Span) Span { return Span{min(a.Low, b.Low), max(a.High, b.High)} }

func (a Span) plus(b Span) Span { return Span{a.Low + b.Low, a.High + b.High} }
