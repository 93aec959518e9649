package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// dataRoot is one --data NAME=PATH: where a data set that a spec calls by name lies here.
type dataRoot struct{ name, path string }

// companions are the names under which what belongs to a data set may lie in folders of its own.
var companions = []string{"chest-imagenome", "chexmask", "masks"}

// parseData reads --data values, in the order given.
//
// Errors: usage errors that name the value.
func parseData(values []string) ([]dataRoot, error) {
	var out []dataRoot
	seen := map[string]bool{}
	for _, v := range values {
		name, path, ok := strings.Cut(v, "=")
		if !ok || name == "" || path == "" {
			return nil, usageError("write --data NAME=PATH, such as --data mimic-cxr-jpg=/data/mimic-cxr-jpg", "--data %q is not NAME=PATH", v)
		}
		if seen[name] {
			return nil, usageError("give each data set one path", "--data names %s twice", name)
		}
		seen[name] = true
		if info, err := os.Stat(path); err != nil {
			return nil, usageError("correct the path", "--data %s: %v", name, err)
		} else if !info.IsDir() {
			return nil, usageError("give the data set's root folder", "--data %s: %s is not a folder", name, path)
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("--data %s: %w", name, err)
		}
		out = append(out, dataRoot{name, abs})
	}
	return out, nil
}
