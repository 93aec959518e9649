package jsonscan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// read reads a value of any kind.
func read(r *Reader) any {
	switch c := r.Kind(); c {
	case '{':
		out := map[string]any{}
		r.Object(func(name []byte) { out[string(name)] = read(r) })
		return out
	case '[':
		out := []any{}
		r.Array(func() { out = append(out, read(r)) })
		return out
	case '"':
		return string(r.Text())
	case 't', 'f':
		return string(r.Raw()) == "true"
	case 'n':
		r.Skip()
		return nil
	}
	return json.Number(r.Raw())
}

var texts = []string{
	`{}`, `[]`, `{"a":1,"b":[true,false,null,-1.5e3,"x\"y\\","\u00e9\n"],"c":{"d":{}}}`, ` { "a" : [ 1 , 2 ] } `, `"\\"`, `0`, `-0.1`, `null`,
	``, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `tru`, `nul`, `01`, `1.`, `-`, `"a`, `"\x"`, `{1:2}`, `{"a":1}{`, `]`, `1e`,
}

// FuzzReader: what encoding/json takes is read as it reads it, what it refuses is refused; only
// characters that JSON wants escaped, or that are none, may stand where nobody looks.
func FuzzReader(f *testing.F) {
	for _, t := range texts {
		f.Add(t)
	}
	f.Fuzz(func(t *testing.T, text string) {
		valid := json.Valid([]byte(text))
		r := New([]byte(text))
		r.Skip()
		if passed := r.Done(); valid && !passed {
			t.Fatalf("%q is JSON and is not passed over", text)
		}
		if !valid || !utf8.ValidString(text) {
			return
		}
		r = New([]byte(text))
		got := read(r)
		var want any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !r.Done() || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %v, want %v", text, got, want)
		}
	})
}

// TestForm: what is no JSON by its form is refused, whatever is asked for.
func TestForm(t *testing.T) {
	for _, text := range texts {
		r := New([]byte(text))
		r.Skip()
		if got, want := r.Done(), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: passed over %v, want %v", text, got, want)
		}
	}
}

// TestKinds: a value of another kind is refused, null is nothing, what is left alone is passed over.
func TestKinds(t *testing.T) {
	r := New([]byte(`{"a":{"skipped":[1,{"b":2}]},"n":null,"i":-12,"t":"x"}`))
	var n int64
	var s string
	r.Object(func(name []byte) {
		switch string(name) {
		case "n":
			r.Object(func([]byte) { t.Error("null has members") })
		case "i":
			n = r.Int()
		case "t":
			s = string(r.Text())
		}
	})
	if !r.Done() || n != -12 || s != "x" {
		t.Errorf("read %v: %d %q", r.OK(), n, s)
	}
	for _, wrong := range []func(*Reader){func(r *Reader) { r.Int() }, func(r *Reader) { r.Array(func() {}) }, func(r *Reader) { r.Object(func([]byte) {}) }} {
		r := New([]byte(`"text"`))
		if wrong(r); r.OK() {
			t.Error("a text was read as something else")
		}
	}
	if r := New([]byte(`1.5`)); r.Int() != 0 || r.OK() {
		t.Error("1.5 was read as a whole number")
	}
}
