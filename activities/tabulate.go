package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/report/scoring"
)

// Tabulate turns the dialogues of every evaluation into the figures of the tables, and says
// what the result of the reproduction is.
func (a *Activities) Tabulate(ctx context.Context, in contract.TabulateInput) (contract.TabulateResult, error) {
	p := a.beat(ctx, len(in.Evaluations))
	defer p.close()
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return contract.TabulateResult{}, err
	}
	evaluations := make([]artifacts.Digest, len(in.Evaluations))
	for i, ref := range in.Evaluations {
		evaluations[i] = ref.Digest
	}
	doc, err := pl.TabulateKey(in.Benchmark.Digest, evaluations)
	if err != nil {
		return contract.TabulateResult{}, err
	}
	t := &tally{effort: effort{reproduction: in.Reproduction, id: in.Reproduction}}
	rec, err := a.steps.once(p, doc, t, pl.Class(), func(context.Context) (product, error) {
		s, err := a.evaluationSummary(p, pl, in)
		if err != nil {
			return product{}, err
		}
		text, err := artifacts.Canonical(s)
		return product{data: text, mediaType: contract.EvaluationSummaryMediaType}, err
	})
	if err != nil {
		return contract.TabulateResult{}, err
	}
	results, err := putJSON(p.work, a.opts.Store, contract.EvaluationResults{
		Format: contract.EvaluationResultsFormat, Findings: in.Results.Digest, Benchmark: in.Benchmark.Digest,
		Evaluations: evaluations, Tables: rec.Result.Digest,
	}, contract.EvaluationResultsMediaType)
	return contract.TabulateResult{Summary: rec.Result, Results: results, ResultDigest: results.Digest, Totals: t.totals}, err
}

// evaluationSummary counts every page of every evaluation.
func (a *Activities) evaluationSummary(p *pulse, pl *derive.Plan, in contract.TabulateInput) (*contract.EvaluationSummary, error) {
	s, err := a.summaryFrame(p.work, pl, in.Benchmark)
	if err != nil {
		return nil, err
	}
	of, spec := pl.Evaluations(), pl.Spec.Evaluation
	if len(of) != len(in.Evaluations) {
		return nil, fmt.Errorf("%d evaluations were made, the plan has %d", len(in.Evaluations), len(of))
	}
	for i, ref := range in.Evaluations {
		counted, err := a.tallyEvaluation(p, ref, i)
		if err != nil {
			return nil, err
		}
		s.Evaluations = append(s.Evaluations, counted.Summary(contract.ModelOf(of[i].Model, of[i].Sampling), of[i].Sampling, scoring.Bootstrap{Draws: spec.Bootstrap, Seed: spec.Seed}))
		p.step(1)
	}
	return s, nil
}

// summaryFrame is a summary without figures: what was asked, under which rules, judged by whom.
func (a *Activities) summaryFrame(ctx context.Context, pl *derive.Plan, benchmark artifacts.Ref) (*contract.EvaluationSummary, error) {
	bench, err := getJSON[contract.Benchmark](ctx, a.opts.Store, benchmark)
	if err != nil {
		return nil, fmt.Errorf("load benchmark: %w", err)
	}
	rules, err := experiments.BenchmarkRules(&pl.Spec)
	if err != nil {
		return nil, fail(contract.ErrTypeSpec, "plan %s: %w", pl.Ref.Digest.Short(), err)
	}
	spec := pl.Spec.Evaluation
	s := &contract.EvaluationSummary{
		Format: contract.EvaluationSummaryFormat, Name: pl.Spec.Name, Paper: pl.Spec.Paper, Rules: rules,
		Benchmark: contract.SummaryBenchmark{
			Digest: benchmark.Digest, Source: bench.Source, Rules: bench.Rules, Seed: bench.Seed, Prompts: bench.Prompts,
			DataUse: bench.DataUse, Cases: len(bench.Cases), Tasks: contract.CasesOf(bench.Cases),
		},
		Scoring: spec.Scoring, Bootstrap: spec.Bootstrap, Seed: spec.Seed, Evaluations: []contract.SummaryEvaluation{},
	}
	if pl.Judge != nil {
		judge := contract.ModelOf(pl.Judge, experiments.Greedy)
		s.Judge = &judge
	}
	return s, nil
}

// tallyEvaluation counts one evaluation.
func (a *Activities) tallyEvaluation(p *pulse, ref artifacts.Ref, index int) (*scoring.Evaluation, error) {
	doc, err := getJSON[contract.EvaluationDoc](p.work, a.opts.Store, ref)
	if err != nil {
		return nil, fmt.Errorf("load evaluation: %w", err)
	}
	if doc.Format != contract.EvaluationFormat || doc.Index != index {
		return nil, fmt.Errorf("evaluation %s: format %q, number %d at place %d", ref.Digest.Short(), doc.Format, doc.Index, index)
	}
	counted := scoring.New(doc.Evaluation)
	err = EachPage(p.work, a.opts.Store, &doc, func(page *contract.DialoguesDoc) error {
		p.progress()
		return counted.Add(page)
	})
	for _, t := range doc.Tasks {
		if t.Waits > 0 {
			counted.Waits(t.Task, t.Waits)
		}
	}
	return counted, err
}

// EachPage calls fn for every page of an evaluation: task by task, Path 1 before Path 2.
func EachPage(ctx context.Context, store *artifacts.Repository, doc *contract.EvaluationDoc, fn func(*contract.DialoguesDoc) error) error {
	for _, t := range doc.Tasks {
		for _, list := range []artifacts.Ref{t.Path1, t.Path2} {
			if list.IsZero() {
				continue
			}
			if err := eachPacked(ctx, store, list, fn); err != nil {
				return err
			}
		}
	}
	return nil
}
