package main

import (
	"context"
	"errors"
	"slices"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/compare"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// archive is a store with what comparisons read of it: its reproductions, its catalog, and the
// dialogues that it can hold again.
type archive struct {
	*shelfIndex
	list    []*remembered
	replays *activities.Replayer
}

// openArchive opens a store. The caller closes the archive.
func (a *app) openArchive(ctx context.Context, store *artifacts.Repository) (*archive, error) {
	list, err := reproductions(ctx, store)
	if err != nil {
		return nil, err
	}
	replays, err := activities.NewReplayer(store)
	if err != nil {
		return nil, err
	}
	return &archive{shelfIndex: a.index(store), list: list, replays: replays}, nil
}

// ended finds a reproduction that has come to its end, by every name that verbs take.
func (s *archive) ended(which string) (*contract.Receipt, error) {
	r, err := chooseReproduction(s.list, which, withReceipt)
	if err != nil {
		return nil, err
	}
	if !withReceipt(r) {
		return nil, usageError("the same `cxrepro run` goes on with it; `cxrepro status "+r.ID+"` shows how far it is",
			"reproduction %s (%s) has not come to its end, so there is nothing to compare yet", r.ID, r.Name)
	}
	return r.receipt, nil
}

// side opens a reproduction for a comparison.
func (s *archive) side(ctx context.Context, r *contract.Receipt) (*compare.Side, error) {
	out := &compare.Side{Receipt: r, Plan: &experiments.Plan{}, Source: compare.Source{Statement: s.statement, Made: s.made}}
	if err := readJSON(ctx, s.store, r.Plan, out.Plan); err != nil {
		return nil, err
	}
	if len(r.Assessed) > 0 {
		out.Findings = &contract.Summary{}
		if err := readJSON(ctx, s.store, r.Summary, out.Findings); err != nil {
			return nil, err
		}
		out.Windows = func(ctx context.Context, fn func(compare.Window) error) error { return s.windows(ctx, r, fn) }
	}
	if len(r.RolloutSets) > 0 {
		return out, s.agent(ctx, r, out)
	}
	if r.Tables.IsZero() {
		if r.Benchmark.IsZero() {
			return out, nil
		}
		out.Benchmark = &contract.Benchmark{}
		return out, readJSON(ctx, s.store, r.Benchmark, out.Benchmark)
	}
	e, err := loadEvaluation(ctx, s.store, r)
	if err != nil {
		return nil, err
	}
	out.Benchmark, out.Tables, out.Evaluations = e.bench, e.summary, e.docs
	out.Pages, out.Answer = e.pages, e.answer
	out.Calls = s.calls(e, out.Plan)
	return out, nil
}

// agent opens what an agent was asked and did.
func (s *archive) agent(ctx context.Context, r *contract.Receipt, out *compare.Side) error {
	g := &compare.Agent{Sets: make([]contract.RolloutSetDoc, len(r.RolloutSets))}
	out.Agent = g
	err := errors.Join(readJSON(ctx, s.store, r.Questions, &g.Questions), readJSON(ctx, s.store, r.AgentTables, &g.Tables))
	for i, ref := range r.RolloutSets {
		err = errors.Join(err, readJSON(ctx, s.store, ref, &g.Sets[i]))
	}
	g.Rollouts = func(set int, fn func(*contract.RolloutsDoc) error) error {
		return eachRolloutPage(ctx, s.store, g.Sets[set].Pages, fn)
	}
	return err
}

// eachRolloutPage reads the pages of a set of rollouts.
func eachRolloutPage(ctx context.Context, store *artifacts.Repository, pages artifacts.Ref, fn func(*contract.RolloutsDoc) error) error {
	var packed contract.Packed
	if err := readJSON(ctx, store, pages, &packed); err != nil {
		return err
	}
	for _, item := range packed.Items {
		var page contract.RolloutsDoc
		if err := readJSON(ctx, store, item.Ref, &page); err != nil {
			return err
		}
		if err := fn(&page); err != nil {
			return err
		}
	}
	return nil
}

// windows reads the windows of a data set, and rows when they are asked for.
func (s *archive) windows(ctx context.Context, r *contract.Receipt, fn func(compare.Window) error) error {
	return eachAssessed(ctx, s.store, r, func(entries []contract.Entry, assessed *contract.Assessed) error {
		w := compare.Window{Entries: entries, Tasks: assessed.Tasks, Rows: func(ctx context.Context, task int) ([]contract.FindingRow, error) {
			return rowsOf(ctx, s.store, entries, assessed, task)
		}}
		if err := readJSON(ctx, s.store, assessed.Inputs, &w.Inputs); err != nil {
			return err
		}
		return fn(w)
	})
}

// made returns the keys that gave a result.
func (s *archive) made(ctx context.Context, result artifacts.Digest) ([]artifacts.Key, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	steps, err := cat.Steps(ctx, result)
	if err != nil {
		return nil, err
	}
	var out []artifacts.Key
	for _, st := range steps {
		if !st.Removed {
			out = append(out, st.Key)
		}
	}
	return out, nil
}

// calls walks single dialogues of an evaluation.
func (s *archive) calls(e *evaluated, p *experiments.Plan) func(context.Context, int, cxreasonbench.Task, cxreasonbench.Path, int, func(cxreasonbench.Call, artifacts.Key) error) error {
	open := map[int]*activities.Replay{}
	return func(ctx context.Context, i int, task cxreasonbench.Task, path cxreasonbench.Path, number int, see func(cxreasonbench.Call, artifacts.Key) error) error {
		r := open[i]
		if r == nil {
			var err error
			if r, err = s.replays.Open(ctx, p, e.receipt.Benchmark, e.docs[i].Index); err != nil {
				return err
			}
			open[i] = r
		}
		var population *contract.PopulationDoc
		if path == cxreasonbench.Path2 {
			at := slices.IndexFunc(e.docs[i].Tasks, func(t contract.EvaluationTask) bool { return t.Task == task })
			if at < 0 || e.docs[i].Tasks[at].Population.IsZero() {
				return nil
			}
			population = &contract.PopulationDoc{}
			if err := readJSON(ctx, s.store, e.docs[i].Tasks[at].Population, population); err != nil {
				return err
			}
		}
		return r.Calls(ctx, task, path, population, number, func(c cxreasonbench.Call, _ contract.AskResult, key artifacts.Key) error { return see(c, key) })
	}
}
