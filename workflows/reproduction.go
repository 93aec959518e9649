package workflows

import (
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

const (
	// childRestarts is how often a stage that was terminated is started again.
	childRestarts = 5
	// childWait is the pause before a stage is started whose id is still taken.
	childWait  = 2 * time.Second
	childWaits = 150
)

// reproduction is the state of one Reproduction workflow.
type reproduction struct {
	in        contract.ReproductionInput
	gate      gate
	cancelled bool
	closing   bool
	shards    []shard
	summary   contract.SummariseResult
	evaluate  evaluate
	state     string
}

// shard is a range of windows and the outcome of its stages.
type shard struct {
	begin, end int
	active     map[string]string // stage -> workflow id
	done       map[string]contract.StageResult
	err        error
}

// Reproduction runs every stage over the manifest and writes the receipt. Shards overlap:
// while one is assessed the next is segmented.
func Reproduction(ctx workflow.Context, in contract.ReproductionInput) (contract.ReproductionResult, error) {
	r := &reproduction{in: in, state: contract.StateRunning}
	r.gate.state.Budget = in.Common.Tuning.Calls.Budget
	r.evaluate.family = family{common: in.Common, reproduction: in.Reproduction, gate: &r.gate}
	for begin := 0; begin < in.Ingest.Manifest.Windows; begin += in.Common.Tuning.Shard {
		end := min(begin+in.Common.Tuning.Shard, in.Ingest.Manifest.Windows)
		r.shards = append(r.shards, shard{begin: begin, end: end, active: map[string]string{}, done: map[string]contract.StageResult{}})
	}
	work, cancel := workflow.WithCancel(ctx)
	defer cancel()
	if err := r.handlers(ctx, cancel); err != nil {
		return contract.ReproductionResult{}, err
	}
	out, err := r.run(work)
	r.closing = true
	free, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	// Handlers end by themselves; the wait only lets their answers out.
	_ = workflow.Await(free, func() bool { return workflow.AllHandlersFinished(free) })
	if err != nil && work.Err() != nil {
		r.state = contract.StateCancelled
		return contract.ReproductionResult{}, work.Err()
	}
	return out, err
}

func (r *reproduction) run(ctx workflow.Context) (contract.ReproductionResult, error) {
	if err := r.runShards(ctx); err != nil {
		return contract.ReproductionResult{}, err
	}
	if err := workflow.Await(ctx, func() bool { return !r.gate.state.Paused }); err != nil {
		return contract.ReproductionResult{}, err
	}
	c := r.in.Common
	cpu := work{queue: contract.QueueCPU(c.Queue)}
	var outputs []artifacts.Ref
	totals, redone := contract.ChunkTotals{}, 0
	for i := range r.shards {
		outputs = append(outputs, r.shards[i].done[contract.StageAssess].Outputs)
		for _, stage := range []string{contract.StageSegment, contract.StageAssess} {
			totals.Add(r.shards[i].done[stage].Totals)
			redone += r.shards[i].done[stage].Redone
		}
	}
	if len(r.shards) > 0 {
		summary, err := call(ctx, c, cpu, contract.Summarise, contract.SummariseInput{
			Plan: c.Plan, Manifest: r.in.Ingest.Manifest.Manifest, Outputs: outputs,
			Reproduction: r.in.Reproduction, Ingest: r.in.Ingest.Ingest,
		})
		if err != nil {
			return contract.ReproductionResult{}, err
		}
		r.summary = summary
	}
	out := contract.ReproductionResult{ResultDigest: r.summary.ResultDigest}
	var asked *contract.ReceiptEvaluation
	if r.evaluates() {
		var err error
		if asked, err = r.runEvaluation(ctx, outputs); err != nil {
			return contract.ReproductionResult{}, err
		}
		if r.in.Benchmark == nil {
			totals.Add(r.evaluate.benchmark.Totals)
		}
		if asked != nil {
			out.ResultDigest = asked.Tables.ResultDigest
		}
	}
	receipt, err := call(ctx, c, cpu, contract.WriteReceipt, contract.ReceiptInput{
		Common: c, Reproduction: r.in.Reproduction, Ingest: r.in.Ingest, Summary: r.summary, Outputs: outputs,
		Totals: totals, Redone: redone, Launched: r.in.Launched, Ended: workflow.Now(ctx), Benchmark: r.evaluate.benchmark.Benchmark, Evaluation: asked,
	})
	if err != nil {
		return contract.ReproductionResult{}, err
	}
	r.state, out.Receipt = contract.StateDone, receipt.Receipt
	if !receipt.ResultDigest.IsZero() {
		out.ResultDigest = receipt.ResultDigest
	}
	return out, nil
}

// runShards runs segmentation then assessment of every shard, a bounded number at a time.
func (r *reproduction) runShards(ctx workflow.Context) error {
	slots := workflow.NewSemaphore(ctx, int64(r.in.Common.Tuning.Shards))
	wg := workflow.NewWaitGroup(ctx)
	for i := range r.shards {
		if err := slots.Acquire(ctx, 1); err != nil {
			break
		}
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			defer slots.Release(1)
			for _, stage := range []string{contract.StageSegment, contract.StageAssess} {
				if r.shards[i].err = r.runStage(ctx, i, stage); r.shards[i].err != nil {
					return
				}
			}
		})
	}
	wg.Wait(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.verdict()
}

// verdict joins what went wrong in any shard into one error.
func (r *reproduction) verdict() error {
	failed, lines := 0, []string{}
	for i := range r.shards {
		if err := r.shards[i].err; err != nil {
			return err
		}
		for _, stage := range []string{contract.StageSegment, contract.StageAssess} {
			d := r.shards[i].done[stage]
			failed += d.FailedCount
			for _, f := range d.Failed {
				if len(lines) < failuresKept {
					lines = append(lines, fmt.Sprintf("%s of window %d: %s: %s", stage, f.Window, f.Type, f.Message))
				}
			}
		}
	}
	if failed == 0 {
		return nil
	}
	r.state = contract.StateFailed
	return temporal.NewNonRetryableApplicationError(
		fmt.Sprintf("%d windows could not be done:\n%s", failed, strings.Join(lines, "\n")), contract.ErrTypeIncomplete, nil)
}

// runStage runs one shard of one stage as a child. A child that was terminated starts
// again: what it finished is in the store.
func (r *reproduction) runStage(ctx workflow.Context, i int, stage string) error {
	s := &r.shards[i]
	id := contract.StageWorkflowID(r.in.Reproduction, stage, i)
	restarts, waits := 0, 0
	for {
		if err := workflow.Await(ctx, func() bool { return !r.gate.state.Paused }); err != nil {
			return err
		}
		passed := r.gate.state
		child := workflow.ExecuteChildWorkflow(r.childContext(ctx, id, stage), contract.Stage.Name, contract.StageInput{
			Common: r.in.Common, Reproduction: r.in.Reproduction, Ingest: r.in.Ingest.Ingest,
			Manifest: r.in.Ingest.Manifest.Manifest, Stage: stage, Shard: i, Begin: s.begin, End: s.end, Next: s.begin,
			Parent: workflow.GetInfo(ctx).WorkflowExecution.ID, Gate: passed,
		})
		err := child.GetChildWorkflowExecution().Get(ctx, nil)
		if err == nil {
			s.active[stage] = id
			if r.gate.state != passed {
				r.tell(ctx)
			}
		}
		var out contract.StageResult
		err = child.Get(ctx, &out)
		delete(s.active, stage)
		var taken *temporal.ChildWorkflowExecutionAlreadyStartedError
		var ended *temporal.TerminatedError
		switch {
		case err == nil:
			s.done[stage] = out
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &taken) && waits < childWaits:
			// An earlier reproduction of the same id is still finishing its images.
			waits++
			if err := workflow.Sleep(ctx, childWait); err != nil {
				return err
			}
		case errors.As(err, &ended) && restarts < childRestarts:
			restarts++
		default:
			return passOnChild(err)
		}
	}
}

func (r *reproduction) childContext(ctx workflow.Context, id, stage string) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            id,
		TaskQueue:             contract.QueueCPU(r.in.Common.Queue),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		TypedSearchAttributes: attributes(r.in.Common, r.in.Reproduction, stage),
	})
}
