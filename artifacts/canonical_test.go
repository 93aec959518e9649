package artifacts_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/artifacts"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"null", nil, `null`},
		{"names in byte order", map[string]any{"b": 1, "a": 2, "Z": 3, "é": 4, "aa": 5}, `{"Z":3,"a":2,"aa":5,"b":1,"é":4}`},
		{"nested", map[string]any{"o": map[string]any{"y": []any{}, "x": map[string]any{}}}, `{"o":{"x":{},"y":[]}}`},
		{"struct fields are sorted too", struct {
			B int    `json:"b"`
			A string `json:"a"`
		}{1, "x"}, `{"a":"x","b":1}`},
		{"integers", []any{0, -1, int64(math.MaxInt64), uint64(math.MaxUint64)}, `[0,-1,9223372036854775807,18446744073709551615]`},
		{"floats", []any{1.0, 0.1, math.Copysign(0, -1), 1e20, 1e21, 1e-6, 1e-7, 1.5e-9, 100000.0}, `[1,0.1,0,100000000000000000000,1e+21,0.000001,1e-7,1.5e-9,100000]`},
		{"float32 keeps its own text", float32(0.1), `0.1`},
		{"no HTML escaping", "<a href='x'>&</a>", `"<a href='x'>&</a>"`},
		{"control characters", "\x00\x1f\b\f\n\r\t\"\\/\u2028", "\"\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\u2028\""},
		{"a real replacement character", "\ufffd", "\"\ufffd\""},
		{"the text of its escape", `\ufffd`, `"\\ufffd"`},
		{"surrogate pair", json.RawMessage(`"\ud83d\ude00"`), "\"\U0001F600\""},
		{"names in the order of what they say", json.RawMessage(`{"\n":1,"\"":2,"A":3,"\\":4,"a":5," ":6}`), `{"\n":1," ":6,"\"":2,"A":3,"\\":4,"a":5}`},
		{"empty things", json.RawMessage(`[ {} , [ ] , "" ]`), `[{},[],""]`},
		{"raw message", json.RawMessage(`{ "b" : 1.0e0 , "a":"\u0041" }`), `{"a":"A","b":1}`},
	} {
		got, err := artifacts.Canonical(c.in)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for name, in := range map[string]any{
		"not a number":                math.NaN(),
		"infinity":                    map[string]any{"x": math.Inf(1)},
		"bytes that are no text":      "a\xffb",
		"name that is no text":        map[string]int{"\xff": 1},
		"bytes that are no text, raw": json.RawMessage("\"a\xffb\""),
		"half a surrogate pair":       json.RawMessage(`"\ud800"`),
		"two wrong halves":            json.RawMessage(`"\ud800\u0041"`),
		"same name twice, escaped":    json.RawMessage(`{"a":1,"\u0061":2}`),
		"same name twice":             json.RawMessage(`{"a":1,"a":2}`),
		"integer beyond 64 bits":      json.RawMessage(`100000000000000000001`),
		"number beyond float64":       json.RawMessage(`1e999`),
		"channel":                     make(chan int),
	} {
		if got, err := artifacts.Canonical(in); err == nil {
			t.Errorf("%s: accepted as %s", name, got)
		}
	}
}

// value draws any JSON value.
func value(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Map(rapid.Int64(), func(v int64) any { return v }),
		rapid.Map(rapid.Float64Range(-1e12, 1e12), func(v float64) any { return v }),
		rapid.Map(rapid.String(), func(v string) any { return strings.ToValidUTF8(v, "?") }),
		rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Just[any](nil),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z_é]{0,6}`), value(depth-1), 0, 4), func(v map[string]any) any { return v }),
	)
}

// TestCanonicalIsOneText: reading the text back and writing it again gives the same
// bytes, and the text says the same as encoding/json's.
func TestCanonicalIsOneText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := value(3).Draw(rt, "value")
		first, err := artifacts.Canonical(v)
		if err != nil {
			rt.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(first, &back); err != nil {
			rt.Fatalf("%s is not JSON: %v", first, err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			rt.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(raw, &want); err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(zeroes(back), zeroes(want)) {
			rt.Fatalf("%s says something else than %s", first, raw)
		}
		again, err := artifacts.Canonical(json.RawMessage(raw))
		if err != nil || string(again) != string(first) {
			rt.Fatalf("again %s, %v; first %s", again, err, first)
		}
	})
}

// zeroes makes -0 and 0 the same.
func zeroes(v any) any {
	switch t := v.(type) {
	case float64:
		return t + 0
	case []any:
		for i := range t {
			t[i] = zeroes(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = zeroes(t[k])
		}
	}
	return v
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{}`, `[1,2.50,"x"]`, `{"a":{"b":[null,true]}}`, `"\ud800"`, `1e-400`, `{"a":1,"a":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := artifacts.Canonical(json.RawMessage(data))
		if err != nil {
			return
		}
		second, err := artifacts.Canonical(json.RawMessage(first))
		if err != nil || string(first) != string(second) {
			t.Fatalf("%q -> %q -> %q, %v", data, first, second, err)
		}
	})
}
