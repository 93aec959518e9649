package jsonscan

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Reader stands before a value of a text. Every method reads one value; after something that is
// not what was asked for, all of them read nothing and OK is false. null is nothing of any kind.
type Reader struct {
	data []byte
	at   int
	bad  bool
	deep int
}

// deepest is how far values may be nested.
const deepest = 1000

// New returns a reader of one value.
func New(data []byte) *Reader { return &Reader{data: data} }

// OK reports whether all that was read was what was asked for.
func (r *Reader) OK() bool { return !r.bad }

// Done reports whether that was the whole text.
func (r *Reader) Done() bool { r.space(); return !r.bad && r.at == len(r.data) }

// Kind is the first byte of the value that is next: one of {, [, ", t, f, n, -, or a digit; 0 where
// there is none.
func (r *Reader) Kind() byte {
	r.space()
	if r.bad || r.at >= len(r.data) {
		return 0
	}
	return r.data[r.at]
}

// Object calls member for each name with the reader before its value. A value that member leaves
// alone is passed over.
func (r *Reader) Object(member func(name []byte)) {
	if r.null() || !r.open('{') {
		return
	}
	for first := true; !r.close('}', first); first = false {
		name := r.text()
		if !r.take(':') {
			return
		}
		r.element(func() { member(name) })
	}
}

// Array calls element for each value with the reader before it.
func (r *Reader) Array(element func()) {
	if r.null() || !r.open('[') {
		return
	}
	for first := true; !r.close(']', first); first = false {
		r.element(element)
	}
}

// Text returns a string. It may share memory with the text that is read.
func (r *Reader) Text() []byte {
	if r.null() {
		return nil
	}
	r.space()
	return r.text()
}

// Int returns a whole number of 64 bits.
func (r *Reader) Int() int64 {
	if r.null() {
		return 0
	}
	n, err := strconv.ParseInt(string(r.Raw()), 10, 64)
	if err != nil {
		r.fail()
	}
	return n
}

// Raw returns a value as it is written.
func (r *Reader) Raw() []byte {
	r.space()
	from := r.at
	r.Skip()
	if r.bad {
		return nil
	}
	return r.data[from:r.at:r.at]
}

// Skip passes over a value.
func (r *Reader) Skip() {
	switch c := r.Kind(); {
	case c == '{':
		r.Object(func([]byte) {})
	case c == '[':
		r.Array(func() {})
	case c == '"':
		r.text()
	case c == 't':
		r.word("true")
	case c == 'f':
		r.word("false")
	case c == 'n':
		r.word("null")
	default:
		r.number()
	}
}

func (r *Reader) fail() { r.bad = true }

func (r *Reader) space() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// take reads one byte of punctuation.
func (r *Reader) take(c byte) bool {
	r.space()
	if r.bad || r.at >= len(r.data) || r.data[r.at] != c {
		r.fail()
		return false
	}
	r.at++
	return true
}

func (r *Reader) open(c byte) bool {
	if r.deep++; r.deep > deepest {
		r.fail()
	}
	return r.take(c)
}

// close reads the end of an object or array, or what stands before another member.
func (r *Reader) close(c byte, first bool) bool {
	if r.bad {
		return true
	}
	if r.Kind() == c {
		r.at++
		r.deep--
		return true
	}
	if !first && !r.take(',') {
		return true
	}
	r.space()
	return false
}

// element lets fn read one value, or reads it itself.
func (r *Reader) element(fn func()) {
	r.space()
	from := r.at
	fn()
	if !r.bad && r.at == from {
		r.Skip()
	}
}

func (r *Reader) null() bool {
	if r.Kind() != 'n' {
		return false
	}
	r.word("null")
	return true
}

func (r *Reader) word(w string) {
	if !bytes.HasPrefix(r.data[r.at:], []byte(w)) {
		r.fail()
		return
	}
	r.at += len(w)
}

// number reads what looks like a number and lets encoding/json say whether it is one.
func (r *Reader) number() {
	from := r.at
	plain := true
	for ; r.at < len(r.data); r.at++ {
		c := r.data[r.at]
		if c >= '0' && c <= '9' {
			continue
		}
		if c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		plain = false
	}
	word := r.data[from:r.at]
	if len(word) == 0 || (!plain || len(word) > 1 && word[0] == '0') && !json.Valid(word) {
		r.fail()
	}
}

// text reads a string, without a copy where it has no escapes.
func (r *Reader) text() []byte {
	if !r.take('"') {
		return nil
	}
	from := r.at
	for {
		n := bytes.IndexByte(r.data[r.at:], '"')
		if n < 0 {
			r.fail()
			return nil
		}
		r.at += n + 1
		if !escaped(r.data[from : r.at-1]) {
			break
		}
	}
	body := r.data[from : r.at-1 : r.at-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	var s string
	if json.Unmarshal(r.data[from-1:r.at], &s) != nil {
		r.fail()
		return nil
	}
	return []byte(s)
}

// escaped reports whether the quote behind s belongs to the string.
func escaped(s []byte) bool {
	n := len(s)
	for n > 0 && s[n-1] == '\\' {
		n--
	}
	return (len(s)-n)%2 == 1
}
