package checkpoint

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/overlap"
	"cxrepro/internal/phantom"
)

// TestDescribe: images of a reproduction are described from its manifest and its data folder;
// hashes are recorded, so that the folder is not needed again; no identifier is kept.
func TestDescribe(t *testing.T) {
	m := newMaker(t, t.TempDir())
	ctx := t.Context()
	data := fstest.MapFS{}
	var entries []contract.Entry
	for i := range 3 {
		pic, err := phantom.New(77, i, phantom.Options{}).Picture(80, 96)
		if err != nil {
			t.Fatal(err)
		}
		png, err := cxr.EncodePNG(pic.Image)
		if err != nil {
			t.Fatal(err)
		}
		e := contract.Entry{Image: artifacts.Sum(png), Size: int64(len(png)), Case: i, ID: fmt.Sprint("dicom-", i), Subject: "subject-10000032", Study: fmt.Sprint("study-", i/2), Path: fmt.Sprintf("files/%d.png", i), View: "PA"}
		data[e.Path] = &fstest.MapFile{Data: png}
		entries = append(entries, e)
	}
	w := manifest.NewWriter(m.Store, "dataset", manifest.Limits{Items: math.MaxInt32})
	for _, e := range entries {
		if err := w.Add(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	windows, err := w.Close(ctx)
	if err != nil {
		t.Fatal(err)
	}
	plan := experiments.Plan{}
	plan.Spec.Dataset = experiments.Dataset{Name: "mimic-cxr-jpg", DataUse: "credentialed", Limits: experiments.Limits{MaxBytes: 1 << 20, MaxPixels: 1 << 20}}
	judging := func(images ...artifacts.Digest) artifacts.Ref {
		bench := contract.Benchmark{Cases: []contract.BenchmarkCase{}}
		for _, image := range images {
			bench.Cases = append(bench.Cases, contract.BenchmarkCase{Task: chexstruct.Cardiomegaly, Doc: m.put(contract.CaseDoc{Task: chexstruct.Cardiomegaly, Image: image}, "application/json")})
		}
		return m.put(bench, "application/json")
	}
	r := &contract.Receipt{
		Plan: m.put(plan, experiments.PlanMediaType), Benchmark: judging(entries[0].Image, entries[1].Image),
		Manifest: m.put(contract.Dataset{Format: contract.DatasetFormat, Windows: windows, Images: 3, In: 3}, contract.DatasetMediaType),
	}
	d := &Describer{Recorder: m.Recorder, Grouping: m.grouping}
	if got, err := d.Judged(ctx, r); err != nil || got.Unread != 2 || got.Images.Count != 2 || got.Images.Perceptual != "" || got.Images.Grouping != m.grouping.ID() {
		t.Errorf("without the folder: %+v, %v", got, err)
	}
	d.Data = map[string]fs.FS{"mimic-cxr-jpg": data}
	got, err := d.Judged(ctx, r)
	if err != nil || got.Unread != 0 || got.Images.Perceptual != overlap.PerceptualName {
		t.Fatalf("with the folder: %+v, %v", got, err)
	}
	list, err := Images(ctx, m.Store, got.Images)
	if err != nil || len(list.Images) != 2 {
		t.Fatal(err)
	}
	want := m.grouping.Study("mimic-cxr-jpg", "study-0")
	if a, b := list.Images[0], list.Images[1]; a.Study != want || b.Study != want || a.Patient == "" || a.Patient != b.Patient || *a.Perceptual == *b.Perceptual {
		t.Errorf("images %+v", list.Images)
	}
	d.Data = nil
	again, err := d.Judged(ctx, r)
	if err != nil || again != got {
		t.Errorf("again, without the folder: %+v, %v; want %+v", again, err, got)
	}
	d.Data = map[string]fs.FS{"mimic-cxr-jpg": data}
	whole := data[entries[2].Path]
	data[entries[2].Path] = &fstest.MapFile{Data: []byte("another file")}
	if _, _, err := d.Dataset(ctx, r, "2.1.0"); err == nil || !strings.Contains(err.Error(), "not the one that was judged") {
		t.Errorf("a folder with another file: %v", err)
	}
	data[entries[2].Path] = whole
	set, ref, err := d.Dataset(ctx, r, "2.1.0")
	if err != nil || set.Images.Count != 3 || set.Unread != 0 || ref.IsZero() {
		t.Errorf("the whole data set: %+v, %v", set, err)
	}
	for name, text := range files(t, m.Store.URL()[len("file://"):]) {
		for _, word := range []string{"subject-10000032", "study-0", "dicom-0"} {
			if strings.Contains(text, word) && !strings.Contains(text, `"facts"`) {
				t.Errorf("%s holds the identifier %s", name, word)
			}
		}
	}
	elsewhere := artifacts.Sum([]byte("elsewhere"))
	r.Benchmark = judging(elsewhere)
	if got, err := d.Judged(ctx, r); err != nil || got.Unread != 1 {
		t.Errorf("an image of no data set: %+v, %v", got, err)
	}
	// Groups under another key are not taken for ours.
	foreign, err := m.PutImages(ctx, overlap.List{Grouping: "hmac-sha256:another", Images: []overlap.Image{{Image: elsewhere, Study: "s", Patient: "p"}}}, "credentialed")
	if err != nil {
		t.Fatal(err)
	}
	m.ref(m.PutDataset(ctx, contract.DatasetEntry{Name: "elsewhere", DataUse: "credentialed", Images: foreign}))
	r.Benchmark = judging(entries[0].Image, elsewhere)
	if got, err = d.Judged(ctx, r); err != nil || got.Images.Count != 2 || got.Images.Grouping != m.grouping.ID() {
		t.Fatalf("images under two keys: %+v, %v", got, err)
	}
	if list, err = Images(ctx, m.Store, got.Images); err != nil {
		t.Fatal(err)
	}
	for _, i := range list.Images {
		if ours := i.Image == entries[0].Image; ours != (i.Study == want) || ours != (i.Patient != "") {
			t.Errorf("image %s has the groups %q and %q", i.Image.Short(), i.Study, i.Patient)
		}
	}
}
