package catalog_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
)

func TestKeys(t *testing.T) {
	w := newWorld(t)
	var first, later []artifacts.Record
	for i := range 40 {
		_, _, finding, _ := w.image(i, "r1")
		first = append(first, finding)
	}
	// The same windows with another threshold, by another reproduction.
	c := w.open(t.TempDir())
	w.update(c)
	steps := func(k artifacts.Key) catalog.Step {
		t.Helper()
		found, err := c.Matching(t.Context(), k.Digest.Hex()[:12], 5)
		if err != nil || len(found) != 1 || found[0].Key != k {
			t.Fatalf("matching %s: %+v, %v", k.Short(), found, err)
		}
		return found[0]
	}
	for i, rec := range first {
		if s := steps(rec.Key); s.Result.Digest != rec.Result.Digest || s.Statement != rec.Statement.Digest {
			t.Errorf("step %+v, want %+v", s, rec)
		}
		window := w.window(i)
		w.at = time.Hour
		later = append(later, w.step("assess", "r2", fmt.Sprintf(`{"finding":%d,"again":1}`, i), "application/json", map[string]any{"task": "t", "row": 2}, material{"window", window}))
	}
	w.at = 2 * time.Hour
	again := w.step("assess", "r2", `{"finding":"v2"}`, "application/json", map[string]any{"task": "t", "row": 3}, material{"window", w.window(7)})
	w.update(c)

	own, total, err := c.Own(t.Context(), "assess", "r2", 10)
	if err != nil || total != 41 || len(own) != 10 || own[0].Reproduction != "r2" || own[0].Key.Step != "assess" {
		t.Errorf("own: %d of %d, %v", len(own), total, err)
	}
	keys := func(steps []catalog.Step) (out []artifacts.Key) {
		for _, s := range steps {
			out = append(out, s.Key)
		}
		return out
	}
	all, total, err := c.Earlier(t.Context(), steps(later[7].Key), 100)
	if err != nil || total != 40 || len(all) != 40 {
		t.Errorf("all earlier keys: %d of %d, %v", len(all), total, err)
	}
	// Among a few of many, the key of the same window is there, whatever its age.
	few, total, err := c.Earlier(t.Context(), steps(later[7].Key), 6)
	if err != nil || total != 40 || len(few) > 6 || !slices.Contains(keys(few), first[7].Key) {
		t.Errorf("few earlier keys: %v of %d, %v", keys(few), total, err)
	}
	// A later key of the same reproduction sees its own earlier one only with equal materials.
	few, _, err = c.Earlier(t.Context(), steps(again.Key), 6)
	if err != nil || !slices.Contains(keys(few), later[7].Key) || slices.Contains(keys(few), later[8].Key) {
		t.Errorf("of the same reproduction: %v, %v", keys(few), err)
	}
	if none, total, err := c.Earlier(t.Context(), steps(first[0].Key), 6); err != nil || total != 0 || len(none) != 0 {
		t.Errorf("before the first: %v, %v", none, err)
	}
}

func TestLists(t *testing.T) {
	w := newWorld(t)
	w.image(1, "r1")
	w.image(2, "r1")
	w.at = time.Hour
	w.image(3, "r2")
	c := w.open(t.TempDir())
	w.update(c)
	reps, err := c.Reproductions(t.Context())
	if err != nil || len(reps) != 2 || reps[0].Name != "r2" || reps[1].Steps != 8 || reps[1].Calls != 2 || !reps[0].Started.After(reps[1].Ended) {
		t.Errorf("reproductions %+v, %v", reps, err)
	}
	calls, err := c.Calls(t.Context())
	want := catalog.CallSum{Model: "m7b", Kind: "model", Outcome: "answered", Calls: 3, Sent: 6, Prompt: 2100, Completion: 27, Cost: 36, Currency: "USD"}
	if err != nil || len(calls) != 1 || calls[0] != want {
		t.Errorf("calls %+v, %v", calls, err)
	}
	used, err := c.Materials(t.Context(), "model", 10)
	if err != nil || len(used) != 1 || used[0].Digest != weights || used[0].Keys != 3 {
		t.Errorf("models %+v, %v", used, err)
	}
	if used, err = c.Materials(t.Context(), "image", 2); err != nil || len(used) != 2 || used[0].Keys != 1 {
		t.Errorf("images %+v, %v", used, err)
	}
}
