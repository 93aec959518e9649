package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// callModel makes one call to a model under evaluation or to a judge. It is bounded by time,
// not by attempts: throttling and a broken network pass, and how long to wait is the
// activity's to say.
func callModel(ctx workflow.Context, d contract.DialoguesInput, in contract.AskInput) (contract.AskResult, error) {
	model := d.Evaluation.Model
	if in.Call.Kind != cxreasonbench.CallModel {
		model = d.Evaluation.Judge
	}
	ctx = asking(ctx, d.Common, model)
	var out contract.AskResult
	err := workflow.ExecuteActivity(ctx, contract.Ask.Name, in).Get(ctx, &out)
	return out, err
}

// asking returns the options of what asks a model.
func asking(ctx workflow.Context, c contract.Common, card string) workflow.Context {
	t := c.Tuning
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              contract.QueueAsk(c.Queue, card),
		ScheduleToCloseTimeout: t.Calls.Patience,
		StartToCloseTimeout:    t.Calls.Attempt,
		HeartbeatTimeout:       t.Calls.Heartbeat,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        t.Retry,
			BackoffCoefficient:     2,
			MaximumInterval:        t.RetryMax,
			NonRetryableErrorTypes: contract.Permanent(),
		},
	})
}

// fatalCall reports whether an error of this type is about every call, not about one: it ends
// the evaluation instead of leaving one dialogue after the other undetermined.
func fatalCall(errType string) bool {
	switch errType {
	case contract.ErrTypeRefused, contract.ErrTypeSpec, contract.ErrTypeDataset, contract.ErrTypeOversize, contract.ErrTypeDigest:
		return true
	}
	return false
}
