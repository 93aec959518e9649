package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
)

// RecordError reports a record of a JSON or XML file that cannot be what the format says.
// It names places, never the values of a data set.
type RecordError struct {
	File   string
	Record int    // from 1; 0 when the file as a whole is meant
	Field  string // empty unless a field is meant
	Detail string
	Hint   string // the way out
	Err    error
}

func (e *RecordError) Error() string {
	var b bytes.Buffer
	b.WriteString(e.File)
	if e.Record > 0 {
		fmt.Fprintf(&b, " record %d", e.Record)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, " field %s", e.Field)
	}
	b.WriteString(": " + e.Detail)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString("; hint: " + e.Hint)
	}
	return b.String()
}

func (e *RecordError) Unwrap() error { return e.Err }

const hintRecord = "use the file as published; a changed release needs a changed reader"

// jsonRecords streams the records of a file that is one JSON array, with their numbers from 1.
// What read returns as an error ends the stream.
//
// Errors: *RecordError for a file that is no array, breaks off or goes on after its end; the
// storage's own.
func jsonRecords[T any](fsys fs.FS, file string, read func(n int, raw json.RawMessage) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		f, err := fsys.Open(file)
		if err != nil {
			yield(none, fmt.Errorf("open %s: %w", file, err))
			return
		}
		defer f.Close()
		d := json.NewDecoder(bufio.NewReaderSize(f, 1<<18))
		if t, err := d.Token(); err != nil || t != json.Delim('[') {
			yield(none, &RecordError{File: file, Detail: "is no JSON array", Hint: hintDownload, Err: unlessSyntax(err)})
			return
		}
		n := 0
		for d.More() {
			n++
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				yield(none, &RecordError{File: file, Record: n, Detail: "is damaged or breaks off", Hint: hintDownload, Err: err})
				return
			}
			v, err := read(n, raw)
			if !yield(v, err) || err != nil {
				return
			}
		}
		if _, err := d.Token(); err != nil {
			yield(none, &RecordError{File: file, Record: n, Detail: "the file breaks off after this record", Hint: hintDownload, Err: err})
			return
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			yield(none, &RecordError{File: file, Record: n, Detail: "something stands after the end of the array", Hint: hintDownload})
		}
	}
}

func unlessSyntax(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// record reads the fields of one JSON object by name.
type record struct {
	file   string
	n      int
	fields map[string]json.RawMessage
}

func newRecord(file string, n int, raw json.RawMessage) (record, error) {
	r := record{file: file, n: n}
	if err := json.Unmarshal(raw, &r.fields); err != nil || r.fields == nil {
		return r, &RecordError{File: file, Record: n, Detail: "is no JSON object", Hint: hintRecord}
	}
	return r, nil
}

func (r record) wrong(field, format string, args ...any) error {
	return &RecordError{File: r.file, Record: r.n, Field: field, Detail: fmt.Sprintf(format, args...), Hint: hintRecord}
}

// text returns a field that must be a string.
func (r record) text(field string) (string, error) {
	raw, there := r.fields[field]
	if !there {
		return "", r.wrong(field, "is missing")
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", r.wrong(field, "is no text")
	}
	return *s, nil
}

// whole returns a field that must be a whole number, perhaps written as text.
func (r record) whole(field string) (int, error) {
	raw, there := r.fields[field]
	if !there {
		return 0, r.wrong(field, "is missing")
	}
	var n int
	if err := json.Unmarshal(bytes.Trim(raw, `"`), &n); err != nil {
		return 0, r.wrong(field, "is no whole number")
	}
	return n, nil
}

// optional returns a field's text; "" where it is missing, null or something else.
func (r record) optional(field string) string {
	var s string
	_ = json.Unmarshal(r.fields[field], &s) // anything but a text counts as absent
	return s
}
