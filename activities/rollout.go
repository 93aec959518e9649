package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
	"cxrepro/internal/xragent"
)

// Rollout runs one item under one arm by one policy in one draw to its end. Turns and lookups
// are calls of the ledger, what a tool answers and what was measured are records of steps: an
// attempt that was killed costs what it had in hand, and repeats nothing that is recorded.
func (a *Activities) Rollout(ctx context.Context, in contract.RolloutInput) (contract.RolloutResult, error) {
	b := a.asks.beats.begin(ctx)
	defer b.end()
	r, err := a.rollout(b.work, in)
	if err != nil {
		return contract.RolloutResult{}, err
	}
	if _, err := r.run(&liveMeans{a: a, b: b, r: r}); err != nil {
		return contract.RolloutResult{}, err
	}
	return r.result()
}

// RolloutGroup runs the draws of one item side by side, each as Rollout does, for a round of
// training: an activity for each would cost the server of workflows more than asking the policy
// costs. A group in which one fails is tried again; what the others recorded is found.
func (a *Activities) RolloutGroup(ctx context.Context, in contract.RolloutGroupInput) (out contract.RolloutGroupResult, err error) {
	asked, errs := make([]int, in.Size), make([]error, in.Size)
	var draws sync.WaitGroup
	for k := range in.Size {
		draws.Go(func() {
			one := in.Input
			one.Draw += k
			var r contract.RolloutResult
			r, errs[k] = a.Rollout(ctx, one)
			asked[k] = r.Asked
		})
	}
	draws.Wait()
	for k, err := range errs {
		if err != nil {
			return out, fmt.Errorf("draw %d of item %d: %w", in.Input.Draw+k, in.Input.Item, err)
		}
		out.Asked += asked[k]
	}
	return out, nil
}

// rollout is one rollout as far as it is known.
type rollout struct {
	in   contract.RolloutInput
	plan *derive.Plan
	item *xragent.Item
	arm  xragent.Arm
	card *experiments.ModelCard
	// class is that of everything that is sent.
	class string
	gate  xragent.Gate

	xragent.Rollout
	Ending xragent.Ending
	// terminal is the outcome of the call that a turn got no answer from.
	terminal lvlm.Outcome
	// viewOK says that a picture passed the view check.
	viewOK bool
	// calls are the calls made, in order, accounts those of their records.
	calls    []contract.RolloutCall
	accounts []callAccount
	tools    []contract.RolloutTool
	pictures []artifacts.Ref
	// materials are what a second turn was shown.
	materials []provenance.Descriptor
}

// callAccount is the account of one call by its key.
type callAccount struct {
	key   artifacts.Digest
	count contract.CallCount
}

// means is how a rollout comes to what it lacks: live, or from the records alone. ok is false
// where nothing is recorded and nothing may be made.
type means interface {
	context() context.Context
	call(part string, c *derive.Call) (out answered, ok bool, err error)
	step(doc artifacts.KeyDoc, compute func(ctx context.Context) (product, error)) (rec artifacts.Record, ok bool, err error)
	measured(image artifacts.Ref) (rec artifacts.Record, ok bool, err error)
	activities() *Activities
}

// rollout returns a rollout before its first turn.
func (a *Activities) rollout(ctx context.Context, in contract.RolloutInput) (*rollout, error) {
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return nil, err
	}
	q, err := a.questions(ctx, in.Questions)
	if err != nil {
		return nil, err
	}
	item, err := q.item(in.Item)
	if err != nil {
		return nil, err
	}
	if in.Policy < 0 || in.Policy >= len(pl.Models) {
		return nil, fail(contract.ErrTypeSpec, "policy %d: the plan has %d model cards", in.Policy, len(pl.Models))
	}
	arm, err := pl.Arm(in.Arm)
	if err != nil {
		return nil, fail(contract.ErrTypeSpec, "plan %s: %w", pl.Ref.Digest.Short(), err)
	}
	r := &rollout{in: in, plan: pl, item: item, arm: arm, card: &pl.Models[in.Policy], class: q.DataUse}
	r.Rollout = xragent.Rollout{ID: fmt.Sprintf("%s/%s/%d", item.ID, in.Arm, in.Draw), Question: item.Question, Pictures: item.Images()}
	r.gate, err = a.gate(ctx, pl)
	return r, err
}

// run brings the rollout to its end, or as far as the means allow: done is false where something
// is missing.
func (r *rollout) run(m means) (done bool, err error) {
	for {
		step, err := r.arm.Agent.Next(r.Rollout)
		if err != nil {
			return false, fail(contract.ErrTypeSpec, "item %d: %w", r.in.Item, err)
		}
		if step.Ending != "" {
			r.Ending = step.Ending
			return true, nil
		}
		ok := true
		switch {
		case step.Turn > 0:
			ok, err = r.turn(m, step)
		default:
			if step.Measure {
				ok, err = r.measure(m, step.Run)
			}
			for _, c := range step.Run {
				if !ok || err != nil {
					break
				}
				ok, err = r.tool(m, c)
			}
		}
		if err != nil || !ok {
			return false, err
		}
	}
}

// asked is who is asked for a part of the rollout.
func (r *rollout) asked(kind, part string, card *experiments.ModelCard, d lvlm.Decoding) derive.Asked {
	return derive.Asked{
		Reproduction: r.in.Reproduction, Budget: r.in.Budget, About: fmt.Sprintf("item %d, %s, draw %d, %s", r.in.Item, r.in.Arm, r.in.Draw, part),
		Kind: kind, Card: card, Decoding: d, DataUse: r.class, Retry: r.plan.AgentRetry(),
	}
}

// ask makes a call and notes it.
func (r *rollout) ask(m means, q derive.Asked, part string, t dialogue.Transcript, readable func(string) bool) (answered, bool, error) {
	c, err := m.activities().transcriptCall(m.context(), q, t)
	if err != nil {
		return answered{}, false, err
	}
	c.Readable = readable
	out, ok, err := m.call(part, c)
	if err != nil || !ok {
		return out, false, err
	}
	note := contract.RolloutCall{Part: part, Key: out.Key.Digest, Answer: out.Ref}
	if out.Terminal {
		note.Terminal = string(out.Answer.Outcome)
	}
	r.calls = append(r.calls, note)
	r.accounts = append(r.accounts, callAccount{out.Key.Digest, out.Count})
	return out, true, nil
}

// turn asks the policy for a turn.
func (r *rollout) turn(m means, step xragent.Step) (bool, error) {
	part := fmt.Sprintf("turn.%d", step.Turn)
	q := r.asked(ledger.KindModel, part, r.card, r.plan.AgentDecoding(r.card))
	q.Draw, q.Checkpoint, q.Materials = r.in.Draw, r.in.Checkpoint, r.materials
	out, ok, err := r.ask(m, q, part, step.Ask, nil)
	if err != nil || !ok {
		return false, err
	}
	turn := xragent.Turn{Text: out.Answer.Text, FinishReason: finishOf(out)}
	if out.Terminal {
		r.terminal = out.Answer.Outcome
	}
	r.shown(part, out.Ref)
	r.Rollout, err = r.arm.Agent.Answered(r.Rollout, turn)
	return err == nil, err
}

// finishOf is how a reply ended in the words of the protocol: stop for a whole one, else the
// word for what became of it.
func finishOf(a answered) string {
	switch {
	case a.Terminal:
		return string(a.Answer.Outcome)
	case a.Answer.Finish == "" || strings.EqualFold(a.Answer.Finish, "stop"):
		return "stop"
	}
	return a.Answer.Finish
}

// measure takes the bundle of the gate: of the picture that the policy asks about where it
// routes measurements, else of the first picture that passes.
func (r *rollout) measure(m means, run []xragent.ToolCall) (bool, error) {
	bundle, ok, err := r.bundle(m, r.arm.Agent.MeasuredPictures(r.Rollout))
	if err != nil || !ok {
		return false, err
	}
	r.Rollout, err = r.arm.Agent.Measured(r.Rollout, bundle)
	return err == nil, err
}

// bundle is that of the first picture that passes, else of the first one.
func (r *rollout) bundle(m means, pictures []artifacts.Ref) (bundle xragent.Bundle, ok bool, err error) {
	for i, image := range pictures {
		doc, ok, err := r.measurement(m, image)
		if err != nil || !ok {
			return bundle, false, err
		}
		r.viewOK = r.viewOK || doc.Code == ""
		b := doc.Gated
		if r.arm.GateOff {
			b = doc.Ungated
		}
		if i == 0 || b.Reason == "" {
			bundle = b
		}
		if b.Reason == "" {
			break
		}
	}
	return bundle, true, nil
}

// measurement returns what is known of a picture.
func (r *rollout) measurement(m means, image artifacts.Ref) (doc contract.MeasurementDoc, ok bool, err error) {
	rec, ok, err := m.measured(image)
	if err != nil || !ok {
		return doc, false, err
	}
	r.shown("measurement of "+image.Digest.Short(), rec.Result)
	if !slices.Contains(r.pictures, rec.Result) {
		r.pictures = append(r.pictures, rec.Result)
	}
	doc, err = getJSON[contract.MeasurementDoc](m.context(), m.activities().opts.Store, rec.Result)
	return doc, err == nil, err
}

// shown notes what a later turn rests on, once.
func (r *rollout) shown(name string, ref artifacts.Ref) {
	for _, d := range r.materials {
		if d.Name == name {
			return
		}
	}
	r.materials = append(r.materials, provenance.Describe(name, ref))
}

// rests are the records that the rollout rests on: answers, what tools said, measurements.
func (r *rollout) rests() (out []artifacts.Ref) {
	for _, c := range r.calls {
		out = append(out, c.Answer)
	}
	for _, t := range r.tools {
		out = append(out, t.Result)
	}
	return append(out, r.pictures...)
}
