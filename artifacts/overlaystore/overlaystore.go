package overlaystore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
)

// Bucket shows the objects of a base, with what was written and deleted here on top.
type Bucket struct {
	base artifacts.Bucket
	top  *memstore.Bucket

	mu   sync.Mutex // guards gone, and makes writes one after the other
	gone map[string]bool
}

var _ artifacts.Bucket = (*Bucket)(nil)

// New returns a bucket over base, which is only read.
func New(base artifacts.Bucket) *Bucket {
	return &Bucket{base: base, top: memstore.New("overlay"), gone: map[string]bool{}}
}

// Over returns a repository over the bucket of another one.
func Over(r *artifacts.Repository) (*artifacts.Repository, error) {
	return artifacts.New(New(r.Bucket()), artifacts.Options{Host: localhost.New()})
}

// URL is the base's.
func (b *Bucket) URL() string { return b.base.URL() }

// Semantics are those of memory, where everything is written.
func (b *Bucket) Semantics() artifacts.Semantics { return b.top.Semantics() }

// mark tells versions of objects written here from those of the base.
const mark = "overlay-"

// shown is what the top layer answers as it looks from outside: with its versions marked, and
// with errors that name the base.
func (b *Bucket) shown(i artifacts.Info, err error) (artifacts.Info, error) {
	if i.Version != "" {
		i.Version = mark + i.Version
	}
	var be *artifacts.BucketError
	if errors.As(err, &be) {
		named := *be
		named.Bucket = b.URL()
		err = &named
	}
	return i, err
}

func (b *Bucket) deleted(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gone[name]
}

// absent reports whether an error of the top layer leaves the question to the base.
func (b *Bucket) absent(name string, err error) bool {
	return errors.Is(err, artifacts.ErrNotFound) && !b.deleted(name)
}

// Open streams an object.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	r, info, err := b.top.Open(ctx, name)
	if b.absent(name, err) {
		return b.base.Open(ctx, name)
	}
	info, err = b.shown(info, err)
	return r, info, err
}

// Read returns an object's bytes.
func (b *Bucket) Read(ctx context.Context, name string) ([]byte, artifacts.Info, error) {
	data, info, err := b.top.Read(ctx, name)
	if b.absent(name, err) {
		return b.base.Read(ctx, name)
	}
	info, err = b.shown(info, err)
	return data, info, err
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	info, err := b.top.Stat(ctx, name)
	if b.absent(name, err) {
		return b.base.Stat(ctx, name)
	}
	return b.shown(info, err)
}

// Put keeps an object here.
func (b *Bucket) Put(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (artifacts.Info, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.top.Stat(ctx, name); errors.Is(err, artifacts.ErrNotFound) && !b.gone[name] {
		if err := b.below(ctx, name, &opts); err != nil {
			return artifacts.Info{}, err
		}
	}
	if opts.IfMatch != "" {
		version, own := strings.CutPrefix(opts.IfMatch, mark)
		if !own {
			version = "of the base" // no version of the top layer
		}
		opts.IfMatch = version
	}
	info, err := b.shown(b.top.Put(ctx, name, content, opts))
	if err == nil {
		delete(b.gone, name)
	}
	return info, err
}

// below settles the conditions of a Put against an object of the base. The caller holds b.mu.
func (b *Bucket) below(ctx context.Context, name string, opts *artifacts.PutOptions) error {
	if !opts.IfAbsent && opts.IfMatch == "" {
		return nil
	}
	_, info, err := b.base.Read(ctx, name) // Stat need not know the version
	switch {
	case errors.Is(err, artifacts.ErrNotFound):
		return nil // the top layer answers
	case err != nil:
		return err
	case opts.IfAbsent || info.Version != opts.IfMatch:
		return &artifacts.BucketError{Op: "put", Bucket: b.URL(), Object: name, Class: artifacts.Permanent, Err: artifacts.ErrPrecondition}
	}
	opts.IfMatch = ""
	return nil
}

// Copy keeps a copy here.
func (b *Bucket) Copy(ctx context.Context, from, to string) error {
	data, _, err := b.Read(ctx, from)
	if err != nil {
		return err
	}
	_, err = b.Put(ctx, to, bytes.NewReader(data), artifacts.PutOptions{})
	return err
}

// Delete hides an object.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.top.Delete(ctx, name); err != nil {
		return err
	}
	b.gone[name] = true
	return nil
}

// List calls fn for the objects of both layers, in order.
func (b *Bucket) List(ctx context.Context, prefix, after string, fn func(artifacts.Info) error) error {
	var own []artifacts.Info
	err := b.top.List(ctx, prefix, after, func(i artifacts.Info) error {
		i, _ = b.shown(i, nil)
		own = append(own, i)
		return nil
	})
	if err != nil {
		return err
	}
	err = b.base.List(ctx, prefix, after, func(i artifacts.Info) error {
		for len(own) > 0 && own[0].Name < i.Name {
			if err := fn(own[0]); err != nil {
				return err
			}
			own = own[1:]
		}
		if len(own) > 0 && own[0].Name == i.Name || b.deleted(i.Name) {
			return nil
		}
		return fn(i)
	})
	for _, i := range own {
		if err != nil {
			break
		}
		err = fn(i)
	}
	return err
}
