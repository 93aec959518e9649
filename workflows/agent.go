package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// agent is what a reproduction knows of an agent's rollouts.
type agent struct {
	measured int
	planned  bool
	sets     []contract.RolloutSet
	results  []contract.RolloutsResult
	done     []bool
	errs     []error
	family   family
	tables   contract.TabulateResult
}

// launchQuestions reads or draws a question set, which is its own data set.
func launchQuestions(ctx workflow.Context, in contract.LaunchInput) (contract.LaunchResult, error) {
	c, started := in.Common, workflow.Now(ctx)
	q, err := call(ctx, c, work{queue: contract.QueueCPU(c.Queue), chunk: true}, contract.ImportQuestions, contract.ImportQuestionsInput{Plan: c.Plan})
	if err != nil {
		return contract.LaunchResult{}, passOn(err)
	}
	data := contract.IngestResult{
		Ingest: q.Ingest, Totals: q.Totals,
		Manifest: contract.ManifestResult{Manifest: q.Questions, Reproduction: q.Reproduction},
	}
	return launchOver(ctx, contract.ReproductionInput{Common: c, Reproduction: q.Reproduction, Ingest: data, Launched: started, Questions: &q})
}

// runAgent measures the pictures, runs every set of rollouts and makes the tables.
func (r *reproduction) runAgent(ctx workflow.Context, totals *contract.ChunkTotals) (*contract.ReceiptRollouts, error) {
	g, c := &r.agent, r.in.Common
	if err := r.measure(ctx, totals); err != nil {
		return nil, err
	}
	if c.Trains {
		if err := r.train(ctx, totals); err != nil {
			return nil, err
		}
	}
	cpu := work{queue: contract.QueueCPU(c.Queue)}
	planned, err := call(ctx, c, cpu, contract.PlanRollouts, contract.PlanRolloutsInput{Plan: c.Plan, Checkpoints: r.trained.checkpoints()})
	if err != nil {
		return nil, passOn(err)
	}
	g.sets, g.planned = planned.Sets, true
	g.results, g.done, g.errs = make([]contract.RolloutsResult, len(g.sets)), make([]bool, len(g.sets)), make([]error, len(g.sets))
	if err := r.runSets(ctx); err != nil {
		return nil, err
	}
	if err := workflow.Await(ctx, func() bool { return !r.gate.state.Paused }); err != nil {
		return nil, err
	}
	out := &contract.ReceiptRollouts{Questions: *r.in.Questions, Training: r.trained.receipt}
	tabulate := contract.TabulateAgentInput{Plan: c.Plan, Questions: r.in.Questions.Questions, Reproduction: r.in.Reproduction}
	for _, res := range g.results {
		out.Sets = append(out.Sets, res.Doc)
		out.Calls = append(out.Calls, res.Calls)
		out.Totals.Add(res.Totals)
	}
	if tabulate.Sets = out.Sets; out.Training != nil {
		tabulate.Training = out.Training.Closed.Doc
		out.Calls = append(out.Calls, out.Training.Closed.Calls)
	}
	out.Tables, err = call(ctx, c, cpu, contract.TabulateAgent, tabulate)
	if err != nil {
		return nil, passOn(err)
	}
	g.tables = out.Tables
	return out, nil
}

// measure measures every picture of the question set, a window at a time.
func (r *reproduction) measure(ctx workflow.Context, totals *contract.ChunkTotals) error {
	return r.measureAll(ctx, totals, &r.agent.measured, r.in.Questions.Windows, contract.MeasurePicturesInput{
		Plan: r.in.Common.Plan, Questions: r.in.Questions.Questions, Reproduction: r.in.Reproduction,
	})
}

// measureAll measures so many windows of a question set, and counts them in done.
func (r *reproduction) measureAll(ctx workflow.Context, totals *contract.ChunkTotals, done *int, windows int, in contract.MeasurePicturesInput) error {
	c := r.in.Common
	var failed error
	p := &pool{
		inFlight: c.Tuning.InFlight, gate: &r.gate,
		run: func(ctx workflow.Context, i int) error {
			of := in
			of.Window = i
			out, err := call(ctx, c, work{queue: contract.QueueGPU(c.Queue), chunk: true}, contract.MeasurePictures, of)
			if err == nil {
				*done++
				totals.Add(out.Totals)
			}
			return err
		},
		failed:  func(_ int, err error) { failed = err },
		trouble: func(errType, message string) { r.shut(ctx, contract.Gate{Paused: true, Reason: message, By: errType}) },
		stop:    func() bool { return failed != nil },
	}
	if err := p.do(ctx, span(0, windows)); err != nil {
		return err
	}
	if failed != nil {
		r.state = contract.StateFailed
		return passOn(failed)
	}
	return nil
}

// runSets runs every set.
func (r *reproduction) runSets(ctx workflow.Context) error {
	if err := r.served(ctx, r.runSome); err != nil {
		r.state = contract.StateFailed
		return err
	}
	return nil
}

// runSome runs a bounded number of sets at a time.
func (r *reproduction) runSome(ctx workflow.Context, sets []int) error {
	g := &r.agent
	err := each(ctx, len(sets), r.in.Common.Tuning.Calls.Evaluations, func(ctx workflow.Context, at int) {
		i := sets[at]
		g.results[i], g.errs[i] = child[contract.RolloutsInput, contract.RolloutsResult]{
			common: r.in.Common, reproduction: r.in.Reproduction, gate: &r.gate, kin: &g.family,
			kind: contract.Rollouts, stage: contract.StageRollouts,
			id: contract.RolloutsWorkflowID(r.in.Reproduction, g.sets[i].Name),
			input: func(s contract.Gate) contract.RolloutsInput {
				return contract.RolloutsInput{
					Common: r.in.Common, Range: r.rolloutRange(i), Parent: workflow.GetInfo(ctx).WorkflowExecution.ID, Gate: s,
				}
			},
		}.run(ctx)
		g.done[i] = g.errs[i] == nil
	})
	if err != nil {
		return err
	}
	for _, err := range g.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reproduction) rolloutRange(i int) contract.RolloutRange {
	return contract.RolloutRange{
		Plan: r.in.Common.Plan, Questions: r.in.Questions.Questions, Reproduction: r.in.Reproduction,
		Set: r.agent.sets[i], Items: r.in.Questions.Items,
	}
}

// agentProgress is the progress of an agent's reproduction; open children answer for themselves.
func (r *reproduction) agentProgress() []contract.StageProgress {
	g, q := &r.agent, r.in.Questions
	questions := contract.StageProgress{Stage: contract.StageQuestions, State: contract.StateDone, Items: q.Items, ItemsAll: q.Items}
	measure := contract.StageProgress{
		Stage: contract.StageMeasure, State: contract.StateRunning, Windows: q.Windows, Done: g.measured,
		Items: min(g.measured*contract.PictureWindow, q.Pictures), ItemsAll: q.Pictures,
	}
	roll := contract.StageProgress{Stage: contract.StageRollouts, State: contract.StateWaiting, Windows: len(g.sets), Active: append([]string{}, g.family.active...)}
	if q.Windows == 0 { // no arm measures
		measure.State, measure.ItemsAll = contract.StateDone, 0
	}
	if g.planned {
		measure.State, roll.State = contract.StateDone, contract.StateRunning
	}
	for i, res := range g.results {
		switch {
		case g.done[i]:
			roll.Done++
			roll.Items += res.Totals.Rollouts
			roll.ItemsAll += res.Totals.Rollouts
			roll.Failed += res.Totals.Undetermined
			roll.Calls += contract.Total(res.Totals.Calls)
		case !slices.Contains(g.family.active, contract.RolloutsWorkflowID(r.in.Reproduction, g.sets[i].Name)):
			roll.ItemsAll += q.Items
		}
	}
	if g.planned && roll.Done == len(g.sets) {
		roll.State = contract.StateDone
	}
	tables := contract.StageProgress{Stage: contract.StageTabulate, State: contract.StateWaiting, ItemsAll: 1}
	if !g.tables.Summary.IsZero() {
		tables.State, tables.Items = contract.StateDone, 1
	}
	if !r.in.Common.Trains {
		return []contract.StageProgress{questions, measure, roll, tables}
	}
	if r.trained.prepared != nil {
		measure.State = contract.StateDone
	}
	return []contract.StageProgress{questions, measure, r.trained.progress(), roll, tables}
}
