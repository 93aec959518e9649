package activities

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
)

// BenchmarkPlanBenchmarkMIMIC draws 1,200 cases out of the findings of as many images as
// MIMIC-CXR-JPG has frontal ones. Every window has the rows of the measured phantoms, repeated.
func BenchmarkPlanBenchmarkMIMIC(b *testing.B) {
	for _, n := range []int{24334, 243334} {
		b.Run(fmt.Sprintf("images=%d", n), func(b *testing.B) { benchmarkDraw(b, n) })
	}
}

func benchmarkDraw(b *testing.B, n int) {
	ctx := context.Background()
	store := memstore.Open()
	m := measured(b, store, "benchmark.cases=1200", "benchmark.sample=random")
	packed := get[contract.Packed](m, m.outputs[0])
	was := get[contract.Assessed](m, packed.Items[0].Ref)
	in := get[contract.WindowIn](m, was.Inputs)
	data, err := m.a.dataset(ctx, m.manifest.Manifest)
	if err != nil {
		b.Fatal(err)
	}
	few, err := data.Window(ctx, 0)
	if err != nil {
		b.Fatal(err)
	}
	put := func(v any) artifacts.Ref {
		ref, err := putJSON(ctx, store, v, contract.FindingsMediaType)
		if err != nil {
			b.Fatal(err)
		}
		return ref
	}
	// One document of each kind serves all windows of a size.
	window := func(size int) contract.Assessed {
		out := contract.Assessed{}
		wide := contract.WindowIn{Format: in.Format}
		for i := range size {
			wide.Images = append(wide.Images, in.Images[i%len(in.Images)])
		}
		out.Inputs = put(wide)
		for _, t := range was.Tasks {
			rows := get[contract.Findings](m, t.Result)
			all := contract.Findings{Task: rows.Task}
			for i := range size {
				all.Rows = append(all.Rows, rows.Rows[i%len(rows.Rows)])
			}
			out.Tasks = append(out.Tasks, contract.AssessedTask{Task: t.Task, Key: t.Key, Result: put(all)})
		}
		return out
	}
	full, last := window(contract.WindowImages), window(n%contract.WindowImages)
	w := manifest.NewWriter(store, "dataset", manifest.Limits{Items: math.MaxInt32, Bytes: math.MaxInt32})
	packed.Items = nil
	for at := 0; at < n; at += contract.WindowImages {
		one := full
		if n-at < contract.WindowImages {
			one = last
		}
		one.Window = len(packed.Items)
		for i := range min(contract.WindowImages, n-at) {
			e := few[i%len(few)]
			e.Case, e.ID, e.Path = at+i, casedata.ID(at+i), casedata.Path(at+i)
			if err := w.Add(ctx, e); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Cut(ctx, fmt.Sprint(at)); err != nil {
			b.Fatal(err)
		}
		packed.Items = append(packed.Items, contract.PackItem{Index: one.Window, Ref: put(one)})
	}
	doc := data.Dataset
	if doc.Windows, err = w.Close(ctx); err != nil {
		b.Fatal(err)
	}
	doc.Images = n
	args := contract.PlanBenchmarkInput{Plan: m.plan, Manifest: put(doc), Outputs: []artifacts.Ref{put(packed)}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		out := act(m, m.a.PlanBenchmark, args)
		if out.Cases != 1200 {
			b.Fatalf("%d cases", out.Cases)
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapSys-before.HeapSys)/(1<<20), "MiB-more-heap")
	}
}
