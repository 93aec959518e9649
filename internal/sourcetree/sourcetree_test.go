package sourcetree_test

import (
	"os"
	"path/filepath"
	"testing"

	"cxrepro/internal/sourcetree"
)

// TestRoot finds a tree from a folder in it, of several the nearest, and none that holds
// something else.
func TestRoot(t *testing.T) {
	outer, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(outer, "a", "b")
	deep := filepath.Join(inner, "c", "d")
	for _, dir := range []string{deep, filepath.Join(outer, "mark", "of"), filepath.Join(inner, "mark", "of")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{deep: inner, inner: inner, filepath.Join(outer, "a"): outer} {
		t.Chdir(from)
		if got, err := sourcetree.Root("mark/of"); err != nil || got != want {
			t.Errorf("from %s: %q, %v, want %s", from, got, err, want)
		}
	}
	if got, err := sourcetree.Root("mark/that/nobody/has"); err == nil {
		t.Errorf("a tree that is not there was found in %s", got)
	}
}

// TestOwnTree finds the tree of this test, however it was compiled.
func TestOwnTree(t *testing.T) {
	root, err := sourcetree.Root("internal/sourcetree/sourcetree_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !sourcetree.Is(root, "go.mod") || sourcetree.Is(root, "no.mod") {
		t.Errorf("%s is no root of a module", root)
	}
}
