package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// ingest is one run of IngestDataset.
type ingest struct {
	in   contract.IngestInput
	gate gate
	page map[int]contract.ChunkResult
	err  error
}

// IngestDataset reads the tables of a data set, then every selected image, and builds the
// manifest. A bad image is a quarantined row of the manifest; a table that is not what the
// layout says ends the workflow.
func IngestDataset(ctx workflow.Context, in contract.IngestInput) (contract.IngestResult, error) {
	g := &ingest{in: in}
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, g.progress); err != nil {
		return contract.IngestResult{}, err
	}
	c := in.Common
	cpu := work{queue: contract.QueueCPU(c.Queue)}
	if g.in.Scan.Rows.IsZero() {
		scan, err := call(ctx, c, cpu, contract.ScanTables, contract.ScanInput{Plan: c.Plan})
		if err != nil {
			return contract.IngestResult{}, err
		}
		g.in.Scan = scan
	}
	for g.in.Next < g.in.Scan.Count {
		if err := g.runPage(ctx); err != nil {
			return contract.IngestResult{}, err
		}
		if g.in.Next < g.in.Scan.Count && historyFull(ctx, c.Tuning) {
			return contract.IngestResult{}, workflow.NewContinueAsNewError(ctx, contract.IngestDataset.Name, g.in)
		}
	}
	manifest, err := call(ctx, c, cpu, contract.BuildManifest, contract.ManifestInput{Plan: c.Plan, Scan: g.in.Scan, Chunks: g.in.Packed})
	if err != nil {
		return contract.IngestResult{}, err
	}
	return contract.IngestResult{Ingest: g.in.Scan.Ingest, Manifest: manifest, Totals: g.in.Totals}, nil
}

// runPage reads the next rows, a window of rows per activity.
func (g *ingest) runPage(ctx workflow.Context) error {
	c := g.in.Common
	begin := g.in.Next
	end := min(begin+c.Tuning.Page*contract.WindowImages, g.in.Scan.Count)
	chunks := (end - begin + contract.WindowImages - 1) / contract.WindowImages
	g.page, g.err = map[int]contract.ChunkResult{}, nil
	p := &pool{
		inFlight: c.Tuning.InFlight,
		gate:     &g.gate,
		run: func(ctx workflow.Context, i int) error {
			from := begin + i*contract.WindowImages
			out, err := call(ctx, c, work{queue: contract.QueueCPU(c.Queue), chunk: true}, contract.IngestChunk, contract.IngestChunkInput{
				Plan: c.Plan, Rows: g.in.Scan.Rows, Lungs: g.in.Scan.Lungs, Ingest: g.in.Scan.Ingest,
				Offset: from, Count: min(contract.WindowImages, end-from),
			})
			if err == nil {
				g.page[i] = out
			}
			return err
		},
		failed: func(_ int, err error) { g.err = err },
		stop:   func() bool { return g.err != nil },
	}
	if err := p.do(ctx, span(0, chunks)); err != nil {
		return err
	}
	if g.err != nil {
		return passOn(g.err)
	}
	items := make([]contract.PackItem, 0, chunks)
	for i := range chunks {
		out, ok := g.page[i]
		if !ok {
			return fmt.Errorf("ingest of rows from %d has no result", begin+i*contract.WindowImages)
		}
		g.in.Totals.Add(out.Totals)
		items = append(items, contract.PackItem{Index: begin/contract.WindowImages + i, Ref: out.Output})
	}
	packed, err := call(ctx, c, work{queue: contract.QueueCPU(c.Queue)}, contract.PackRefs, contract.PackInput{Previous: g.in.Packed, Add: items})
	if err != nil {
		return err
	}
	g.in.Packed, g.in.Next, g.page = packed.List, end, nil
	return nil
}

func (g *ingest) progress() (contract.StageProgress, error) {
	p := contract.StageProgress{
		Stage: contract.StageIngest, State: contract.StateRunning, ItemsAll: g.in.Scan.Count,
		Windows: (g.in.Scan.Count + contract.WindowImages - 1) / contract.WindowImages,
		Done:    g.in.Next/contract.WindowImages + len(g.page), Items: g.in.Totals.Items, Reused: reused(g.in.Totals),
	}
	for i := 0; i < p.Windows && len(g.page) > 0; i++ {
		if out, ok := g.page[i]; ok {
			p.Items += out.Totals.Items
			p.Reused += reused(out.Totals)
		}
	}
	return p, nil
}
