package bench

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// row is one JSON object of a file of questions, with where it is for problems.
type row struct {
	in     *importing
	n      int
	fields map[string]json.RawMessage
	bad    bool
}

// object reads a row; ok is false, and a problem noted, for anything else.
func (in *importing) object(n int, data []byte) (*row, bool) {
	r := &row{in: in, n: n}
	if err := json.Unmarshal(data, &r.fields); err != nil || r.fields == nil {
		in.add(FileMalformed, n, "", "want a JSON object, got %s", excerpt(data))
		return nil, false
	}
	return r, true
}

func (r *row) wrong(code Code, field, format string, args ...any) {
	r.bad = true
	r.in.add(code, r.n, field, format, args...)
}

// raw returns the first of several fields that is there: a name of the row, or of the object
// "metadata" in it.
func (r *row) raw(names ...string) (json.RawMessage, string, bool) {
	var inner map[string]json.RawMessage
	if m, ok := r.fields["metadata"]; ok {
		if json.Unmarshal(m, &inner) != nil {
			inner = nil
		}
	}
	for _, name := range names {
		if v, ok := r.fields[name]; ok && !null(v) {
			return v, name, true
		}
		if v, ok := inner[name]; ok && !null(v) {
			return v, "metadata." + name, true
		}
	}
	return nil, names[0], false
}

func null(v json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(v), []byte("null")) }

// text returns a field that must be a string or a number, as text that is not empty.
func (r *row) text(names ...string) string {
	v, name, ok := r.raw(names...)
	if !ok {
		r.wrong(FieldMissing, name, "the row has no %s", strings.Join(names, " or "))
		return ""
	}
	s, ok := scalar(v)
	if !ok || strings.TrimSpace(s) == "" {
		r.wrong(FieldType, name, "want a text, got %s", excerpt(v))
		return ""
	}
	return strings.TrimSpace(s)
}

// scalar reads a JSON string or number as text.
func scalar(v json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s, true
	}
	var n json.Number
	if json.Unmarshal(v, &n) == nil && n != "" {
		return n.String(), true
	}
	return "", false
}

// texts returns a field that is a text, a list of texts or a list of such lists, in order. A text
// with separator counts as a list, and so does one that is itself JSON.
func (r *row) texts(separator string, names ...string) []string {
	v, name, ok := r.raw(names...)
	if !ok {
		r.wrong(FieldMissing, name, "the row has no %s", strings.Join(names, " or "))
		return nil
	}
	out, ok := flat(v, separator)
	if !ok {
		r.wrong(FieldType, name, "want a text or a list of texts, got %s", excerpt(v))
	}
	return out
}

func flat(v json.RawMessage, separator string) ([]string, bool) {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil {
		var out []string
		for _, one := range list {
			more, ok := flat(one, separator)
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		}
		return out, true
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return nil, false
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") {
		if out, ok := flat(json.RawMessage(s), separator); ok {
			return out, true
		}
	}
	parts := []string{s}
	if separator != "" {
		parts = strings.Split(s, separator)
	}
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out, true
}

// excerpt is the beginning of what stands in a file, for a message.
func excerpt(data []byte) string {
	const most = 60
	text := strings.Join(strings.Fields(string(data)), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "..."
	}
	if text == "" {
		return "nothing"
	}
	return text
}

// distinct returns texts in order, each once.
func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
