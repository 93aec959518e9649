package responder

import (
	"cxrepro/internal/cxreasonbench"
)

// intent is what a model is going to answer.
type intent struct {
	word Word
	// consistent: a value told lies in the range.
	consistent bool
	// letter: any option, without looking.
	letter bool
	// reply is the whole text; nil to write one.
	reply *string
}

// intend decides what a model answers to a question. draw is -1 for the likeliest reply, else
// the number of the draw.
func (m *model) intend(p place, draw int) intent {
	switch m.Behaviour {
	case Oracle:
		return intent{word: WordRight, consistent: true}
	case AlwaysIDK:
		return intent{word: WordUnknown}
	case RandomLetter:
		return intent{letter: true}
	case Scripted:
		return m.scripted(p, max(draw, 0))
	}
	sampling := cxreasonbench.Greedy
	if draw >= 0 {
		sampling = cxreasonbench.Stochastic
	}
	f := &m.fates[sampling][p.own.index]
	in := intent{word: m.fated(f, p, sampling), consistent: f[p.q.Key.Path].consistent}
	if draw >= 0 && m.dissents(p, draw) {
		if in.word == WordRight {
			in.word = WordWrong
		} else {
			in.word = WordRight
		}
	}
	return in
}

// dissents reports whether a draw is the one of three that answers otherwise.
func (m *model) dissents(p place, draw int) bool {
	if m.Dissent == 0 {
		return false
	}
	c := named(m.seed, "dissent", m.Name, p.own.task.String(), p.own.id, p.at.id, p.q.Key.String())
	return c.share() < m.Dissent && c.number(3) == draw
}

func (m *model) scripted(p place, draw int) intent {
	for i := range m.Script {
		if l := &m.Script[i]; l.fits(p, draw) {
			return intent{word: l.Answer, consistent: true, reply: l.Reply}
		}
	}
	in := intent{word: m.Otherwise, consistent: true}
	if in.word == "" {
		in.word = WordRight
	}
	return in
}

// fated is what a fate has in store for a question. A stage of several rounds that is not
// passed fails at one of them.
func (m *model) fated(f *fate, p place, s cxreasonbench.Sampling) Word {
	k := p.q.Key
	c := &f[k.Path]
	passes := false
	switch k.Stage {
	case cxreasonbench.StageInit:
		if k.Path == cxreasonbench.Path1 && c.unknown {
			return WordUnknown
		}
		passes = c.initial
	case cxreasonbench.StageCriteria:
		passes = c.criteria
	case cxreasonbench.StageRefined:
		if c.rejected {
			return WordUnknown
		}
		return WordRight
	case cxreasonbench.StageStructures:
		passes = c.structures
	case cxreasonbench.StageMeasurement:
		passes = c.measurement
	case cxreasonbench.StageFinal:
		passes = c.final
	}
	if !passes {
		rounds := p.at.rounds(k.Path, k.Stage)
		if named(m.seed, "round", m.Name, s.String(), p.own.task.String(), p.own.id, k.Path.String(), k.Stage.String()).number(rounds) == k.Round {
			return WordWrong
		}
	}
	return WordRight
}
