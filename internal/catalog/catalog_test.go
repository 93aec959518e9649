package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/storetest"
	"cxrepro/internal/catalog"
	"cxrepro/internal/provenance"
)

const answerType = "application/vnd.cxrepro.answer+json"

// world is a store that a test fills, and what must be linked in it.
type world struct {
	testing.TB
	store *artifacts.Repository
	host  *storetest.Host
	// down is what must be linked.
	down map[artifacts.Digest]map[artifacts.Digest]bool
	// at moves the times of what is computed next.
	at      time.Duration
	windows map[int]artifacts.Digest
}

// window is the digest of an image's window.
func (w *world) window(i int) artifacts.Digest { return w.windows[i] }

func newWorld(t testing.TB) *world {
	t.Helper()
	h := storetest.NewHost()
	r, err := artifacts.New(memstore.New("catalog"), artifacts.Options{Host: h})
	if err != nil {
		t.Fatal(err)
	}
	return &world{TB: t, store: r, host: h, down: map[artifacts.Digest]map[artifacts.Digest]bool{}, windows: map[int]artifacts.Digest{}}
}

func (w *world) link(from artifacts.Digest, to ...artifacts.Digest) {
	for _, d := range to {
		if w.down[from] == nil {
			w.down[from] = map[artifacts.Digest]bool{}
		}
		w.down[from][d] = true
	}
}

type material struct {
	name   string
	digest artifacts.Digest
}

// step commits one result; calls carry their statement inline.
func (w *world) step(name, reproduction, result, media string, params map[string]any, from ...material) artifacts.Record {
	w.Helper()
	doc := artifacts.KeyDoc{Step: name, Version: 1, Params: params}
	for _, m := range from {
		doc.Inputs = append(doc.Inputs, artifacts.Material{Name: m.name, Digest: m.digest})
	}
	key, err := doc.Key()
	if err != nil {
		w.Fatal(err)
	}
	ctx := w.Context()
	ref, err := w.store.Put(ctx, []byte(result), media)
	if err != nil {
		w.Fatal(err)
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC).Add(w.at)
	f := provenance.Facts{Key: doc, Subject: []provenance.Descriptor{provenance.Describe("result", ref)}, Code: provenance.Code{Commit: "abc"},
		Invocation: provenance.Invocation{Reproduction: reproduction, Worker: "w1", Fence: 1, Started: at, Finished: at.Add(time.Second)}}
	if name == "call" {
		f.Parameters = map[string]any{"call": map[string]any{"kind": "model", "card": "m7b", "outcome": "answered",
			"attempts": map[string]any{"sent": 2, "usage": map[string]any{"calls": 1, "prompt": 700, "completion": 9}, "cost": 12, "currency": "USD"}}}
	}
	st, err := provenance.New(f)
	if err != nil {
		w.Fatal(err)
	}
	text, err := st.Encode()
	if err != nil {
		w.Fatal(err)
	}
	for _, m := range from {
		w.link(ref.Digest, m.digest)
	}
	claim, err := w.store.Claim(ctx, key, artifacts.Owner{Worker: "w1"}, time.Minute)
	if err != nil {
		w.Fatal(err)
	}
	rec := artifacts.Record{Key: key, Result: ref}
	if name == "call" {
		rec, err = w.store.CommitInline(ctx, claim, rec, text)
	} else if rec.Statement, err = w.store.PutStatement(ctx, text); err == nil {
		rec, err = w.store.CommitClaimed(ctx, claim, rec)
	}
	if err != nil {
		w.Fatal(err)
	}
	if err := w.store.Release(ctx, claim); err != nil {
		w.Fatal(err)
	}
	return rec
}

var weights = artifacts.Sum([]byte("weights"))

// image is one image's way: facts, a window document, a finding, a call about it.
func (w *world) image(i int, reproduction string) (image artifacts.Digest, window, finding, call artifacts.Record) {
	w.Helper()
	image = artifacts.Sum(fmt.Appendf(nil, "image %d", i))
	facts := w.step("pixel-facts", reproduction, fmt.Sprintf(`{"facts":%d}`, i), "application/json", nil, material{"image", image})
	window = w.step("window", reproduction, fmt.Sprintf(`{"row":{"digest":"%s","size":%d,"media_type":"application/json"},"n":%d}`, facts.Result.Digest, facts.Result.Size, i),
		"application/vnd.cxrepro.window-inputs+json", map[string]any{"i": i})
	w.link(window.Result.Digest, facts.Result.Digest)
	w.windows[i] = window.Result.Digest
	finding = w.step("assess", reproduction, fmt.Sprintf(`{"finding":%d}`, i), "application/json", map[string]any{"task": "t"}, material{"window", window.Result.Digest})
	call = w.step("call", reproduction, fmt.Sprintf(`{"text":"answer %d","media_type":"no document"}`, i), answerType,
		map[string]any{"draw": 1, "model": map[string]any{"weights": weights}}, material{"picture of init", finding.Result.Digest})
	w.link(call.Result.Digest, weights)
	return image, window, finding, call
}

func (w *world) open(folder string) *catalog.Catalog {
	w.Helper()
	c, err := catalog.Open(w.Context(), folder, w.store.URL())
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := c.Close(); err != nil {
			w.Error(err)
		}
	})
	return c
}

var options = catalog.Options{Leaves: []string{answerType}, Readers: 3}

func (w *world) update(c *catalog.Catalog) catalog.Counts {
	w.Helper()
	n, err := c.Update(w.Context(), w.store, options)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *world) digest(c *catalog.Catalog) artifacts.Digest {
	w.Helper()
	d, err := c.Digest(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// anew is the digest of a catalog that was made in one go.
func (w *world) anew() artifacts.Digest {
	w.Helper()
	c := w.open(w.TempDir())
	w.update(c)
	return w.digest(c)
}

// reach is the closure by the world's own account.
func (w *world) reach(start artifacts.Digest, up bool) []artifacts.Digest {
	links := w.down
	if up {
		links = map[artifacts.Digest]map[artifacts.Digest]bool{}
		for from, all := range w.down {
			for to := range all {
				if links[to] == nil {
					links[to] = map[artifacts.Digest]bool{}
				}
				links[to][from] = true
			}
		}
	}
	seen := map[artifacts.Digest]bool{start: true}
	todo, out := []artifacts.Digest{start}, []artifacts.Digest{}
	for len(todo) > 0 {
		for d := range links[todo[0]] {
			if !seen[d] {
				seen[d] = true
				todo, out = append(todo, d), append(out, d)
			}
		}
		todo = todo[1:]
	}
	return sorted(out)
}

func sorted(ds []artifacts.Digest) []artifacts.Digest {
	ds = slices.Clone(ds)
	slices.SortFunc(ds, func(a, b artifacts.Digest) int { return slices.Compare(a[:], b[:]) })
	return ds
}

func TestClosureAndHops(t *testing.T) {
	w := newWorld(t)
	var starts []artifacts.Digest
	for i := range 5 {
		image, window, finding, call := w.image(i, "r1")
		starts = append(starts, image, window.Result.Digest, finding.Result.Digest, call.Result.Digest)
	}
	c := w.open(t.TempDir())
	n := w.update(c)
	if n.Steps != 20 || n.Calls != 5 || n.Links != 25 || n.Read != 20 {
		t.Errorf("counts %+v", n)
	}
	for _, d := range append(starts, weights) {
		for way, up := range map[catalog.Direction]bool{catalog.Down: false, catalog.Up: true} {
			got, err := c.Closure(t.Context(), d, way, 0, 0)
			if want := w.reach(d, up); err != nil || got.More || !slices.Equal(sorted(got.Nodes), want) {
				t.Errorf("closure of %s, up %t: %d artifacts, %v; want %d", d.Short(), up, len(got.Nodes), err, len(want))
			}
		}
	}
	call, image := starts[3], starts[0]
	got, err := c.Closure(t.Context(), call, catalog.Down, 2, 0)
	if err != nil || got.Depth != 2 || !got.More || len(got.Nodes) != 3 {
		t.Errorf("two steps down: %+v, %v", got, err)
	}
	if got, err = c.Closure(t.Context(), image, catalog.Up, 4, 0); err != nil || got.Depth != 4 || got.More || len(got.Nodes) != 4 {
		t.Errorf("all of four steps up: %+v, %v", got, err)
	}
	if got, err = c.Closure(t.Context(), weights, catalog.Up, 0, 3); err != nil || !got.More || len(got.Nodes) != 3 {
		t.Errorf("the first three: %+v, %v", got, err)
	}
	hop, err := c.Hop(t.Context(), call, catalog.Down, 10)
	if err != nil || len(hop) != 2 || hop[0].From != call {
		t.Fatalf("hop: %+v, %v", hop, err)
	}
	names := []string{hop[0].Name, hop[1].Name}
	slices.Sort(names)
	steps, err := c.Steps(t.Context(), call)
	if err != nil || len(steps) != 1 || hop[0].Key != steps[0].Key.Digest || steps[0].Reproduction != "r1" || steps[0].Key.Step != "call" || !slices.Equal(names, []string{"model", "picture of init"}) {
		t.Errorf("step %+v, %v; hop %q", steps, err, names)
	}
	found, err := c.Find(t.Context(), image.Hex()[:9], 5)
	if err != nil || !slices.Equal(found, []artifacts.Digest{image}) {
		t.Errorf("find: %v, %v", found, err)
	}
	if found, err = c.Find(t.Context(), image.Hex(), 5); err != nil || len(found) != 1 {
		t.Errorf("find by all digits: %v, %v", found, err)
	}
}

// TestDigestIsOfTheStore: however a catalog came about, it says the same.
func TestDigestIsOfTheStore(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	c := w.open(folder)
	var roots []artifacts.Ref
	same := func(when string) {
		t.Helper()
		n := w.update(c)
		got, want := w.digest(c), w.anew()
		if got != want {
			t.Errorf("%s: brought up to date %s, made anew %s (%+v)", when, got.Short(), want.Short(), n)
		}
		if again := w.update(c); again.Read != 0 || again.Forgotten != 0 {
			t.Errorf("%s: nothing changed, but %+v", when, again)
		}
		if _, err := c.Reindex(t.Context(), w.store, options); err != nil {
			t.Fatal(err)
		}
		if again := w.digest(c); again != want {
			t.Errorf("%s: reindexed %s, made anew %s", when, again.Short(), want.Short())
		}
	}
	before := w.anew()
	for i := range 3 {
		_, window, finding, _ := w.image(i, fmt.Sprintf("r%d", i))
		roots = append(roots, window.Result, finding.Result)
		same(fmt.Sprintf("image %d", i))
	}
	if before == w.digest(c) {
		t.Error("an empty store and a full one have the same digest")
	}
	loose, err := w.store.Put(t.Context(), fmt.Appendf(nil, `{"of":{"digest":"%s","size":1,"media_type":"image/png"}}`, weights), "application/json")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.SetPin(t.Context(), artifacts.Pin{Name: "done", Roots: append(roots[:2:2], loose)}); err != nil {
		t.Fatal(err)
	}
	same("a pinned document")
	if err := w.store.SetPin(t.Context(), artifacts.Pin{Name: "done", Roots: roots[:2]}); err != nil {
		t.Fatal(err)
	}
	same("a pin that keeps less")
	w.host.Advance(48 * time.Hour)
	report, err := w.store.GC(t.Context(), artifacts.GCOptions{Apply: true})
	if err != nil || report.Entries.Count == 0 {
		t.Fatalf("gc: %+v, %v", report, err)
	}
	same("after garbage collection")
	n, err := c.Counts(t.Context())
	if err != nil || n.Removed != report.Entries.Count || n.Steps != 12-report.Entries.Count {
		t.Errorf("counts after gc: %+v, %v", n, err)
	}
	w.image(1, "r-again")
	same("computed again")
	files, err := filepath.Glob(filepath.Join(folder, "*.sqlite"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, filepath.Base(files[0])), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := w.open(broken)
	w.update(other)
	if got, want := w.digest(other), w.digest(c); got != want {
		t.Errorf("in the place of a broken file: %s, want %s", got.Short(), want.Short())
	}
}

// TestLineageOutlivesCollection: what garbage collection removed still has its lineage.
func TestLineageOutlivesCollection(t *testing.T) {
	w := newWorld(t)
	_, _, finding, call := w.image(1, "r1")
	w.host.Advance(48 * time.Hour)
	if _, err := w.store.GC(t.Context(), artifacts.GCOptions{Apply: true}); err != nil {
		t.Fatal(err)
	}
	c := w.open(t.TempDir())
	w.update(c)
	steps, err := c.Steps(t.Context(), call.Result.Digest)
	if err != nil || len(steps) != 1 || !steps[0].Removed || steps[0].Reproduction != "r1" {
		t.Errorf("steps %+v, %v", steps, err)
	}
	got, err := c.Closure(t.Context(), call.Result.Digest, catalog.Down, 0, 0)
	if err != nil || !slices.Contains(got.Nodes, finding.Result.Digest) || !slices.Contains(got.Nodes, weights) {
		t.Errorf("closure %+v, %v", got, err)
	}
}

// TestDamage: a damaged entry, statement or document leaves the rest answerable.
func TestDamage(t *testing.T) {
	w := newWorld(t)
	_, window, finding, call := w.image(1, "r1")
	w.image(2, "r1")
	put := func(name, body string) {
		t.Helper()
		if _, err := w.store.Bucket().Put(t.Context(), name, content(body), artifacts.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	k, s, d := call.Key.Digest.Hex(), finding.Statement.Digest.Hex(), window.Result.Digest.Hex()
	put("index/call/"+k[:2]+"/"+k, "{")
	put("statements/sha256/"+s[:2]+"/"+s, "{")
	put("blobs/sha256/"+d[:2]+"/"+d, "{")
	put("index/notes.txt", "mine")
	c := w.open(t.TempDir())
	n := w.update(c)
	if n.Steps != 7 || n.Calls != 1 || n.Links != 5+1 { // of the damaged one, only its facts
		t.Errorf("counts %+v", n)
	}
}

func content(s string) artifacts.Content { return strings.NewReader(s) }
