package storetest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"cxrepro/artifacts"
)

func (s suite) blobs(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	data := pattern(70_000, 1)
	ref, err := r.Put(ctx, data, "image/png")
	if err != nil {
		t.Fatal(err)
	}
	if want := (artifacts.Ref{Digest: artifacts.Sum(data), Size: 70_000, MediaType: "image/png"}); ref != want {
		t.Errorf("ref %v, want %v", ref, want)
	}
	if again, err := r.Put(ctx, data, "image/png"); err != nil || again != ref {
		t.Errorf("second put: %v, %v", again, err)
	}
	if got, err := r.Get(ctx, ref); err != nil || !bytes.Equal(got, data) {
		t.Errorf("get: %d bytes, %v", len(got), err)
	}
	rc, err := r.Open(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, rc); !bytes.Equal(got, data) {
		t.Error("open: other bytes")
	}
	empty, err := r.Put(ctx, nil, "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Get(ctx, empty); err != nil || len(got) != 0 {
		t.Errorf("empty blob: %d bytes, %v", len(got), err)
	}
	absent := artifacts.Sum([]byte("absent"))
	if ok, err := r.Has(ctx, absent); ok || err != nil {
		t.Errorf("has absent: %t, %v", ok, err)
	}
	if ok, err := r.Has(ctx, ref.Digest); !ok || err != nil {
		t.Errorf("has: %t, %v", ok, err)
	}
	_, err = r.Get(ctx, artifacts.Ref{Digest: absent, Size: 1})
	wantErr(t, "get absent", err, artifacts.ErrNotFound)

	file := filepath.Join(t.TempDir(), "large")
	length := 20<<20 + 1
	if s.opts.Small {
		length = 1<<20 + 1
	}
	large := pattern(length, 2)
	if err := os.WriteFile(file, large, 0o600); err != nil {
		t.Fatal(err)
	}
	lref, err := r.PutFile(ctx, file, "application/octet-stream")
	if err != nil {
		t.Fatal(err)
	}
	rc, err = r.Open(ctx, lref)
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, rc); lref.Digest != artifacts.Sum(large) || !bytes.Equal(got, large) {
		t.Error("large file: other bytes")
	}
	if left := names(t, r.Bucket(), "tmp/", ""); len(left) != 0 {
		t.Errorf("left-overs %q", left)
	}
}

// damagedBlob flips a byte behind the repository's back.
func (s suite) damagedBlob(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	sizes := []int{1000, 9 << 20}
	if s.opts.Small {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		data := pattern(n, 4)
		ref, err := r.Put(ctx, data, "application/octet-stream")
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(data)
		bad[n/2] ^= 1
		h := ref.Digest.Hex()
		name := "blobs/sha256/" + h[:2] + "/" + h
		if _, err := r.Bucket().Put(ctx, name, bytes.NewReader(bad), artifacts.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = r.Get(ctx, ref)
		wantErr(t, "get", err, artifacts.ErrDigestMismatch)
		if artifacts.ClassOf(err) != artifacts.Permanent {
			t.Error("a damaged blob is not permanent")
		}
		rc, err := r.Open(ctx, ref)
		if err == nil {
			_, err = io.Copy(io.Discard, rc)
			err = errors.Join(err, rc.Close())
		}
		wantErr(t, "open", err, artifacts.ErrDigestMismatch)
		if _, err := r.Bucket().Put(ctx, name, bytes.NewReader(data[:n-1]), artifacts.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = r.Get(ctx, ref)
		wantErr(t, "get of a truncated blob", err, artifacts.ErrDigestMismatch)
		// A put sees the wrong size and repairs it.
		if _, err := r.Put(ctx, data, "application/octet-stream"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Get(ctx, ref); err != nil {
			t.Errorf("get after repair: %v", err)
		}
	}
}

func (s suite) index(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "segment", 1)
	_, err := r.Lookup(ctx, k)
	wantErr(t, "look up nothing", err, artifacts.ErrNotFound)
	var miss *artifacts.MissError
	if !errors.As(err, &miss) || miss.Reason != artifacts.MissNoEntry {
		t.Errorf("miss %v, want %v", err, artifacts.MissNoEntry)
	}
	first := commit(t, r, k, `{"v":1}`)
	got, err := r.Lookup(ctx, k)
	if err != nil || !got.Equal(first) {
		t.Fatalf("look up: %+v, %v", got, err)
	}
	if _, err := r.Statement(ctx, got.Statement); err != nil {
		t.Errorf("statement: %v", err)
	}
	// The same result with another statement: the first record stays, and no conflict.
	second := record(t, r, k, `{"v":1}`)
	if second.Statement, err = r.PutStatement(ctx, []byte(`{"later":true}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Commit(ctx, second); err != nil || !got.Equal(first) {
		t.Errorf("second commit: %+v, %v", got, err)
	}
	_, k2 := key(t, "segment", 2)
	_, k3 := key(t, "assess", 1)
	commit(t, r, k2, `{"v":2}`)
	commit(t, r, k3, `{"v":3}`)
	var keys []artifacts.Key
	if err := r.Keys(ctx, "segment", func(k artifacts.Key, _ artifacts.Info) error { keys = append(keys, k); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 2 || !slices.Contains(keys, k) || !slices.Contains(keys, k2) {
		t.Errorf("keys of segment: %v", keys)
	}
}

func (s suite) conflict(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "infer", 1)
	first := commit(t, r, k, `{"v":1}`)
	second := record(t, r, k, `{"v":2}`)
	for range 2 { // reporting it again records it once
		got, err := r.Commit(ctx, second)
		var c *artifacts.ConflictError
		if !errors.As(err, &c) || !c.First.Equal(first) || !c.Second.Equal(second) || !got.Equal(first) {
			t.Fatalf("commit of another result: %+v, %v", got, err)
		}
	}
	if got, err := r.Lookup(ctx, k); err != nil || !got.Equal(first) {
		t.Errorf("the first record gave way: %+v, %v", got, err)
	}
	var all []artifacts.Conflict
	if err := r.Conflicts(ctx, "", func(c artifacts.Conflict) error { all = append(all, c); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || !all[0].First.Equal(first) || !all[0].Second.Equal(second) {
		t.Errorf("recorded conflicts: %+v", all)
	}
}

// dangling removes a committed blob: the look-up misses with a reason, and a commit
// after computing again makes the entry good.
func (s suite) dangling(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "mask", 1)
	first := commit(t, r, k, `{"v":1}`)
	drop := func(ref artifacts.Ref) {
		h := ref.Digest.Hex()
		if err := r.Bucket().Delete(ctx, "blobs/sha256/"+h[:2]+"/"+h); err != nil {
			t.Fatal(err)
		}
	}
	drop(first.Result)
	_, err := r.Lookup(ctx, k)
	var miss *artifacts.MissError
	if !errors.As(err, &miss) || miss.Reason != artifacts.MissBlobGone || !miss.Record.Equal(first) {
		t.Fatalf("look up: %v", err)
	}
	if got := commit(t, r, k, `{"v":1}`); got.Result != first.Result {
		t.Errorf("commit after recomputing: %+v", got)
	}
	if _, err := r.Lookup(ctx, k); err != nil {
		t.Errorf("look up after recomputing: %v", err)
	}
	drop(first.Result)
	second := commit(t, r, k, `{"v":2}`) // differs: recorded, and the dangling entry gives way
	if got, err := r.Lookup(ctx, k); err != nil || got.Result != second.Result {
		t.Errorf("look up: %+v, %v", got, err)
	}
	n := 0
	if err := r.Conflicts(ctx, "mask", func(artifacts.Conflict) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d conflicts, %v", n, err)
	}
	// An entry that is no record is a miss too, and is replaced.
	h := k.Digest.Hex()
	put(t, r.Bucket(), "index/mask/"+h[:2]+"/"+h, `{"half`, artifacts.PutOptions{})
	_, err = r.Lookup(ctx, k)
	if !errors.As(err, &miss) || miss.Reason != artifacts.MissEntryDamaged {
		t.Fatalf("look up of a damaged entry: %v", err)
	}
	commit(t, r, k, `{"v":2}`)
	if _, err := r.Lookup(ctx, k); err != nil {
		t.Errorf("look up after replacing: %v", err)
	}
}

// commitRace lets writers with two different results race: one result wins, its
// writers succeed, the others get the conflict.
func (s suite) commitRace(t *testing.T) {
	r, _ := s.repository(t)
	_, k := key(t, "race", 1)
	recs := []artifacts.Record{record(t, r, k, `{"v":1}`), record(t, r, k, `{"v":2}`)}
	const writers = 12
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = r.Commit(t.Context(), recs[i%2])
		}()
	}
	wg.Wait()
	got, err := r.Lookup(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		var c *artifacts.ConflictError
		if won := recs[i%2].Result == got.Result; won && err != nil || !won && !errors.As(err, &c) {
			t.Errorf("writer %d (won %t): %v", i, won, err)
		}
	}
}
