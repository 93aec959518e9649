package artifacts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the one JSON text of v: no white space, object names in ascending
// order of their bytes, numbers in their shortest form (1.0 and 1 are the same number,
// -0 is 0), strings with the fewest escapes and without HTML escaping. Equal values
// give equal bytes whatever the order of a Go map or of the fields of a raw message.
//
// JSON values are self-delimiting, so two different values never share a text.
//
// Errors: NaN and infinities, strings that are not UTF-8, an object with the same name
// twice, a number that no float64 or 64-bit integer holds exactly, and whatever
// encoding/json cannot represent.
func Canonical(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("canonical JSON of %T: %w", v, err)
	}
	t := transcriber{src: buf.Bytes()}
	out, err := t.value(make([]byte, 0, buf.Len()))
	if err != nil {
		return nil, fmt.Errorf("canonical JSON of %T: %w", v, err)
	}
	return out, nil
}

// transcriber reads the compact, valid JSON that encoding/json wrote and writes it in
// canonical form.
type transcriber struct {
	src []byte
	at  int
}

// value transcribes the value at t.at onto dst.
func (t *transcriber) value(dst []byte) ([]byte, error) {
	switch t.src[t.at] {
	case '{':
		return t.object(dst)
	case '[':
		return t.array(dst)
	case '"':
		return t.text(dst)
	}
	from := t.at
	for t.at < len(t.src) && strings.IndexByte(",]}\n", t.src[t.at]) < 0 {
		t.at++
	}
	word := t.src[from:t.at]
	switch word[0] {
	case 't', 'f', 'n':
		return append(dst, word...), nil
	}
	return appendNumber(dst, string(word))
}

// member is one "name":value in dst.
type member struct {
	name     string
	from, to int
}

func (t *transcriber) object(dst []byte) ([]byte, error) {
	t.at++ // {
	dst = append(dst, '{')
	begin := len(dst)
	var members []member
	sorted := true
	for t.src[t.at] != '}' {
		if t.src[t.at] == ',' {
			t.at++
		}
		from := len(dst)
		var err error
		if dst, err = t.text(dst); err != nil {
			return nil, err
		}
		// Names are ordered as they are, not as they are escaped.
		name := unescaped(dst[from+1 : len(dst)-1])
		t.at++ // :
		dst = append(dst, ':')
		if dst, err = t.value(dst); err != nil {
			return nil, fmt.Errorf("%s: %w", clip(name), err)
		}
		if n := len(members); n > 0 && members[n-1].name >= name {
			sorted = false
		}
		members = append(members, member{name, from, len(dst)})
		dst = append(dst, ',')
	}
	t.at++ // }
	if len(members) > 0 {
		dst = dst[:len(dst)-1] // the last comma
	}
	if sorted {
		return append(dst, '}'), nil
	}
	return inOrder(dst, begin, members)
}

// inOrder rewrites the members that begin at dst[begin] in the order of their names.
func inOrder(dst []byte, begin int, members []member) ([]byte, error) {
	was := bytes.Clone(dst[begin:])
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	dst = dst[:begin]
	for i, m := range members {
		if i > 0 {
			if m.name == members[i-1].name {
				return nil, fmt.Errorf("object has the name %q twice", clip(m.name))
			}
			dst = append(dst, ',')
		}
		dst = append(dst, was[m.from-begin:m.to-begin]...)
	}
	return append(dst, '}'), nil
}

func (t *transcriber) array(dst []byte) ([]byte, error) {
	t.at++ // [
	dst = append(dst, '[')
	for n := 0; t.src[t.at] != ']'; n++ {
		if t.src[t.at] == ',' {
			t.at++
			dst = append(dst, ',')
		}
		var err error
		if dst, err = t.value(dst); err != nil {
			return nil, fmt.Errorf("[%d]: %w", n, err)
		}
	}
	t.at++ // ]
	return append(dst, ']'), nil
}

// text transcribes a string. What needs no escape is copied as it is.
func (t *transcriber) text(dst []byte) ([]byte, error) {
	t.at++ // "
	dst = append(dst, '"')
	for {
		n := bytes.IndexAny(t.src[t.at:], "\"\\")
		if part := t.src[t.at : t.at+n]; !utf8.Valid(part) {
			return nil, errNotText
		}
		dst = append(dst, t.src[t.at:t.at+n]...)
		t.at += n
		if t.src[t.at] == '"' {
			t.at++
			return append(dst, '"'), nil
		}
		r, err := t.escape()
		if err != nil {
			return nil, err
		}
		dst = appendEscaped(dst, r)
	}
}

var errNotText = errors.New("a string is not valid UTF-8")

// escape reads one escape. The escape of U+FFFD is what encoding/json writes for bytes
// that are no text, so it is refused; the character itself is not.
func (t *transcriber) escape() (rune, error) {
	c := t.src[t.at+1]
	t.at += 2
	switch c {
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r := t.hex()
		if utf16.IsSurrogate(r) {
			if !bytes.HasPrefix(t.src[t.at:], []byte(`\u`)) {
				return 0, errNotText
			}
			t.at += 2
			r = utf16.DecodeRune(r, t.hex())
		}
		if r == utf8.RuneError {
			return 0, errNotText
		}
		return r, nil
	}
	return rune(c), nil // quote, backslash, slash
}

// hex reads four hexadecimal digits.
func (t *transcriber) hex() rune {
	n, _ := strconv.ParseUint(string(t.src[t.at:t.at+4]), 16, 16) // the JSON is valid
	t.at += 4
	return rune(n)
}

// appendEscaped writes r with the fewest escapes.
func appendEscaped(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\b':
		return append(dst, '\\', 'b')
	case r == '\f':
		return append(dst, '\\', 'f')
	case r == '\n':
		return append(dst, '\\', 'n')
	case r == '\r':
		return append(dst, '\\', 'r')
	case r == '\t':
		return append(dst, '\\', 't')
	case r < 0x20:
		return append(dst, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// unescaped returns the text behind a canonical string without its quotes.
func unescaped(s []byte) string {
	if bytes.IndexByte(s, '\\') < 0 {
		return string(s)
	}
	t := transcriber{src: s}
	var out []byte
	for t.at < len(s) {
		if s[t.at] != '\\' {
			out = append(out, s[t.at])
			t.at++
			continue
		}
		r, _ := t.escape() // canonical escapes are good
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// appendNumber writes integers of 64 bits digit by digit and everything else as the
// shortest text that reads back as the same float64.
func appendNumber(dst []byte, s string) ([]byte, error) {
	if !strings.ContainsAny(s, ".eE") {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return strconv.AppendInt(dst, n, 10), nil
		}
		if n, err := strconv.ParseUint(s, 10, 64); err == nil {
			return strconv.AppendUint(dst, n, 10), nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("number %s does not fit a float64", clip(s))
	}
	if f == 0 {
		return append(dst, '0'), nil
	}
	text := strconv.AppendFloat(nil, f, 'f', -1, 64)
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		text = strconv.AppendFloat(nil, f, 'e', -1, 64)
		if n := len(text); text[n-4] == 'e' && text[n-2] == '0' { // e-07 becomes e-7
			text = append(text[:n-2], text[n-1])
		}
	}
	if !strings.ContainsAny(s, ".eE") && string(text) != s {
		return nil, fmt.Errorf("integer %s is not exact as a float64; write it as a string", clip(s))
	}
	return append(dst, text...), nil
}
