package storetest

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
)

func (s suite) pins(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	ref, err := r.Put(ctx, []byte(`{}`), "application/json")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetPin(ctx, artifacts.Pin{Name: "one", Open: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.SetPin(ctx, artifacts.Pin{Name: "one", Roots: []artifacts.Ref{ref}}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Pin(ctx, "one")
	if err != nil || got.Open || len(got.Roots) != 1 || got.Roots[0] != ref || got.Created.IsZero() {
		t.Errorf("pin %+v, %v", got, err)
	}
	for _, bad := range []string{"", ".x", "a/b", "a b"} {
		if r.SetPin(ctx, artifacts.Pin{Name: bad}) == nil {
			t.Errorf("pin name %q was accepted", bad)
		}
	}
	if err := r.RemovePin(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "remove again", r.RemovePin(ctx, "one"), artifacts.ErrNotFound)
	if all, err := r.Pins(ctx); err != nil || len(all) != 0 {
		t.Errorf("pins %v, %v", all, err)
	}
}

// world is a store with something of every kind.
type world struct {
	kept, lost, other artifacts.Record
	item              artifacts.Ref // reachable only through a manifest's chunk
	root              artifacts.Ref
	loose             artifacts.Ref
}

func (s suite) world(t *testing.T, r *artifacts.Repository) world {
	t.Helper()
	ctx := t.Context()
	var w world
	_, k1 := key(t, "kept", 1)
	_, k2 := key(t, "lost", 2)
	_, k3 := key(t, "other", 3)
	w.kept = commit(t, r, k1, `{"kept":1}`)
	w.lost = commit(t, r, k2, `{"lost":1}`)
	w.other = commit(t, r, k3, `{"other":1}`)
	var err error
	if w.item, err = r.Put(ctx, pattern(3000, 9), "application/vnd.cxrepro.masks"); err != nil {
		t.Fatal(err)
	}
	if w.loose, err = r.Put(ctx, pattern(2000, 8), "application/octet-stream"); err != nil {
		t.Fatal(err)
	}
	m := manifest.NewWriter(r, "masks", manifest.Limits{Items: 1})
	for _, ref := range []artifacts.Ref{w.item, w.kept.Result} {
		if err := m.Add(ctx, map[string]any{"masks": ref}); err != nil {
			t.Fatal(err)
		}
	}
	if w.root, err = m.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.SetPin(ctx, artifacts.Pin{Name: "done", Roots: []artifacts.Ref{w.root}, Keys: []artifacts.Key{k3}}); err != nil {
		t.Fatal(err)
	}
	put(t, r.Bucket(), "tmp/left-over", "half a blob", artifacts.PutOptions{})
	_, k4 := key(t, "claimed", 4)
	if _, err := r.Claim(ctx, k4, owner(1, 1), time.Minute); err != nil {
		t.Fatal(err)
	}
	return w
}

func (s suite) collect(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	w := s.world(t, r)
	h.Advance(48 * time.Hour)
	before := names(t, r.Bucket(), "", "")

	dry, err := r.GC(ctx, artifacts.GCOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after := names(t, r.Bucket(), "", ""); !slices.Equal(before, after) {
		t.Fatalf("the dry run changed the store:\n%q\n%q", before, after)
	}
	if !dry.DryRun || dry.Entries.Count != 1 || dry.Blobs.Count != 2 || dry.Claims.Count != 1 || dry.Temporary.Count != 1 || dry.Freed <= 2000 {
		t.Errorf("dry run: %+v", dry)
	}
	if err := r.SetPin(ctx, artifacts.Pin{Name: "running", Open: true}); err != nil {
		t.Fatal(err)
	}
	// Beside it every record stays, and what nothing names goes.
	open, err := r.GC(ctx, artifacts.GCOptions{Apply: true})
	if err != nil || !slices.Equal(open.OpenPins, []string{"running"}) || open.Since.IsZero() || open.Entries.Count != 0 || open.Blobs.Count != 1 {
		t.Fatalf("gc beside an open pin: %+v, %v", open, err)
	}
	if _, err := r.Lookup(ctx, w.lost.Key); err != nil {
		t.Errorf("a record beside an open pin: %v", err)
	}
	if ok, _ := r.Has(ctx, w.loose.Digest); ok {
		t.Error("what nothing names is still there")
	}
	if err := r.RemovePin(ctx, "running"); err != nil {
		t.Fatal(err)
	}
	got, err := r.GC(ctx, artifacts.GCOptions{Apply: true})
	if err != nil {
		t.Fatal(err)
	}
	if got.Freed+open.Freed != dry.Freed || got.Entries != dry.Entries || got.Blobs.Count+open.Blobs.Count != dry.Blobs.Count || got.Claims.Count+open.Claims.Count != dry.Claims.Count {
		t.Errorf("announced %+v\ndone      %+v\nand       %+v", dry, open, got)
	}
	for _, rec := range []artifacts.Record{w.kept, w.other} {
		if _, err := r.Lookup(ctx, rec.Key); err != nil {
			t.Errorf("pinned record: %v", err)
		}
		if _, err := r.Statement(ctx, rec.Statement); err != nil {
			t.Errorf("pinned record's statement: %v", err)
		}
	}
	if _, err := r.Get(ctx, w.item); err != nil {
		t.Errorf("blob behind a manifest: %v", err)
	}
	for _, ref := range []artifacts.Ref{w.lost.Result, w.loose} {
		if ok, _ := r.Has(ctx, ref.Digest); ok {
			t.Errorf("%s is still there", ref)
		}
		if _, removed, err := r.BlobRemoved(ctx, ref.Digest); !removed || err != nil {
			t.Errorf("%s has no grave: %v", ref, err)
		}
	}
	_, err = r.Lookup(ctx, w.lost.Key)
	var miss *artifacts.MissError
	if !errors.As(err, &miss) || miss.Reason != artifacts.MissNoEntry {
		t.Errorf("removed entry: %v", err)
	}
	tomb, err := r.Tombstone(ctx, w.lost.Key)
	if err != nil || tomb.Result != w.lost.Result || tomb.Statement != w.lost.Statement {
		t.Fatalf("tombstone %+v, %v", tomb, err)
	}
	if _, err := r.Statement(ctx, tomb.Statement); err != nil {
		t.Errorf("lineage of a removed record: %v", err)
	}
	again, err := r.GC(ctx, artifacts.GCOptions{Apply: true})
	if err != nil || again.Freed != 0 || len(again.Missing) != 0 {
		t.Errorf("second gc: %+v, %v", again, err)
	}
	// What was collected can be computed and committed again.
	commit(t, r, w.lost.Key, `{"lost":1}`)
	if _, err := r.Lookup(ctx, w.lost.Key); err != nil {
		t.Error(err)
	}
}

// collectOpen: what a reproduction under way wrote or may reuse stays, with all that its
// documents refer to, until its pin goes or runs out.
func (s suite) collectOpen(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	old, err := r.Put(ctx, []byte("named by a document of the run"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	loose, err := r.Put(ctx, []byte("named by nothing"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Put(ctx, []byte("put again by the run"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	_, k := key(t, "reused", 1)
	reused := commit(t, r, k, `{"reused":1}`)
	// The store's clock does not move with ours, and some show whole seconds: what the run
	// writes gets a later second, and the pin says that it was set 12 h after that (RefreshAge).
	h.Advance(48 * time.Hour)
	second := time.Now().Truncate(time.Second).Add(time.Second)
	time.Sleep(time.Until(second) + 20*time.Millisecond)
	begun := h.Now()
	if err := r.SetPin(ctx, artifacts.Pin{Name: "run", Open: true, Created: second.Add(12*time.Hour - time.Millisecond), Until: begun.Add(100 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	doc, err := artifacts.Canonical(map[string]any{"part": old})
	if err != nil {
		t.Fatal(err)
	}
	written, err := r.Put(ctx, doc, "application/json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Put(ctx, []byte("put again by the run"), "text/plain"); err != nil {
		t.Fatal(err)
	}
	h.Advance(72 * time.Hour) // the run lasts longer than the grace period
	got, err := r.GC(ctx, artifacts.GCOptions{Apply: true, Grace: 2 * time.Second})
	if err != nil || got.Stopped || got.Entries.Count != 0 {
		t.Fatalf("beside the run: %+v, %v", got, err)
	}
	for _, ref := range []artifacts.Ref{old, again, written, reused.Result} {
		if ok, _ := r.Has(ctx, ref.Digest); !ok {
			t.Errorf("%s is gone", ref)
		}
	}
	if ok, _ := r.Has(ctx, loose.Digest); ok {
		t.Error("what nothing names is still there")
	}
	h.Advance(40 * time.Hour) // the pin ran out
	if got, err = r.GC(ctx, artifacts.GCOptions{Apply: true}); err != nil || got.Entries.Count != 1 || len(got.OpenPins) != 0 || !got.Since.IsZero() {
		t.Fatalf("after the pin ran out: %+v, %v", got, err)
	}
	if ok, _ := r.Has(ctx, old.Digest); ok {
		t.Error("what the run named is still there")
	}
	if pins, err := r.Pins(ctx); err != nil || len(pins) != 1 {
		t.Errorf("pins %+v, %v; it ran out less than a day ago", pins, err)
	}
	h.Advance(48 * time.Hour)
	if _, err = r.GC(ctx, artifacts.GCOptions{Apply: true}); err != nil {
		t.Fatal(err)
	}
	if pins, err := r.Pins(ctx); err != nil || len(pins) != 0 {
		t.Errorf("pins %+v, %v", pins, err)
	}
}

// collectYoung: nothing younger than the grace period goes, and a damaged manifest
// stops everything.
func (s suite) collectYoung(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	w := s.world(t, r)
	got, err := r.GC(ctx, artifacts.GCOptions{Apply: true})
	if err != nil || got.Freed != 0 {
		t.Fatalf("young store: %+v, %v", got, err)
	}
	h.Advance(48 * time.Hour)
	d := w.root.Digest.Hex()
	bad := bytes.Repeat([]byte{' '}, int(w.root.Size))
	put(t, r.Bucket(), "blobs/sha256/"+d[:2]+"/"+d, string(bad), artifacts.PutOptions{})
	_, err = r.GC(ctx, artifacts.GCOptions{Apply: true})
	wantErr(t, "gc under a damaged manifest", err, artifacts.ErrDigestMismatch)
	if _, err := r.Lookup(ctx, w.lost.Key); err != nil {
		t.Errorf("something was removed: %v", err)
	}
}

func (s suite) verify(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	w := s.world(t, r)
	clean, err := r.Verify(ctx, artifacts.VerifyOptions{})
	if err != nil || len(clean.Faults) != 0 || clean.Entries != 3 || clean.Blobs.Count != 8 || clean.Statements.Count != 3 {
		t.Fatalf("clean store: %+v, %v", clean, err)
	}
	h := w.item.Digest.Hex()
	put(t, r.Bucket(), "blobs/sha256/"+h[:2]+"/"+h, "other bytes", artifacts.PutOptions{})
	put(t, r.Bucket(), "blobs/sha256/zz/notes.txt", "mine", artifacts.PutOptions{})
	l := w.lost.Result.Digest.Hex()
	if err := r.Bucket().Delete(ctx, "blobs/sha256/"+l[:2]+"/"+l); err != nil {
		t.Fatal(err)
	}
	got, err := r.Verify(ctx, artifacts.VerifyOptions{DropDamaged: true})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range got.Faults {
		kinds = append(kinds, f.Kind)
	}
	slices.Sort(kinds)
	if want := []string{artifacts.FaultDamagedBlob, artifacts.FaultBlobGone, artifacts.FaultForeignObject}; !slices.Equal(kinds, want) {
		t.Errorf("faults %q, want %q", kinds, want)
	}
	if ok, _ := r.Has(ctx, w.item.Digest); ok {
		t.Error("the damaged blob is still there")
	}
}
