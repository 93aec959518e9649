package resolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// cacheDir returns the folder that keeps fetched binaries, made if missing.
func (o Options) cacheDir() (string, error) {
	dir := o.CacheDir
	if dir == "" {
		dir = os.Getenv("CXREPRO_CACHE")
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the user's cache folder: %w; hint: set CXREPRO_CACHE to a folder that can be written", err)
		}
		dir = filepath.Join(base, "cxrepro")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make cache folder: %w; hint: set CXREPRO_CACHE to a folder that can be written", err)
	}
	return dir, nil
}

// lock takes the one file lock of the cache folder; the caller unlocks it. The lock
// belongs to the open file, so a killed holder frees it.
func lock(ctx context.Context, dir string, say func(string, ...any)) (*flock.Flock, error) {
	l := flock.New(filepath.Join(dir, "lock"))
	got, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the cache folder: %w", err)
	}
	if got {
		return l, nil
	}
	say("waiting for another program that is filling the cache folder")
	if _, err := l.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for the cache folder's lock: %w", err)
	}
	return l, nil
}

// fileSHA256 returns the digest of a file in hex.
func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// cached tells whether the file is there with the pinned digest. A damaged file is
// reported and counts as missing; place will replace it.
func cached(path, want string, say func(string, ...any)) bool {
	got, err := fileSHA256(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		say("cached file cannot be read (%v): fetching it again", err)
		return false
	case got != want:
		say("cached file %s is damaged (digest %.12s, want %.12s): fetching it again", filepath.Base(path), got, want)
		return false
	}
	return true
}

// place copies r into path by way of a temporary file, checks its digest and renames it,
// so that a reader sees the whole file or none.
func place(path, want string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as it should
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(tmp, h), r); err != nil {
		tmp.Close()
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		tmp.Close()
		return fmt.Errorf("%s inside the package: %w (sha256 %.12s, want %.12s)", filepath.Base(path), ErrChanged, got, want)
	}
	if err := tmp.Chmod(0o755); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// scratch makes a folder beside the cached files, so that renames stay on one file
// system and leftovers of a killed program are found and removed by the next holder of
// the lock.
func scratch(dir string) (string, func(), error) {
	root := filepath.Join(dir, "tmp")
	if err := os.RemoveAll(root); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", nil, err
	}
	return root, func() { os.RemoveAll(root) }, nil
}
