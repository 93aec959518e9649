package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/experiments"
	"cxrepro/internal/contract"
)

// Launch reads the plan's data set and starts the reproduction that plan and manifest make,
// unless it is finished or runs already. It does not wait for it.
func Launch(ctx workflow.Context, in contract.LaunchInput) (contract.LaunchResult, error) {
	c := in.Common
	started := workflow.Now(ctx)
	if c.Agent {
		return launchQuestions(ctx, in)
	}
	if c.Benchmark == experiments.SourceRelease {
		return launchRelease(ctx, c, started)
	}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            contract.IngestWorkflowID(c.Spec),
		TaskQueue:             contract.QueueCPU(c.Queue),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		TypedSearchAttributes: attributes(c, "", contract.StageIngest),
	})
	var data contract.IngestResult
	err := workflow.ExecuteChildWorkflow(child, contract.IngestDataset.Name, contract.IngestInput{Common: c}).Get(ctx, &data)
	if err != nil {
		return contract.LaunchResult{}, passOnChild(err)
	}
	return launchOver(ctx, contract.ReproductionInput{Common: c, Reproduction: data.Manifest.Reproduction, Ingest: data, Launched: started})
}

// launchRelease reads a published benchmark, which is its own data set.
func launchRelease(ctx workflow.Context, c contract.Common, started time.Time) (contract.LaunchResult, error) {
	b, err := call(ctx, c, work{queue: contract.QueueCPU(c.Queue)}, contract.ImportRelease, contract.ImportReleaseInput{Plan: c.Plan})
	if err != nil {
		return contract.LaunchResult{}, passOn(err)
	}
	data := contract.IngestResult{
		Ingest: b.Ingest, Totals: b.Totals,
		Manifest: contract.ManifestResult{Manifest: b.Benchmark, Reproduction: b.Reproduction},
	}
	return launchOver(ctx, contract.ReproductionInput{Common: c, Reproduction: b.Reproduction, Ingest: data, Launched: started, Benchmark: &b})
}

// launchOver starts the reproduction over what was read, unless it is finished.
func launchOver(ctx workflow.Context, in contract.ReproductionInput) (contract.LaunchResult, error) {
	c, id := in.Common, in.Reproduction
	found, err := call(ctx, c, work{queue: contract.QueueCPU(c.Queue)}, contract.FindReceipt, contract.FindReceiptInput{
		Reproduction: id, Plan: c.Plan, Manifest: in.Ingest.Manifest.Manifest,
	})
	if err != nil {
		return contract.LaunchResult{}, err
	}
	if !found.Receipt.IsZero() {
		return contract.LaunchResult{Reproduction: id, Finished: found.Receipt}, nil
	}
	err = startReproduction(ctx, in)
	return contract.LaunchResult{Reproduction: id}, err
}

// startReproduction starts the reproduction and waits until the server has it. One that
// runs already is as good.
func startReproduction(ctx workflow.Context, in contract.ReproductionInput) error {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            contract.ReproductionWorkflowID(in.Reproduction),
		TaskQueue:             contract.QueueCPU(in.Common.Queue),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		TypedSearchAttributes: attributes(in.Common, in.Reproduction, ""),
	})
	err := workflow.ExecuteChildWorkflow(ctx, contract.Reproduction.Name, in).GetChildWorkflowExecution().Get(ctx, nil)
	var running *temporal.ChildWorkflowExecutionAlreadyStartedError
	if errors.As(err, &running) {
		return nil
	}
	return err
}

// passOnChild keeps the error type of what failed inside a child.
func passOnChild(err error) error {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return passOn(err)
	}
	return err
}
