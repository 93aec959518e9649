package activities

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// audited builds the benchmark of a bench's receipt again.
func (b *bench) audited(r contract.Receipt) Cases {
	b.t.Helper()
	out, err := b.audit(&r).Benchmark(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// changed stores a benchmark's manifest with another system message.
func (b *bench) changed(ref artifacts.Ref) artifacts.Ref {
	b.t.Helper()
	doc := get[contract.Benchmark](b, ref)
	doc.System = "Say yes."
	out, err := putJSON(context.Background(), b.a.opts.Store, doc, contract.BenchmarkMediaType)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// only demands one difference, of what.
func (c Cases) only(t *testing.T, name, what string) {
	t.Helper()
	if len(c.Found) != 1 || c.Found[0].What != what {
		t.Errorf("%s: %+v", name, c.Found)
	}
}

// TestAuditBenchmark: a built benchmark follows from its findings; another system message in its
// manifest and another draw are found.
func TestAuditBenchmark(t *testing.T) {
	b := measured(t, memstore.Open(), "benchmark.cases=12")
	built, _ := b.build()
	r := contract.Receipt{Format: contract.ReceiptFormat, Plan: b.plan, Manifest: b.manifest.Manifest, Assessed: b.outputs, Benchmark: built.Benchmark}
	if out := b.audited(r); len(out.Found) > 0 || out.Built < built.Cases || out.NoPicture > 0 {
		t.Errorf("%d cases were built of %d, %d without a picture: %+v", out.Built, built.Cases, out.NoPicture, out.Found)
	}
	b.a.opts.Data = nil // without pictures the cases are taken as they are, and cost nothing
	other := r
	other.Benchmark = b.changed(r.Benchmark)
	b.audited(other).only(t, "another system message", benchmarkRole)
	b.redraw(r)
	b.audited(r).only(t, "another draw", drawnRole)
}

// redraw lets the record of the draw name another draw: the first two cases change places.
func (b *bench) redraw(r contract.Receipt) {
	b.t.Helper()
	ctx, store := context.Background(), b.a.opts.Store
	p := b.a.beat(ctx, 1)
	defer p.close()
	assessed, err := b.a.assessed(p, r.Assessed, 1)
	if err != nil {
		b.t.Fatal(err)
	}
	_, recipe, quotas, err := b.a.recipe(ctx, b.plan)
	if err != nil {
		b.t.Fatal(err)
	}
	doc, err := derive.DrawCasesKey(r.Manifest.Digest, assessed, recipe, quotas)
	if err != nil {
		b.t.Fatal(err)
	}
	key, err := doc.Key()
	if err != nil {
		b.t.Fatal(err)
	}
	rec, err := store.Lookup(ctx, key)
	if err != nil {
		b.t.Fatal(err)
	}
	drawn := get[contract.BenchmarkPlan](b, rec.Result)
	drawn.Cases[0], drawn.Cases[1] = drawn.Cases[1], drawn.Cases[0]
	ref, err := putJSON(ctx, store, drawn, contract.BenchmarkPlanMediaType)
	if err != nil || ref == rec.Result {
		b.t.Fatalf("the other draw is %s, %v", ref, err)
	}
	entry, _, err := store.Bucket().Read(ctx, artifacts.EntryObject(key))
	if err != nil {
		b.t.Fatal(err)
	}
	text := strings.ReplaceAll(string(entry), rec.Result.Digest.Hex(), ref.Digest.Hex())
	if _, err := store.Bucket().Put(ctx, artifacts.EntryObject(key), bytes.NewReader([]byte(text)), artifacts.PutOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

// TestAuditRelease: of a released benchmark the system message follows from the plan's prompts.
func TestAuditRelease(t *testing.T) {
	b := newBench(t, memstore.Open(), nil, releaseSpec)
	ref, err := putJSON(context.Background(), b.a.opts.Store, contract.Benchmark{
		Format: contract.BenchmarkFormat, Source: experiments.SourceRelease, System: cxreasonbench.Prompts().System(),
	}, contract.BenchmarkMediaType)
	if err != nil {
		t.Fatal(err)
	}
	r := contract.Receipt{Format: contract.ReceiptFormat, Plan: b.plan, Benchmark: ref}
	if out := b.audited(r); len(out.Found) > 0 || out.Built > 0 {
		t.Errorf("%+v", out)
	}
	r.Benchmark = b.changed(ref)
	b.audited(r).only(t, "another system message", benchmarkRole)
}
