package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/report/scoring"
)

// Audit recomputes what a reproduction recorded, from the store alone, and writes nothing. It
// serves one goroutine.
type Audit struct {
	a   *Activities
	p   *pulse
	pl  *derive.Plan
	r   *contract.Receipt
	ref artifacts.Ref
}

// OpenAudit opens the reproduction that a receipt is of. Activities with Options.ReadOnly are
// enough.
//
// Errors: a receipt or a plan that cannot be read.
func (a *Activities) OpenAudit(ctx context.Context, receipt artifacts.Ref) (*Audit, error) {
	r, err := getJSON[*contract.Receipt](ctx, a.opts.Store, receipt)
	if err != nil {
		return nil, fmt.Errorf("the receipt: %w", err)
	}
	if r.Format != contract.ReceiptFormat {
		return nil, fmt.Errorf("%s is no receipt: format %q, want %q", receipt, r.Format, contract.ReceiptFormat)
	}
	pl, err := a.plan(ctx, r.Plan)
	if err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	return &Audit{a: a, p: &pulse{ctx: ctx, work: ctx, a: a}, pl: pl, r: r, ref: receipt}, nil
}

// Receipt is the receipt.
func (u *Audit) Receipt() *contract.Receipt { return u.r }

// Findings recomputes the tables of the findings from the rows, and the list of results. It
// returns what was computed; the caller compares.
func (u *Audit) Findings(ctx context.Context) (tables artifacts.Ref, results artifacts.Ref, err error) {
	data, assessed, err := u.assessed(ctx)
	if err != nil {
		return tables, results, err
	}
	s, err := u.a.tables(u.p, u.pl, data, assessed)
	if err != nil {
		return tables, results, err
	}
	if tables, err = refOfJSON(s, contract.SummaryMediaType); err != nil {
		return tables, results, err
	}
	_, results, err = resultLists(data, assessed, tables.Digest)
	return tables, results, err
}

func (u *Audit) assessed(ctx context.Context) (*derive.Dataset, []contract.Assessed, error) {
	data, err := u.a.dataset(ctx, u.r.Manifest)
	if err != nil {
		return nil, nil, err
	}
	assessed, err := u.a.assessed(u.p, u.r.Assessed, len(data.Manifest.Chunks()))
	if err != nil {
		return nil, nil, err
	}
	for _, w := range assessed {
		if len(w.Tasks) != len(u.pl.Tasks) {
			return nil, nil, fmt.Errorf("window %d: %d tasks were assessed, the plan has %d", w.Window, len(w.Tasks), len(u.pl.Tasks))
		}
	}
	return data, assessed, nil
}

// FindingsTables loads the tables of the findings as they were recorded.
func (u *Audit) FindingsTables(ctx context.Context) (*contract.Summary, error) {
	return getJSON[*contract.Summary](ctx, u.a.opts.Store, u.r.Summary)
}

// Evaluations is how many evaluations there are.
func (u *Audit) Evaluations() int { return len(u.r.Evaluations) }

// Evaluation loads the document of one evaluation.
func (u *Audit) Evaluation(ctx context.Context, i int) (*contract.EvaluationDoc, error) {
	doc, err := getJSON[*contract.EvaluationDoc](ctx, u.a.opts.Store, u.r.Evaluations[i])
	if err == nil && (doc.Format != contract.EvaluationFormat || doc.Index != i) {
		err = fmt.Errorf("evaluation %d: format %q, number %d", i, doc.Format, doc.Index)
	}
	return doc, err
}

// Summary loads the tables of the evaluation as they were recorded.
func (u *Audit) Summary(ctx context.Context) (*contract.EvaluationSummary, error) {
	return getJSON[*contract.EvaluationSummary](ctx, u.a.opts.Store, u.r.Tables)
}

// Count recomputes the figures of one evaluation from its pages.
func (u *Audit) Count(ctx context.Context, i int) (*contract.SummaryEvaluation, error) {
	of := u.pl.Evaluations()
	if i >= len(of) {
		return nil, fmt.Errorf("evaluation %d: the plan has %d", i, len(of))
	}
	counted, err := u.a.tallyEvaluation(u.p, u.r.Evaluations[i], i)
	if err != nil {
		return nil, err
	}
	e := u.pl.Spec.Evaluation
	s := counted.Summary(contract.ModelOf(of[i].Model, of[i].Sampling), of[i].Sampling, scoring.Bootstrap{Draws: e.Bootstrap, Seed: e.Seed})
	return &s, nil
}

// Frame is what the tables of the evaluation say beside figures: benchmark, rules, judge. It
// needs the benchmark's manifest.
func (u *Audit) Frame(ctx context.Context) (*contract.EvaluationSummary, error) {
	return u.a.summaryFrame(ctx, u.pl, u.r.Benchmark)
}

// Results is the list of results of a reproduction with an evaluation or a benchmark.
func (u *Audit) Results(findings artifacts.Digest) (artifacts.Ref, error) {
	list := contract.EvaluationResults{
		Format: contract.EvaluationResultsFormat, Findings: findings, Benchmark: u.r.Benchmark.Digest,
		Evaluations: make([]artifacts.Digest, len(u.r.Evaluations)), Tables: u.r.Tables.Digest,
	}
	for i, ref := range u.r.Evaluations {
		list.Evaluations[i] = ref.Digest
	}
	return refOfJSON(list, contract.EvaluationResultsMediaType)
}
