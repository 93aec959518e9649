package activities

import (
	"context"
	"errors"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
)

// givenMeans takes what somebody else finds recorded, and asks nobody.
type givenMeans struct {
	a    *Activities
	ctx  context.Context
	from derive.Records
	// waits is the part whose call has no record.
	waits string
}

var _ means = (*givenMeans)(nil)

func (g *givenMeans) context() context.Context { return g.ctx }
func (g *givenMeans) activities() *Activities  { return g.a }

func (g *givenMeans) call(part string, c *derive.Call) (out answered, ok bool, err error) {
	rec, ok, err := g.from.Call(g.ctx, part, c)
	if err != nil || !ok {
		g.waits = part
		return out, false, err
	}
	out = answered{Key: rec.Key, Ref: rec.Result, Terminal: rec.Key.Step == contract.StepCallOutcome}
	out.Answer, err = g.a.asks.answer(g.ctx, rec.Result)
	return out, err == nil, err
}

func (g *givenMeans) step(doc artifacts.KeyDoc, compute func(ctx context.Context) (product, error)) (artifacts.Record, bool, error) {
	return g.from.Tool(g.ctx, doc, func(ctx context.Context) ([]byte, string, error) {
		p, err := compute(ctx)
		return p.data, p.mediaType, err
	})
}

func (g *givenMeans) measured(image artifacts.Ref) (artifacts.Record, bool, error) {
	return g.from.Measured(g.ctx, image)
}

// FollowRollout walks one rollout over what from has.
//
// Errors: those of from, and a rollout that the plan does not have.
func (a *Activities) FollowRollout(ctx context.Context, in contract.RolloutInput, from derive.Records) (derive.Followed, error) {
	r, err := a.rollout(ctx, in)
	if err != nil {
		return derive.Followed{}, err
	}
	return a.followed(ctx, r, from)
}

func (a *Activities) followed(ctx context.Context, r *rollout, from derive.Records) (f derive.Followed, err error) {
	g := &givenMeans{a: a, ctx: ctx, from: from}
	f.Done, err = r.run(g)
	if err != nil && !errors.Is(err, artifacts.ErrNotFound) {
		return f, err
	}
	f.Ending, f.Waits, f.Calls = string(r.Ending), g.waits, r.calls
	f.Rest, err = r.arm.Agent.Rest(r.Rollout, r.item.Notes == nil && r.plan.Lookup != nil)
	return f, err
}

// FollowRollouts walks every rollout of a set over what from has, and tells see of each. It
// returns what the document of the set is called if all of them came to their end. Nothing is
// stored but pictures that are prepared on the way.
func (a *Activities) FollowRollouts(ctx context.Context, rg contract.RolloutRange, from derive.Records, see func(item int, f derive.Followed) error) (artifacts.Ref, error) {
	p := a.beat(ctx, rg.Items)
	defer p.close()
	return rolloutPages(p, rg, refOfJSON, func(item int) (contract.RolloutDoc, error) {
		r, err := a.rollout(p.work, rg.Input(item, 0))
		if err != nil {
			return contract.RolloutDoc{}, err
		}
		f, err := a.followed(p.work, r, from)
		if err != nil {
			return contract.RolloutDoc{}, err
		}
		d, err := r.doc(rg.Set, f.Done, "")
		if err != nil {
			return d, err
		}
		return d, see(item, f)
	}, func() error { return nil })
}

// Regate asks the gate of a plan about a picture that another gate decided on: the view reading
// and the masks are those of m.
func (a *Activities) Regate(ctx context.Context, plan artifacts.Ref, m contract.MeasurementDoc) (out contract.MeasurementDoc, err error) {
	pl, err := a.plan(ctx, plan)
	if err != nil {
		return out, err
	}
	gate, err := a.gate(ctx, pl)
	if err != nil {
		return out, err
	}
	masks, err := a.storedMasks(ctx, m.Masks)
	if err != nil {
		return out, err
	}
	return gated(gate, m.Image, m.Masks, m.View, masks)
}
