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

// epoch returns the context that lives until the gate is shut.
func (g *gate) epoch(ctx workflow.Context) workflow.Context {
	if g.ctx == nil {
		g.ctx, g.cancel = workflow.WithCancel(ctx)
	}
	return g.ctx
}

// listen keeps the gate at what the parent signals.
func (g *gate) listen(ctx workflow.Context) {
	ch := workflow.GetSignalChannel(ctx, contract.SignalGate)
	workflow.GoNamed(ctx, "gate", func(ctx workflow.Context) {
		for {
			var s contract.Gate
			if more := ch.Receive(ctx, &s); !more {
				return
			}
			g.set(s)
		}
	})
}

// drain takes what is left in the channel before the workflow continues as new.
func (g *gate) drain(ctx workflow.Context) {
	ch := workflow.GetSignalChannel(ctx, contract.SignalGate)
	for {
		var s contract.Gate
		if !ch.ReceiveAsync(&s) {
			return
		}
		g.set(s)
	}
}
