package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"cxrepro/internal/contract"
)

// queryPatience bounds one look at a workflow: without a worker a query waits in vain.
const queryPatience = 5 * time.Second

// view is one look at an effort: what its workflows say, and how far open activities are.
type view struct {
	contract.Progress
	// Trouble are the last errors of activities that are being tried again.
	Trouble []string `json:"trouble,omitempty"`
}

// lookIngest looks at the ingest of a launch.
func lookIngest(ctx context.Context, c client.Client, specID string) (view, error) {
	id := contract.IngestWorkflowID(specID)
	v := view{Progress: contract.Progress{State: contract.StateRunning}}
	s, err := stageProgress(ctx, c, id)
	if err != nil {
		return v, err
	}
	open, err := v.activities(ctx, c, id)
	s.Items = atMost(s.Items+open, s.ItemsAll)
	v.Stages = []contract.StageProgress{s}
	return v, err
}

// lookReproduction looks at a reproduction and its open stages. Whoever has more open stages than
// a busy worker tells of in time gets what was told.
func lookReproduction(ctx context.Context, c client.Client, reproduction string) (view, error) {
	id := contract.ReproductionWorkflowID(reproduction)
	var v view
	if err := progressOf(ctx, c, id, &v.Progress); err != nil {
		return v, err
	}
	for i := range v.Stages {
		s := &v.Stages[i]
		evaluations := s.Stage == contract.StageEvaluate || s.Stage == contract.StageRollouts
		dialogues := v.addActive(ctx, c, s, s.Active, evaluations)
		v.addActive(ctx, c, s, dialogues, false)
		s.Items = atMost(s.Items, s.ItemsAll)
	}
	_, err := v.activities(ctx, c, id)
	return v, err
}

// looks is how many workflows are asked at a time.
const looks = 8

// addActive adds what open children of a stage tell, and returns the ids of theirs. all says
// that the children know how many items they have in all.
func (v *view) addActive(ctx context.Context, c client.Client, s *contract.StageProgress, ids []string, all bool) (active []string) {
	type look struct {
		view
		p     contract.StageProgress
		items int
		err   error
	}
	told := make([]look, len(ids))
	var g errgroup.Group
	g.SetLimit(looks)
	for i, id := range ids {
		g.Go(func() error {
			l := &told[i]
			if l.p, l.err = stageProgress(ctx, c, id); l.err == nil {
				// A child that ended in between has told all the same.
				l.items, _ = l.activities(ctx, c, id)
			}
			return nil
		})
	}
	_ = g.Wait() // every look keeps its own error
	for i := range told {
		l := &told[i]
		if l.err != nil {
			continue // it ended meanwhile, is between two runs, or did not answer in time
		}
		p := &l.p
		active = append(active, p.Active...)
		if all {
			s.ItemsAll += p.ItemsAll
		}
		s.Done += p.Done
		s.Items += p.Items + l.items
		s.Reused += p.Reused
		s.Failed += p.Failed
		s.Calls += p.Calls
		if p.State == contract.StatePaused {
			s.State = p.State
		}
		v.addTrouble(l.Trouble...)
	}
	return active
}

// progressOf asks a workflow how far it is.
func progressOf[P any](ctx context.Context, c client.Client, id string, p *P) error {
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	value, err := c.QueryWorkflow(ctx, id, "", contract.QueryProgress)
	if err != nil {
		return err
	}
	return value.Get(p)
}

func stageProgress(ctx context.Context, c client.Client, id string) (p contract.StageProgress, err error) {
	err = progressOf(ctx, c, id, &p)
	return p, err
}

// activities sums what open activities of a workflow report in their heartbeats, and keeps
// the errors of those that are being tried again.
func (v *view) activities(ctx context.Context, c client.Client, id string) (items int, err error) {
	d, err := c.DescribeWorkflow(ctx, id, "")
	if err != nil {
		return 0, err
	}
	for _, a := range d.RawResponse.GetPendingActivities() {
		items += beat(a)
		if f := a.GetLastFailure(); f != nil && a.GetAttempt() > 1 {
			v.addTrouble(fmt.Sprintf("%s, attempt %d: %s", a.GetActivityType().GetName(), a.GetAttempt(), f.GetMessage()))
		}
	}
	return items, nil
}

// addTrouble keeps the first few different lines.
func (v *view) addTrouble(lines ...string) {
	for _, line := range lines {
		if !slices.Contains(v.Trouble, line) && len(v.Trouble) < 4 {
			v.Trouble = append(v.Trouble, line)
		}
	}
}

// atMost bounds n by all, if all is known: the looks at a workflow and at its activities
// are not taken at one instant, so that a chunk may be seen in both.
func atMost(n, all int) int {
	if all > 0 {
		return min(n, all)
	}
	return n
}

// beat returns how many images of its chunk an open activity has done.
func beat(a *workflow.PendingActivityInfo) int {
	switch a.GetActivityType().GetName() {
	case contract.IngestChunk.Name, contract.SegmentChunk.Name, contract.AssessWindow.Name:
	default:
		return 0
	}
	var b contract.Beat
	payloads := a.GetHeartbeatDetails()
	if payloads == nil || converter.GetDefaultDataConverter().FromPayloads(payloads, &b) != nil {
		return 0
	}
	return b.Done
}

// gone reports whether err says that the server does not know the workflow: its database
// was begun anew. What is recorded is in the store.
func gone(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

// closedState names the state of a closed workflow.
func closedState(s enumspb.WorkflowExecutionStatus) string {
	switch s {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return contract.StateRunning
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return contract.StateDone
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return contract.StateCancelled
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return contract.StateFailed
	}
	return "unknown"
}
