package activities

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
)

// TestAuditAccount: images and names of a receipt follow from the data set, the tables of the
// findings and the plan; where they do not, the field is named, and what is not there is open.
func TestAuditAccount(t *testing.T) {
	ctx := context.Background()
	b := measured(t, memstore.Open())
	tables := act(b, b.a.Summarise, contract.SummariseInput{Plan: b.plan, Manifest: b.manifest.Manifest, Outputs: b.outputs, Reproduction: b.manifest.Reproduction})
	in := contract.WindowInput{Plan: b.plan, Manifest: b.manifest.Manifest, Reproduction: b.manifest.Reproduction}
	totals := act(b, b.a.SegmentChunk, in).Totals
	totals.Add(act(b, b.a.AssessWindow, in).Totals)
	draw := act(b, b.a.PlanBenchmark, contract.PlanBenchmarkInput{Plan: b.plan, Manifest: b.manifest.Manifest, Outputs: b.outputs, Reproduction: b.manifest.Reproduction})
	totals.Add(draw.Totals)
	_, built := b.build()
	totals.Add(built)
	pl, err := b.a.plan(ctx, b.plan)
	if err != nil {
		t.Fatal(err)
	}
	good := receipt(pl, contract.ReceiptInput{
		Common: contract.Common{Plan: b.plan}, Reproduction: b.manifest.Reproduction, Ingest: contract.IngestResult{Manifest: b.manifest},
		Outputs: b.outputs, Totals: totals, Summary: tables, Launched: time.Unix(1, 0), Ended: time.Unix(2, 0),
	})
	steps := stepsAgain(good.BySteps)
	if len(steps) != 4 || steps[0].Run != steps[0].Needed || good.Images.Kept == 0 || good.Images.GlobalKept == 0 {
		t.Fatalf("images %+v, steps %+v", good.Images, steps)
	}
	// change changes one row of steps; the sums go along.
	change := func(step string, fn func(*contract.StepCount)) func(*contract.Receipt) {
		return func(r *contract.Receipt) {
			r.BySteps = slices.Clone(r.BySteps)
			for i := range r.BySteps {
				if r.BySteps[i].Step == step {
					fn(&r.BySteps[i])
				}
			}
			r.Steps, r.Bytes, r.BusySeconds = sumSteps(r.BySteps)
		}
	}
	for _, c := range []struct {
		change func(*contract.Receipt)
		says   string
	}{
		{func(*contract.Receipt) {}, ""},
		{func(r *contract.Receipt) { r.Images.In++ }, "the receipt: images: images.in is "},
		{func(r *contract.Receipt) { r.Images.GlobalKept-- }, "images.global_kept is "},
		{func(r *contract.Receipt) { r.Images.Filtered = []contract.Count{{Name: "view", N: 1}} }, "images.filtered"},
		{func(r *contract.Receipt) { r.Paper = "another" }, `the receipt: names and rules: paper is "another"`},
		{func(r *contract.Receipt) { r.Calls = &contract.ReceiptCalls{Needed: 1} }, "the receipt: calls, tokens and cost"},
		{change(contract.StepBuildCase, func(c *contract.StepCount) { c.Run, c.Reused = c.Run-1, c.Reused+1 }), "the receipt: steps: by_step["},
		{change(contract.StepAssess, func(c *contract.StepCount) { c.Bytes++ }), "bytes is "},
		{func(r *contract.Receipt) { r.Steps.Needed++ }, "the receipt: sums of steps: steps.needed is "},
		{func(r *contract.Receipt) { r.BusySeconds++ }, "busy_seconds is "},
		{func(r *contract.Receipt) { r.Dialogues = &contract.DialogueTotals{Done: 1} }, "the receipt: dialogues"},
	} {
		r := *good
		c.change(&r)
		found, open, err := b.audit(&r).Account(ctx)
		if err != nil || len(open) > 0 || (c.says == "") != (len(found) == 0) {
			t.Errorf("%q: %+v, open %v, %v", c.says, found, open, err)
			continue
		}
		if len(found) > 0 && (len(found) != 1 || !strings.Contains(found[0].What+": "+found[0].Detail, c.says)) {
			t.Errorf("%+v, want %s", found, c.says)
		}
	}
	r := *good
	r.Summary = artifacts.Ref{Digest: artifacts.Sum([]byte("gone")), Size: 4, MediaType: contract.SummaryMediaType}
	if found, open, err := b.audit(&r).Account(ctx); err != nil || len(found) > 0 || len(open) != 1 || open[0] != "images" {
		t.Errorf("without tables: %+v, open %v, %v", found, open, err)
	}
}

// audit opens the audit of a receipt.
func (b *bench) audit(r *contract.Receipt) *Audit {
	b.t.Helper()
	ref, err := putJSON(context.Background(), b.a.opts.Store, r, contract.ReceiptMediaType)
	if err != nil {
		b.t.Fatal(err)
	}
	u, err := b.a.OpenAudit(context.Background(), ref)
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}
