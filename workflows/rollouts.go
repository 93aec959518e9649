package workflows

import (
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

const (
	// findAtOnce is how many rollouts one activity looks up.
	findAtOnce = 64
)

// rollouts is one run of a Rollouts workflow.
type rollouts struct {
	in   contract.RolloutsInput
	gate gate
	// ready are items that the records do not finish, open those that are in hand.
	ready []int
	open  map[int]bool
	// finding: an activity looks up the items [begin, end).
	finding    bool
	begin, end int
	changed    bool
	err        error
}

// Rollouts runs one policy under one arm over every item in one repeat, a bounded number at a
// time. What the records finish is not run: every item is looked up first, also after a restart.
//
// A rollout whose call fails for good is undetermined and stops no other. In the end the
// documents are made from the records alone.
func Rollouts(ctx workflow.Context, in contract.RolloutsInput) (contract.RolloutsResult, error) {
	r := &rollouts{in: in, open: map[int]bool{}}
	r.gate.set(in.Gate)
	r.gate.listen(ctx)
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, r.progress); err != nil {
		return contract.RolloutsResult{}, err
	}
	r.ready, r.in.Again = r.in.Again, nil
	for r.left() {
		full := historyFull(ctx, in.Common.Tuning)
		switch {
		case r.err != nil || r.gate.state.Paused:
		case !full:
			r.beginMore(ctx)
		case r.idle():
			return contract.RolloutsResult{}, r.continueAsNew(ctx)
		}
		if r.err != nil && r.idle() {
			return contract.RolloutsResult{}, passOn(r.err)
		}
		if !r.left() {
			break
		}
		if err := r.wait(ctx); err != nil {
			return contract.RolloutsResult{}, err
		}
	}
	if err := workflow.Await(ctx, func() bool { return !r.gate.state.Paused }); err != nil {
		return contract.RolloutsResult{}, err
	}
	cpu := work{queue: contract.QueueCPU(in.Common.Queue), chunk: true}
	return call(ctx, in.Common, cpu, contract.CloseRollouts, contract.CloseRolloutsInput{Range: in.Range, Failed: r.in.Failed})
}

// left reports whether a rollout has not ended.
func (r *rollouts) left() bool {
	return len(r.ready)+len(r.open) > 0 || r.finding || r.in.Next < r.in.Range.Items
}

// idle reports whether no activity is in hand.
func (r *rollouts) idle() bool { return len(r.open) == 0 && !r.finding }

// wait waits until there may be something to begin.
func (r *rollouts) wait(ctx workflow.Context) error {
	state := r.gate.state
	err := workflow.Await(ctx, func() bool { return r.changed || r.gate.state != state })
	r.changed = false
	if err != nil {
		free, cancel := workflow.NewDisconnectedContext(ctx)
		defer cancel()
		// The only error is the cancellation of a context nobody else holds.
		_ = workflow.Await(free, r.idle)
	}
	return err
}

func (r *rollouts) continueAsNew(ctx workflow.Context) error {
	r.gate.drain(ctx)
	r.in.Gate, r.in.Again = r.gate.state, r.ready
	return workflow.NewContinueAsNewError(ctx, contract.Rollouts.Name, r.in)
}

// beginMore starts everything that may start: rollouts, and the look-up of further ones.
func (r *rollouts) beginMore(ctx workflow.Context) {
	for len(r.ready) > 0 && len(r.open) < r.in.Common.Tuning.Calls.Open {
		item := r.ready[0]
		r.ready = r.ready[1:]
		r.run(ctx, item)
	}
	if !r.finding && len(r.ready) < findAtOnce/2 && r.in.Next < r.in.Range.Items {
		r.find(ctx)
	}
}

// find looks up the next items.
func (r *rollouts) find(ctx workflow.Context) {
	r.finding, r.begin, r.end = true, r.in.Next, min(r.in.Next+findAtOnce, r.in.Range.Items)
	workflow.GoNamed(ctx, "find", func(ctx workflow.Context) {
		cpu := work{queue: contract.QueueCPU(r.in.Common.Queue), chunk: true}
		out, err := call(ctx, r.in.Common, cpu, contract.FindRollouts, contract.FindRolloutsInput{Range: r.in.Range, Begin: r.begin, End: r.end})
		r.finding, r.changed = false, true
		switch {
		case err == nil:
			r.ready = append(r.ready, out.Missing...)
			r.in.Done += r.end - r.begin - len(out.Missing)
			r.in.Next = r.end
		case ctx.Err() != nil:
		case contract.Pauses(typeOf(err)):
			r.trouble(ctx, err)
		default:
			r.err = err
		}
	})
}

// run runs one rollout in the background.
func (r *rollouts) run(ctx workflow.Context, item int) {
	r.open[item] = true
	in := r.in.Range.Input(item, r.gate.state.Budget)
	workflow.Go(r.gate.epoch(ctx), func(ctx workflow.Context) {
		out, err := rollOut(ctx, r.in.Common, r.in.Range.Set.Card, in)
		delete(r.open, item)
		r.changed = true
		switch {
		case err == nil:
			r.in.Done++
			r.in.Calls += out.Asked
		case ctx.Err() != nil:
			r.ready = append(r.ready, item)
		case contract.Pauses(typeOf(err)):
			r.ready = append(r.ready, item)
			r.trouble(ctx, err)
		case fatalCall(typeOf(err)):
			r.err = err
		default:
			r.fail(item, err)
		}
	})
}

// fail ends a rollout without a result.
func (r *rollouts) fail(item int, err error) {
	f := contract.RolloutFailure{Item: item, Type: typeOf(err)}
	if len(r.in.Failed) < messagesKept {
		f.Message = messageOf(err)
	}
	if r.in.FailedCount++; r.in.FailedCount <= failedKept {
		r.in.Failed = append(r.in.Failed, f)
	}
}

// trouble shuts the gate here and tells the reproduction why, although that ends ctx.
func (r *rollouts) trouble(ctx workflow.Context, err error) {
	g := contract.Gate{Paused: true, Reason: messageOf(err), By: typeOf(err), Seq: r.gate.state.Seq, Budget: r.gate.state.Budget}
	free, _ := workflow.NewDisconnectedContext(ctx)
	r.gate.set(g)
	tellParent(free, r.in.Parent, g)
}

func (r *rollouts) progress() (contract.StageProgress, error) {
	p := contract.StageProgress{
		Stage: contract.StageRollouts, State: contract.StateRunning, Items: r.in.Done, ItemsAll: r.in.Range.Items,
		Failed: r.in.FailedCount, Calls: r.in.Calls,
	}
	if r.gate.state.Paused {
		p.State = contract.StatePaused
	}
	return p, nil
}

// rollOut runs one rollout on the queue of its policy. It is bounded by time, not by attempts, as
// a single call is; an attempt that ends in the middle costs what it had in hand.
func rollOut(ctx workflow.Context, c contract.Common, card string, in contract.RolloutInput) (contract.RolloutResult, error) {
	ctx = asking(ctx, c, card)
	var out contract.RolloutResult
	err := workflow.ExecuteActivity(ctx, contract.Rollout.Name, in).Get(ctx, &out)
	return out, err
}
