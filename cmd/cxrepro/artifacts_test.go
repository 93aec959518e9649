package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/provenance"
)

// shelf is a state directory with a small store: two reproductions assessed the same
// window with different thresholds, and one manifest is pinned.
type shelf struct {
	t           *testing.T
	state       string
	store       *artifacts.Repository
	first, next artifacts.Record
	chunk       artifacts.Ref
	loose       artifacts.Ref
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{t: t, state: filepath.Join(t.TempDir(), "state")}
	b, err := dirstore.Open(filepath.Join(s.state, "store"), dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.store, err = artifacts.New(b, artifacts.Options{Host: localhost.New()}); err != nil {
		t.Fatal(err)
	}
	s.first = s.commit("r-first", 0.5, "window", 1)
	s.commit("r-first", 0.5, "other window", 2)
	s.next = s.commit("r-next", 0.55, "window", 3)
	w := manifest.NewWriter(s.store, "windows", manifest.Limits{})
	if err := w.Add(t.Context(), map[string]any{"result": s.first.Result}); err != nil {
		t.Fatal(err)
	}
	root, err := w.Close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Open(t.Context(), s.store, root)
	if err != nil {
		t.Fatal(err)
	}
	s.chunk = m.Chunks()[0].Ref
	if s.loose, err = s.store.Put(t.Context(), []byte("loose bytes"), "text/plain"); err != nil {
		t.Fatal(err)
	}
	if err := s.store.SetPin(t.Context(), artifacts.Pin{Name: "r-first", Roots: []artifacts.Ref{root}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// commit records one assessment, finished hour hours into the year.
func (s *shelf) commit(reproduction string, ctr float64, window string, hour int) artifacts.Record {
	s.t.Helper()
	doc := artifacts.KeyDoc{Step: "assess-window", Version: 1,
		Params: map[string]any{"preset": "corrected", "thresholds": map[string]any{"cardiomegaly.ctr_pa": ctr}},
		Inputs: []artifacts.Material{{Name: "window", Digest: artifacts.Sum([]byte(window))}}}
	key, err := doc.Key()
	if err != nil {
		s.t.Fatal(err)
	}
	return s.record(doc, key, fmt.Appendf(nil, `{"ctr":%g,"window":%q}`, ctr, window), reproduction, hour, false)
}

// record commits a result, with its statement beside it or inline.
func (s *shelf) record(doc artifacts.KeyDoc, key artifacts.Key, result []byte, reproduction string, hour int, inline bool) artifacts.Record {
	s.t.Helper()
	res, err := s.store.Put(s.t.Context(), result, "application/json")
	if err != nil {
		s.t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
	st, err := provenance.New(provenance.Facts{Key: doc, Subject: []provenance.Descriptor{provenance.Describe(doc.Step, res)}, Builder: "cxrepro",
		Invocation: provenance.Invocation{Reproduction: reproduction, Worker: "w:1", Attempt: 1, Fence: 1, Started: at, Finished: at.Add(time.Second)}})
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := st.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	if inline {
		claim, err := s.store.Claim(s.t.Context(), key, artifacts.Owner{Reproduction: reproduction}, time.Minute)
		if err != nil {
			s.t.Fatal(err)
		}
		rec, err := s.store.CommitInline(s.t.Context(), claim, artifacts.Record{Key: key, Result: res}, text)
		if err := errors.Join(err, s.store.Release(s.t.Context(), claim)); err != nil {
			s.t.Fatal(err)
		}
		return rec
	}
	sref, err := s.store.PutStatement(s.t.Context(), text)
	if err != nil {
		s.t.Fatal(err)
	}
	rec, err := s.store.Commit(s.t.Context(), artifacts.Record{Key: key, Result: res, Statement: sref})
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

// do runs a command and checks its exit code.
func (s *shelf) do(code int, args ...string) (out, talk string) {
	s.t.Helper()
	var o, e bytes.Buffer
	if got := execute(s.t.Context(), append(args, "--state", s.state), strings.NewReader(""), &o, &e); got != code {
		s.t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got, code, o.String(), e.String())
	}
	return o.String(), e.String()
}

func (s *shelf) explain(code int, args ...string) explanation {
	s.t.Helper()
	out, talk := s.do(code, append([]string{"explain", "--json"}, args...)...)
	var e explanation
	if code == exitOK {
		if err := json.Unmarshal([]byte(out), &e); err != nil {
			s.t.Fatalf("%v: %s%s", err, out, talk)
		}
	}
	return e
}

// TestExplainNamesTheThreshold: the second reproduction changed one threshold; explain
// names it with both values, however the computation is named.
func TestExplainNamesTheThreshold(t *testing.T) {
	s := newShelf(t)
	for _, name := range []string{s.next.Key.String(), s.next.Result.Digest.String(), s.next.Key.Digest.Hex()[:8],
		"assess-window/" + s.next.Key.Digest.Hex()[:12], s.next.Statement.Digest.Hex()[:10], "sha256:" + s.next.Result.Digest.Hex()[:9]} {
		e := s.explain(exitOK, name)
		if e.Key != s.next.Key || e.Computed == nil || e.Computed.Reproduction != "r-next" || e.Nearest == nil {
			t.Fatalf("%s: %+v", name, e)
		}
		want := provenance.Difference{Field: "params.thresholds.cardiomegaly.ctr_pa", Ours: "0.55", Other: "0.5"}
		if len(e.Nearest.Differs) != 1 || e.Nearest.Differs[0] != want || e.Nearest.Key != s.first.Key.String() || e.Nearest.Reproduction != "r-first" || e.Earlier != 2 {
			t.Errorf("%s: nearest %+v of %d", name, e.Nearest, e.Earlier)
		}
	}
	out, _ := s.do(exitOK, "explain", s.next.Key.String())
	for _, word := range []string{"r-next", "r-first", "params.thresholds.cardiomegaly.ctr_pa: 0.55, there 0.5", "computed by r-next, because params.thresholds.cardiomegaly.ctr_pa is 0.55"} {
		if !strings.Contains(out, word) {
			t.Errorf("text lacks %q:\n%s", word, out)
		}
	}
}

// call records one model call whose messages have these digests.
func (s *shelf) call(reproduction string, temperature float64, hour int, messages ...string) artifacts.Record {
	s.t.Helper()
	doc := artifacts.KeyDoc{Step: "call", Version: 1, Params: map[string]any{"model": "m@1", "temperature": temperature}}
	for i, m := range messages {
		role := []string{"user", "assistant"}[i%2]
		doc.Inputs = append(doc.Inputs, artifacts.Material{Name: fmt.Sprintf("%02d.%s", i, role), Digest: artifacts.Sum([]byte(role + m))})
	}
	key, err := doc.Key()
	if err != nil {
		s.t.Fatal(err)
	}
	return s.record(doc, key, fmt.Appendf(nil, `{"text":"%d"}`, hour), reproduction, hour, true)
}

// TestExplainCalls: the entry of a call carries its statement; explain names the message or
// the parameter in which it differs, cat shows the statement by any of its names, and both
// still do when the entry was collected.
func TestExplainCalls(t *testing.T) {
	s := newShelf(t)
	s.call("r-first", 0, 1, "question", "A", "why?")
	other := s.call("r-next", 0, 2, "question", "B", "why?")
	warm := s.call("r-warm", 0.7, 3, "question", "B", "why?")
	check := func(rec artifacts.Record, field string, names ...string) {
		t.Helper()
		for _, name := range names {
			e := s.explain(exitOK, name)
			if e.Key != rec.Key || e.Nearest == nil || len(e.Nearest.Differs) != 1 || e.Nearest.Differs[0].Field != field {
				t.Errorf("%s: %+v, want %s", name, e, field)
			}
			out, _ := s.do(exitOK, "artifacts", "cat", "--statement", name)
			if artifacts.Sum([]byte(out)) != rec.Statement.Digest {
				t.Errorf("cat --statement %s: %s", name, out)
			}
		}
	}
	check(other, "inputs.01.assistant", other.Key.String(), other.Key.Digest.Hex()[:10], other.Result.Digest.Hex()[:10], other.Statement.Digest.Hex()[:10])
	check(warm, "params.temperature", warm.Key.String())
	if out, _ := s.do(exitOK, "explain", other.Key.String()); !strings.Contains(out, "because message 1 (assistant) differs from the nearest earlier key's") {
		t.Errorf("text: %s", out)
	}
	if out, _ := s.do(exitOK, "artifacts", "ls", "--step", "call", "--json"); strings.Contains(out, "inline") || strings.Count(out, "\n") != 3 {
		t.Errorf("ls: %s", out)
	}
	s.do(exitOK, "artifacts", "gc", "--grace", "1ns", "--apply")
	e := s.explain(exitOK, warm.Key.String())
	if e.Kind != targetTombstone || e.Computed == nil || e.Computed.Reproduction != "r-warm" {
		t.Errorf("a removed call: %+v", e)
	}
}

func TestExplainSaysWhoComputed(t *testing.T) {
	s := newShelf(t)
	e := s.explain(exitOK, s.first.Key.String(), "--reproduction", "r-later")
	if e.Reused == nil || !*e.Reused || e.Computed.Reproduction != "r-first" || !strings.Contains(e.Summary, "reused: computed by r-first") {
		t.Errorf("reused: %+v", e)
	}
	if e := s.explain(exitOK, s.commit("r-first", 0.7, "third window", 9).Key.String()); e.Nearest == nil || e.Nearest.Reproduction != "r-next" {
		t.Errorf("its own other window is given as the reason: %+v", e.Nearest)
	}
	if e.Nearest != nil || !strings.Contains(e.Summary, "no other reproduction") {
		t.Errorf("the first of its step has a nearest: %+v", e.Nearest)
	}
	e = s.explain(exitOK, s.first.Key.String(), "--reproduction", "r-first")
	if e.Reused == nil || *e.Reused {
		t.Errorf("computed: %+v", e)
	}
	e = s.explain(exitOK, s.chunk.Digest.String())
	if e.Kind != targetBlob || len(e.PartOf) != 1 {
		t.Errorf("a chunk: %+v", e)
	}
}

func TestExplainNamesItsWayOut(t *testing.T) {
	s := newShelf(t)
	for _, c := range []struct {
		name string
		code int
		says string
	}{
		{"ffffffffffff", exitFailed, "nothing in the store"},
		{"abc", exitUsage, "8 to 64"},
		{"Not-hex-at-all", exitUsage, "8 to 64"},
		{"assess-window/sha256:" + strings.Repeat("ab", 32), exitFailed, "never computed"},
	} {
		_, talk := s.do(c.code, "explain", c.name)
		if !strings.Contains(talk, c.says) || !strings.Contains(talk, "hint:") {
			t.Errorf("%s: %s", c.name, talk)
		}
	}
	_, talk := s.do(exitUnreachable, "explain", "ffffffffffff", "--store", filepath.Join(t.TempDir(), "none"))
	s.do(exitUsage, "artifacts", "ls", "--store", "s3://Bad_Bucket")
	s.do(exitUsage, "artifacts", "ls", "--store", "ftp://x")
	if !strings.Contains(talk, "no store") {
		t.Errorf("no store: %s", talk)
	}
}

func TestArtifactsLsAndCat(t *testing.T) {
	s := newShelf(t)
	out, _ := s.do(exitOK, "artifacts", "ls", "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		t.Fatalf("entries:\n%s", out)
	}
	var rec artifacts.Record
	if err := json.Unmarshal([]byte(lines[0]), &rec); err != nil || rec.Key.Step != "assess-window" || rec.Result.IsZero() {
		t.Errorf("entry %s: %v", lines[0], err)
	}
	for _, kind := range kindsOfLists {
		if out, _ := s.do(exitOK, "artifacts", "ls", kind); (out == "") != (kind == "conflicts" || kind == "tombstones") {
			t.Errorf("ls %s: %q", kind, out)
		}
	}
	if out, talk := s.do(exitOK, "artifacts", "ls", "blobs", "--limit", "2"); strings.Count(out, "\n") != 2 || !strings.Contains(talk, "--limit 0") {
		t.Errorf("limit: %q, %q", out, talk)
	}
	s.do(exitUsage, "artifacts", "ls", "pins", "--step", "x")
	if out, _ := s.do(exitOK, "artifacts", "cat", s.next.Key.String()); out != `{"ctr":0.55,"window":"window"}` {
		t.Errorf("cat: %q", out)
	}
	if out, _ := s.do(exitOK, "artifacts", "cat", s.loose.Digest.Hex()[:8]); out != "loose bytes" {
		t.Errorf("cat of a blob: %q", out)
	}
	out, _ = s.do(exitOK, "artifacts", "cat", s.next.Key.String(), "--statement")
	if st, err := provenance.Decode([]byte(out)); err != nil || st.Predicate.Invocation.Reproduction != "r-next" {
		t.Errorf("cat --statement: %q, %v", out, err)
	}
}

func TestArtifactsVerifyAndReindex(t *testing.T) {
	s := newShelf(t)
	s.do(exitOK, "artifacts", "verify")
	out, _ := s.do(exitOK, "artifacts", "reindex", "--json")
	if !strings.Contains(out, `{"steps":3,"removed_steps":0,"calls":0,`) {
		t.Errorf("reindex: %s", out)
	}
	h := s.next.Result.Digest.Hex()
	file := filepath.Join(s.state, "store", "blobs", "sha256", h[:2], h)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"ctr":0.55,"window":"Window"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, talk := s.do(exitFailed, "artifacts", "cat", s.next.Key.String())
	if !strings.Contains(talk, "do not match their digest") || !strings.Contains(talk, "--drop-damaged") {
		t.Errorf("cat of a damaged blob: %s", talk)
	}
	out, talk = s.do(exitFailed, "artifacts", "verify")
	if !strings.Contains(out, "damaged-blob\tblobs/sha256/"+h[:2]+"/"+h) || !strings.Contains(talk, "1 faults") {
		t.Errorf("verify: %s%s", out, talk)
	}
	if !strings.Contains(talk, "--drop-damaged") {
		t.Errorf("no way out: %s", talk)
	}
	if out, talk := s.do(exitOK, "artifacts", "verify", "--drop-damaged"); !strings.Contains(out, "(dropped)") || strings.Contains(talk, "hint") {
		t.Errorf("dropping: %s%s", out, talk)
	}
	out, talk = s.do(exitFailed, "artifacts", "verify")
	if !strings.Contains(out, "entry-without-blob") || !strings.Contains(talk, "computes them again") || strings.Contains(talk, "--drop-damaged") {
		t.Errorf("after dropping: %s%s", out, talk)
	}
	if got := s.commit("r-again", 0.55, "window", 4); got.Result != s.next.Result {
		t.Errorf("computed again: %+v", got)
	}
	s.do(exitOK, "artifacts", "verify")
	stray := filepath.Join(s.state, "store", "index", "notes.txt")
	if err := os.WriteFile(stray, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, talk = s.do(exitFailed, "artifacts", "verify", "--drop-damaged")
	if !strings.Contains(out, "foreign-object\tindex/notes.txt") || !strings.Contains(talk, "move it out of the store") {
		t.Errorf("a stray file: %s%s", out, talk)
	}
	if out, _ := s.do(exitOK, "artifacts", "ls"); strings.Count(out, "\n") != 3 {
		t.Errorf("ls beside a stray file: %s", out)
	}
}

// TestCatalogDigest: the catalog says the same after it was deleted, and another thing after the
// store changed; what is damaged in the store does not stop it.
func TestCatalogDigest(t *testing.T) {
	s := newShelf(t)
	s.call("r-first", 0, 1, "question", "A")
	first, _ := s.do(exitOK, "catalog", "digest")
	if err := os.RemoveAll(filepath.Join(s.state, "cache")); err != nil {
		t.Fatal(err)
	}
	if again, _ := s.do(exitOK, "catalog", "digest"); again != first || len(first) != len("sha256:")+65 {
		t.Errorf("made anew: %q, was %q", again, first)
	}
	out, _ := s.do(exitOK, "artifacts", "reindex", "--json")
	if !strings.Contains(out, `{"steps":4,"removed_steps":0,"calls":0,`) {
		t.Errorf("reindex: %s", out)
	}
	if again, _ := s.do(exitOK, "catalog", "digest"); again != first {
		t.Errorf("after reindex: %q, was %q", again, first)
	}
	s.call("r-first", 0, 2, "question", "B")
	if other, _ := s.do(exitOK, "catalog", "digest"); other == first {
		t.Error("another store has the same digest")
	}
	if out, _ := s.do(exitOK, "catalog", "ls", "reproductions", "--json"); strings.Count(out, "\n") != 2 || !strings.Contains(out, `"reproduction":"r-first","steps":4,"calls":0,`) {
		t.Errorf("reproductions: %s", out)
	}
	if out, _ := s.do(exitOK, "catalog", "ls", "materials", "--name", "window"); !strings.Contains(out, artifacts.Sum([]byte("window")).String()+"  used by 2 keys") {
		t.Errorf("materials: %s", out)
	}
	s.do(exitOK, "catalog", "ls", "calls")
	s.do(exitUsage, "catalog", "ls", "materials")
	s.do(exitUsage, "catalog", "ls", "calls", "--name", "x")
}

// TestJunkPin: a pin that cannot be read stops gc, is named with its way out, and goes.
func TestJunkPin(t *testing.T) {
	s := newShelf(t)
	if err := os.WriteFile(filepath.Join(s.state, "store", "pins", "half"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, talk := s.do(exitFailed, "artifacts", "gc", "--grace", "1ns", "--apply")
	if !strings.Contains(talk, "pins/half") || !strings.Contains(talk, "artifacts pin --remove half") {
		t.Errorf("gc: %s", talk)
	}
	s.do(exitOK, "artifacts", "pin", "--remove", "half")
	s.do(exitOK, "artifacts", "gc", "--grace", "1ns", "--apply")
}

func TestArtifactsGCAndPin(t *testing.T) {
	s := newShelf(t)
	out, talk := s.do(exitOK, "artifacts", "gc", "--grace", "1ns", "--list")
	if !strings.Contains(out, "would remove 2 index entries") || !strings.Contains(talk, "nothing was changed") {
		t.Errorf("dry run: %s%s", out, talk)
	}
	s.do(exitOK, "artifacts", "pin", "mine", s.next.Key.String(), "--note", "for the talk")
	s.do(exitUsage, "artifacts", "pin", "mine")
	s.do(exitUsage, "artifacts", "pin", "bad name", s.next.Key.String())
	if err := s.store.SetPin(t.Context(), artifacts.Pin{Name: "r-running", Open: true}); err != nil {
		t.Fatal(err)
	}
	// Everything here was written within half a day before it began, and every record may be reused.
	if out, _ := s.do(exitOK, "artifacts", "gc", "--grace", "1ns", "--apply"); !strings.Contains(out, "under way: r-running") || !strings.Contains(out, "artifacts unpin NAME") || strings.Contains(out, "index entries") {
		t.Errorf("gc beside a running reproduction: %s", out)
	}
	s.do(exitOK, "artifacts", "unpin", "r-running")
	s.do(exitFailed, "artifacts", "unpin", "r-running")
	s.do(exitFailed, "artifacts", "pin", "--remove", "r-running")
	out, _ = s.do(exitOK, "artifacts", "gc", "--grace", "1ns", "--apply", "--json")
	var r artifacts.GCReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Entries.Count != 1 || r.Blobs.Count != 2 || r.DryRun {
		t.Fatalf("gc: %s, %v", out, err)
	}
	s.do(exitOK, "artifacts", "cat", s.next.Key.String())
	s.do(exitOK, "artifacts", "cat", s.first.Key.String())
	if e := s.explain(exitOK, s.loose.Digest.String()); e.Kind != targetRemoved || e.Removed == nil {
		t.Errorf("a collected blob: %+v", e)
	}
	var tomb artifacts.Tombstone
	out, _ = s.do(exitOK, "artifacts", "ls", "tombstones", "--json")
	if err := json.Unmarshal([]byte(out), &tomb); err != nil {
		t.Fatal(err)
	}
	if e := s.explain(exitOK, tomb.Key.String()); e.Kind != targetTombstone || e.Computed == nil || e.Computed.Reproduction != "r-first" || e.Removed == nil {
		t.Errorf("a collected record: %+v", e)
	}
}

func TestArtifactsProbe(t *testing.T) {
	s := newShelf(t)
	out, _ := s.do(exitOK, "artifacts", "probe", "--json")
	var r struct {
		Checks []struct{ Name, Verdict string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Checks) != 10 {
		t.Fatalf("probe: %s, %v", out, err)
	}
	for _, c := range r.Checks {
		if c.Verdict != "kept" {
			t.Errorf("%s: %s", c.Name, c.Verdict)
		}
	}
}
