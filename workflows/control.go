package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// handlers registers pause, resume, cancel, the progress query and the listener for
// trouble that stages report.
func (r *reproduction) handlers(ctx workflow.Context, cancel workflow.CancelFunc) error {
	type handler struct {
		name     string
		handle   any
		validate func() error
	}
	for _, h := range []handler{
		{contract.UpdatePause, r.pause, r.mayPause},
		{contract.UpdateResume, r.resume, r.mayResume},
		{contract.UpdateCancel, func(ctx workflow.Context) (contract.Progress, error) {
			r.cancelled = true
			cancel()
			return r.progress()
		}, r.mayCancel},
	} {
		err := workflow.SetUpdateHandlerWithOptions(ctx, h.name, h.handle, workflow.UpdateHandlerOptions{Validator: h.validate})
		if err != nil {
			return err
		}
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateBudget, r.setBudget, workflow.UpdateHandlerOptions{
		Validator: func(_ workflow.Context, micro int64) error { return r.maySpend(micro) },
	})
	if err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, r.progress); err != nil {
		return err
	}
	ch := workflow.GetSignalChannel(ctx, contract.SignalTrouble)
	workflow.GoNamed(ctx, "trouble", func(ctx workflow.Context) {
		for {
			var g contract.Gate
			if more := ch.Receive(ctx, &g); !more {
				return
			}
			if !r.gate.state.Paused {
				r.shut(ctx, contract.Gate{Paused: true, Reason: g.Reason, By: g.By})
			}
		}
	})
	return nil
}

func (r *reproduction) mayPause() error {
	switch {
	case r.closing || r.cancelled || r.state != contract.StateRunning:
		return fmt.Errorf("the reproduction is %s; there is nothing to pause", r.stateNow())
	case r.gate.state.Paused:
		return fmt.Errorf("the reproduction is paused already (%s)", r.gate.state.Reason)
	}
	return nil
}

func (r *reproduction) mayResume() error {
	if !r.gate.state.Paused {
		return fmt.Errorf("the reproduction is %s, not paused", r.stateNow())
	}
	return nil
}

func (r *reproduction) mayCancel() error {
	if r.closing || r.cancelled || r.state != contract.StateRunning {
		return fmt.Errorf("the reproduction is %s; there is nothing to cancel", r.stateNow())
	}
	return nil
}

func (r *reproduction) pause(ctx workflow.Context) (contract.Progress, error) {
	r.shut(ctx, contract.Gate{Paused: true, Reason: "asked by a user", By: "user"})
	return r.progress()
}

func (r *reproduction) resume(ctx workflow.Context) (contract.Progress, error) {
	r.shut(ctx, contract.Gate{})
	return r.progress()
}

// maySpend refuses a budget that says nothing, and one for a reproduction that spends nothing.
func (r *reproduction) maySpend(micro int64) error {
	switch {
	case r.closing || r.cancelled || r.state != contract.StateRunning:
		return fmt.Errorf("the reproduction is %s; it spends nothing any more", r.stateNow())
	case micro < 0:
		return fmt.Errorf("a budget of %d micro-units; want 0 for no limit, or more", micro)
	}
	return nil
}

// setBudget changes what the reproduction may spend, for every call from now on.
func (r *reproduction) setBudget(ctx workflow.Context, micro int64) (contract.Progress, error) {
	g := r.gate.state
	g.Budget = micro
	g.Seq++
	r.gate.set(g)
	r.tell(ctx)
	return r.progress()
}

// shut sets the gate and tells every active stage. A stage that just ended needs no word.
func (r *reproduction) shut(ctx workflow.Context, g contract.Gate) {
	g.Seq, g.Budget = r.gate.state.Seq+1, r.gate.state.Budget
	r.gate.set(g)
	r.tell(ctx)
}

// tell sends the gate's state to every active stage. It stops when a newer state was set
// meanwhile: whoever set it tells it.
func (r *reproduction) tell(ctx workflow.Context) {
	g := r.gate.state
	for i := range r.shards {
		for _, stage := range []string{contract.StageSegment, contract.StageAssess} {
			id, ok := r.shards[i].active[stage]
			if !ok || r.gate.state != g {
				continue
			}
			if err := workflow.SignalExternalWorkflow(ctx, id, "", contract.SignalGate, g).Get(ctx, nil); err != nil {
				workflow.GetLogger(ctx).Info("stage not told of the gate", "stage", stage, "shard", i, "err", err)
			}
		}
	}
	if r.gate.state == g {
		r.evaluate.family.tell(ctx)
	}
	if r.gate.state == g {
		r.agent.family.tell(ctx)
	}
	if r.gate.state == g {
		r.trained.family.tell(ctx)
	}
}

func (r *reproduction) stateNow() string {
	switch {
	case r.cancelled:
		return contract.StateCancelled
	case r.gate.state.Paused && r.state == contract.StateRunning:
		return contract.StatePaused
	}
	return r.state
}

// progress answers the query: sums of finished shards, and the workflow ids of open ones.
func (r *reproduction) progress() (contract.Progress, error) {
	p := contract.Progress{
		Reproduction: r.in.Reproduction, State: r.stateNow(), Gate: r.gate.state, Started: r.in.Launched,
		Quarantined: contract.Total(r.in.Ingest.Manifest.Quarantined),
	}
	if r.in.Questions != nil {
		p.Stages, p.Benchmark = r.agentProgress(), r.in.Questions.Questions
		return p, nil
	}
	m := r.in.Ingest.Manifest
	p.Stages = append(p.Stages, contract.StageProgress{
		Stage: contract.StageIngest, State: contract.StateDone, Items: r.in.Ingest.Totals.Items,
		ItemsAll: r.in.Ingest.Totals.Items, Reused: reused(r.in.Ingest.Totals),
	})
	for _, stage := range []string{contract.StageSegment, contract.StageAssess} {
		s := contract.StageProgress{Stage: stage, State: contract.StateWaiting, Windows: m.Windows, ItemsAll: m.Images}
		done := 0
		for i := range r.shards {
			if id, ok := r.shards[i].active[stage]; ok {
				s.State = contract.StateRunning
				s.Active = append(s.Active, id)
			}
			d, ok := r.shards[i].done[stage]
			if !ok {
				continue
			}
			done++
			s.Done += r.shards[i].end - r.shards[i].begin
			s.Items += d.Totals.Items
			s.Reused += reused(d.Totals)
			s.Failed += d.FailedCount
		}
		if done == len(r.shards) {
			s.State = contract.StateDone
		}
		p.Stages = append(p.Stages, s)
	}
	sum := contract.StageProgress{Stage: contract.StageSummarise, State: contract.StateWaiting, ItemsAll: 1}
	if !r.summary.Summary.IsZero() {
		sum.State, sum.Items = contract.StateDone, 1
	}
	if m.Windows == 0 {
		p.Stages = nil // nothing but a benchmark that was there before
	} else {
		p.Stages = append(p.Stages, sum)
	}
	if r.evaluates() {
		p.Stages = append(p.Stages, r.evaluateProgress()...)
		p.Benchmark = r.evaluate.benchmark.Benchmark
	}
	return p, nil
}
