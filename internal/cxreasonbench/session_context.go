package cxreasonbench

import (
	"fmt"

	"cxrepro/artifacts"
)

// CallContext is what a call depends on beside its name.
type CallContext struct {
	// Case is the case whose question is asked or judged.
	Case      string
	Judgement Judgement
	// History is what a model was asked before, oldest first; empty for a judge, who sees
	// one reply at a time.
	History []SaidTurn
	// Reply is the answer that a judge is asked about.
	Reply artifacts.Ref
}

// Context returns what a call that waits for a result depends on.
//
// Errors: ErrNotAsked.
func (s *Session) Context(c Call) (CallContext, error) {
	if !s.waitsFor(c) {
		return CallContext{}, fmt.Errorf("case %s: %s: %w", s.state.Case, c, ErrNotAsked)
	}
	if c.Kind == CallExtract {
		for _, x := range s.extract {
			if x.Key == c.Key {
				return CallContext{Case: x.Case, Judgement: x.Judgement, Reply: x.Reply}, nil
			}
		}
	}
	ask := s.state.Step().Ask
	out := CallContext{Case: ask.Case, Judgement: ask.Judgement}
	if c.Kind == CallJudge {
		if out.Reply = s.open[c.Draw].Reply; ask.Judgement.Reply != c.Key {
			out.Reply = s.replyOf(ask.Judgement.Reply, c.Draw)
		}
		return out, nil
	}
	out.History = s.state.Said()
	return out, nil
}

// Compact forgets the replies that no later call of the dialogue needs: of draws that were not
// kept, unless a later question is judged on them. Scores stay.
func (s *Session) Compact() {
	turns := append([]Turn(nil), s.state.Turns...)
	for i, t := range turns {
		if t.Key.Path == RePath1 && t.Key.Stage == StageMeasurement && s.state.Rules.is(ReviewFinalJudges, MeasurementReply) {
			continue
		}
		draws := append([]Draw(nil), t.Draws...)
		for k := range draws {
			if k != t.Kept {
				draws[k].Reply = artifacts.Ref{}
			}
		}
		turns[i].Draws = draws
	}
	s.state.Turns = turns
}
