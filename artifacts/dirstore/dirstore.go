package dirstore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cxrepro/artifacts"
)

const (
	markerName  = "cxrepro-store.json"
	locksFolder = "locks"
	tmpFolder   = "tmp"
	layout      = 1
)

// Durability says what an object survives once Put has returned. Zero is invalid in
// Options only in so far as it means DurabilityProcess.
type Durability uint8

// Levels of durability.
const (
	DurabilityProcess Durability = iota + 1 // the death of any process
	DurabilityPower                         // also a power cut: file and folder are synced
)

// ParseDurability reads "process" or "power".
func ParseDurability(s string) (Durability, error) {
	switch s {
	case "", "process":
		return DurabilityProcess, nil
	case "power":
		return DurabilityPower, nil
	}
	return 0, fmt.Errorf("durability %q: want process or power", s)
}

// Options configure a bucket. The zero value is process durability.
type Options struct {
	Durability Durability
	// MustExist refuses to make a new store; reading commands set it.
	MustExist bool
}

// Bucket is a folder of objects.
type Bucket struct {
	root string // absolute
	sync bool
}

var _ artifacts.Bucket = (*Bucket)(nil)

type marker struct {
	Format string `json:"format"`
	Layout int    `json:"layout"`
}

// Open opens the store in folder, and makes one if the folder is missing or empty.
//
// Errors: a folder with other contents, a store of a later layout, and with MustExist a
// folder that is no store (ErrUnreachable).
func Open(folder string, opts Options) (*Bucket, error) {
	root, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", folder, err)
	}
	b := &Bucket{root: root, sync: opts.Durability == DurabilityPower}
	data, err := os.ReadFile(filepath.Join(root, markerName))
	if err == nil {
		return b, b.checkMarker(data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, b.fail("open", "", err)
	}
	if opts.MustExist {
		return nil, &artifacts.BucketError{Op: "open", Bucket: b.URL(), Class: artifacts.Transient,
			Hint: "name an existing store with --store, or run an experiment first",
			Err:  fmt.Errorf("%w: there is no store in this folder", artifacts.ErrUnreachable)}
	}
	return b, b.create()
}

func (b *Bucket) checkMarker(data []byte) error {
	var m marker
	if err := json.Unmarshal(data, &m); err != nil || m.Format != "cxrepro.store" {
		return b.refuse("choose another folder", "its %s is not ours", markerName)
	}
	if m.Layout != layout {
		return b.refuse("use the program that wrote it", "its layout is %d, this program knows %d", m.Layout, layout)
	}
	return nil
}

func (b *Bucket) refuse(hint, format string, args ...any) error {
	return &artifacts.BucketError{Op: "open", Bucket: b.URL(), Class: artifacts.Permanent, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// create turns a missing or empty folder into a store. Several processes may do so at
// once.
func (b *Bucket) create() error {
	entries, err := os.ReadDir(b.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b.fail("open", "", err)
	}
	for _, e := range entries {
		if n := e.Name(); n != markerName && n != tmpFolder && n != locksFolder {
			// Another process may have made the store, and begun to use it, while this one
			// looked.
			if data, err := os.ReadFile(filepath.Join(b.root, markerName)); err == nil {
				return b.checkMarker(data)
			}
			return b.refuse("choose an empty folder, or one that was a store before", "the folder holds %q and no %s", n, markerName)
		}
	}
	if err := os.MkdirAll(filepath.Join(b.root, tmpFolder), 0o755); err != nil {
		return b.fail("open", "", err)
	}
	data, err := artifacts.Canonical(marker{"cxrepro.store", layout})
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Join(b.root, tmpFolder), "marker-*")
	if err != nil {
		return b.fail("open", "", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	if b.sync {
		err = errors.Join(err, tmp.Sync())
	}
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(b.root, markerName))
	}
	if err != nil {
		return errors.Join(b.fail("open", "", err), os.Remove(tmp.Name()))
	}
	if b.sync {
		return syncFolder(b.root)
	}
	return nil
}

// URL returns file:// and the folder's absolute path.
func (b *Bucket) URL() string { return "file://" + filepath.ToSlash(b.root) }

// Semantics: a folder keeps all promises.
func (b *Bucket) Semantics() artifacts.Semantics {
	return artifacts.Semantics{ConditionalCreate: true, ConditionalSwap: true, VerifiedPut: true,
		Copy: true, Multipart: true, ConditionalMultipart: true}
}

// path returns the file of an object.
func (b *Bucket) path(name string) (string, error) {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return "", b.refuse("", "object name %q is not allowed", name)
	}
	return filepath.Join(b.root, filepath.FromSlash(name)), nil
}

// Open streams an object.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	f, info, err := b.open(ctx, "open", name)
	if err != nil {
		return nil, info, err
	}
	return f, info, nil
}

func (b *Bucket) open(ctx context.Context, op, name string) (*os.File, artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, artifacts.Info{}, err
	}
	path, err := b.path(name)
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, artifacts.Info{}, b.fail(op, name, err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, artifacts.Info{}, errors.Join(b.fail(op, name, err), f.Close())
	}
	return f, artifacts.Info{Name: name, Size: st.Size(), Modified: st.ModTime()}, nil
}

// Read returns a small object. Its Version is the digest of its bytes.
func (b *Bucket) Read(ctx context.Context, name string) ([]byte, artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, artifacts.Info{}, err
	}
	path, err := b.path(name)
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	data, at, err := readSmall(path)
	if err != nil {
		return nil, artifacts.Info{}, b.fail("read", name, err)
	}
	return data, artifacts.Info{Name: name, Size: int64(len(data)), Modified: at, Version: artifacts.Sum(data).Hex()}, nil
}

// ReadWhole returns an object without its Version, which is a digest and takes as long as the
// reader's own.
func (b *Bucket) ReadWhole(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := b.path(name)
	if err != nil {
		return nil, err
	}
	data, _, err := readSmall(path)
	if err != nil {
		return nil, b.fail("read", name, err)
	}
	return data, nil
}

var _ artifacts.WholeReader = (*Bucket)(nil)

// Soon has the system begin to read an object.
func (b *Bucket) Soon(ctx context.Context, name string, size int64) {
	if path, err := b.path(name); err == nil && ctx.Err() == nil {
		soon(path, size)
	}
}

var _ artifacts.Forewarned = (*Bucket)(nil)

// errShort: a file gave fewer bytes than its size.
var errShort = errors.New("the file ended before its size")

// Stat describes an object, without Version.
func (b *Bucket) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	path, err := b.path(name)
	if err != nil {
		return artifacts.Info{}, err
	}
	st, err := os.Lstat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return artifacts.Info{}, b.fail("stat", name, err)
	}
	return artifacts.Info{Name: name, Size: st.Size(), Modified: st.ModTime()}, nil
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path, err := b.path(name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		if err = b.fail("delete", name, err); !errors.Is(err, artifacts.ErrNotFound) {
			return err
		}
	}
	return nil
}

var _ artifacts.CarefulDeleter = (*Bucket)(nil)

// DeleteUnchanged moves an object away, looks at it, and puts it back when it is not the one
// that was described. For that moment it is not there.
func (b *Bucket) DeleteUnchanged(ctx context.Context, info artifacts.Info) (gone bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	path, err := b.path(info.Name)
	if err != nil {
		return false, err
	}
	away := filepath.Join(b.root, tmpFolder, strings.ToLower(rand.Text()))
	if err := os.Rename(path, away); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, b.fail("delete", info.Name, err)
	}
	st, err := os.Lstat(away)
	if err != nil {
		return false, b.fail("delete", info.Name, err)
	}
	unchanged := st.ModTime().Equal(info.Modified) && st.Size() == info.Size
	if !unchanged {
		// Whoever wrote it once more in between has put the same object there.
		if err := os.Link(away, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, b.fail("delete", info.Name, err)
		}
	}
	if err := os.Remove(away); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, b.fail("delete", info.Name, err)
	}
	return unchanged, nil
}
