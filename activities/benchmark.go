package activities

import (
	"context"

	"go.temporal.io/sdk/worker"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// radiograph reads an entry's file, which must have the bytes that ingest saw, and decodes it.
func (a *Activities) radiograph(ctx context.Context, pl *derive.Plan, e contract.Entry) ([]byte, *cxr.Image, error) {
	data, err := a.input(ctx, pl, e)
	if err != nil {
		return nil, nil, err
	}
	if got := artifacts.Sum(data); got != e.Image {
		return nil, nil, fail(contract.ErrTypeInputChanged, "case %d: the file has digest %s, ingest saw %s; run again to read the folder anew", e.Case, got.Short(), e.Image.Short())
	}
	img, err := cxr.Decode(data, pl.Limits)
	if err != nil {
		return nil, nil, fail(contract.ErrTypeInputChanged, "case %d: %w", e.Case, err)
	}
	return data, img, nil
}

// recipe returns a plan with what its benchmark is built by and how many cases each task is to
// have.
func (a *Activities) recipe(ctx context.Context, ref artifacts.Ref) (*derive.Plan, cxreasonbench.Recipe, []int, error) {
	pl, err := a.plan(ctx, ref)
	if err != nil {
		return nil, cxreasonbench.Recipe{}, nil, err
	}
	recipe, quotas, err := experiments.BenchmarkRecipe(&pl.Spec)
	if err != nil {
		return nil, recipe, nil, fail(contract.ErrTypeSpec, "%w", err)
	}
	return pl, recipe, quotas, nil
}

// AssembleBenchmark joins built cases into the benchmark's manifest.
func (a *Activities) AssembleBenchmark(ctx context.Context, in contract.AssembleBenchmarkInput) (contract.BenchmarkResult, error) {
	var none contract.BenchmarkResult
	pl, recipe, quotas, err := a.recipe(ctx, in.Plan)
	if err != nil {
		return none, err
	}
	prompts, err := a.prompts(ctx, pl)
	if err != nil {
		return none, err
	}
	drawn, err := a.drawn(ctx, in.Drawn)
	if err != nil {
		return none, err
	}
	p := a.beat(ctx, len(drawn.Cases))
	defer p.close()
	built, err := a.built(p, in.Outputs)
	if err != nil {
		return none, err
	}
	doc, err := pl.Assemble(recipe, prompts, drawn, built)
	if err != nil {
		return none, err
	}
	out, err := a.putBenchmark(p, pl, doc)
	for i, t := range doc.Tasks {
		out.Short = contract.AddCount(out.Short, t.Task.String(), quotas[i]-t.Cases)
	}
	return out, err
}

// built reads the outputs of the chunks.
func (a *Activities) built(p *pulse, outputs []artifacts.Ref) (built []contract.BuiltCases, err error) {
	for _, ref := range outputs {
		err := eachPacked(p.work, a.opts.Store, ref, func(b *contract.BuiltCases) error {
			built = append(built, *b)
			p.progress()
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return built, nil
}

// putBenchmark completes, checks and stores a manifest.
func (a *Activities) putBenchmark(p *pulse, pl *derive.Plan, doc contract.Benchmark) (contract.BenchmarkResult, error) {
	if err := pl.Finish(&doc); err != nil {
		return contract.BenchmarkResult{}, err
	}
	ref, err := putJSON(p.work, a.opts.Store.ForClass(pl.Class()), doc, contract.BenchmarkMediaType)
	return contract.BenchmarkResult{
		Benchmark: ref, Cases: len(doc.Cases), Tasks: contract.TasksOf(doc.Cases), Pairs: doc.Tally.Pairs(),
	}, err
}

// registerBenchmark registers what makes a benchmark.
func (a *Activities) registerBenchmark(r worker.ActivityRegistry) {
	register(a, r, contract.PlanBenchmark, a.PlanBenchmark)
	register(a, r, contract.BuildCases, a.BuildCases)
	register(a, r, contract.AssembleBenchmark, a.AssembleBenchmark)
	register(a, r, contract.ImportRelease, a.ImportRelease)
}
