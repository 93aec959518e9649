package faultstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"cxrepro/artifacts"
)

// Method names a bucket's method. The zero value is invalid.
type Method uint8

// The methods that can fail.
const (
	Open Method = iota + 1
	Read
	Stat
	Put
	Copy
	Delete
	List
)

// Fault is what one call, or several in a row, does instead of what it should. Empty
// fields change nothing.
type Fault struct {
	// Name restricts the fault to objects whose name contains it.
	Name string
	// Times is how often the fault strikes; 0 means once, below 0 until Clear.
	Times int
	// Delay passes before anything else, or until the context ends.
	Delay time.Duration
	// Err is returned without doing anything.
	Err error
	// ErrAfter is returned after the call was done: success reported as failure.
	ErrAfter error
	// Cut ends the bytes of Open and Read after that many; 0 means not.
	Cut int
	// CutErr is the error at the cut; nil means a clean end.
	CutErr error
	// Flip changes the byte at that position of Open and Read; 0 means not.
	Flip int
}

// Lies are promises that the bucket breaks throughout.
type Lies struct {
	IgnoreIfAbsent     bool // conditional creation overwrites
	IgnoreIfMatch      bool // conditional replacement overwrites
	IfMatchCreates     bool // conditional replacement of a missing object creates it
	AcceptWrongDigest  bool // other bytes than announced are stored
	DamageMultipart    bool // content in parts gets bytes added
	MultipartOverwrite bool // conditional completion of parts overwrites
	NoCopy             bool // server copy is refused
}

// Bucket misbehaves. It is safe for use from several goroutines.
type Bucket struct {
	inner artifacts.Bucket
	lies  Lies

	mu     sync.Mutex // guards faults and calls
	faults map[Method][]Fault
	calls  map[Method]int
}

var _ artifacts.Bucket = (*Bucket)(nil)

// New wraps inner.
func New(inner artifacts.Bucket, lies Lies) *Bucket {
	return &Bucket{inner: inner, lies: lies, faults: map[Method][]Fault{}, calls: map[Method]int{}}
}

// Inject appends a fault to the method's queue. The first fault in the queue whose Name
// matches strikes.
func (b *Bucket) Inject(m Method, f Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	b.faults[m] = append(b.faults[m], f)
}

// Clear removes all faults that have not struck.
func (b *Bucket) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = map[Method][]Fault{}
}

// Calls returns how often the method was called.
func (b *Bucket) Calls(m Method) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[m]
}

// next returns the fault that strikes now, or one that changes nothing, after its delay.
func (b *Bucket) next(ctx context.Context, m Method, name string) (Fault, error) {
	f := b.take(m, name)
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return f, ctx.Err()
		case <-t.C:
		}
	}
	return f, f.Err
}

func (b *Bucket) take(m Method, name string) Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls[m]++
	queue := b.faults[m]
	for i, f := range queue {
		if !strings.Contains(name, f.Name) {
			continue
		}
		if queue[i].Times--; queue[i].Times == 0 {
			b.faults[m] = append(queue[:i:i], queue[i+1:]...)
		}
		return f
	}
	return Fault{}
}

// URL returns the inner bucket's.
func (b *Bucket) URL() string { return b.inner.URL() }

// Semantics returns what the inner bucket promises, as a liar would.
func (b *Bucket) Semantics() artifacts.Semantics { return b.inner.Semantics() }

// Open streams an object, perhaps cut or changed.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	f, err := b.next(ctx, Open, name)
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	rc, info, err := b.inner.Open(ctx, name)
	if err != nil {
		return nil, info, err
	}
	data, err := io.ReadAll(rc)
	if err := errors.Join(err, rc.Close()); err != nil {
		return nil, info, err
	}
	return &reader{data: f.damage(data), err: f.CutErr}, info, f.ErrAfter
}

// damage returns data with the fault's cut and flip.
func (f Fault) damage(data []byte) []byte {
	if f.Flip > 0 && f.Flip < len(data) {
		data = bytes.Clone(data)
		data[f.Flip] ^= 1
	}
	if f.Cut > 0 && f.Cut < len(data) {
		data = data[:f.Cut]
	}
	return data
}

type reader struct {
	data []byte
	err  error
}

// Read gives out the data and then the error, or io.EOF.
func (r *reader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		return 0, io.EOF
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}

// Close does nothing.
func (r *reader) Close() error { return nil }

// Read returns an object, perhaps cut or changed.
func (b *Bucket) Read(ctx context.Context, name string) ([]byte, artifacts.Info, error) {
	f, err := b.next(ctx, Read, name)
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	data, info, err := b.inner.Read(ctx, name)
	if err == nil {
		data, err = f.damage(data), f.ErrAfter
	}
	return data, info, err
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	f, err := b.next(ctx, Stat, name)
	if err != nil {
		return artifacts.Info{}, err
	}
	info, err := b.inner.Stat(ctx, name)
	if err == nil {
		err = f.ErrAfter
	}
	return info, err
}

// Put stores an object, with the bucket's lies.
func (b *Bucket) Put(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (artifacts.Info, error) {
	f, err := b.next(ctx, Put, name)
	if err != nil {
		return artifacts.Info{}, err
	}
	parts := opts.Multipart == artifacts.MultipartAlways
	if parts && b.lies.DamageMultipart {
		data := make([]byte, content.Size())
		if _, err := content.ReadAt(data, 0); err != nil && err != io.EOF {
			return artifacts.Info{}, err
		}
		content = bytes.NewReader(append([]byte("10000;chunk-signature=\r\n"), data...))
		opts.SHA256 = artifacts.Digest{}
	}
	if b.lies.AcceptWrongDigest {
		opts.SHA256 = artifacts.Digest{}
	}
	if b.lies.IgnoreIfAbsent || b.lies.MultipartOverwrite && parts {
		opts.IfAbsent = false
	}
	if b.lies.IgnoreIfMatch {
		opts.IfMatch = ""
	}
	if b.lies.IfMatchCreates && opts.IfMatch != "" {
		if _, err := b.inner.Stat(ctx, name); errors.Is(err, artifacts.ErrNotFound) {
			opts.IfMatch = ""
		}
	}
	info, err := b.inner.Put(ctx, name, content, opts)
	if err == nil {
		err = f.ErrAfter
	}
	return info, err
}

// Copy copies an object.
func (b *Bucket) Copy(ctx context.Context, from, to string) error {
	f, err := b.next(ctx, Copy, from)
	if err != nil {
		return err
	}
	if b.lies.NoCopy {
		return &artifacts.BucketError{Op: "copy", Bucket: b.URL(), Object: from, Class: artifacts.Permanent, Err: errors.New("not implemented")}
	}
	if err := b.inner.Copy(ctx, from, to); err != nil {
		return err
	}
	return f.ErrAfter
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	f, err := b.next(ctx, Delete, name)
	if err != nil {
		return err
	}
	if err := b.inner.Delete(ctx, name); err != nil {
		return err
	}
	return f.ErrAfter
}

// List lists objects.
func (b *Bucket) List(ctx context.Context, prefix, after string, fn func(artifacts.Info) error) error {
	f, err := b.next(ctx, List, prefix)
	if err != nil {
		return err
	}
	if err := b.inner.List(ctx, prefix, after, fn); err != nil {
		return err
	}
	return f.ErrAfter
}
