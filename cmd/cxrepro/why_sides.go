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

// asked opens a reproduction that asked models, by every name that verbs take.
func (s *archive) asked(ctx context.Context, which string) (*evaluated, error) {
	r, err := s.ended(which)
	if err != nil {
		return nil, err
	}
	if r.Tables.IsZero() {
		return nil, usageError("name one that asked models; `cxrepro status` lists them", "reproduction %s (%s) asks no model, so it has no such cell", r.Reproduction, r.Name)
	}
	return loadEvaluation(ctx, s.store, r)
}

// setting is that of the evaluation at a place of a reproduction.
func (s *archive) setting(ctx context.Context, e *evaluated, i int) (out why.Setting, err error) {
	plan := &experiments.Plan{}
	if err := readJSON(ctx, s.store, e.receipt.Plan, plan); err != nil {
		return out, err
	}
	if out, err = why.Narrow(plan, e.receipt.Benchmark, casesOf(e.bench), e.docs[i].Index); err != nil {
		return out, err
	}
	out.Questions, err = questionsOf(e.bench)
	return out, err
}

// casesOf are the cases of a manifest.
func casesOf(b *contract.Benchmark) map[why.Case]bool {
	out := map[why.Case]bool{}
	for _, c := range b.Cases {
		out[why.Case{Task: c.Task, ID: c.ID}] = true
	}
	return out
}

// questionsOf is the digest of what a manifest asks.
func questionsOf(b *contract.Benchmark) (artifacts.Digest, error) {
	data, err := artifacts.Canonical(map[string]any{"system": b.System, "cases": b.Cases})
	return artifacts.Sum(data), err
}

// valueOf is a figure as why takes it.
func valueOf(f cxreasonbench.Figure) why.Value {
	if !f.Known {
		return why.Value{Why: f.Why, Formula: f.Formula}
	}
	return why.ValueOf(f.Value, f.K, f.N, f.Formula)
}

// other is the side of another reproduction: its evaluation of the same card and sampling, or of
// the same title, or the only one of that sampling.
func (q *whyQuestion) other(ctx context.Context, which string) error {
	e, err := q.archive.asked(ctx, which)
	if err != nil {
		return err
	}
	i, err := q.counterpart(e)
	if err != nil {
		return err
	}
	if q.theirs, err = q.archive.setting(ctx, e, i); err != nil {
		return err
	}
	ref := q.ref
	ref.Evaluation = i
	q.target, q.against = valueOf(ref.Figure(e.scored())), e.receipt.Reproduction
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
	if q.ref.Ref.Kind == tables.Textbook {
		return usageError("leave :"+string(tables.Textbook)+" out, or compare with another reproduction by --against", "the paper prints no textbook reading")
	}
	figures, err := claims.PaperFigures()
	if err != nil {
		return err
	}
	f, ok := figures.Figure(q.ref.Place())
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
func (q *whyQuestion) benchmarkOf(p *experiments.Plan) artifacts.Ref {
	ours := q.ours.Plan.Spec
	if ours.Benchmark.Source == p.Spec.Benchmark.Source && ours.Dataset.Name == p.Spec.Dataset.Name {
		return q.ours.Benchmark
	}
	return artifacts.Ref{}
}

// publishedPlan is the plan of the experiment that comes with the program. The wording of its
// prompts is ours, so they are those of the other side.
func publishedPlan(prompts artifacts.Ref) (*experiments.Plan, error) {
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
