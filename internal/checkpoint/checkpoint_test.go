package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
)

// evaluation is the recorded list of the judged images.
func (m *maker) evaluation() contract.ImageList {
	m.Helper()
	list, err := Datasets(m.Context(), m.Store)
	if err != nil {
		m.Fatal(err)
	}
	for _, d := range list {
		if d.Value.Version == "evaluation" {
			return d.Value.Images
		}
	}
	m.Fatal("no data set of the evaluation")
	return contract.ImageList{}
}

// checkAll compares every checkpoint with the judged images.
func (m *maker) checkAll() map[string]*contract.OverlapReport {
	m.Helper()
	list, err := Checkpoints(m.Context(), m.Store)
	if err != nil {
		m.Fatal(err)
	}
	out := map[string]*contract.OverlapReport{}
	for _, c := range list {
		r, _, err := m.Check(m.Context(), c.Value.Weights, m.evaluation(), overlap.Limit, "synthetic")
		if err != nil {
			m.Fatal(err)
		}
		out[c.Value.Name] = r
	}
	return out
}

// TestPlantedOverlaps: the three planted overlaps block the claims about their models, each by
// name, also through a parent; what saw nothing is clear, and what nobody knows is unknown.
func TestPlantedOverlaps(t *testing.T) {
	m, receipt := opened(t)
	before, err := Standings(t.Context(), m.Store, receipt)
	if err != nil || len(before) != 6 {
		t.Fatalf("standings %+v, %v", before, err)
	}
	for _, s := range before[:5] {
		if s.State != Unchecked || s.Blocks() {
			t.Errorf("before any comparison %s is %s: %s", s.Model, s.State, s.Detail)
		}
	}
	reports := m.checkAll()
	for name, want := range map[string]string{"saw-the-file": "[{same_bytes 1}]", "saw-a-copy": "[{near_duplicate 1}]", "saw-a-sibling": "[{same_study 1}]", "child": "[{same_bytes 1}]", "clean": "[]"} {
		if got := fmt.Sprint(reports[name].Images); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	after, err := Standings(t.Context(), m.Store, receipt)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		model string
		state State
		say   string
	}{
		{"saw-the-file", Overlapping, "same_bytes: image"}, {"saw-a-copy", Overlapping, "near_duplicate: image"}, {"saw-a-sibling", Overlapping, "same_study: image"},
		{"child", Overlapping, "same_bytes: image"}, {"clean", Clear, "none of 6 images overlaps"}, {"elsewhere", Unknown, "no pinned weights"},
	} {
		s := after[i]
		if s.Model != want.model || s.State != want.state || !strings.Contains(s.Detail, want.say) || s.Blocks() != (want.state == Overlapping) {
			t.Errorf("%s is %s (%s), want %s is %s, saying %q", s.Model, s.State, s.Detail, want.model, want.state, want.say)
		}
	}
	blocked, err := Blocked(t.Context(), m.Store, receipt)
	if err != nil || len(blocked) != 4 {
		t.Errorf("blocked %+v, %v", blocked, err)
	}
	if f := reports["saw-a-copy"].Findings; len(f) != 1 || f[0].Training == f[0].Evaluation || f[0].Distance > overlap.Limit {
		t.Errorf("findings of the copy %+v", f)
	}
	if chain := reports["child"].Training; len(chain) != 2 {
		t.Errorf("the child was compared with %d training sets, want its own and its parent's", len(chain))
	}
}

// TestChecksThatClearNobody: a smaller limit, other images, or a training set that became
// known later leave a model unchecked; a missing hash leaves it undetermined; what was found
// stays found.
func TestChecksThatClearNobody(t *testing.T) {
	m, receipt := opened(t)
	ctx := t.Context()
	weights := map[string]artifacts.Digest{}
	list, err := Checkpoints(ctx, m.Store)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		weights[c.Value.Name] = c.Value.Weights
	}
	judged, err := Judged(ctx, m.Store, receipt.Benchmark)
	if err != nil || len(judged) != 6 {
		t.Fatalf("judged %d, %v", len(judged), err)
	}
	all, err := Images(ctx, m.Store, m.evaluation())
	if err != nil {
		t.Fatal(err)
	}
	state := func(name string, want State, say string) {
		t.Helper()
		s, err := StandingOf(ctx, m.Store, weights[name], judged)
		if err != nil || s.State != want || !strings.Contains(s.Detail, say) {
			t.Errorf("%s is %s (%s), %v; want %s, saying %q", name, s.State, s.Detail, err, want, say)
		}
	}
	check := func(name string, limit int, images ...overlap.Image) {
		t.Helper()
		l := m.list(images...)
		if _, _, err := m.Check(ctx, weights[name], l, limit, "synthetic"); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := StandingOf(ctx, m.Store, weights["clean"], nil); err != nil || s.State != Undetermined {
		t.Errorf("before no images clean is %s (%s), %v", s.State, s.Detail, err)
	}
	check("clean", overlap.Limit-1, all.Images...)
	state("clean", Unchecked, "6 of 6 images")
	check("clean", overlap.Limit, all.Images[:4]...)
	state("clean", Unchecked, "2 of 6 images")
	check("clean", overlap.Limit, all.Images[3:]...)
	state("clean", Clear, "none of 6")

	check("saw-a-copy", 0, all.Images...)
	state("saw-a-copy", Unchecked, "6 of 6") // the copy is not the file
	bare := slices.Clone(all.Images)
	for i := range bare {
		bare[i].Perceptual = nil
	}
	check("saw-a-copy", overlap.Limit, bare...)
	state("saw-a-copy", Undetermined, "near_duplicate: not known of 0 of 4 training images and 6 of 6")
	check("saw-a-copy", overlap.Limit, all.Images...)
	state("saw-a-copy", Overlapping, "near_duplicate: image")

	check("child", overlap.Limit, all.Images...)
	state("child", Overlapping, "same_bytes")

	// Another record of the clean weights names another training set.
	clean := slices.IndexFunc(list, func(c Recorded[contract.Checkpoint]) bool { return c.Value.Name == "clean" })
	file := slices.IndexFunc(list, func(c Recorded[contract.Checkpoint]) bool { return c.Value.Name == "saw-the-file" })
	again := list[clean].Value
	again.Training, again.Name = list[file].Value.Training, "clean, told otherwise"
	if _, err := m.PutCheckpoint(ctx, again); err != nil {
		t.Fatal(err)
	}
	state("clean", Unchecked, "6 of 6")
	if _, err := LineageOf(ctx, m.Store, artifacts.Sum([]byte("nobody's"))); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("weights without a record: %v", err)
	}
}

// TestExamplesOfAnImage: an image leads to the examples that descend from it.
func TestExamplesOfAnImage(t *testing.T) {
	m, receipt := opened(t)
	judged, err := Judged(t.Context(), m.Store, receipt.Benchmark)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := TrainingSets(t.Context(), m.Store)
	if err != nil || len(sets) != 5 {
		t.Fatalf("%d training sets, %v", len(sets), err)
	}
	found := map[string][]int{}
	for _, s := range sets {
		for _, d := range judged {
			err := ExamplesOf(t.Context(), m.Store, s.Value, d, func(at int, e contract.TrainingExample) error {
				found[s.Value.Name] = append(found[s.Value.Name], at)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(found) != 1 || !slices.Equal(found["saw-the-file-examples"], []int{6, 7}) {
		t.Errorf("examples %v, want the seventh and eighth of saw-the-file-examples", found)
	}
}

// TestRecordsAreWrittenOnce: writing again changes nothing, and no record may be wrong.
func TestRecordsAreWrittenOnce(t *testing.T) {
	m, _ := opened(t)
	before := files(t, m.Store.URL()[len("file://"):])
	m.write()
	m.Now = func() time.Time { return fixtureTime.Add(time.Hour) }
	m.write()
	after := files(t, m.Store.URL()[len("file://"):])
	for name, text := range after {
		if before[name] != text {
			t.Errorf("%s changed", name)
		}
	}
	file, _ := film(m, 0)
	if once, twice := m.list(m.of(file, 1, 1)), m.list(overlap.Image{Image: file.Image}, m.of(file, 1, 1)); once != twice {
		t.Errorf("an image that is listed twice gives %+v, once %+v", twice, once)
	}
	list, err := Checkpoints(t.Context(), m.Store)
	if err != nil {
		t.Fatal(err)
	}
	for say, change := range map[string]func(*contract.Checkpoint){
		"all needed":   func(c *contract.Checkpoint) { c.Base = "" },
		"its files":    func(c *contract.Checkpoint) { c.Files = c.Files[:1] },
		"training set": func(c *contract.Checkpoint) { c.Training.Digest[0] ^= 1 },
	} {
		c := list[0].Value
		change(&c)
		if _, err := m.PutCheckpoint(t.Context(), c); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("want an error that says %q, got %v", say, err)
		}
	}
	if _, err := m.PutTrainingSet(t.Context(), contract.TrainingSet{Name: "x", DataUse: "synthetic", Images: m.evaluation()},
		[]contract.TrainingExample{{Example: artifacts.Sum([]byte("e")), Images: []artifacts.Digest{artifacts.Sum([]byte("elsewhere"))}}}); err == nil || !strings.Contains(err.Error(), "not in the list") {
		t.Errorf("an example of an unlisted image: %v", err)
	}
}
