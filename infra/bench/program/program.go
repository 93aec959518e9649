// Package program builds and runs the program that is measured, and hands it a benchmark.
package program

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/sourcetree"
)

// Root is the main module's folder.
func Root() string {
	root, err := sourcetree.Root("infra/bench/go.mod")
	if err != nil {
		return "../.."
	}
	return root
}

// Build makes the program of this tree in a folder and returns its path.
func Build(ctx context.Context, dir string) (string, error) {
	to := filepath.Join(dir, "cxrepro")
	return to, Quiet(exec.CommandContext(ctx, "go", "build", "-C", Root(), "-o", to, "./cmd/cxrepro"))
}

// Quiet runs a command and shows what it said only if it fails.
func Quiet(c *exec.Cmd) error {
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(c.Path), err, said.Bytes()[max(0, said.Len()-4000):])
	}
	return nil
}

// declare links what a folder holds into a new one that says that it is synthetic: a folder
// that says nothing counts as the licensed data set.
func declare(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	data, err := dataset.Declaration{Name: filepath.Base(to), DataUse: datause.Synthetic, MadeBy: "cxreasonbench build, of phantoms"}.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, dataset.DeclarationFile), data, 0o600)
}
