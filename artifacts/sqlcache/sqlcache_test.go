package sqlcache_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/sqlcache"
	"cxrepro/internal/provenance"
)

func commit(t *testing.T, r *artifacts.Repository, n int, at time.Time) artifacts.Record {
	t.Helper()
	doc := artifacts.KeyDoc{Step: fmt.Sprintf("step-%d", n%2), Version: 1, Params: map[string]any{"n": n},
		Inputs: []artifacts.Material{{Name: "image", Digest: artifacts.Sum([]byte("image"))}}}
	key, err := doc.Key()
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Put(t.Context(), fmt.Appendf(nil, "%d", n), "application/json")
	if err != nil {
		t.Fatal(err)
	}
	st, err := provenance.New(provenance.Facts{Key: doc, Subject: []provenance.Descriptor{provenance.Describe("result", res)},
		Invocation: provenance.Invocation{Reproduction: fmt.Sprintf("r%d", n), Fence: 1 + n, Started: at, Finished: at.Add(time.Second)}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := st.Encode()
	if err != nil {
		t.Fatal(err)
	}
	sref, err := r.PutStatement(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Commit(t.Context(), artifacts.Record{Key: key, Result: res, Statement: sref})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func entries(t *testing.T, c *sqlcache.Cache, step string) []sqlcache.Entry {
	t.Helper()
	var out []sqlcache.Entry
	if err := c.Step(t.Context(), step, func(e sqlcache.Entry) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRebuiltFromTheStoreAlone(t *testing.T) {
	r := memstore.Open()
	at := time.Date(2026, 1, 1, 0, 0, 0, 7, time.UTC)
	var recs []artifacts.Record
	for n := range 6 {
		recs = append(recs, commit(t, r, n, at.Add(time.Duration(n)*time.Hour)))
	}
	folder := t.TempDir()
	c, err := sqlcache.Open(t.Context(), folder, r.URL())
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Refresh(t.Context(), r, nil)
	if err != nil || n.Entries != 6 || n.Blobs != 6 || n.Edges != 6 || n.Added != 6 {
		t.Fatalf("refresh: %+v, %v", n, err)
	}
	before := entries(t, c, "step-1")
	if len(before) != 3 || !before[0].Record.Equal(recs[1]) || !before[2].Record.Equal(recs[5]) || before[1].Reproduction != "r3" ||
		before[1].Fence != 4 || !before[1].Finished.Equal(at.Add(3*time.Hour+time.Second)) {
		t.Fatalf("entries: %+v", before)
	}
	if artifacts.Sum(before[0].KeyDocument) != before[0].Record.Key.Digest {
		t.Error("the key document is not the key's")
	}
	// Nothing changed: nothing is read again.
	if n, err := c.Refresh(t.Context(), r, nil); err != nil || n.Added != 0 || n.Removed != 0 {
		t.Errorf("second refresh: %+v, %v", n, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	// The file is lost, or damaged, or of another version: it is rebuilt to the same.
	files, err := filepath.Glob(filepath.Join(folder, "*.sqlite"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for name, harm := range map[string]func() error{
		"lost":    func() error { return os.Remove(files[0]) },
		"damaged": func() error { return os.WriteFile(files[0], []byte("no database, by no means one"), 0o600) },
		"whole":   func() error { return nil },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		c, err := sqlcache.Open(t.Context(), folder, r.URL())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n, err := c.Reindex(t.Context(), r, nil)
		if err != nil || n.Added != 6 || n.Entries != 6 {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
		if after := entries(t, c, "step-1"); !slices.EqualFunc(before, after, func(a, b sqlcache.Entry) bool {
			return a.Record.Equal(b.Record) && string(a.KeyDocument) == string(b.KeyDocument) && a.Finished.Equal(b.Finished)
		}) {
			t.Errorf("%s: other entries", name)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFollowsTheStore(t *testing.T) {
	r := memstore.Open()
	c, err := sqlcache.Open(t.Context(), t.TempDir(), r.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := commit(t, r, 0, at)
	commit(t, r, 2, at)
	if _, err := c.Refresh(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	h := a.Key.Digest.Hex()
	if err := r.Bucket().Delete(t.Context(), "index/step-0/"+h[:2]+"/"+h); err != nil {
		t.Fatal(err)
	}
	b := commit(t, r, 4, at)
	n, err := c.Refresh(t.Context(), r, nil)
	if err != nil || n.Entries != 2 || n.Added != 1 || n.Removed != 1 || n.Edges != 2 {
		t.Errorf("refresh: %+v, %v", n, err)
	}
	for what, hex := range map[string]string{"key": b.Key.Digest.Hex()[:8], "result": b.Result.Digest.Hex()[:9], "statement": b.Statement.Digest.Hex()} {
		got, err := c.Find(t.Context(), hex, 10)
		if err != nil || len(got) != 1 || !got[0].Record.Equal(b) {
			t.Errorf("find by %s %s: %+v, %v", what, hex, got, err)
		}
	}
	if got, err := c.Find(t.Context(), "", 10); err != nil || len(got) != 2 {
		t.Errorf("find all: %d, %v", len(got), err)
	}
	users := 0
	if err := c.Users(t.Context(), artifacts.Sum([]byte("image")), func(sqlcache.Entry) error { users++; return nil }); err != nil || users != 2 {
		t.Errorf("users of the image: %d, %v", users, err)
	}
}
