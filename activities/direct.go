package activities

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// ReadDataset reads a plan's data set in this process, without a workflow: scan, every chunk,
// manifest. It is for planners, who call it over a store that forgets.
func (a *Activities) ReadDataset(ctx context.Context, plan artifacts.Ref) (contract.IngestResult, error) {
	var out contract.IngestResult
	scan, err := a.ScanTables(ctx, contract.ScanInput{Plan: plan})
	if err != nil {
		return out, err
	}
	var items []contract.PackItem
	for from := 0; from < scan.Count; from += contract.WindowImages {
		chunk, err := a.IngestChunk(ctx, contract.IngestChunkInput{
			Plan: plan, Rows: scan.Rows, Lungs: scan.Lungs, Ingest: scan.Ingest,
			Offset: from, Count: min(contract.WindowImages, scan.Count-from),
		})
		if err != nil {
			return out, err
		}
		out.Totals.Add(chunk.Totals)
		items = append(items, contract.PackItem{Index: len(items), Ref: chunk.Output})
	}
	packed, err := a.PackRefs(ctx, contract.PackInput{Add: items})
	if err != nil {
		return out, err
	}
	out.Ingest = scan.Ingest
	out.Manifest, err = a.BuildManifest(ctx, contract.ManifestInput{Plan: plan, Scan: scan, Chunks: packed.List})
	return out, err
}

// DrawCases draws the cases of a plan's benchmark out of findings, wherever they come from, and
// records nothing.
func (a *Activities) DrawCases(ctx context.Context, plan, manifest artifacts.Ref, assessed []contract.Assessed) (*contract.BenchmarkPlan, error) {
	pl, recipe, quotas, err := a.recipe(ctx, plan)
	if err != nil {
		return nil, err
	}
	data, err := a.dataset(ctx, manifest)
	if err != nil {
		return nil, err
	}
	p := a.beat(ctx, len(assessed))
	defer p.close()
	d := &drawing{a: a, p: p, plan: pl, data: data, assessed: assessed, recipe: recipe, overlays: map[uint16][]cxreasonbench.Overlay{}}
	return d.draw(quotas)
}

// Computed is what Compute did: WithoutMasks counts windows that were left out because an image
// of theirs has no masks, Cases those of the benchmark.
type Computed struct {
	Windows      int
	WithoutMasks int
	Cases        int
}

// Compute runs the steps of a plan that need no model and no answer, in this process: the
// assessment of every window that has its masks, and, when these are all, the draw and the cases
// of a benchmark. effort is what new statements carry.
func (a *Activities) Compute(ctx context.Context, plan, manifest artifacts.Ref, effort string) (Computed, error) {
	pl, err := a.plan(ctx, plan)
	if err != nil {
		return Computed{}, err
	}
	data, err := a.dataset(ctx, manifest)
	if err != nil {
		return Computed{}, err
	}
	out := Computed{Windows: len(data.Manifest.Chunks())}
	var items []contract.PackItem
	for i := range out.Windows {
		chunk, missing, err := a.assessWindow(ctx, contract.WindowInput{Plan: plan, Manifest: manifest, Window: i, Reproduction: effort})
		if err != nil {
			return out, err
		}
		if missing > 0 {
			out.WithoutMasks++
			continue
		}
		items = append(items, contract.PackItem{Index: i, Ref: chunk.Output})
	}
	if b := pl.Spec.Benchmark; out.WithoutMasks > 0 || b == nil {
		return out, nil
	}
	packed, err := a.PackRefs(ctx, contract.PackInput{Add: items})
	if err != nil {
		return out, err
	}
	drawn, err := a.PlanBenchmark(ctx, contract.PlanBenchmarkInput{Plan: plan, Manifest: manifest, Outputs: []artifacts.Ref{packed.List}, Reproduction: effort})
	if err != nil {
		return out, err
	}
	for chunk := range drawn.Chunks {
		if _, err := a.BuildCases(ctx, contract.BuildCasesInput{Plan: plan, Drawn: drawn.Drawn, Chunk: chunk, Reproduction: effort}); err != nil {
			return out, err
		}
	}
	out.Cases = drawn.Cases
	return out, nil
}
