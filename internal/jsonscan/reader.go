package jsonscan

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Reader stands before a value of a text. Every method reads one value; after something that is
// not what was asked for, all of them read nothing and OK is false. null is nothing of any kind.
type Reader struct {
	data []byte
	from *jsontext.Decoder
	bad  bool
}

// New returns a reader of one value.
func New(data []byte) *Reader {
	return &Reader{data: data, from: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// OK reports whether all that was read was what was asked for.
func (r *Reader) OK() bool { return !r.bad }

// Done reports whether that was the whole text.
func (r *Reader) Done() bool {
	return !r.bad && len(bytes.TrimLeft(r.data[r.from.InputOffset():], " \t\r\n")) == 0 && r.from.InputOffset() > 0
}

// Kind is the first byte of the value that is next: one of {, [, ", t, f, n, or 0 for a number; 0
// where there is none.
func (r *Reader) Kind() jsontext.Kind {
	if r.bad {
		return 0
	}
	return r.from.PeekKind()
}

// Object calls member for each name with the reader before its value. A value that member leaves
// alone is passed over.
func (r *Reader) Object(member func(name []byte)) {
	r.inside('{', '}', func() {
		name := r.text()
		r.element(func() { member(name) })
	})
}

// Array calls element with the reader before each value.
func (r *Reader) Array(element func()) {
	r.inside('[', ']', func() { r.element(element) })
}

// Text returns a string. It may share memory with the text that is read.
func (r *Reader) Text() []byte {
	if r.null() {
		return nil
	}
	return r.text()
}

// Int returns a whole number of 64 bits.
func (r *Reader) Int() int64 {
	if r.null() {
		return 0
	}
	n, err := strconv.ParseInt(string(r.Raw()), 10, 64)
	r.bad = r.bad || err != nil
	return n
}

// Raw returns a value as it is written.
func (r *Reader) Raw() []byte {
	if r.bad {
		return nil
	}
	v, err := r.from.ReadValue()
	if err != nil {
		r.bad = true
		return nil
	}
	end := r.from.InputOffset()
	return r.data[end-int64(len(v)) : end : end]
}

// Skip passes over a value.
func (r *Reader) Skip() { r.bad = r.bad || r.from.SkipValue() != nil }

// inside reads what opens and closes an object or array and lets each read what is in it.
func (r *Reader) inside(open, end jsontext.Kind, each func()) {
	if r.null() || !r.take(open) {
		return
	}
	for !r.bad && r.from.PeekKind() != end {
		each()
	}
	r.take(end)
}

func (r *Reader) take(kind jsontext.Kind) bool {
	if r.bad || r.from.PeekKind() != kind {
		r.bad = true
		return false
	}
	_, err := r.from.ReadToken()
	r.bad = err != nil
	return err == nil
}

// element lets fn read one value, or reads it itself.
func (r *Reader) element(fn func()) {
	at := r.from.InputOffset()
	if fn(); !r.bad && r.from.InputOffset() == at {
		r.Skip()
	}
}

func (r *Reader) null() bool { return r.Kind() == 'n' && r.take('n') }

func (r *Reader) text() []byte {
	if r.Kind() != '"' {
		r.bad = true
		return nil
	}
	raw := r.Raw()
	if r.bad || bytes.IndexByte(raw, '\\') < 0 {
		return raw[min(1, len(raw)):max(0, len(raw)-1)]
	}
	out, err := jsontext.AppendUnquote(nil, raw)
	r.bad = r.bad || err != nil
	return out
}
