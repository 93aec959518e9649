package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// Cases is what came of building the benchmark again.
type Cases struct {
	// Built is how many cases were built, NoPicture of how many no picture was at hand.
	Built, NoPicture int
	Found            []Difference
}

// Benchmark draws the cases of the benchmark again, builds their questions and pictures as far as
// their radiographs are at hand, and joins them into its manifest. Cases without a radiograph
// are taken as they are. Of a released benchmark only the system message follows from the plan.
//
// Errors: findings, lists or cases that are not there.
func (u *Audit) Benchmark(ctx context.Context) (Cases, error) {
	var out Cases
	if u.r.Benchmark.IsZero() {
		return out, nil
	}
	prompts, err := u.a.prompts(ctx, u.pl)
	if err != nil {
		return out, err
	}
	if b := u.pl.Spec.Benchmark; b == nil || b.Source != experiments.SourceBuild {
		return out, u.system(ctx, prompts, &out)
	}
	drawn, recipe, err := u.draw(ctx, &out)
	if err != nil {
		return out, err
	}
	var built contract.BuiltCases
	for i := range drawn.Cases {
		m := &caseMaker{a: u.a, p: u.p, plan: u.pl, recipe: recipe, prompts: prompts, drawn: &drawn.Cases[i], put: nowhere}
		if err := u.oneCase(ctx, m, &built, &out); err != nil {
			return out, err
		}
	}
	doc, err := u.pl.Assemble(recipe, prompts, drawn, []contract.BuiltCases{built})
	if err != nil {
		return out, err
	}
	ref, err := refOfJSON(doc, contract.BenchmarkMediaType)
	if err == nil && ref.Digest != u.r.Benchmark.Digest {
		out.Found = append(out.Found, Difference{
			Object: artifacts.BlobObject(u.r.Benchmark.Digest), What: benchmarkRole,
			Detail: fmt.Sprintf("recorded is %s, from its cases and the prompts follows %s", u.r.Benchmark.Digest.Short(), ref.Digest.Short()),
		})
	}
	return out, err
}

// system compares the system message of a released benchmark with that of the prompt pack.
func (u *Audit) system(ctx context.Context, prompts *cxreasonbench.Pack, out *Cases) error {
	doc, err := getJSON[contract.Benchmark](ctx, u.a.opts.Store, u.r.Benchmark)
	if err == nil && doc.System != prompts.System() {
		out.Found = append(out.Found, Difference{
			Object: artifacts.BlobObject(u.r.Benchmark.Digest), What: benchmarkRole,
			Detail: "its system message is not that of the plan's prompts",
		})
	}
	return err
}

// draw draws the cases of a built benchmark again and compares them with the recorded draw,
// which it returns with what the cases are built by.
func (u *Audit) draw(ctx context.Context, out *Cases) (*contract.BenchmarkPlan, cxreasonbench.Recipe, error) {
	recipe, quotas, err := experiments.BenchmarkRecipe(&u.pl.Spec)
	if err != nil {
		return nil, recipe, err
	}
	_, assessed, err := u.assessed(ctx)
	if err != nil {
		return nil, recipe, err
	}
	doc, err := derive.DrawCasesKey(u.r.Manifest.Digest, assessed, recipe, quotas)
	if err != nil {
		return nil, recipe, err
	}
	key, err := doc.Key()
	if err != nil {
		return nil, recipe, err
	}
	rec, err := u.a.opts.Store.Lookup(ctx, key)
	if err != nil {
		return nil, recipe, err
	}
	again, err := u.a.DrawCases(ctx, u.r.Plan, u.r.Manifest, assessed)
	if err != nil {
		return nil, recipe, err
	}
	ref, err := refOfJSON(again, contract.BenchmarkPlanMediaType)
	if err != nil {
		return nil, recipe, err
	}
	if ref.Digest != rec.Result.Digest {
		out.Found = append(out.Found, Difference{
			Object: artifacts.BlobObject(rec.Result.Digest), What: drawnRole,
			Detail: fmt.Sprintf("recorded is %s, drawing again gives %s", rec.Result.Digest.Short(), ref.Digest.Short()),
		})
	}
	recorded, err := u.a.drawn(ctx, rec.Result)
	return recorded, recipe, err
}

// nowhere names bytes without keeping them.
func nowhere(_ context.Context, data []byte, mediaType string) (artifacts.Ref, error) {
	return artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: mediaType}, nil
}

// oneCase compares a recorded case with what building it again gives, and counts the recorded
// one.
func (u *Audit) oneCase(ctx context.Context, m *caseMaker, built *contract.BuiltCases, out *Cases) error {
	key, err := m.key().Key()
	if err != nil {
		return err
	}
	rec, err := u.a.opts.Store.Lookup(ctx, key)
	if err != nil {
		return err
	}
	recorded, err := getJSON[*contract.CaseDoc](ctx, u.a.opts.Store, rec.Result)
	if err != nil {
		return err
	}
	derive.Count(built, m.drawn.Source.Task, recorded, rec.Result)
	if _, _, err := u.a.radiograph(ctx, u.pl, m.drawn.Entry); err != nil {
		out.NoPicture++
		return nil
	}
	doc, err := m.make(ctx)
	if err != nil {
		return m.clean(err)
	}
	ref, err := refOfJSON(doc, contract.CaseMediaType)
	if err != nil {
		return err
	}
	out.Built++
	if ref.Digest != rec.Result.Digest {
		out.Found = append(out.Found, Difference{
			Object: artifacts.BlobObject(rec.Result.Digest), What: fmt.Sprintf("questions about image %d, %s", m.drawn.Entry.Case, m.drawn.Source.Task),
			Detail: fmt.Sprintf("recorded is %s, building them again gives %s", rec.Result.Digest.Short(), ref.Digest.Short()),
		})
	}
	return nil
}
