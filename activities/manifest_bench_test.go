package activities

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
)

// BenchmarkBuildManifestMIMIC builds the manifest of as many images as MIMIC-CXR-JPG has
// frontal ones, from ingested chunks in memory.
func BenchmarkBuildManifestMIMIC(b *testing.B) {
	const n = 243334
	ctx := context.Background()
	store := memstore.Open()
	spec, err := experiments.Parse("golden.yaml", []byte(casedata.Spec))
	if err != nil {
		b.Fatal(err)
	}
	p, err := experiments.NewPlan(spec, nil)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := putJSON(ctx, store, p, experiments.PlanMediaType)
	if err != nil {
		b.Fatal(err)
	}
	var packed contract.Packed
	for at := 0; at < n; at += contract.WindowImages {
		out := contract.Ingested{Kept: entries(at, min(contract.WindowImages, n-at)), Quarantined: []contract.Quarantined{}}
		for i := range out.Kept {
			e := &out.Kept[i]
			e.ID, e.Path, e.View, e.Width, e.Height = casedata.ID(e.Case), casedata.Path(e.Case), "PA", 2544, 3056
			e.Facts = artifacts.Ref{Digest: e.Image, Size: 20000, MediaType: "application/vnd.cxrepro.pixel-facts"}
			e.Boxes = map[string][4]int{"cardiac silhouette": {1, 2, 3, 4}, "upper mediastinum": {5, 6, 7, 8}}
			e.Lung = artifacts.Ref{Digest: e.Image, Size: 9000, MediaType: "application/vnd.cxrepro.masks"}
		}
		ref, err := putJSON(ctx, store, out, contract.ChunkOutMediaType)
		if err != nil {
			b.Fatal(err)
		}
		packed.Items = append(packed.Items, contract.PackItem{Index: len(packed.Items), Ref: ref})
	}
	chunks, err := putJSON(ctx, store, packed, contract.PackMediaType)
	if err != nil {
		b.Fatal(err)
	}
	a, err := New(Options{Store: store, Owner: artifacts.Owner{Worker: "bench"}, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	env.RegisterActivity(a.BuildManifest)
	for b.Loop() {
		value, err := env.ExecuteActivity(a.BuildManifest, contract.ManifestInput{Plan: plan, Scan: contract.ScanResult{Count: n, In: n}, Chunks: chunks})
		if err != nil {
			b.Fatal(err)
		}
		var out contract.ManifestResult
		if err := value.Get(&out); err != nil || out.Images != n {
			b.Fatal(out, err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/(1<<20), "MiB-heap")
		b.ReportMetric(float64(out.Windows), "windows")
		b.Logf("%s", fmt.Sprint(out.Manifest))
	}
}
