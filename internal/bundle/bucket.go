package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"cxrepro/artifacts"
)

// StorePrefix begins the names of a bundle's entries that are objects of a store.
const StorePrefix = "store/"

// errReadOnly is the error about a write into a bundle.
var errReadOnly = errors.New("a bundle is read only")

// Bucket reads the objects of a bundle as a store does. What the ledger names and the file does
// not hold is read from Under, if that is set: withheld bytes that the reader has.
type Bucket struct {
	file     *File
	names    []string // of objects in the file, sorted
	withheld map[string]bool
	under    artifacts.Bucket
}

var _ artifacts.Bucket = (*Bucket)(nil)

// NewBucket returns the objects of file. under may be nil.
func NewBucket(file *File, ledger *Ledger, under artifacts.Bucket) *Bucket {
	b := &Bucket{file: file, withheld: map[string]bool{}, under: under}
	for _, n := range file.Names() {
		if object, ok := strings.CutPrefix(n, StorePrefix); ok {
			b.names = append(b.names, object)
		}
	}
	slices.Sort(b.names)
	for _, l := range ledger.Leaves {
		if _, ok := file.Has(StorePrefix + l.Object); !ok {
			b.withheld[l.Object] = true
		}
	}
	return b
}

// URL names the file.
func (b *Bucket) URL() string { return "bundle:" + b.file.Path() }

// Semantics promises nothing: nothing is written.
func (b *Bucket) Semantics() artifacts.Semantics { return artifacts.Semantics{} }

func (b *Bucket) fail(op, name string, err error) error {
	hint := ""
	if errors.Is(err, artifacts.ErrNotFound) && b.withheld[name] {
		hint = "it is withheld: a store that has it, or `cxrepro reproduce` over your own copy of the data, gives it back"
	}
	return &artifacts.BucketError{Op: op, Bucket: b.URL(), Object: name, Class: artifacts.Permanent, Hint: hint, Err: err}
}

// from says whether a name is for the bucket underneath.
func (b *Bucket) from(name string) artifacts.Bucket {
	if b.under != nil && b.withheld[name] {
		return b.under
	}
	return nil
}

// Open streams an object.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	info, err := b.Stat(ctx, name)
	if err != nil {
		return nil, info, err
	}
	if s := b.file.Section(StorePrefix + name); s != nil {
		return io.NopCloser(s), info, nil
	}
	return b.under.Open(ctx, name)
}

// Read returns an object whole.
func (b *Bucket) Read(ctx context.Context, name string) ([]byte, artifacts.Info, error) {
	info, err := b.Stat(ctx, name)
	if err != nil {
		return nil, info, err
	}
	s := b.file.Section(StorePrefix + name)
	if s == nil {
		return b.under.Read(ctx, name)
	}
	data := make([]byte, s.Size())
	if _, err := io.ReadFull(s, data); err != nil {
		return nil, info, b.fail("read", name, err)
	}
	info.Version = artifacts.Sum(data).Hex()
	return data, info, nil
}

// ReadWhole returns an object without its Version.
func (b *Bucket) ReadWhole(ctx context.Context, name string) ([]byte, error) {
	s := b.file.Section(StorePrefix + name)
	if s == nil {
		if b.from(name) == nil {
			return nil, b.fail("read", name, artifacts.ErrNotFound)
		}
		return artifacts.ReadWhole(ctx, b.under, name)
	}
	data := make([]byte, s.Size())
	if _, err := io.ReadFull(s, data); err != nil {
		return nil, b.fail("read", name, err)
	}
	return data, ctx.Err()
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	if size, ok := b.file.Has(StorePrefix + name); ok {
		return artifacts.Info{Name: name, Size: size}, nil
	}
	if u := b.from(name); u != nil {
		return u.Stat(ctx, name)
	}
	return artifacts.Info{}, b.fail("stat", name, artifacts.ErrNotFound)
}

// Put refuses.
func (b *Bucket) Put(_ context.Context, name string, _ artifacts.Content, _ artifacts.PutOptions) (artifacts.Info, error) {
	return artifacts.Info{}, b.fail("put", name, errReadOnly)
}

// Copy refuses.
func (b *Bucket) Copy(_ context.Context, _, to string) error { return b.fail("copy", to, errReadOnly) }

// Delete refuses.
func (b *Bucket) Delete(_ context.Context, name string) error {
	return b.fail("delete", name, errReadOnly)
}

// List lists the objects that the file holds.
func (b *Bucket) List(ctx context.Context, prefix, after string, fn func(artifacts.Info) error) error {
	at := sort.SearchStrings(b.names, max(prefix, after))
	for _, n := range b.names[at:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.HasPrefix(n, prefix) {
			if n > prefix {
				break
			}
			continue
		}
		if n <= after {
			continue
		}
		info, err := b.Stat(ctx, n)
		if err == nil {
			err = fn(info)
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", b.URL(), err)
		}
	}
	return nil
}
