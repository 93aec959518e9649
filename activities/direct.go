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
