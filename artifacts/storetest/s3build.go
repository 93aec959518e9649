package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"cxrepro/internal/sourcetree"
)

// serverModule is the S3 server's folder in the source tree.
const serverModule = "infra/s3server"

// BuildS3 returns the path of the S3 server program, which it builds if no earlier call
// did. The program lies in the user's cache folder (or CXREPRO_CACHE), named by its
// sources and the Go version; one file lock lets many test programs that start at once
// build it once. Progress, which may be nil, hears of a build before it starts: it takes
// one to three minutes the first time.
func BuildS3(ctx context.Context, progress func(string)) (string, error) {
	if p := os.Getenv("CXREPRO_S3SERVER"); p != "" {
		return p, nil
	}
	root, err := sourcetree.Root(serverModule + "/go.mod")
	if err != nil {
		return "", fmt.Errorf("%w, or set CXREPRO_S3SERVER to the program", err)
	}
	module := filepath.Join(root, filepath.FromSlash(serverModule))
	id, err := sourceID(module)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", serverModule, err)
	}
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	program := filepath.Join(cache, "s3server-"+id, "s3server")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	lock := flock.New(filepath.Join(cache, "s3server.lock"))
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for the build of %s: %w", serverModule, err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if progress != nil {
		progress("building " + serverModule + " (once; one to three minutes)")
	}
	return program, build(ctx, module, program)
}

func build(ctx context.Context, module, program string) error {
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	half := program + ".new"
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", half, ".")
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", serverModule, err, tail(string(out), 2000))
	}
	return os.Rename(half, program)
}

func tail(s string, n int) string {
	if len(s) > n {
		return "..." + s[len(s)-n:]
	}
	return s
}

func cacheFolder() (string, error) {
	dir := os.Getenv("CXREPRO_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the user's cache folder: %w; set CXREPRO_CACHE", err)
		}
		dir = filepath.Join(base, "cxrepro")
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// sourceID is 12 hex digits over the module's files and the Go version.
func sourceID(module string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOOS, runtime.GOARCH, runtime.Version())
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
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
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(data))
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))[:12], err
}
