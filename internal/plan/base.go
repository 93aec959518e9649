package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// base is the reproduction that a forecast is compared with. Parts that it does not have stay
// empty.
type base struct {
	docs     *documents
	receipt  *contract.Receipt
	pl       *derive.Plan
	data     *derive.Dataset
	assessed []contract.Assessed
	// byInputs are the windows by the digest of their inputs.
	byInputs map[artifacts.Digest]*contract.Assessed
	// drawn are the cases; recipe, prompts and drawKey what they were drawn and are built by.
	drawn   *contract.BenchmarkPlan
	recipe  cxreasonbench.Recipe
	prompts *cxreasonbench.Pack
	drawKey artifacts.KeyDoc
	bench   *derive.Benchmark
	ev      *derive.Evaluated
	refs    []contract.EvaluationRef
	evals   map[string]*baseEvaluation
	images  map[artifacts.Digest]bool
	agent   *baseAgent
}

// openBase opens the reproduction of a receipt; nil for none.
func openBase(ctx context.Context, docs *documents, r *contract.Receipt) (*base, error) {
	if r == nil {
		return nil, nil
	}
	b := &base{docs: docs, receipt: r, byInputs: map[artifacts.Digest]*contract.Assessed{}, evals: map[string]*baseEvaluation{}}
	p, err := get[*experiments.Plan](ctx, docs, r.Plan)
	if err != nil {
		return nil, fmt.Errorf("plan of reproduction %s: %w", r.Reproduction, err)
	}
	if b.pl, err = derive.NewPlan(p, r.Plan); err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context) error{b.openFindings, b.openCases, b.openEvaluations, b.openAgent} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("reproduction %s: %w", r.Reproduction, err)
		}
	}
	return b, nil
}

func (b *base) openFindings(ctx context.Context) (err error) {
	if b.receipt.Summary.IsZero() {
		return nil
	}
	if b.data, err = derive.OpenDataset(ctx, b.docs.store, b.receipt.Manifest); err != nil {
		return err
	}
	for _, ref := range b.receipt.Assessed {
		err := eachPacked(ctx, b.docs, ref, func(w contract.Assessed) error {
			b.assessed = append(b.assessed, w)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i := range b.assessed {
		b.byInputs[b.assessed[i].Inputs.Digest] = &b.assessed[i]
	}
	return nil
}

// openCases finds the drawn cases by the key of their draw.
func (b *base) openCases(ctx context.Context) error {
	s := b.pl.Spec.Benchmark
	if s == nil || b.receipt.Benchmark.IsZero() {
		return nil
	}
	doc, err := get[contract.Benchmark](ctx, b.docs, b.receipt.Benchmark)
	if err != nil {
		return err
	}
	if b.bench, err = derive.NewBenchmark(doc, b.receipt.Benchmark); err != nil || s.Source != experiments.SourceBuild {
		return err
	}
	var quotas []int
	if b.recipe, quotas, err = experiments.BenchmarkRecipe(&b.pl.Spec); err != nil {
		return err
	}
	if b.prompts, err = derive.Prompts(b.pl.Plan, b.docs.pack(ctx)); err != nil {
		return err
	}
	if b.drawKey, err = derive.DrawCasesKey(b.receipt.Manifest.Digest, b.assessed, b.recipe, quotas); err != nil {
		return err
	}
	key, err := b.drawKey.Key()
	if err != nil {
		return err
	}
	rec, err := b.docs.store.Lookup(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil // removed since: nothing is compared with it
	}
	if err != nil {
		return err
	}
	b.drawn, err = get[*contract.BenchmarkPlan](ctx, b.docs, rec.Result)
	return err
}

func (b *base) openEvaluations(ctx context.Context) (err error) {
	if b.pl.Spec.Evaluation == nil || len(b.receipt.Evaluations) == 0 {
		return nil
	}
	if b.refs, err = contract.EvaluationsOf(b.pl.Plan); err != nil {
		return err
	}
	b.ev, err = derive.NewEvaluated(b.pl.Plan, b.pl.Ref, b.docs.pack(ctx))
	return err
}

// otherData names the first part of the spec that makes the base's data set another one, ""
// for the same.
func (b *base) otherData(p *derive.Plan) string {
	old, now := b.pl.Spec.Dataset, p.Spec.Dataset
	old.Limits, now.Limits = experiments.Limits{}, experiments.Limits{}
	switch {
	case !sameJSON(old, now):
		return "dataset"
	case !sameJSON(b.pl.Spec.Masks.Import, p.Spec.Masks.Import):
		return "masks.import"
	case (b.pl.Spec.Benchmark != nil && b.pl.Spec.Benchmark.Source == experiments.SourceRelease) != (p.Spec.Benchmark != nil && p.Spec.Benchmark.Source == experiments.SourceRelease):
		return "benchmark.source"
	}
	return ""
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// knows reports whether the base has an image.
func (b *base) knows(ctx context.Context, image artifacts.Digest) (bool, error) {
	if b == nil || b.data == nil {
		return false, nil
	}
	if b.images == nil {
		b.images = map[artifacts.Digest]bool{}
		for i := range b.data.Manifest.Chunks() {
			entries, err := b.data.Window(ctx, i)
			if err != nil {
				return false, err
			}
			for _, e := range entries {
				b.images[e.Image] = true
			}
		}
	}
	return b.images[image], nil
}
