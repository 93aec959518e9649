package checkpoint

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
)

// TestReadExamples: the digest of an example is that of its line, unless it says its own; a line
// that does not say its images is refused.
func TestReadExamples(t *testing.T) {
	image := artifacts.Sum([]byte("image"))
	line := fmt.Sprintf(`{"images": [%q], "text": "what the trainer read"}`, image)
	got, err := ReadExamples(strings.NewReader(line + "\n\n" + fmt.Sprintf(`{"example": %q, "images": []}`, artifacts.Sum([]byte("own")))))
	if err != nil || len(got) != 2 || got[0].Example != artifacts.Sum([]byte(line)) || got[0].Images[0] != image || got[1].Example != artifacts.Sum([]byte("own")) || len(got[1].Images) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for bad, say := range map[string]string{`{"images": []}` + "\n" + `{"text": "x"}`: "line 2: it has no images", `{"images": ["x"]}`: "line 1", "[": "line 1"} {
		if _, err := ReadExamples(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestPutTrained: a training set has of its images what the data sets of the store know, and the
// strictest of their classes.
func TestPutTrained(t *testing.T) {
	ctx, m := t.Context(), newMaker(t, t.TempDir())
	file, copied := film(m, 0)
	file, copied = m.of(file, 1, 1), m.of(copied, 2, 2)
	other := artifacts.Sum([]byte("elsewhere"))
	examples := []contract.TrainingExample{{Example: artifacts.Sum([]byte("a")), Images: []artifacts.Digest{file.Image, other}}, {Example: artifacts.Sum([]byte("b")), Images: []artifacts.Digest{}}}
	put := func(dataUse string) (Trained, overlap.List) {
		t.Helper()
		got, err := m.PutTrained(ctx, "x", dataUse, examples)
		if err != nil || got.Examples != 2 || got.Images != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		set, err := read[contract.TrainingSet](ctx, m.Store, got.Set)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Images(ctx, m.Store, set.Images)
		if err != nil || len(set.Datasets) != 2-got.Unlisted {
			t.Fatalf("%+v, %v", set, err)
		}
		return got, list
	}
	if _, err := m.PutTrained(ctx, "x", "", examples); !errors.Is(err, ErrDataUse) {
		t.Errorf("images of no class: %v", err)
	}
	before, list := put("synthetic")
	if before.Unlisted != 2 || list.Images[0].Perceptual != nil || list.Grouping != "" {
		t.Errorf("before any data set: %+v, %+v", before, list)
	}
	m.ref(m.PutDataset(ctx, contract.DatasetEntry{Name: "one", DataUse: "synthetic", Images: m.list(file)}))
	m.ref(m.PutDataset(ctx, contract.DatasetEntry{Name: "two", DataUse: "synthetic", Images: m.list(copied)}))
	got, list := put("")
	if got.Unlisted != 1 || got.DataUse != "synthetic" {
		t.Errorf("%+v", got)
	}
	for _, i := range list.Images {
		if listed := i.Image == file.Image; listed != (i.Perceptual != nil && i.Study == file.Study && i.Patient != "") {
			t.Errorf("%+v", i)
		}
	}
	lists := m.list(overlap.Image{Image: other})
	m.ref(m.PutDataset(ctx, contract.DatasetEntry{Name: "three", DataUse: "credentialed", Images: lists}))
	if got, _ := put(""); got.Unlisted != 0 || got.DataUse != "credentialed" {
		t.Errorf("%+v", got)
	}
	if _, err := m.PutTrained(ctx, "x", "synthetic", examples); !errors.Is(err, ErrDataUse) || !strings.Contains(err.Error(), "less strict than credentialed") {
		t.Errorf("a class that is not strict enough: %v", err)
	}
}
