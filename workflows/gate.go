package workflows

import (
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// gate holds whether new work may start. Shutting it ends the epoch: the context under
// which open activities run.
type gate struct {
	state  contract.Gate
	ctx    workflow.Context
	cancel workflow.CancelFunc
}

// set opens or shuts the gate.
func (g *gate) set(state contract.Gate) {
	g.state = state
	if state.Paused && g.cancel != nil {
		g.cancel()
		g.ctx, g.cancel = nil, nil
	}
}

// follow takes a state that the parent sent, unless a newer one came first.
func (g *gate) follow(state contract.Gate) {
	if state.Seq > g.state.Seq {
		g.set(state)
	}
}

// epoch returns the context that lives until the gate is shut.
func (g *gate) epoch(ctx workflow.Context) workflow.Context {
	if g.ctx == nil {
		g.ctx, g.cancel = workflow.WithCancel(ctx)
	}
	return g.ctx
}

// listen keeps the gate at what the parent signals.
//
// It looks before it receives: a value handed to a blocked receiver that does not run again
// before the workflow continues as new would be lost, while drain finds what is still in
// the channel.
func (g *gate) listen(ctx workflow.Context) {
	ch := workflow.GetSignalChannel(ctx, contract.SignalGate)
	workflow.GoNamed(ctx, "gate", func(ctx workflow.Context) {
		for workflow.Await(ctx, func() bool { return ch.Len() > 0 }) == nil {
			g.drain(ctx)
		}
	})
}

// drain takes what is in the channel.
func (g *gate) drain(ctx workflow.Context) {
	ch := workflow.GetSignalChannel(ctx, contract.SignalGate)
	for {
		var s contract.Gate
		if !ch.ReceiveAsync(&s) {
			return
		}
		g.follow(s)
	}
}

// tellParent reports trouble in the background. A parent that is gone needs no report.
func tellParent(ctx workflow.Context, parent string, g contract.Gate) {
	if parent == "" {
		return
	}
	workflow.GoNamed(ctx, "trouble", func(ctx workflow.Context) {
		if err := workflow.SignalExternalWorkflow(ctx, parent, "", contract.SignalTrouble, g).Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("parent not told of trouble", "err", err)
		}
	})
}
