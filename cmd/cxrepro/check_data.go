package main

import (
	"context"
	"reflect"
	"strconv"

	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// stated are the published figures that a check takes from files.
type stated struct {
	text  *claims.Stated
	agent claims.AgentResults
	// rollouts are the tables of an agent's reproduction, where it is one.
	rollouts *agentRun
}

// checked holds the published figures against a reproduction. It is what `check` prints and what
// `report --compare paper` puts beside its figures.
func checked(ctx context.Context, e *evaluated, s *contract.Summary, st stated) (*claims.Checked, error) {
	in := claims.Input{Findings: s, Stated: st.text, Agent: st.agent}
	if e != nil {
		in.Summary, in.Tally, in.Released = e.summary, &e.bench.Tally, e.bench.Source == experiments.SourceRelease
		var err error
		if in.Noise, err = e.decodingNoise(ctx); err != nil {
			return nil, err
		}
		if in.Blocked, err = e.blocked(ctx); err != nil {
			return nil, err
		}
	}
	if st.rollouts != nil && in.Agent == nil {
		in.Agent, in.AgentBlocked = claims.ResultsOf(st.rollouts.tables.Figures), st.rollouts.blockedWords()
	}
	return claims.Check(in)
}

// blocked says of each evaluation why no claim about its model stands; empty where claims stand.
func (e *evaluated) blocked(ctx context.Context) ([]string, error) {
	list, err := checkpoint.Blocked(ctx, e.store, e.receipt)
	if err != nil {
		return nil, storeError(err)
	}
	out := make([]string, len(e.docs))
	for _, s := range list {
		for i := range e.docs {
			if e.docs[i].Evaluation.Model == s.Model {
				out[i] = s.Detail
			}
		}
	}
	e.overlaps = list
	return out, nil
}

// decodingNoise counts, evaluation by evaluation, how far the stored replies to one question part
// ways. What was answered once has none to count, but where another reproduction asked it again.
func (e *evaluated) decodingNoise(ctx context.Context) ([]*claims.Noise, error) {
	if e.noise != nil {
		return e.noise, nil
	}
	list := make([]*claims.Noise, len(e.docs))
	for i := range e.docs {
		again := map[dialogueKey]*contract.DialogueDoc{}
		if k := e.repeated(i); k >= 0 {
			err := e.repeat.dialogues(ctx, k, func(at dialogueKey, d *contract.DialogueDoc) { again[at] = d })
			if err != nil {
				return nil, err
			}
		} else if e.summary.Evaluations[i].Draws < 2 {
			continue
		}
		n := &claims.Noise{}
		if err := e.dialogues(ctx, i, func(at dialogueKey, d *contract.DialogueDoc) { n.Add(at.task, d, again[at]) }); err != nil {
			return nil, err
		}
		list[i] = n
	}
	e.noise = list
	return list, nil
}

// dialogueKey is a dialogue of an evaluation.
type dialogueKey struct {
	path cxreasonbench.Path
	task cxreasonbench.Task
	id   int
}

// dialogues calls fn for every dialogue of an evaluation.
func (e *evaluated) dialogues(ctx context.Context, i int, fn func(dialogueKey, *contract.DialogueDoc)) error {
	return e.pages(ctx, i, func(page *contract.DialoguesDoc) error {
		for k := range page.Dialogues {
			fn(dialogueKey{page.Path, page.Task, page.Dialogues[k].Case}, &page.Dialogues[k])
		}
		return nil
	})
}

// repeated is the evaluation of the other reproduction that put the same questions to the same
// model in calls of its own: everything about it is the same but the seed that is sent. It is
// negative where there is none.
func (e *evaluated) repeated(i int) int {
	if e.repeat == nil {
		return -1
	}
	mine := &e.summary.Evaluations[i]
	for k := range e.repeat.summary.Evaluations {
		other := &e.repeat.summary.Evaluations[k]
		a, b := mine.Model, other.Model
		if seedOf(a) == seedOf(b) {
			continue // the same calls, so the same replies
		}
		a.Decoding.Seed, b.Decoding.Seed, a.Name, b.Name, a.Title, b.Title = nil, nil, "", "", "", ""
		if mine.Draws == other.Draws && reflect.DeepEqual(a, b) {
			return k
		}
	}
	return -1
}

// seedOf is the seed that is sent to a model; none is a seed of its own.
func seedOf(m contract.SummaryModel) string {
	if m.Decoding.Seed == nil {
		return "none"
	}
	return strconv.FormatInt(*m.Decoding.Seed, 10)
}

// repeatOf opens the reproduction that asked the questions of e again.
//
// Errors: usage errors where it asked others, or made no calls of its own.
func (a *app) repeatOf(ctx context.Context, e *evaluated, which string) error {
	if e == nil {
		return usageError("name a reproduction that asked models", "--repeat is about replies of models")
	}
	other, err := a.openEvaluation(ctx, which)
	if err != nil {
		return err
	}
	if other.summary.Benchmark.Digest != e.summary.Benchmark.Digest {
		return usageError("both reproductions need one benchmark", "--repeat %s: it asked another benchmark", which)
	}
	e.repeat = other
	for i := range e.docs {
		if e.repeated(i) >= 0 {
			return nil
		}
	}
	return usageError("run the experiment with another `seed` in its model cards", "--repeat %s: no model of it was asked the same questions in calls of its own", which)
}
