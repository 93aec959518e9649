package trainer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/trainer"
	"cxrepro/internal/trainer/trainertest"
)

// trained runs an honest trainer of a kind to its end and returns its folder of checkpoints.
func trained(t *testing.T, kind string) (string, trainer.Layout) {
	t.Helper()
	r := newRig(t, kind, "honest")
	r.finish()
	l, err := trainer.LayoutOf(trainertest.Kinds[kind].Layout)
	if err != nil {
		t.Fatal(err)
	}
	return r.CheckpointsFolder(), l
}

// TestTorn: whatever file of a checkpoint is missing or cut off, the checkpoint is torn, and says
// which file; nothing else is.
func TestTorn(t *testing.T) {
	for _, kind := range []string{"verl", "trl"} {
		folder, layout := trained(t, kind)
		list, err := layout.Checkpoints(folder)
		if err != nil || len(list) != fakeSteps/2 || slices.ContainsFunc(list, func(c trainer.Checkpoint) bool { return c.Torn != "" }) {
			t.Fatalf("%s: %+v, %v", kind, list, err)
		}
		last := list[len(list)-1]
		for _, name := range last.Names {
			path := filepath.Join(folder, last.Path, filepath.FromSlash(name))
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string) {
				got, err := layout.Checkpoints(folder)
				if err != nil {
					t.Fatal(err)
				}
				if c := got[len(got)-1]; c.Torn == "" || !strings.Contains(c.Torn, last.Path) {
					t.Errorf("%s: %s %s: torn %q", kind, name, what, c.Torn)
				}
				if got[0].Torn != "" {
					t.Errorf("%s: %s %s tears %s: %s", kind, name, what, got[0].Path, got[0].Torn)
				}
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			check("missing")
			if name != "data.pt" { // its content is verl's alone
				if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
					t.Fatal(err)
				}
				check("cut off")
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestNames: names of unfinished folders are torn, a wrong step in trainer_state.json is, and a
// tracker that is behind.
func TestNames(t *testing.T) {
	folder, layout := trained(t, "trl")
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(folder, from), filepath.Join(folder, to)); err != nil {
			t.Fatal(err)
		}
	}
	last := fmt.Sprint("checkpoint-", 2*fakeSteps)
	for _, name := range []string{"tmp-" + last, last + ".tmp", "checkpoint-999"} {
		move(last, name)
		list, err := layout.Checkpoints(folder)
		if err != nil || !slices.ContainsFunc(list, func(c trainer.Checkpoint) bool { return c.Path == name && c.Torn != "" }) {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		move(name, last)
	}
	folder, layout = trained(t, "verl")
	if err := os.WriteFile(filepath.Join(folder, "latest_checkpointed_iteration.txt"), []byte("4"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := layout.Checkpoints(folder)
	complete, torn := trainer.Newest(list)
	if err != nil || complete == nil || complete.Step != 4 || complete.Counter != 4 || torn == nil || torn.Step != 6 {
		t.Errorf("a tracker at 4: complete %+v, torn %+v, %v", complete, torn, err)
	}
}

// TestUploadAndDownload: a checkpoint that was stored comes back byte for byte on another
// machine, where a run goes on from it; a damaged copy there is replaced.
func TestUploadAndDownload(t *testing.T) {
	for _, kind := range []string{"verl", "trl"} {
		store := memstore.Open()
		folder, layout := trained(t, kind)
		list, err := layout.Checkpoints(folder)
		if err != nil {
			t.Fatal(err)
		}
		run, steps := artifacts.Sum([]byte(kind)), []string{}
		var last trainer.Manifest
		for _, c := range list {
			if last, _, err = trainer.Upload(t.Context(), store, run, folder, c, weightsOf, func() { steps = append(steps, "manifest") }); err != nil {
				t.Fatal(err)
			}
		}
		if len(steps) != len(list) {
			t.Errorf("%d manifests of %d checkpoints", len(steps), len(list))
		}
		away := filepath.Join(t.TempDir(), "checkpoints")
		for range 2 {
			path, err := trainer.Download(t.Context(), store, last, away, layout.Name())
			if err != nil {
				t.Fatal(err)
			}
			got, err := layout.Checkpoints(away)
			if err != nil || len(got) != 1 || got[0].Torn != "" {
				t.Fatalf("%s: %+v, %v", kind, got, err)
			}
			all, _, err := got[0].Hash(away)
			want, _, err2 := list[len(list)-1].Hash(folder)
			if err != nil || err2 != nil || !slices.Equal(all, want) {
				t.Errorf("%s: files %v, %v, %v, want %v", kind, all, err, err2, want)
			}
			if err := os.WriteFile(filepath.Join(path, all[0].Name), []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		last.Files["../outside"] = last.Files[list[0].Names[0]]
		if _, err := trainer.Download(t.Context(), store, last, t.TempDir(), layout.Name()); err == nil {
			t.Error("a manifest that leads out of its folder was followed")
		}
	}
}

// TestAnotherMachine: a run whose machine is lost goes on elsewhere from the newest checkpoint of
// the store, as a resume from a silent trainer does.
func TestAnotherMachine(t *testing.T) {
	store := memstore.Open()
	r := newRig(t, "verl", "crash:before-step:5")
	var kept []trainer.Manifest
	r.opts.Sync = func(ctx context.Context, folder string, c trainer.Checkpoint) error {
		m, _, err := trainer.Upload(ctx, store, r.Segment.Run, folder, c, weightsOf, func() {})
		kept = append(kept, m)
		return err
	}
	if err := trainer.Supervise(t.Context(), r.Job, r.opts); err == nil {
		t.Fatal("the trainer was not killed")
	}
	other := newRig(t, "verl", "honest")
	other.opts.Restore = func(ctx context.Context, folder string, least, most int) error {
		_, err := trainer.Download(ctx, store, kept[len(kept)-1], folder, "verl")
		return err
	}
	other.finish()
	starts, err := other.Starts()
	if err != nil || len(starts) != 1 || starts[0].From != 4 {
		t.Errorf("starts %+v, %v, want one from step 4", starts, err)
	}
	other.samples = append(other.samples, slices.DeleteFunc(r.samples, func(s trainer.Sample) bool { return s.Step > 4 })...)
	e, _, err := other.Gather(other.samples, weightsOf)
	if err != nil {
		t.Fatal(err)
	}
	// The first machine's start is known from the records of its samples.
	e.Attempts = []trainer.Attempt{{N: 1, From: 0}}
	if _, err := trainer.Prove(e); err != nil {
		t.Error(err)
	}
}

// TestSchedule: every pass holds every item once, no step holds one twice, and order depends on
// stream, seed and nothing else.
func TestSchedule(t *testing.T) {
	var items []string
	for i := range 10 {
		items = append(items, fmt.Sprint("item-", i))
	}
	s, err := trainer.NewSchedule(items, 25, 4, "order", 1)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, step := range s {
		seen := map[string]bool{}
		for _, id := range step.Items {
			if seen[id] {
				t.Errorf("step %d holds %s twice", step.Step, id)
			}
			seen[id] = true
			count[id]++
		}
	}
	for id, n := range count {
		if n != 10 {
			t.Errorf("%s is dealt %d times in 10 passes", id, n)
		}
	}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got := artifacts.Sum(text).Short(); got != "4860d194ae38" {
		t.Errorf("schedule %s: a changed order is another training of every run", got)
	}
	again, err := trainer.DecodeSchedule(text)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(s) {
		t.Errorf("decoded %v, %v", again, err)
	}
	other, err := trainer.NewSchedule(items, 25, 4, "order", 2)
	if err != nil || fmt.Sprint(other) == fmt.Sprint(s) {
		t.Errorf("another seed gives the same order, %v", err)
	}
	for _, bad := range [][]string{nil, {"a", "a", "b", "c"}, {"a", "b", "c"}} {
		if _, err := trainer.NewSchedule(bad, 1, 4, "order", 1); err == nil {
			t.Errorf("items %v were dealt", bad)
		}
	}
	if _, err := trainer.DecodeSchedule([]byte(`{"step":2,"items":["a"]}` + "\n")); err == nil {
		t.Error("a schedule that begins with step 2 was read")
	}
}

// TestPermuted: the rewards of a group stay its rewards, in an order that follows from seed, step and
// item; over many groups a draw's own reward comes back to it one time in four.
func TestPermuted(t *testing.T) {
	rewards := []float64{0, 1, 2, 3}
	own, orders := 0, map[string]bool{}
	for step := range 400 {
		got := trainer.Permuted(rewards, 1, step, "item")
		if again := trainer.Permuted(rewards, 1, step, "item"); !slices.Equal(got, again) {
			t.Fatalf("step %d: %v, then %v", step, got, again)
		}
		for k, v := range got {
			if v == rewards[k] {
				own++
			}
		}
		orders[fmt.Sprint(got)] = true
		if slices.Sort(got); !slices.Equal(got, rewards) {
			t.Fatalf("step %d: %v are not the group's rewards", step, got)
		}
	}
	if own < 320 || own > 480 || len(orders) != 24 {
		t.Errorf("%d of 1600 rewards came back to their draw, want about 400; %d of 24 orders", own, len(orders))
	}
	if slices.Equal(trainer.Permuted(rewards, 1, 7, "item"), trainer.Permuted(rewards, 1, 7, "other")) &&
		slices.Equal(trainer.Permuted(rewards, 1, 8, "item"), trainer.Permuted(rewards, 1, 8, "other")) {
		t.Error("the order does not follow from the item")
	}
}

// TestIdentity: every field of a spec makes another run.
func TestIdentity(t *testing.T) {
	r := newRig(t, "trl", "honest")
	seen := map[artifacts.Digest]string{}
	base, err := json.Marshal(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*trainer.Spec){
		"none": func(*trainer.Spec) {}, "recipe": func(s *trainer.Spec) { s.Recipe[0]++ }, "image": func(s *trainer.Spec) { s.Image = "sha256:1" },
		"base": func(s *trainer.Spec) { s.Base[0]++ }, "reference": func(s *trainer.Spec) { s.Reference = s.Base }, "data": func(s *trainer.Spec) { s.Data = []trainer.File{{Name: "x"}} },
		"schedule": func(s *trainer.Spec) { s.Schedule[0]++ }, "steps": func(s *trainer.Spec) { s.Steps++ }, "group": func(s *trainer.Spec) { s.Group++ },
		"updates": func(s *trainer.Spec) { s.Updates++ }, "save": func(s *trainer.Spec) { s.SaveEvery++ }, "seed": func(s *trainer.Spec) { s.Seed++ },
		"reward": func(s *trainer.Spec) { s.Reward[0]++ }, "gpus": func(s *trainer.Spec) { s.GPUs++ }, "drops": func(s *trainer.Spec) { s.Drops++ },
		"hyper": func(s *trainer.Spec) { s.Hyper = map[string]any{"lr": 1e-6} }, "mode": func(s *trainer.Spec) { s.Mode = trainer.PlatformDriven }, "trainer": func(s *trainer.Spec) { s.Trainer = "other" },
		"scaled": func(s *trainer.Spec) { s.Scaled = true }, "permuted": func(s *trainer.Spec) { s.Permuted = true },
	} {
		var s trainer.Spec
		if err := json.Unmarshal(base, &s); err != nil {
			t.Fatal(err)
		}
		change(&s)
		id, err := s.Identity()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if before, twice := seen[id]; twice {
			t.Errorf("%s and %s have one identity", name, before)
		}
		seen[id] = name
	}
}
