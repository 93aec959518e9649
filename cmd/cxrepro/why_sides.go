package main

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	tables "cxrepro/internal/report"
	"cxrepro/internal/why"
)

// planDoc is a stored plan.
type planDoc = experiments.Plan

// other is the side of another reproduction: its evaluation of the same card and sampling, or of
// the same title, or the only one of that sampling.
func (q *whyQuestion) other(ctx context.Context, which string) error {
	r, err := q.archive.ended(which)
	if err != nil {
		return err
	}
	if r.Tables.IsZero() {
		return usageError("name one that asked models", "reproduction %s (%s) asks no model", r.Reproduction, r.Name)
	}
	e, err := loadEvaluation(ctx, q.archive.store, r)
	if err != nil {
		return err
	}
	i, err := q.counterpart(e)
	if err != nil {
		return err
	}
	plan := &planDoc{}
	if err := readJSON(ctx, q.archive.store, r.Plan, plan); err != nil {
		return err
	}
	if q.theirs, err = why.Narrow(plan, r.Benchmark, casesOf(e.bench), e.docs[i].Index); err != nil {
		return err
	}
	if q.theirs.Questions, err = questionsOf(e.bench); err != nil {
		return err
	}
	ref := q.ref
	ref.Evaluation = i
	q.target, q.against = valueOf(ref.Figure(e.scored())), r.Reproduction
	return nil
}

func (q *whyQuestion) counterpart(e *evaluated) (int, error) {
	ours := &q.e.summary.Evaluations[q.ref.Evaluation]
	only, found := -1, 0
	for _, fits := range []func(*contract.SummaryEvaluation) bool{
		func(x *contract.SummaryEvaluation) bool { return x.Model.Name == ours.Model.Name },
		func(x *contract.SummaryEvaluation) bool { return x.Model.Title == ours.Model.Title },
		func(x *contract.SummaryEvaluation) bool { return true },
	} {
		found = 0
		for i := range e.summary.Evaluations {
			if x := &e.summary.Evaluations[i]; x.Sampling == ours.Sampling && fits(x) {
				only, found = i, found+1
			}
		}
		if found == 1 {
			return only, nil
		}
	}
	return 0, usageError("name a reproduction that asked this model, or one model alone", "reproduction %s has %d evaluations of sampling %s, and none of them is %s", e.receipt.Reproduction, found, ours.Sampling, ours.Model.Name)
}

// publishedExperiment is the folder of the experiment as the paper made it.
const publishedExperiment = "cxreasonbench"

// paper is the side of the published figure: the program's own experiment says how it was made.
func (q *whyQuestion) paper() error {
	if err := textbookOnly(q.ref); err != nil {
		return err
	}
	figures, err := claims.PaperFigures()
	if err != nil {
		return err
	}
	f, ok := figures.Figure(cxreasonbench.Place{Model: q.ref.Model, Sampling: q.ref.Sampling, Path: q.ref.Path, Row: q.ref.Row(), Column: q.ref.Column})
	if !ok {
		return usageError("give --against RUN_B", "the paper has no figure for %s of %s", q.ref.Ref, q.ref.Model)
	}
	switch refined := q.ref.Ref.Kind == tables.Refined; {
	case !f.Known:
		q.target = why.Value{Why: "the paper prints N/A"}
	case refined && !f.HasRefined:
		return usageError("leave :refined out", "the paper prints one figure for %s", q.ref.Ref)
	case refined:
		q.target = why.ValueOf(f.Refined, 0, 0, "")
	default:
		q.target = why.ValueOf(f.Value, 0, 0, "")
	}
	plan, err := publishedPlan(q.ours.Plan.Prompts)
	if err != nil {
		return err
	}
	for _, of := range plan.Evaluations() {
		if of.Model.Title == q.ref.Model && of.Sampling == q.e.summary.Evaluations[q.ref.Evaluation].Sampling {
			if q.theirs, err = why.Narrow(plan, q.benchmarkOf(plan), nil, of.Index); !q.theirs.Benchmark.IsZero() {
				q.theirs.Questions = q.ours.Questions
			}
			return err
		}
	}
	return usageError("give --against RUN_B", "experiments/%s has no card of %s", publishedExperiment, q.ref.Model)
}

// benchmarkOf is the paper's benchmark where ours is that, zero where it is another.
func (q *whyQuestion) benchmarkOf(p *planDoc) artifacts.Ref {
	ours := q.ours.Plan.Spec
	if ours.Benchmark.Source == p.Spec.Benchmark.Source && ours.Dataset.Name == p.Spec.Dataset.Name {
		return q.ours.Benchmark
	}
	return artifacts.Ref{}
}

// publishedPlan is the plan of the experiment that comes with the program. The wording of its
// prompts is ours, so they are those of the other side.
func publishedPlan(prompts artifacts.Ref) (*planDoc, error) {
	name := publishedExperiment + "/spec.yaml"
	data, err := experiments.Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	spec, err := experiments.Parse(name, data)
	if err != nil {
		return nil, err
	}
	pins := experiments.Pins{Prompts: prompts}
	card := func(name string) (*experiments.ModelCard, error) {
		path := publishedExperiment + "/" + name
		data, err := experiments.Files.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("model card: %w", err)
		}
		return experiments.ParseModelCard(path, data)
	}
	for _, m := range spec.Evaluation.Models {
		c, err := card(m)
		if err != nil {
			return nil, err
		}
		pins.Models = append(pins.Models, *c)
	}
	if pins.Judge, err = card(spec.Evaluation.Judge); err != nil {
		return nil, err
	}
	return experiments.Pin(spec, pins)
}
