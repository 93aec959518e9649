// Package resolvetest finds what tests need of a machine beyond the README's prerequisites.
package resolvetest

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"cxrepro/internal/resolve"
)

// RequireVariable, set to anything, makes a test fail that would be skipped for want of Python.
// The gate sets it.
const RequireVariable = "CXREPRO_REQUIRE_PYTHON"

// Python returns a Python with numpy. A test is skipped where the machine has none and can get
// none: Python is no prerequisite where npm is there. Every other failure is the test's.
func Python(t testing.TB) resolve.Interpreter {
	t.Helper()
	p, err := resolve.Python(t.Context(), resolve.Options{Progress: func(line string) { t.Log(line) }})
	var none *resolve.UnavailableError
	switch {
	case err == nil:
		return p
	case errors.As(err, &none) && os.Getenv(RequireVariable) == "":
		t.Skip(err)
	}
	t.Fatal(err)
	return p
}

// Bare returns the path of python3, which need not have numpy. Where there is none a test is
// skipped, unless the gate asks for it.
func Bare(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	switch {
	case err == nil:
		return path
	case os.Getenv(RequireVariable) == "":
		t.Skip(err)
	}
	t.Fatal(err)
	return ""
}
