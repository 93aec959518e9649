package workflows

import (
	"errors"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

const (
	// childRestarts is how often a child that was terminated is started again.
	childRestarts = 5
	// childWait is the pause before a child is started whose id is still taken.
	childWait  = 2 * time.Second
	childWaits = 150
)

// kin keeps which children run, and sees to it that each knows the state of the gate.
type kin interface {
	// begun says that a child runs, begun with this state of the gate.
	begun(ctx workflow.Context, id string, given contract.Gate)
	ended(id string)
}

// family is the kin of children that are all told the same way, in the order of their start.
type family struct {
	gate *gate
	// active lists the ids of running children, in the order of their start.
	active []string
}

func (f *family) begun(ctx workflow.Context, id string, given contract.Gate) {
	f.active = append(f.active, id)
	if f.gate.state != given {
		f.tellOne(ctx, id, f.gate.state)
	}
}

// ended leaves earlier values of active as they are: a query may still read one.
func (f *family) ended(id string) {
	if i := slices.Index(f.active, id); i >= 0 {
		f.active = slices.Concat(f.active[:i], f.active[i+1:])
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

// child is one child workflow. input makes its input for a state of the gate.
type child[In, Out any] struct {
	common       contract.Common
	reproduction string
	gate         *gate
	kin          kin
	kind         contract.Workflow[In, Out]
	id           string
	stage        string
	input        func(g contract.Gate) In
}

// run runs the child to its end. One that was terminated starts again: what it finished is in
// the store.
func (c child[In, Out]) run(ctx workflow.Context) (Out, error) {
	var none Out
	restarts, waits := 0, 0
	for {
		if err := workflow.Await(ctx, func() bool { return !c.gate.state.Paused }); err != nil {
			return none, err
		}
		given := c.gate.state
		run := workflow.ExecuteChildWorkflow(c.context(ctx), c.kind.Name, c.input(given))
		if err := run.GetChildWorkflowExecution().Get(ctx, nil); err == nil {
			c.kin.begun(ctx, c.id, given)
		}
		var out Out
		err := run.Get(ctx, &out)
		c.kin.ended(c.id)
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
		TaskQueue:             contract.QueueCPU(c.common.Queue),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		TypedSearchAttributes: attributes(c.common, c.reproduction, c.stage),
	})
}

// each calls do for 0 to n-1, at most so many at a time, and waits until all of them are over.
// Once ctx is cancelled it begins no further one.
//
// Errors: the context's; what do meets is do's to keep.
func each(ctx workflow.Context, n, atOnce int, do func(ctx workflow.Context, i int)) error {
	slots := workflow.NewSemaphore(ctx, int64(atOnce))
	wg := workflow.NewWaitGroup(ctx)
	for i := range n {
		if err := slots.Acquire(ctx, 1); err != nil {
			break
		}
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			defer slots.Release(1)
			do(ctx, i)
		})
	}
	wg.Wait(ctx)
	return ctx.Err()
}
