package wire

import (
	"bytes"
	"io"
	"net/http"
)

// Body is the body of a request in pieces: text between encoded pictures, which are not copied.
// The zero value is empty.
type Body struct {
	pieces [][]byte
	size   int64
}

// Add appends a piece, which must not change afterwards.
func (b *Body) Add(piece []byte) {
	b.pieces = append(b.pieces, piece)
	b.size += int64(len(piece))
}

// Put makes b the body of a request, in place of what it had, and states its length: servers
// refuse, or read slowly, what comes in chunks.
func (b *Body) Put(r *http.Request) {
	r.Body, r.ContentLength = b.reader(), b.size
	r.GetBody = func() (io.ReadCloser, error) { return b.reader(), nil }
}

// reader reads the whole body from its beginning.
func (b *Body) reader() io.ReadCloser {
	readers := make([]io.Reader, len(b.pieces))
	for i, p := range b.pieces {
		readers[i] = bytes.NewReader(p)
	}
	return io.NopCloser(io.MultiReader(readers...))
}
