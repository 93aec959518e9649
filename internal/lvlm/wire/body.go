package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Body is the body of a request in pieces: text, and between it what is made while it is sent. The
// zero value is empty.
type Body struct {
	pieces []Piece
	size   int64

	mu     sync.Mutex // guards failed
	failed error
}

// Piece is a part of a body.
type Piece interface {
	// Size is how long it is.
	Size() int64
	// Open reads it from its beginning.
	Open(ctx context.Context) (io.ReadCloser, error)
}

// Add appends a piece.
func (b *Body) Add(p Piece) {
	b.pieces = append(b.pieces, p)
	b.size += p.Size()
}

// Text appends a text, which must not change afterwards.
func (b *Body) Text(t []byte) { b.Add(text(t)) }

type text []byte

func (t text) Size() int64 { return int64(len(t)) }

func (t text) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(t)), nil
}

// Put makes b the body of a request, in place of what it had, and states its length: servers
// refuse, or read slowly, what comes in chunks.
func (b *Body) Put(r *http.Request) {
	ctx := r.Context()
	r.Body, r.ContentLength = b.reader(ctx), b.size
	r.GetBody = func() (io.ReadCloser, error) { return b.reader(ctx), nil }
}

// Failed returns why a piece could not be read, or nil. Such a request did not become whole, so
// that nobody can have answered it.
func (b *Body) Failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

func (b *Body) fail(err error) {
	b.mu.Lock()
	b.failed = err
	b.mu.Unlock()
}

// reader reads the whole body from its beginning.
func (b *Body) reader(ctx context.Context) io.ReadCloser {
	b.fail(nil)
	return &bodyReader{body: b, ctx: ctx, left: b.pieces}
}

// bodyReader reads piece after piece. A transport may close it while it is read.
type bodyReader struct {
	body *Body
	ctx  context.Context

	mu   sync.Mutex // guards what follows
	left []Piece
	now  io.ReadCloser
	err  error
}

// Read reads on, and keeps the first error for the body.
func (r *bodyReader) Read(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n == 0 && len(p) > 0 && r.err == nil {
		if r.now == nil {
			if len(r.left) == 0 {
				return 0, io.EOF
			}
			if r.now, r.err = r.left[0].Open(r.ctx); r.err != nil {
				break
			}
			r.left = r.left[1:]
		}
		n, err = r.now.Read(p)
		if errors.Is(err, io.EOF) {
			err = r.now.Close()
			r.now = nil
		}
		r.err = err
	}
	if r.err != nil && r.err != errBodyClosed {
		r.body.fail(r.err)
	}
	return n, r.err
}

var errBodyClosed = errors.New("the body of the request is closed")

// Close ends the reading.
func (r *bodyReader) Close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		err = r.now.Close()
	}
	r.now, r.left, r.err = nil, nil, errBodyClosed
	return err
}
