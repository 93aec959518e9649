package resolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"cxrepro/internal/sourcetree"
)

// nestedModule is the server program's folder in the source tree.
const nestedModule = "infra/devserver"

// nestedPackages is about how many packages its first build compiles, for the progress
// line only.
const nestedPackages = 1780

// nestedBuild is the way that compiles the server here. The cached file is named by the
// digest of the nested module's sources, so an edited module is built anew.
func nestedBuild(o Options, dir string, say func(string, ...any)) way {
	w := way{name: "building " + nestedModule, source: SourceBuilt, registry: false,
		start: "building " + nestedModule + " with Go: the first build takes some minutes (8 to 15 on two cores), later ones none",
		seal:  sealed}
	root, err := sourceRoot(o.SourceDir)
	if err == nil {
		var id string
		if id, err = sourceDigest(filepath.Join(root, filepath.FromSlash(nestedModule))); err == nil {
			w.path = filepath.Join(dir, "devserver-"+id, "devserver")
		}
	}
	if err != nil {
		w.path, w.seal = filepath.Join(dir, "devserver-none"), func(string, func(string, ...any)) bool { return false }
	}
	w.get = func(ctx context.Context, dest string) error {
		if err != nil {
			return err
		}
		return goBuild(ctx, root, dir, dest, o.Offline, say)
	}
	return w
}

// goBuild compiles into the scratch folder, then places binary and seal.
func goBuild(ctx context.Context, root, dir, dest string, offline bool, say func(string, ...any)) error {
	work, clean, err := scratch(dir)
	if err != nil {
		return err
	}
	defer clean()
	out := filepath.Join(work, "devserver")
	var packages atomic.Int64
	lastSaid := time.Duration(0)
	j := job{
		name: "go", dir: root,
		argv: []string{"go", "build", "-C", nestedModule, "-v", "-trimpath", "-o", out, "./cmd/devserver"},
		env:  []string{"GOFLAGS=-mod=readonly", "GOWORK=off"},
		line: func(string) { packages.Add(1) },
		tick: func(elapsed time.Duration) string {
			if elapsed-lastSaid < 5*progressEvery {
				return ""
			}
			lastSaid = elapsed
			return fmt.Sprintf("%s: %d packages compiled (about %d where nothing is cached), %d s", nestedModule, packages.Load(), nestedPackages, int(elapsed.Seconds()))
		},
	}
	if offline {
		j.env = append(j.env, "GOPROXY=off")
	}
	stderr, err := j.run(ctx, say)
	if errors.Is(err, errAbsent) {
		return fmt.Errorf("go: %w", errAbsent)
	}
	if err != nil {
		return clientError("go build", err, stderr)
	}
	f, err := os.Open(out)
	if err != nil {
		return err
	}
	defer f.Close()
	digest, err := fileSHA256(out)
	if err != nil {
		return err
	}
	if err := place(dest, digest, f); err != nil {
		return err
	}
	return os.WriteFile(dest+".sha256", []byte(digest+"\n"), 0o644)
}

// sealed tells whether a file built here is still the one that was built.
func sealed(path string, say func(string, ...any)) bool {
	want, err := os.ReadFile(path + ".sha256")
	if err != nil {
		return false
	}
	return cached(path, strings.TrimSpace(string(want)), say)
}

// sourceRoot finds the source tree: the folder given, else the one that this runs in.
func sourceRoot(given string) (string, error) {
	const holds = nestedModule + "/go.mod"
	if given == "" {
		return sourcetree.Root(holds)
	}
	if sourcetree.Is(given, holds) {
		return filepath.Abs(given)
	}
	return "", fmt.Errorf("%s holds no %s", given, holds)
}

// sourceDigest names the nested module's sources and the toolchain: 12 hex digits over
// every .go, go.mod and go.sum file, in path order.
func sourceDigest(dir string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, platform(), runtime.Version())
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := d.Name()
		if filepath.Ext(name) != ".go" && name != "go.mod" && name != "go.sum" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(h, "%s %x\n", filepath.ToSlash(rel), sum)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))[:12], err
}
