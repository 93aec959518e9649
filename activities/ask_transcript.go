package activities

import (
	"context"
	"errors"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
)

// answered is what came of a call.
type answered struct {
	// Key is that of its record: of the call, or of its outcome.
	Key artifacts.Key
	// Ref is the recorded answer, or terminal outcome.
	Ref    artifacts.Ref
	Answer lvlm.Answer
	// Terminal says that nothing was answered for good.
	Terminal bool
	// Count is the account of the record for the reproduction that asks.
	Count contract.CallCount
}

// transcriptCall returns the call that puts a transcript to a model; nothing is sent. Pictures
// are given as they are stored, and prepared where nobody did.
func (a *Activities) transcriptCall(ctx context.Context, q derive.Asked, t dialogue.Transcript) (*derive.Call, error) {
	return derive.NewCall(ctx, q, t, func(ctx context.Context, c *derive.Call, stored artifacts.Ref) (artifacts.Ref, error) {
		return a.asks.picture(a, ctx, c, stored)
	})
}

// askCall makes a call, or finds what came of it before, under every guard: class of the data,
// limits of the endpoint, budget, claim and attempts. What it returns is durable.
func (a *Activities) askCall(b *askBeat, c *derive.Call) (answered, error) {
	entry, own, err := a.asks.settle(b, c)
	if err != nil {
		return answered{}, err
	}
	return a.asks.answered(b.work, c, entry, own)
}

// findCall returns what came of a call from the ledger alone; ok is false when it has no record.
func (a *Activities) findCall(ctx context.Context, c *derive.Call) (out answered, ok bool, err error) {
	entry, err := ledger.Find(ctx, a.opts.Store, c.Ledger, c.Retry)
	if errors.Is(err, artifacts.ErrNotFound) {
		return answered{Key: c.Ledger.Key}, false, nil
	}
	if err != nil {
		return out, false, err
	}
	out, err = a.asks.answered(ctx, c, entry, true)
	return out, err == nil, err
}

// answered reads a record of a call. own says that whoever asks made it, so that it is counted
// here.
func (s *asks) answered(ctx context.Context, c *derive.Call, e ledger.Entry, own bool) (answered, error) {
	text, err := s.answer(ctx, e.Record.Result)
	out := answered{Key: e.Record.Key, Ref: e.Record.Result, Answer: text, Terminal: e.Record.Key.Step == contract.StepCallOutcome}
	out.Count = contract.CallCount{Needed: 1, Reused: 1}
	if own {
		out.Count = e.Count(c.Reproduction)
	}
	out.Count.Kind = c.Kind
	return out, err
}
