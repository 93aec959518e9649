// Package sourcetree finds the checkout of this project that a program or a test runs in: for
// builds of nested modules and for golden files of other packages. Nothing that a result depends
// on is read this way.
package sourcetree

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Root returns the folder of the source tree, which is known by what it holds: a file or folder,
// named by its path in the tree with slashes. It is the nearest parent of the working folder,
// which is the package's own in a test; else that where this file was compiled, which a build
// with -trimpath does not know.
//
// Errors: no such tree.
func Root(holds string) (string, error) {
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	for _, dir := range starts {
		for {
			if Is(dir, holds) {
				return dir, nil
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", fmt.Errorf("the source tree with %s is not here; hint: run from a checkout of this project", holds)
}

// Is reports whether a folder is the source tree that holds a file or folder.
func Is(dir, holds string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(holds)))
	return err == nil
}
