package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// launch starts the workflow that reads the data set and starts the reproduction, or joins
// the one that does so already.
func launch(ctx context.Context, c client.Client, p *planned, queue string, tuning contract.Tuning) (client.WorkflowRun, error) {
	use := p.spec.Dataset.DataUse
	attrs := temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyKeyword(contract.AttrPaper).ValueSet(p.spec.Paper),
		temporal.NewSearchAttributeKeyKeyword(contract.AttrDataUse).ValueSet(use),
	)
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       contract.LaunchWorkflowID(p.id),
		TaskQueue:                contract.QueueCPU(queue),
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    attrs,
	}, contract.Launch.Name, contract.LaunchInput{Common: commonOf(p, queue, tuning)})
	if err != nil {
		return nil, serverError(err)
	}
	return run, nil
}

// startOrJoin starts a workflow that is one stage, or joins the one under way, and opens its gate:
// one that was paused goes on.
func startOrJoin(ctx context.Context, c client.Client, id string, common contract.Common, name string, in any) (client.WorkflowRun, error) {
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: contract.QueueCPU(common.Queue),
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, name, in)
	if err != nil {
		return nil, serverError(err)
	}
	// The state is newer than any that it set itself.
	open := contract.Gate{Seq: int(time.Now().Unix()), Budget: common.Tuning.Calls.Budget}
	if err := c.SignalWorkflow(ctx, id, "", contract.SignalGate, open); err != nil {
		return nil, serverError(err)
	}
	return run, nil
}

// commonOf is what every workflow of a plan hands on.
func commonOf(p *planned, queue string, tuning contract.Tuning) contract.Common {
	return contract.Common{
		Plan: p.plan, Spec: p.id, Paper: p.spec.Paper, DataUse: p.spec.Dataset.DataUse, Queue: queue,
		Tuning: tuning.WithDefaults(), Benchmark: benchmarkOf(p), Agent: p.spec.Agent != nil, Trains: p.spec.Training != nil,
	}
}

// benchmarkOf is the source of the benchmark that an experiment asks about, "" without one.
func benchmarkOf(p *planned) string {
	if p.spec.Benchmark == nil {
		return ""
	}
	return p.spec.Benchmark.Source
}

// serverError gives an error of the Temporal client its exit code.
func serverError(err error) error {
	var unavailable *serviceerror.Unavailable
	var deadline *serviceerror.DeadlineExceeded
	if errors.As(err, &unavailable) || errors.As(err, &deadline) {
		return &exitError{Code: exitUnreachable, Err: fmt.Errorf("server of workflows: %w", err), Hint: "run `cxrepro doctor`, then the same command again"}
	}
	return err
}

// workflowError gives the failure of a workflow its message, exit code and hint.
func workflowError(err error) error {
	var cancelled *temporal.CanceledError
	var terminated *temporal.TerminatedError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &cancelled):
		return &exitError{Code: exitCancelled, Err: errors.New("cancelled"), Hint: "the same `cxrepro run` goes on from what is recorded"}
	case errors.As(err, &terminated):
		return &exitError{Code: exitCancelled, Err: errors.New("terminated by an operator"), Hint: "the same `cxrepro run` goes on from what is recorded"}
	case errors.As(err, &app):
		e := &exitError{Code: exitFailed, Err: errors.New(app.Message())}
		switch app.Type() {
		case contract.ErrTypeSpec, contract.ErrTypeDataset, contract.ErrTypeModel, contract.ErrTypeRefused:
			e.Code = exitUsage
		case contract.ErrTypeInputChanged, contract.ErrTypeIncomplete:
			e.Hint = "run the same command again: recorded work is kept, missing work is done"
		case contract.ErrTypeDenied, contract.ErrTypeUnsafeStore:
			e.Code, e.Hint = exitUnreachable, "correct the credentials or the store, then run the same command again"
		case contract.ErrTypeNoProgress:
			e.Hint = "the trainer learned nothing; in a round whose groups each have equal rewards there is nothing to learn: give `xragent train` more --sft-steps"
		case contract.ErrTypeDigest:
			e.Hint = "run `cxrepro artifacts verify --drop-damaged`; what is dropped is computed again"
		}
		return e
	}
	return serverError(err)
}

// loadReceipt reads a receipt and the tables of its findings from the store. The tables are
// nil for an experiment that has no findings of its own.
func loadReceipt(ctx context.Context, store *artifacts.Repository, ref artifacts.Ref) (*contract.Receipt, *contract.Summary, error) {
	var r contract.Receipt
	if err := readJSON(ctx, store, ref, &r); err != nil {
		return nil, nil, err
	}
	s, err := loadFindings(ctx, store, &r)
	return &r, s, err
}

// loadFindings reads the tables of the findings of a reproduction; nil where it has none.
func loadFindings(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) (*contract.Summary, error) {
	if r.Summary.IsZero() {
		return nil, nil
	}
	s := &contract.Summary{}
	if err := readJSON(ctx, store, r.Summary, s); err != nil {
		return nil, err
	}
	return s, nil
}
