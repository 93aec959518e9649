package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
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
	agent     agent
	trained   trains
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
	r.evaluate.family, r.agent.family = family{gate: &r.gate}, family{gate: &r.gate}
	r.trained.family = family{gate: &r.gate}
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
	var rolled *contract.ReceiptRollouts
	if r.in.Questions != nil {
		var err error
		if rolled, err = r.runAgent(ctx, &totals); err != nil {
			return contract.ReproductionResult{}, err
		}
		out.ResultDigest = rolled.Tables.ResultDigest
	}
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
		Rollouts: rolled,
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
	err := each(ctx, len(r.shards), r.in.Common.Tuning.Shards, func(ctx workflow.Context, i int) {
		for _, stage := range []string{contract.StageSegment, contract.StageAssess} {
			if r.shards[i].err = r.runStage(ctx, i, stage); r.shards[i].err != nil {
				return
			}
		}
	})
	if err != nil {
		return err
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

// runStage runs one shard of one stage as a child.
func (r *reproduction) runStage(ctx workflow.Context, i int, stage string) error {
	s := &r.shards[i]
	out, err := child[contract.StageInput, contract.StageResult]{
		common: r.in.Common, reproduction: r.in.Reproduction, gate: &r.gate, kin: running{r, s, stage},
		kind: contract.Stage, stage: stage, id: contract.StageWorkflowID(r.in.Reproduction, stage, i),
		input: func(g contract.Gate) contract.StageInput {
			return contract.StageInput{
				Common: r.in.Common, Reproduction: r.in.Reproduction, Ingest: r.in.Ingest.Ingest,
				Manifest: r.in.Ingest.Manifest.Manifest, Stage: stage, Shard: i, Begin: s.begin, End: s.end, Next: s.begin,
				Parent: workflow.GetInfo(ctx).WorkflowExecution.ID, Gate: g,
			}
		},
	}.run(ctx)
	if err == nil {
		s.done[stage] = out
	}
	return err
}

// running is a shard's list of the stages that run.
type running struct {
	r     *reproduction
	shard *shard
	stage string
}

func (k running) begun(ctx workflow.Context, id string, given contract.Gate) {
	k.shard.active[k.stage] = id
	if k.r.gate.state != given {
		k.r.tell(ctx)
	}
}

func (k running) ended(string) { delete(k.shard.active, k.stage) }
