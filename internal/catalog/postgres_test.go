package catalog_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/catalog/postgrestest"
)

// TestPostgres holds that a catalog in a real PostgreSQL is the one in a file: the same
// digest, and the same answer to every question, step by step, after garbage collection, and
// after the database was deleted and made anew.
func TestPostgres(t *testing.T) {
	address := postgrestest.Start(t)
	w := newWorld(t)
	folder := t.TempDir()
	shared := func() *catalog.Catalog {
		t.Helper()
		c, err := catalog.OpenPostgres(t.Context(), address, w.store.URL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		return c
	}
	pg, file := shared(), w.open(folder)
	same := func(when string) {
		t.Helper()
		if n, m := w.update(pg), w.update(file); n != m {
			t.Errorf("%s: counts %+v, in a file %+v", when, n, m)
		}
		if got, want := w.digest(pg), w.digest(file); got != want {
			t.Errorf("%s: digest %s, in a file %s", when, got.Short(), want.Short())
		}
		if again := w.update(pg); again.Read != 0 || again.Forgotten != 0 {
			t.Errorf("%s: nothing changed, but %+v", when, again)
		}
	}
	same("an empty store")
	var roots []artifacts.Ref
	var digests []artifacts.Digest
	for i := range 4 {
		w.at = time.Duration(i) * time.Hour
		// Names that languages sort in another order than their bytes.
		image, window, finding, call := w.image(i, []string{"r-b", "R_a", "r-É", "r2"}[i])
		roots = append(roots, window.Result, finding.Result)
		digests = append(digests, image, window.Result.Digest, finding.Result.Digest, call.Result.Digest, call.Key.Digest)
		same(fmt.Sprintf("image %d", i))
	}
	for _, p := range []artifacts.Pin{{Name: "b", Roots: roots[:2]}, {Name: "A_c", Roots: roots[:4]}} {
		if err := w.store.SetPin(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	same("pins")
	sameAnswers(t, pg, file, append(digests, weights))
	w.host.Advance(48 * time.Hour)
	if report, err := w.store.GC(t.Context(), artifacts.GCOptions{Apply: true}); err != nil || report.Entries.Count == 0 {
		t.Fatalf("gc: %+v, %v", report, err)
	}
	same("after garbage collection")
	sameAnswers(t, pg, file, append(digests, weights))
	before := w.digest(pg)

	// Both databases are deleted.
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var schema string
	if err := db.QueryRow(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'cxrepro%'`).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`DROP SCHEMA ` + schema + ` CASCADE`); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob(filepath.Join(folder, "*.sqlite*")); err != nil || len(files) == 0 {
		t.Fatalf("files %q, %v", files, err)
	} else {
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	pg, file = shared(), w.open(folder)
	for name, c := range map[string]*catalog.Catalog{"PostgreSQL": pg, "the file": file} {
		if _, err := c.Reindex(t.Context(), w.store, options); err != nil {
			t.Fatal(err)
		}
		if got := w.digest(c); got != before {
			t.Errorf("%s reindexed has the digest %s, before it was deleted %s", name, got.Short(), before.Short())
		}
	}
	sameAnswers(t, pg, file, append(digests, weights))

	// A catalog of another version is made anew.
	if _, err := db.Exec(`UPDATE ` + schema + `.about SET value = '0' WHERE name = 'version'`); err != nil {
		t.Fatal(err)
	}
	other := shared()
	if n, err := other.Counts(t.Context()); err != nil || n.Steps+n.Links != 0 {
		t.Errorf("counts of a catalog of another version: %+v, %v", n, err)
	}
	// Several programs bring it up to date at once.
	var g errgroup.Group
	for range 3 {
		c := shared()
		g.Go(func() error {
			_, err := c.Update(t.Context(), w.store, options)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if got := w.digest(other); got != before {
		t.Errorf("brought up to date by several: %s, want %s", got.Short(), before.Short())
	}
}

// sameAnswers asks both catalogs everything that a catalog can be asked.
func sameAnswers(t *testing.T, pg, file *catalog.Catalog, digests []artifacts.Digest) {
	t.Helper()
	ctx := t.Context()
	var sample catalog.Step
	questions := map[string]func(*catalog.Catalog) (any, error){
		"counts":        func(c *catalog.Catalog) (any, error) { return c.Counts(ctx) },
		"reproductions": func(c *catalog.Catalog) (any, error) { return c.Reproductions(ctx) },
		"calls":         func(c *catalog.Catalog) (any, error) { return c.Calls(ctx) },
		"materials":     func(c *catalog.Catalog) (any, error) { return c.Materials(ctx, "window", 10) },
		"own": func(c *catalog.Catalog) (any, error) {
			steps, _, err := c.Own(ctx, "call", "R_a", 10)
			return steps, err
		},
	}
	for _, d := range digests {
		name := d.Short()
		questions["find "+name] = func(c *catalog.Catalog) (any, error) { return c.Find(ctx, d.Hex()[:10], 5) }
		questions["matching "+name] = func(c *catalog.Catalog) (any, error) { return c.Matching(ctx, d.Hex()[:8], 5) }
		questions["steps "+name] = func(c *catalog.Catalog) (any, error) { return c.Steps(ctx, d) }
		for _, way := range []catalog.Direction{catalog.Down, catalog.Up} {
			questions[fmt.Sprint("hop ", way, name)] = func(c *catalog.Catalog) (any, error) { return c.Hop(ctx, d, way, 100) }
			questions[fmt.Sprint("closure ", way, name)] = func(c *catalog.Catalog) (any, error) { return c.Closure(ctx, d, way, 0, 0) }
			questions[fmt.Sprint("some of the closure ", way, name)] = func(c *catalog.Catalog) (any, error) { return c.Closure(ctx, d, way, 3, 4) }
		}
		if steps, err := file.Steps(ctx, d); err == nil && len(steps) > 0 && steps[0].Reproduction == "r2" {
			sample = steps[0]
		}
	}
	questions["earlier"] = func(c *catalog.Catalog) (any, error) {
		steps, total, err := c.Earlier(ctx, sample, 2)
		return fmt.Sprint(steps, total), err
	}
	for name, ask := range questions {
		got, err := ask(pg)
		want, werr := ask(file)
		if err != nil || werr != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v\nin a file %v, %v", name, got, err, want, werr)
		}
	}
}

// TestPostgresAddress: what is wrong with an address is said without what it holds.
func TestPostgresAddress(t *testing.T) {
	for address, want := range map[string]error{
		"mysql://u:geheim@h/db":                                   catalog.ErrAddress,
		"postgres://u:geheim@h:port/db":                           catalog.ErrAddress,
		"postgres://u:geheim@127.0.0.1:1/db?connect_timeout=2":    nil,
		"postgres://u:geheim@/db?host=/nowhere&connect_timeout=2": nil,
	} {
		c, err := catalog.OpenPostgres(t.Context(), address, "mem://x")
		if c != nil || err == nil || want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
