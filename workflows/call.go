package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// work says how an activity may run: on which queue, for how long an attempt.
type work struct {
	queue string
	chunk bool
}

// call runs an activity and waits for its result. Every activity heartbeats; attempts are
// unlimited for transient errors, the classes of errors are decided by the activity.
func call[In, Out any](ctx workflow.Context, c contract.Common, w work, a contract.Activity[In, Out], in In) (Out, error) {
	t := c.Tuning
	limit := t.Table
	if w.chunk {
		limit = t.Chunk
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           w.queue,
		StartToCloseTimeout: limit,
		HeartbeatTimeout:    t.Heartbeat,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        t.Retry,
			BackoffCoefficient:     2,
			MaximumInterval:        t.RetryMax,
			NonRetryableErrorTypes: contract.Permanent(),
		},
	})
	var out Out
	err := workflow.ExecuteActivity(ctx, a.Name, in).Get(ctx, &out)
	return out, err
}

// typeOf returns the error type string that crossed the wire, or ErrTypeUnknown.
func typeOf(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type()
	}
	return contract.ErrTypeUnknown
}

// messageOf returns a short message for people; histories carry no long failures.
func messageOf(err error) string {
	const most = 400
	text := err.Error()
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		text = app.Message()
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}

// passOn turns an activity's error into the workflow's own, so that the type string stays
// on top and the message short. One that was cancelled stays that: its workflow is cancelled, not
// failed.
func passOn(err error) error {
	if temporal.IsCanceledError(err) {
		return err
	}
	return temporal.NewNonRetryableApplicationError(messageOf(err), typeOf(err), nil)
}

// attributes are the search attributes of every workflow of one effort.
func attributes(c contract.Common, reproduction, stage string) temporal.SearchAttributes {
	keys := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyKeyword(contract.AttrPaper).ValueSet(c.Paper),
		temporal.NewSearchAttributeKeyKeyword(contract.AttrDataUse).ValueSet(c.DataUse),
	}
	if reproduction != "" {
		keys = append(keys, temporal.NewSearchAttributeKeyKeyword(contract.AttrReproduction).ValueSet(reproduction))
	}
	if stage != "" {
		keys = append(keys, temporal.NewSearchAttributeKeyKeyword(contract.AttrStage).ValueSet(stage))
	}
	return temporal.NewSearchAttributes(keys...)
}
