package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// lookEvery is the time between two looks at an effort under way.
const lookEvery = 500 * time.Millisecond

// errPaused ends a follower because the reproduction was paused.
type errPaused struct{ gate contract.Gate }

func (e *errPaused) Error() string { return "paused: " + e.gate.Reason }

// waitFor waits for done while it shows what look sees.
func waitFor(ctx context.Context, d display, look func(context.Context) (view, error), done <-chan error) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if v, lookErr := look(ctx); lookErr == nil && err == nil {
				d.show(v)
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		v, err := look(ctx)
		if err != nil {
			continue // between two runs, or the server is restarting
		}
		d.show(v)
		if v.Gate.Paused {
			return &errPaused{v.Gate}
		}
	}
}

// result waits for a workflow in the background.
func result(ctx context.Context, run client.WorkflowRun, into any) <-chan error {
	done := make(chan error, 1)
	go func() { done <- run.Get(ctx, into) }()
	return done
}

// follow waits for a reproduction and returns its receipt.
func follow(ctx context.Context, c client.Client, d display, reproduction string) (artifacts.Ref, error) {
	var out contract.ReproductionResult
	run := c.GetWorkflow(ctx, contract.ReproductionWorkflowID(reproduction), "")
	err := waitFor(ctx, d, func(ctx context.Context) (view, error) { return lookReproduction(ctx, c, reproduction) }, result(ctx, run, &out))
	return out.Receipt, err
}

// takeUp opens the gate of a reproduction that an earlier run left paused, with the budget of
// this one if it names another.
func takeUp(ctx context.Context, c client.Client, d display, reproduction string, f runFlags) error {
	v, err := lookReproduction(ctx, c, reproduction)
	if err != nil {
		return nil // it is not there yet: the follower sees
	}
	if budget := f.tuning.Calls.Budget; f.budgetGiven && v.Gate.Budget != budget {
		d.note(fmt.Sprintf("the budget is now %s", budgetValue{&budget}))
		if err := setBudget(ctx, c, reproduction, budget); err != nil {
			return err
		}
	}
	if !v.Gate.Paused {
		return nil
	}
	why, _ := splitHint(v.Gate.Reason)
	d.note(fmt.Sprintf("was paused (%s); going on", why))
	_, err = control(ctx, c, reproduction, contract.UpdateResume)
	return err
}

// control sends an update to a reproduction and returns what it answers.
func control(ctx context.Context, c client.Client, reproduction, update string) (contract.Progress, error) {
	var p contract.Progress
	h, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: contract.ReproductionWorkflowID(reproduction), UpdateName: update, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = h.Get(ctx, &p)
	}
	if gone(err) {
		return p, usageError("`cxrepro status` lists what there is", "no reproduction %s is under way", reproduction)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return p, &exitError{Code: exitUnreachable, Err: errors.New("no worker answered"), Hint: "start one with `cxrepro up` or `cxrepro worker`"}
	}
	return p, err
}
