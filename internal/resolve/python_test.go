package resolve_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/resolve"
	"cxrepro/internal/resolve/resolvetest"
)

// TestPythonImportsNumpy resolves a Python twice and asks it for a sum. The second time comes
// from the same place and fetches nothing.
func TestPythonImportsNumpy(t *testing.T) {
	p := resolvetest.Python(t)
	out, err := exec.Command(p.Path, "-c", "import numpy; print(numpy.arange(4).sum())").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "6" {
		t.Fatalf("%v: %s", err, out)
	}
	again, err := resolve.Python(t.Context(), resolve.Options{PresentOnly: true})
	if err != nil || again.Path != p.Path || again.Numpy != p.Numpy {
		t.Errorf("second time: %+v, %v; first %+v", again, err, p)
	}
}

// TestPythonThatIsConfigured takes a named Python or refuses it, and never another one.
func TestPythonThatIsConfigured(t *testing.T) {
	dir := t.TempDir()
	write := func(name, says string, code string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\nprintf '"+says+"'\nexit "+code+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := resolve.Python(t.Context(), resolve.Options{Path: write("good", `3.12.1 2.0.0rc1\n`, "0")})
	if err != nil || good.Python != "3.12.1" || good.Numpy != "2.0.0rc1" || good.Source != resolve.SourceConfigured {
		t.Errorf("%+v, %v", good, err)
	}
	for name, path := range map[string]string{
		"old numpy": write("old", `3.12.1 1.19.5\n`, "0"), "no numpy": write("none", "3.12.1 ", "1"),
		"no Python": write("other", "hello", "0"), "no file": filepath.Join(dir, "absent"),
	} {
		if p, err := resolve.Python(context.Background(), resolve.Options{Path: path}); err == nil || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestPythonWithoutNumpyHere refuses to fetch when it must not, and names the ways out.
func TestPythonWithoutNumpyHere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte("#!/bin/sh\nprintf '3.12.1 '\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("CXREPRO_PYTHON", "")
	_, err := resolve.Python(t.Context(), resolve.Options{CacheDir: t.TempDir(), Offline: true})
	if err == nil || !strings.Contains(err.Error(), "CXREPRO_PYTHON") {
		t.Errorf("%v", err)
	}
}
