package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// RunTool answers one call of a plan that a rollout's first turn asked for, for trainers that
// generate by themselves: with the records and tools of every other rollout, and recorded like
// theirs. earlier are the results of the plan's calls so far.
func (a *Activities) RunTool(ctx context.Context, in contract.RolloutInput, c xragent.ToolCall, earlier []xragent.Observation) (xragent.Observation, error) {
	b := a.asks.beats.begin(ctx)
	defer b.end()
	r, err := a.rollout(b.work, in)
	if err != nil {
		return xragent.Observation{}, err
	}
	if c.Name != xragent.ToolLookup && (c.Image < 0 || c.Image >= len(r.Pictures)) {
		return xragent.Observation{}, fail(contract.ErrTypeSpec, "item %d has no picture %d", in.Item, c.Image)
	}
	r.Results = earlier
	o, ok, err := r.answer(&liveMeans{a: a, b: b, r: r}, c)
	if err == nil && !ok {
		err = fmt.Errorf("item %d: call %d has no answer", in.Item, c.Number)
	}
	return o, err
}

// RecordedBundle returns what turn 2 is shown under an arm of the measurements of some of an item's
// pictures; ok is false where one was not measured yet.
func (a *Activities) RecordedBundle(ctx context.Context, in contract.RolloutInput, pictures []artifacts.Ref) (b xragent.Bundle, ok bool, err error) {
	r, err := a.rollout(ctx, in)
	if err != nil {
		return b, false, err
	}
	return r.bundle(&recordedMeans{a: a, ctx: ctx, r: r}, pictures)
}
