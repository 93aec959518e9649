package dataset

import (
	"strings"
	"testing"
)

// TestDecodeOnce holds that a key counts once in every object, however deep, and that the same
// key in two objects or as a value is fine.
func TestDecodeOnce(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"a": "a", "b": ["a", "a"]}`, `{"a": {"a": {"a": 1}}, "b": {"a": 2}}`, `{"a": [{"b": 1}, {"b": 2}], "b": null, "A": 1e400}`,
	} {
		if m, err := decodeOnce([]byte(text)); err != nil || strings.Count(text, "a") > 0 && m["a"] == nil {
			t.Errorf("%s: %v, %v", text, m, err)
		}
	}
	for text, want := range map[string]string{
		`{"a": 1, "a": []}`:                     `"a" stands twice`,
		`{"a": 1, "\u0061": 2}`:                 `"a" stands twice`,
		`{"a": [], "b": {}, "a": 1}`:            `"a" stands twice`,
		`{"x": [{"b": {}, "c": "b", "b": []}]}`: `"b" stands twice`,
		`{"a": 1`:                               "unexpected end",
		`{"a": 1} {}`:                           "after top-level value",
		`["a"]`:                                 "cannot unmarshal array",
		`null`:                                  "object is expected",
		`{"a": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`: "max depth",
	} {
		if _, err := decodeOnce([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
}
