package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/catalog/postgrestest"
)

// TestCatalogOnPostgres: the commands say the same with --catalog and with CXREPRO_CATALOG as
// with a file, before and after both were deleted, and a wrong address is a usage error.
func TestCatalogOnPostgres(t *testing.T) {
	s := newShelf(t)
	address := postgrestest.Start(t)
	file, _ := s.do(exitOK, "catalog", "digest")
	if shared, _ := s.do(exitOK, "catalog", "digest", "--catalog", address); shared != file {
		t.Errorf("digest on PostgreSQL %s, in a file %s", shared, file)
	}
	if err := os.RemoveAll(filepath.Join(s.state, "cache")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CXREPRO_CATALOG", address)
	counts, _ := s.do(exitOK, "artifacts", "reindex", "--json")
	if shared, _ := s.do(exitOK, "catalog", "digest"); shared != file {
		t.Errorf("reindexed on PostgreSQL %s, before %s", shared, file)
	}
	list, _ := s.do(exitOK, "catalog", "ls", "reproductions", "--json")
	why := s.explain(exitOK, s.next.Key.Digest.Hex()[:10])
	if found, err := filepath.Glob(filepath.Join(s.state, "cache", "*.sqlite")); err != nil || len(found) != 0 {
		t.Errorf("files %q, %v; the catalog lies in PostgreSQL", found, err)
	}
	t.Setenv("CXREPRO_CATALOG", "")
	if again, _ := s.do(exitOK, "artifacts", "reindex", "--json"); again != counts {
		t.Errorf("counts in a file %s, on PostgreSQL %s", again, counts)
	}
	if again, _ := s.do(exitOK, "catalog", "digest"); again != file {
		t.Errorf("reindexed in a file %s, before %s", again, file)
	}
	if again, _ := s.do(exitOK, "catalog", "ls", "reproductions", "--json"); again != list || !strings.Contains(list, "r-first") {
		t.Errorf("reproductions in a file %s, on PostgreSQL %s", again, list)
	}
	if again := s.explain(exitOK, s.next.Key.Digest.Hex()[:10]); again.Nearest == nil || why.Nearest == nil || again.Nearest.Key != why.Nearest.Key {
		t.Errorf("explained in a file %+v, on PostgreSQL %+v", again.Nearest, why.Nearest)
	}
	for address, code := range map[string]int{"mysql://u:geheim@h/db": exitUsage, "postgres://u:geheim@127.0.0.1:1/db?connect_timeout=2": exitUnreachable} {
		if _, talk := s.do(code, "catalog", "digest", "--catalog", address); strings.Contains(talk, "geheim") || !strings.Contains(talk, "hint:") {
			t.Errorf("%s", talk)
		}
	}
}
