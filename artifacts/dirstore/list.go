package dirstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"cxrepro/artifacts"
)

// List walks the folders that prefix allows. Files that vanish meanwhile are left out.
func (b *Bucket) List(ctx context.Context, prefix, after string, fn func(artifacts.Info) error) error {
	if _, err := os.Stat(filepath.Join(b.root, markerName)); err != nil {
		return b.fail("list", prefix, err)
	}
	folder := ""
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		folder = prefix[:i]
	}
	return b.walk(ctx, folder, prefix, after, fn)
}

func (b *Bucket) walk(ctx context.Context, folder, prefix, after string, fn func(artifacts.Info) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(b.root, filepath.FromSlash(folder)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return b.fail("list", folder, err)
	}
	// Byte order of whole names: a folder counts as its name and a slash.
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		n := path.Join(folder, e.Name())
		if folder == "" && (e.Name() == markerName || e.Name() == locksFolder) {
			continue
		}
		if e.IsDir() {
			n += "/"
		}
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if sub, isDir := strings.CutSuffix(n, "/"); isDir {
			matches := strings.HasPrefix(n, prefix) || strings.HasPrefix(prefix, n)
			passed := n < after && !strings.HasPrefix(after, n)
			if !matches || passed {
				continue
			}
			if err := b.walk(ctx, sub, prefix, after, fn); err != nil {
				return err
			}
			continue
		}
		if !strings.HasPrefix(n, prefix) || n <= after {
			continue
		}
		info, err := b.Stat(ctx, n)
		if errors.Is(err, artifacts.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := fn(info); err != nil {
			return err
		}
	}
	return nil
}
