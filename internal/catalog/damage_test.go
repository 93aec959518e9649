package catalog_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
)

// TestDamagedFile: a file whose pages are not what was written is told apart from a store that
// fails, and a catalog made in its place says the same as before.
func TestDamagedFile(t *testing.T) {
	w, folder := newWorld(t), t.TempDir()
	for i := range 40 {
		w.image(i, "r1")
	}
	c := w.open(folder)
	w.update(c)
	want := w.digest(c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	spoil(t, folder)
	c = w.open(folder)
	_, err := c.Reindex(t.Context(), w.store, catalog.Options{})
	if !catalog.Damaged(err) {
		t.Fatalf("reindexing over damaged pages: %v, want damage", err)
	}
	if catalog.Damaged(artifacts.ErrUnreachable) || catalog.Damaged(nil) {
		t.Error("a store that is away is no damage of the catalog")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := catalog.Discard(folder, w.store.URL()); err != nil {
		t.Fatal(err)
	}
	c = w.open(folder)
	w.update(c)
	if got := w.digest(c); got != want {
		t.Errorf("made anew it says %s, before %s", got.Short(), want.Short())
	}
}

// spoil overwrites the first page of every table but the one that Open reads.
func spoil(t *testing.T, folder string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "catalog-*.sqlite"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	db, err := sql.Open("sqlite", "file:"+files[0])
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	if err := db.QueryRow(`PRAGMA page_size`).Scan(&size); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`SELECT rootpage FROM sqlite_master WHERE tbl_name <> 'about' AND rootpage > 0`)
	if err != nil {
		t.Fatal(err)
	}
	var pages []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, n)
	}
	if err := rows.Err(); err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	junk := make([]byte, size)
	for i := range junk {
		junk[i] = 0x5a
	}
	for _, n := range pages {
		if _, err := f.WriteAt(junk, (n-1)*size); err != nil {
			t.Fatal(err)
		}
	}
}
