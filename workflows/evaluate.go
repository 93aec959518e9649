package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// evaluate is what a reproduction knows of its benchmark and its evaluations.
type evaluate struct {
	benchmark contract.BenchmarkResult
	// chunks of the benchmark, and how many are built; zero for one that was there before.
	cases, chunks, built int
	// planned: refs says what is evaluated, nothing for a benchmark that is only built.
	planned bool
	refs    []contract.EvaluationRef
	results []contract.EvaluationResult
	done    []bool
	errs    []error
	family  family
	tables  contract.TabulateResult
}

// evaluates reports whether the experiment goes on where the findings end.
func (r *reproduction) evaluates() bool { return r.in.Common.Benchmark != "" }

// runEvaluation makes the benchmark, puts it to every model, and makes the tables.
func (r *reproduction) runEvaluation(ctx workflow.Context, outputs []artifacts.Ref) (*contract.ReceiptEvaluation, error) {
	e, c := &r.evaluate, r.in.Common
	if err := r.makeBenchmark(ctx, outputs); err != nil {
		return nil, err
	}
	cpu := work{queue: contract.QueueCPU(c.Queue)}
	planned, err := call(ctx, c, cpu, contract.PlanEvaluations, contract.PlanEvaluationsInput{Plan: c.Plan})
	if err != nil {
		return nil, passOn(err)
	}
	e.refs, e.planned = planned.Evaluations, true
	if len(e.refs) == 0 {
		return nil, nil // a benchmark that is only built
	}
	e.results, e.done, e.errs = make([]contract.EvaluationResult, len(e.refs)), make([]bool, len(e.refs)), make([]error, len(e.refs))
	if err := r.askModels(ctx); err != nil {
		return nil, err
	}
	if err := workflow.Await(ctx, func() bool { return !r.gate.state.Paused }); err != nil {
		return nil, err
	}
	out := &contract.ReceiptEvaluation{Benchmark: e.benchmark.Benchmark}
	for _, res := range e.results {
		out.Evaluations = append(out.Evaluations, res.Doc)
		out.Calls = append(out.Calls, res.Calls)
		out.Totals.Add(res.Totals)
	}
	out.Tables, err = call(ctx, c, cpu, contract.Tabulate, contract.TabulateInput{
		Plan: c.Plan, Benchmark: e.benchmark.Benchmark, Reproduction: r.in.Reproduction,
		Evaluations: out.Evaluations, Results: r.summary.Results,
	})
	if err != nil {
		return nil, passOn(err)
	}
	e.tables = out.Tables
	return out, nil
}

// makeBenchmark builds the benchmark from the findings, unless it was there before.
func (r *reproduction) makeBenchmark(ctx workflow.Context, outputs []artifacts.Ref) error {
	e, c := &r.evaluate, r.in.Common
	if r.in.Benchmark != nil {
		e.benchmark = *r.in.Benchmark
		e.cases = e.benchmark.Cases
		return nil
	}
	cpu, chunk := work{queue: contract.QueueCPU(c.Queue)}, work{queue: contract.QueueCPU(c.Queue), chunk: true}
	drawn, err := call(ctx, c, cpu, contract.PlanBenchmark, contract.PlanBenchmarkInput{
		Plan: c.Plan, Manifest: r.in.Ingest.Manifest.Manifest, Outputs: outputs, Reproduction: r.in.Reproduction, Ingest: r.in.Ingest.Ingest,
	})
	if err != nil {
		return passOn(err)
	}
	e.cases, e.chunks = drawn.Cases, drawn.Chunks
	items := make([]contract.PackItem, drawn.Chunks)
	totals, failed := drawn.Totals, error(nil)
	p := &pool{
		inFlight: c.Tuning.InFlight, gate: &r.gate,
		run: func(ctx workflow.Context, i int) error {
			out, err := call(ctx, c, chunk, contract.BuildCases, contract.BuildCasesInput{
				Plan: c.Plan, Drawn: drawn.Drawn, Chunk: i, Reproduction: r.in.Reproduction, Ingest: r.in.Ingest.Ingest,
			})
			if err == nil {
				items[i] = contract.PackItem{Index: i, Ref: out.Output}
				totals.Add(out.Totals)
				e.built++
			}
			return err
		},
		failed:  func(_ int, err error) { failed = err },
		trouble: func(errType, message string) { r.shut(ctx, contract.Gate{Paused: true, Reason: message, By: errType}) },
		stop:    func() bool { return failed != nil },
	}
	if err := p.do(ctx, span(0, drawn.Chunks)); err != nil {
		return err
	}
	if failed != nil {
		return passOn(failed)
	}
	packed, err := call(ctx, c, cpu, contract.PackRefs, contract.PackInput{Add: items})
	if err != nil {
		return passOn(err)
	}
	e.benchmark, err = call(ctx, c, cpu, contract.AssembleBenchmark, contract.AssembleBenchmarkInput{
		Plan: c.Plan, Drawn: drawn.Drawn, Outputs: []artifacts.Ref{packed.List},
	})
	if err != nil {
		return passOn(err)
	}
	totals.Add(e.benchmark.Totals)
	e.benchmark.Totals = totals
	return nil
}

// askModels runs a bounded number of evaluations at a time.
func (r *reproduction) askModels(ctx workflow.Context) error {
	e := &r.evaluate
	err := each(ctx, len(e.refs), r.in.Common.Tuning.Calls.Evaluations, func(ctx workflow.Context, i int) {
		e.results[i], e.errs[i] = child[contract.EvaluationInput, contract.EvaluationResult]{
			common: r.in.Common, reproduction: r.in.Reproduction, gate: &r.gate, kin: &e.family,
			kind: contract.Evaluation, stage: contract.StageEvaluate,
			id: contract.EvaluationWorkflowID(r.in.Reproduction, e.refs[i].Name),
			input: func(g contract.Gate) contract.EvaluationInput {
				return contract.EvaluationInput{
					Common: r.in.Common, Reproduction: r.in.Reproduction, Benchmark: e.benchmark.Benchmark, Index: i,
					Evaluation: e.refs[i], Tasks: e.benchmark.Tasks, Parent: workflow.GetInfo(ctx).WorkflowExecution.ID, Gate: g,
				}
			},
		}.run(ctx)
		e.done[i] = e.errs[i] == nil
	})
	if err != nil {
		return err
	}
	for _, err := range e.errs {
		if err != nil {
			r.state = contract.StateFailed
			return err
		}
	}
	return nil
}

// evaluateProgress adds the stages of an evaluation to a reproduction's progress.
func (r *reproduction) evaluateProgress() []contract.StageProgress {
	e := &r.evaluate
	b := contract.StageProgress{Stage: contract.StageBenchmark, State: contract.StateWaiting, ItemsAll: e.cases}
	switch {
	case !e.benchmark.Benchmark.IsZero():
		b.State, b.Items = contract.StateDone, e.cases
	case e.chunks > 0:
		b.State, b.Items = contract.StateRunning, min(e.built*contract.CaseChunk, e.cases)
	}
	stages := []contract.StageProgress{b}
	if e.planned && len(e.refs) == 0 {
		return stages
	}
	a := contract.StageProgress{Stage: contract.StageEvaluate, State: contract.StateWaiting, Windows: len(e.refs), Active: append([]string{}, e.family.active...)}
	for i, res := range e.results {
		a.State = contract.StateRunning
		if e.done[i] {
			a.Done++
			a.Items += res.Totals.Dialogues
			a.ItemsAll += res.Totals.Dialogues
			a.Failed += res.Totals.Undetermined
			a.Calls += contract.Total(res.Totals.Calls)
		} else if !e.running(i, r.in.Reproduction) {
			a.ItemsAll += e.benchmark.Cases
		}
	}
	if len(e.results) > 0 && a.Done == len(e.results) {
		a.State = contract.StateDone
	}
	t := contract.StageProgress{Stage: contract.StageTabulate, State: contract.StateWaiting, ItemsAll: 1}
	if !e.tables.Summary.IsZero() {
		t.State, t.Items = contract.StateDone, 1
	}
	return append(stages, a, t)
}

// running reports whether the child of an evaluation answers for itself.
func (e *evaluate) running(i int, reproduction string) bool {
	return slices.Contains(e.family.active, contract.EvaluationWorkflowID(reproduction, e.refs[i].Name))
}
