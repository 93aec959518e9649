package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/lvlm/picture"
)

// What both an inventory and an audit call the two lists behind a benchmark.
const (
	benchmarkRole = "the benchmark's manifest"
	drawnRole     = "the drawn cases"
)

// drawn notes the draw of a built benchmark and the record of every case.
func (v *inventory) drawn(ctx context.Context, assessed []contract.Assessed) error {
	recipe, quotas, err := experiments.BenchmarkRecipe(&v.pl.Spec)
	if err != nil {
		return err
	}
	doc, err := derive.DrawCasesKey(v.r.Manifest.Digest, assessed, recipe, quotas)
	if err != nil {
		return err
	}
	rec, err := v.entry(ctx, doc, "", "record of the draw of cases")
	if err != nil || rec.Result.IsZero() {
		return err
	}
	v.bound(rec.Result, drawnRole)
	plan, err := v.a.drawn(ctx, rec.Result)
	if err != nil {
		return v.gap(artifacts.BlobObject(rec.Result.Digest), drawnRole, err)
	}
	prompts, err := v.a.prompts(ctx, v.pl)
	if err != nil {
		return v.gap(artifacts.BlobObject(v.pl.Prompts.Digest), "the prompt pack", err)
	}
	for i := range plan.Cases {
		m := &caseMaker{a: v.a, p: v.p, plan: v.pl, recipe: recipe, prompts: prompts, drawn: &plan.Cases[i]}
		role := fmt.Sprintf("questions about image %d, %s", m.drawn.Entry.Case, m.drawn.Source.Task)
		rec, err := v.entry(ctx, m.key(), v.pl.Class(), "record of the "+role)
		if err != nil {
			return err
		}
		v.bound(rec.Result, role)
	}
	return nil
}

// benchmark notes the manifest, its cases with their pictures, and how those are sent.
func (v *inventory) benchmark(ctx context.Context) error {
	v.bound(v.r.Benchmark, benchmarkRole)
	doc, ok, err := readHeld[contract.Benchmark](ctx, v, v.r.Benchmark, benchmarkRole)
	if err != nil || !ok {
		return err
	}
	rules, err := v.rulesOfPictures()
	if err != nil {
		return err
	}
	cases := map[artifacts.Digest]int{}
	for n, c := range doc.Cases {
		cases[c.Doc.Digest] = n
		role := fmt.Sprintf("questions of case %d, %s", n, c.Task)
		v.bound(c.Doc, role)
		cd, ok, err := readHeld[contract.CaseDoc](ctx, v, c.Doc, role)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for _, ref := range cd.Pictures {
			v.bound(ref, fmt.Sprintf("a picture of case %d, %s", n, c.Task))
			for _, rule := range rules {
				if err := v.prepared(ctx, ref, rule, n, c.Task.String()); err != nil {
					return err
				}
			}
		}
		v.p.progress()
	}
	if doc.Source != experiments.SourceRelease {
		return nil
	}
	return v.imported(ctx, cases)
}

// rulesOfPictures are the rules by which the plan's models are sent pictures that differ from
// the stored ones.
func (v *inventory) rulesOfPictures() ([]picture.Rule, error) {
	var out []picture.Rule
	for i := range v.pl.Models {
		rule, err := picture.Parse(v.pl.Models[i].Pictures)
		if err != nil {
			return nil, err
		}
		if rule != picture.Original && !slices.Contains(out, rule) {
			out = append(out, rule)
		}
	}
	return out, nil
}

// prepared notes a picture as it was sent, if it was.
func (v *inventory) prepared(ctx context.Context, ref artifacts.Ref, rule picture.Rule, n int, task string) error {
	key, err := contract.PreparePictureKey(ref, rule.Version()).Key()
	if err != nil {
		return err
	}
	if _, err := v.a.opts.Store.Entry(ctx, key); errors.Is(err, artifacts.ErrNotFound) {
		return nil
	}
	role := fmt.Sprintf("a picture of case %d, %s, as it is sent", n, task)
	rec, err := v.record(ctx, key, "", "record of "+role)
	v.bound(rec.Result, role)
	return err
}

// imported notes the records of the cases of a release. Their keys hold digests of files that
// are not stored, so they are found by their results: of several with one result, the first.
func (v *inventory) imported(ctx context.Context, cases map[artifacts.Digest]int) error {
	return v.a.opts.Store.Keys(ctx, contract.StepImportCase, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := v.a.opts.Store.Entry(ctx, key)
		if err != nil {
			return v.gap(artifacts.EntryObject(key), "record of a case of a release", err)
		}
		n, ok := cases[rec.Result.Digest]
		if !ok {
			return nil
		}
		delete(cases, rec.Result.Digest)
		_, err = v.record(ctx, key, v.pl.Class(), fmt.Sprintf("record of the questions of case %d", n))
		return err
	})
}
