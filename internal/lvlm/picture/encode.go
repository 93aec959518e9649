package picture

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"sync"

	"cxrepro/artifacts"
)

// Open opens the bytes of a picture. Its reader ends with an error instead of io.EOF where they are
// not those of the reference: nothing read before is true until then.
type Open func(ctx context.Context, ref artifacts.Ref) (io.ReadCloser, error)

// Encoded is a picture in base64, which is made while it is read: requests carry megabytes that
// nobody needs to hold. It is a piece of a wire.Body.
type Encoded struct {
	Ref    artifacts.Ref
	Source Open
}

// Size is the length of the text.
func (e Encoded) Size() int64 { return int64(base64.StdEncoding.EncodedLen(int(e.Ref.Size))) }

// Open begins to read the text. Its end is not handed out before the source has ended well: who
// sends it with its length stated sends no whole request of wrong bytes.
func (e Encoded) Open(ctx context.Context) (io.ReadCloser, error) {
	from, err := e.Source(ctx, e.Ref)
	if err != nil {
		return nil, fmt.Errorf("picture %s: %w", e.Ref.Digest.Short(), err)
	}
	return &encoder{ref: e.Ref, from: from, buf: buffers.Get().(*[bufferSize]byte)}, nil
}

// bufferSize is how many bytes are read at a time, a multiple of three: what they are read into,
// hashed in and encoded to stays in the processor's cache.
const bufferSize = 24 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// encoder encodes what it reads.
type encoder struct {
	ref  artifacts.Ref
	from io.ReadCloser
	buf  *[bufferSize]byte
	raw  []byte // of buf, read and not encoded
	read int64
	// text of the last group for a reader with less room than a group has.
	text []byte
	four [4]byte
	err  error
}

// Read hands out the next part of the text.
func (e *encoder) Read(p []byte) (n int, err error) {
	if len(e.text) == 0 && len(e.raw) == 0 {
		e.fill()
	}
	switch {
	case len(e.text) > 0:
		n = copy(p, e.text)
		e.text = e.text[n:]
	case len(e.raw) == 0:
		return 0, e.err
	case len(p) < len(e.four):
		k := min(3, len(e.raw))
		base64.StdEncoding.Encode(e.four[:], e.raw[:k])
		e.text, e.raw = e.four[:], e.raw[k:]
		n = copy(p, e.text)
		e.text = e.text[n:]
	default:
		k := min(len(p)/4*3, len(e.raw))
		base64.StdEncoding.Encode(p, e.raw[:k])
		n = base64.StdEncoding.EncodedLen(k)
		e.raw = e.raw[k:]
	}
	return n, nil
}

// fill reads the next bytes, or the end.
func (e *encoder) fill() {
	if e.err != nil {
		return
	}
	want := e.ref.Size - e.read
	n, err := io.ReadFull(e.from, e.buf[:min(want, bufferSize)])
	if e.read += int64(n); err == nil && e.read == e.ref.Size {
		// Only now it is known whether they were right.
		var more [1]byte
		if k, end := e.from.Read(more[:]); k == 0 && end == io.EOF {
			e.raw, e.err = e.buf[:n], io.EOF
			return
		} else if err = end; k > 0 {
			err = fmt.Errorf("%w: more than %d bytes", artifacts.ErrDigestMismatch, e.ref.Size)
		}
	}
	switch err {
	case nil:
		e.raw = e.buf[:n]
	case io.EOF, io.ErrUnexpectedEOF:
		e.err = fmt.Errorf("picture %s: %w: %d bytes of %d", e.ref.Digest.Short(), artifacts.ErrDigestMismatch, e.read, e.ref.Size)
	default:
		e.err = fmt.Errorf("picture %s: %w", e.ref.Digest.Short(), err)
	}
}

// Close closes the source.
func (e *encoder) Close() error {
	if e.buf != nil {
		buffers.Put(e.buf)
		e.buf, e.raw, e.err = nil, nil, io.ErrClosedPipe
	}
	return e.from.Close()
}
