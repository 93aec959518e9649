package workflows

import (
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// family is what a workflow with children knows of them: which run, and that each of them
// knows the state of the gate.
type family struct {
	common       contract.Common
	reproduction string
	gate         *gate
	// active lists the ids of running children, in the order of their start.
	active []string
}

func (f *family) begun(id string) { f.active = append(f.active, id) }

func (f *family) ended(id string) {
	for i, a := range f.active {
		if a == id {
			f.active = append(f.active[:i:i], f.active[i+1:]...)
			return
		}
	}
}

// tell sends the gate's state to every running child. It stops when a newer state was set
// meanwhile: whoever set it tells it. A child that just ended needs no word.
func (f *family) tell(ctx workflow.Context) {
	g := f.gate.state
	for _, id := range append([]string{}, f.active...) {
		if f.gate.state != g {
			return
		}
		f.tellOne(ctx, id, g)
	}
}

func (f *family) tellOne(ctx workflow.Context, id string, g contract.Gate) {
	if err := workflow.SignalExternalWorkflow(ctx, id, "", contract.SignalGate, g).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Info("child not told of the gate", "child", id, "err", err)
	}
}

// child is one child workflow of a family. input makes its input for a state of the gate.
type child[In, Out any] struct {
	family *family
	kind   contract.Workflow[In, Out]
	id     string
	stage  string
	input  func(g contract.Gate) In
}

// run runs the child to its end. One that was terminated starts again: what it finished is in
// the store.
func (c child[In, Out]) run(ctx workflow.Context) (Out, error) {
	var none Out
	f := c.family
	restarts, waits := 0, 0
	for {
		if err := workflow.Await(ctx, func() bool { return !f.gate.state.Paused }); err != nil {
			return none, err
		}
		passed := f.gate.state
		run := workflow.ExecuteChildWorkflow(c.context(ctx), c.kind.Name, c.input(passed))
		err := run.GetChildWorkflowExecution().Get(ctx, nil)
		if err == nil {
			f.begun(c.id)
			if f.gate.state != passed {
				f.tellOne(ctx, c.id, f.gate.state)
			}
		}
		var out Out
		err = run.Get(ctx, &out)
		f.ended(c.id)
		var taken *temporal.ChildWorkflowExecutionAlreadyStartedError
		var ended *temporal.TerminatedError
		switch {
		case err == nil:
			return out, nil
		case ctx.Err() != nil:
			return none, ctx.Err()
		case errors.As(err, &taken) && waits < childWaits:
			// An earlier reproduction of the same id is still finishing what it has in hand.
			waits++
			if err := workflow.Sleep(ctx, childWait); err != nil {
				return none, err
			}
		case errors.As(err, &ended) && restarts < childRestarts:
			restarts++
		default:
			return none, passOnChild(err)
		}
	}
}

func (c child[In, Out]) context(ctx workflow.Context) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            c.id,
		TaskQueue:             contract.QueueCPU(c.family.common.Queue),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		TypedSearchAttributes: attributes(c.family.common, c.family.reproduction, c.stage),
	})
}
