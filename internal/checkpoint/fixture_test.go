package checkpoint

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/overlap"
	"cxrepro/internal/phantom"
	"cxrepro/internal/provenance"
)

var update = flag.Bool("update", false, "write the fixture anew")

// fixture is a store with the statements of five checkpoints and one reproduction that judges
// them, and a sixth model, on the films of six phantoms. Three checkpoints were trained on what
// they are judged on: one on the same file, one on a copy of other bytes, one on another film
// of the same study. A fourth began with the weights of the first, a fifth saw none of it.
const fixture = "testdata/store"

// stoppedHost is a machine whose clock stands still.
type stoppedHost struct{ *localhost.Host }

var fixtureTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func (stoppedHost) Now() time.Time { return fixtureTime }

// maker writes the fixture.
type maker struct {
	testing.TB
	*Recorder
	grouping *overlap.Grouping
}

func newMaker(t testing.TB, folder string) *maker {
	t.Helper()
	b, err := dirstore.Open(folder, dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := artifacts.New(b, artifacts.Options{Host: stoppedHost{localhost.New()}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := overlap.NewGrouping(bytes.Repeat([]byte("fixture "), 4))
	if err != nil {
		t.Fatal(err)
	}
	return &maker{TB: t, grouping: g, Recorder: &Recorder{Store: store, Owner: artifacts.Owner{Worker: "fixture"},
		Code: provenance.Code{Version: "fixture"}, Now: func() time.Time { return fixtureTime }}}
}

// film is the picture of a phantom as a PNG file, and as a JPEG of half its size.
func film(t testing.TB, index int) (file, copied overlap.Image) {
	t.Helper()
	pic, err := phantom.New(20, index, phantom.Options{}).Picture(128, 156)
	if err != nil {
		t.Fatal(err)
	}
	half := cxr.NewImage(64, 78)
	for i := range half.Pix {
		half.Pix[i] = pic.Image.At(2*(i%64), 2*(i/64))
	}
	png, err := cxr.EncodePNG(pic.Image)
	if err != nil {
		t.Fatal(err)
	}
	jpeg, err := cxr.EncodeJPEG(half, 80)
	if err != nil {
		t.Fatal(err)
	}
	return seen(t, png), seen(t, jpeg)
}

func seen(t testing.TB, data []byte) overlap.Image {
	t.Helper()
	m, err := cxr.Decode(data, cxr.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := overlap.Perceptual(m)
	if err != nil {
		t.Fatal(err)
	}
	return overlap.Image{Image: artifacts.Sum(data), Perceptual: &h}
}

// of gives an image its study and patient, by number.
func (m *maker) of(i overlap.Image, study, patient int) overlap.Image {
	i.Study, i.Patient = m.grouping.Study("phantom", fmt.Sprint(study)), m.grouping.Patient("phantom", fmt.Sprint(patient))
	return i
}

func (m *maker) list(images ...overlap.Image) contract.ImageList {
	m.Helper()
	l, err := m.PutImages(m.Context(), overlap.List{Perceptual: overlap.PerceptualName, Grouping: m.grouping.ID(), Images: images}, "synthetic")
	if err != nil {
		m.Fatal(err)
	}
	return l
}

func (m *maker) put(v any, mediaType string) artifacts.Ref {
	m.Helper()
	text, err := artifacts.Canonical(v)
	if err != nil {
		m.Fatal(err)
	}
	return m.ref(m.Store.Put(m.Context(), text, mediaType))
}

// ref is what a writer returns.
func (m *maker) ref(r artifacts.Ref, err error) artifacts.Ref {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
	return r
}

// checkpoint records a checkpoint that was trained on images, two examples of each.
func (m *maker) checkpoint(name string, parent artifacts.Digest, dataset artifacts.Ref, images ...overlap.Image) artifacts.Digest {
	m.Helper()
	var examples []contract.TrainingExample
	for i, image := range images {
		for k := range 2 {
			examples = append(examples, contract.TrainingExample{Example: artifacts.Sum(fmt.Appendf(nil, "%s %d %d", name, i, k)), Images: []artifacts.Digest{image.Image}})
		}
	}
	set := m.ref(m.PutTrainingSet(m.Context(), contract.TrainingSet{Name: name + "-examples", DataUse: "synthetic", Images: m.list(images...), Datasets: []artifacts.Ref{dataset}}, examples))
	c := contract.Checkpoint{
		Name: name, Base: "tiny policy, seed 1", Parent: parent, Trainer: contract.Program{Name: "tiny", Version: "1"}, Training: set, Step: 100,
		Recipe: m.put(map[string]any{"name": name, "to_step": 100}, "application/json"),
		Files: []contract.CheckpointFile{
			{Name: "model.safetensors", Digest: artifacts.Sum([]byte("weights of " + name)), Size: 100},
			{Name: "config.json", Digest: artifacts.Sum([]byte("config of " + name)), Size: 10},
		},
	}
	m.ref(m.PutCheckpoint(m.Context(), c))
	d, err := contract.WeightsDigest(c.Files)
	if err != nil {
		m.Fatal(err)
	}
	return d
}

// write writes the whole fixture.
func (m *maker) write() {
	m.Helper()
	var judged, training []overlap.Image
	copies := map[int]overlap.Image{}
	for i := range 6 {
		file, copied := film(m, i)
		judged, copies[i] = append(judged, m.of(file, i, i)), copied
	}
	for i := range 6 {
		file, _ := film(m, 100+i)
		training = append(training, m.of(file, 100+i, 100+i))
	}
	sibling, _ := film(m, 200)
	sibling = m.of(sibling, 2, 2)
	manifest := m.put(contract.Dataset{Format: contract.DatasetFormat, Images: 6, In: 6, DataUse: "synthetic", Filtered: []contract.Count{}, Quarantined: []contract.Count{}}, contract.DatasetMediaType)
	m.ref(m.PutDataset(m.Context(), contract.DatasetEntry{Name: "phantom", Version: "evaluation", DataUse: "synthetic", Images: m.list(judged...), Manifest: manifest}))
	dataset := m.ref(m.PutDataset(m.Context(), contract.DatasetEntry{Name: "phantom", Version: "training", DataUse: "synthetic", Images: m.list(append(training, sibling)...)}))
	none := artifacts.Digest{}
	file := m.checkpoint("saw-the-file", none, dataset, append(training[:3:3], judged[0])...)
	weights := map[string]artifacts.Digest{
		"saw-the-file":  file,
		"saw-a-copy":    m.checkpoint("saw-a-copy", none, dataset, append(training[:3:3], m.of(copies[1], 101, 101))...),
		"saw-a-sibling": m.checkpoint("saw-a-sibling", none, dataset, append(training[:3:3], sibling)...),
		"child":         m.checkpoint("child", file, dataset, training[3:]...),
		"clean":         m.checkpoint("clean", none, dataset, training...),
	}
	plan := experiments.Plan{Format: "cxrepro-plan-1"}
	plan.Spec.Name, plan.Spec.Dataset.Name, plan.Spec.Dataset.DataUse = "overlap-fixture", "phantom", "synthetic"
	for _, name := range []string{"saw-the-file", "saw-a-copy", "saw-a-sibling", "child", "clean"} {
		plan.Models = append(plan.Models, experiments.ModelCard{Name: name, Identity: lvlm.Identity{Weights: weights[name]}})
	}
	plan.Models = append(plan.Models, experiments.ModelCard{Name: "elsewhere", Identity: lvlm.Identity{Provider: "elsewhere", Snapshot: "2026-01"}})
	bench := contract.Benchmark{Format: contract.BenchmarkFormat, Source: "build", DataUse: "synthetic"}
	for i, image := range judged {
		id := fmt.Sprintf("phantom-%d", i)
		bench.Cases = append(bench.Cases, contract.BenchmarkCase{Task: chexstruct.Cardiomegaly, ID: id, Doc: m.put(contract.CaseDoc{
			Format: contract.CaseDocFormat, Task: chexstruct.Cardiomegaly, ID: id, View: "PA", Image: image.Image, Pictures: map[string]artifacts.Ref{},
		}, "application/json")})
	}
	r := contract.Receipt{
		Format: contract.ReceiptFormat, Reproduction: "0123456789abcdef", Name: "overlap-fixture", Paper: "none: a fixture", Manifest: manifest,
		Plan: m.put(plan, experiments.PlanMediaType), Benchmark: m.put(bench, "application/json"), DataUse: "synthetic", Launched: fixtureTime, Ended: fixtureTime,
	}
	m.ref(m.record(m.Context(), entry{key: contract.ReproductionKey(r.Plan.Digest, manifest.Digest), value: r, mediaType: contract.ReceiptMediaType, dataUse: "synthetic",
		pin: "reproduction", note: "a fixture"}))
}

// TestFixture holds that the committed fixture is what the program writes now. With -update it
// is written anew.
func TestFixture(t *testing.T) {
	made := t.TempDir()
	newMaker(t, made).write()
	if *update {
		if err := os.RemoveAll(fixture); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(fixture, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
	}
	want, got := files(t, fixture), files(t, made)
	for name, text := range got {
		if want[name] != text {
			t.Errorf("%s: the committed file differs or is missing; `go test ./internal/checkpoint -run TestFixture -update` writes it", name)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is not written any more", name)
		}
	}
}

func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[path[len(folder):]] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// opened is a copy of the fixture to work on, and its receipt.
func opened(t *testing.T) (*maker, *contract.Receipt) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(folder, os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	m := newMaker(t, folder)
	var receipt *contract.Receipt
	err := each(context.Background(), m.Store, contract.StepReproduction, func(_ artifacts.Ref, r contract.Receipt) error { receipt = &r; return nil })
	if err != nil || receipt == nil {
		t.Fatalf("receipt: %v", err)
	}
	return m, receipt
}
