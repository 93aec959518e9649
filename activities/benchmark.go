package activities

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.temporal.io/sdk/worker"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
)

// radiograph reads an entry's file, which must have the bytes that ingest saw, and decodes it.
func (a *Activities) radiograph(ctx context.Context, pl *plan, e contract.Entry) ([]byte, *cxr.Image, error) {
	data, err := a.input(ctx, pl, e)
	if err != nil {
		return nil, nil, err
	}
	if got := artifacts.Sum(data); got != e.Image {
		return nil, nil, fail(contract.ErrTypeInputChanged, "case %d: the file has digest %s, ingest saw %s; run again to read the folder anew", e.Case, got.Short(), e.Image.Short())
	}
	img, err := cxr.Decode(data, pl.limits)
	if err != nil {
		return nil, nil, fail(contract.ErrTypeInputChanged, "case %d: %w", e.Case, err)
	}
	return data, img, nil
}

// recipe returns a plan with what its benchmark is built by and how many cases each task is to
// have.
func (a *Activities) recipe(ctx context.Context, ref artifacts.Ref) (*plan, cxreasonbench.Recipe, []int, error) {
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
	doc := contract.Benchmark{
		Source: experiments.SourceBuild, Rules: recipe.Rules.String(), Seed: recipe.Seed,
		System: prompts.System(), Prompts: prompts.Digest(),
	}
	dropped, err := a.built(p, in.Outputs, len(drawn.Cases), &doc)
	if err != nil {
		return none, err
	}
	doc.Tasks = tasksTold(drawn.Tasks, dropped)
	out, err := a.putBenchmark(p, pl, doc)
	for i, t := range doc.Tasks {
		out.Short = contract.AddCount(out.Short, t.Task.String(), quotas[i]-t.Cases)
	}
	return out, err
}

// built reads the outputs of the chunks into the manifest and counts the cases that were
// dropped.
func (a *Activities) built(p *pulse, outputs []artifacts.Ref, cases int, doc *contract.Benchmark) (dropped []contract.Count, err error) {
	chunk := 0
	for _, ref := range outputs {
		err := eachPacked(p.work, a.opts.Store, ref, func(b *contract.BuiltCases) error {
			if b.Chunk != chunk {
				return fmt.Errorf("built chunk %d stands at place %d", b.Chunk, chunk)
			}
			chunk++
			doc.Cases = append(doc.Cases, b.Cases...)
			doc.Tally.Add(b.Tally)
			dropped = contract.AddCounts(dropped, b.Dropped)
			p.progress()
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if got := len(doc.Cases) + contract.Total(dropped); got != cases {
		return nil, fmt.Errorf("%d cases were built or dropped, %d were drawn", got, cases)
	}
	return dropped, nil
}

// tasksTold counts dropped cases as left out.
func tasksTold(tasks []cxreasonbench.TaskManifest, dropped []contract.Count) []cxreasonbench.TaskManifest {
	out := slices.Clone(tasks)
	for _, d := range dropped {
		for i := range out {
			if out[i].Task.String() != d.Name {
				continue
			}
			left := map[cxreasonbench.Ineligibility]int{cxreasonbench.MissingOverlay: d.N}
			for reason, n := range out[i].Left {
				left[reason] += n
			}
			out[i].Cases, out[i].Left = out[i].Cases-d.N, left
		}
	}
	return out
}

// putBenchmark sorts, checks and stores a manifest.
func (a *Activities) putBenchmark(p *pulse, pl *plan, doc contract.Benchmark) (contract.BenchmarkResult, error) {
	doc.Format, doc.DataUse = contract.BenchmarkFormat, pl.Spec.Dataset.DataUse
	slices.SortFunc(doc.Cases, func(x, y contract.BenchmarkCase) int {
		return cmp.Or(cmp.Compare(taskPlace(x.Task), taskPlace(y.Task)), cmp.Compare(x.ID, y.ID))
	})
	if len(doc.Cases) == 0 {
		return contract.BenchmarkResult{}, fail(contract.ErrTypeDataset, "the benchmark has no case; %s", leftText(doc.Tasks))
	}
	ref, err := putJSON(p.work, a.opts.Store.ForClass(pl.class()), doc, contract.BenchmarkMediaType)
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
