package memstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
)

// Bucket is objects in memory. Its zero value is not usable; call New.
type Bucket struct {
	name string
	now  func() time.Time

	mu      sync.RWMutex // guards objects and versions
	objects map[string]object
	version uint64
}

type object struct {
	data     []byte // never changed once it is here
	modified time.Time
	version  string
}

var _ artifacts.Bucket = (*Bucket)(nil)

// New returns an empty bucket. Name appears in messages.
func New(name string) *Bucket { return NewAt(name, time.Now) }

// NewAt is New with a clock, which dates the objects.
func NewAt(name string, now func() time.Time) *Bucket {
	return &Bucket{name: name, now: now, objects: map[string]object{}}
}

// Open returns a repository over a new, empty bucket.
func Open() *artifacts.Repository {
	r, err := artifacts.New(New("memory"), artifacts.Options{Host: localhost.New()})
	if err != nil {
		panic(err) // Host is set, and memory keeps all promises
	}
	return r
}

// URL returns mem:// and the name.
func (b *Bucket) URL() string { return "mem://" + b.name }

// Semantics: memory keeps all promises.
func (b *Bucket) Semantics() artifacts.Semantics {
	return artifacts.Semantics{ConditionalCreate: true, ConditionalSwap: true, VerifiedPut: true,
		Copy: true, Multipart: true, ConditionalMultipart: true}
}

func (b *Bucket) fail(op, name string, err error) error {
	return &artifacts.BucketError{Op: op, Bucket: b.URL(), Object: name, Class: artifacts.Permanent, Err: err}
}

func (b *Bucket) get(ctx context.Context, op, name string) (object, artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return object{}, artifacts.Info{}, err
	}
	b.mu.RLock()
	o, ok := b.objects[name]
	b.mu.RUnlock()
	if !ok {
		return object{}, artifacts.Info{}, b.fail(op, name, artifacts.ErrNotFound)
	}
	return o, o.info(name), nil
}

func (o object) info(name string) artifacts.Info {
	return artifacts.Info{Name: name, Size: int64(len(o.data)), Modified: o.modified, Version: o.version}
}

// Open streams an object.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	o, info, err := b.get(ctx, "open", name)
	if err != nil {
		return nil, info, err
	}
	return io.NopCloser(bytes.NewReader(o.data)), info, nil
}

// Read returns a copy of an object's bytes.
func (b *Bucket) Read(ctx context.Context, name string) ([]byte, artifacts.Info, error) {
	o, info, err := b.get(ctx, "read", name)
	return bytes.Clone(o.data), info, err
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	_, info, err := b.get(ctx, "stat", name)
	return info, err
}

// Put stores an object.
func (b *Bucket) Put(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (artifacts.Info, error) {
	if opts.IfAbsent && opts.IfMatch != "" {
		return artifacts.Info{}, b.fail("put", name, errors.New("IfAbsent and IfMatch exclude each other"))
	}
	data := make([]byte, content.Size())
	if n, err := content.ReadAt(data, 0); n != len(data) {
		return artifacts.Info{}, b.fail("put", name, fmt.Errorf("read %d of %d bytes: %w", n, len(data), err))
	}
	if !opts.SHA256.IsZero() && artifacts.Sum(data) != opts.SHA256 {
		return artifacts.Info{}, b.fail("put", name, artifacts.ErrDigestMismatch)
	}
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old, there := b.objects[name]
	if there && opts.IfAbsent || opts.IfMatch != "" && old.version != opts.IfMatch {
		return artifacts.Info{}, b.fail("put", name, artifacts.ErrPrecondition)
	}
	return b.set(name, data), nil
}

// set stores data. The caller holds b.mu.
func (b *Bucket) set(name string, data []byte) artifacts.Info {
	b.version++
	o := object{data: data, modified: b.now(), version: strconv.FormatUint(b.version, 10)}
	b.objects[name] = o
	return o.info(name)
}

// Copy copies an object.
func (b *Bucket) Copy(ctx context.Context, from, to string) error {
	o, _, err := b.get(ctx, "copy", from)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(to, o.data)
	return nil
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, name)
	return nil
}

// List calls fn for a snapshot of the names.
func (b *Bucket) List(ctx context.Context, prefix, after string, fn func(artifacts.Info) error) error {
	b.mu.RLock()
	var found []artifacts.Info
	for name, o := range b.objects {
		if strings.HasPrefix(name, prefix) && name > after {
			found = append(found, o.info(name))
		}
	}
	b.mu.RUnlock()
	sort.Slice(found, func(i, j int) bool { return found[i].Name < found[j].Name })
	for _, info := range found {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(info); err != nil {
			return err
		}
	}
	return nil
}
