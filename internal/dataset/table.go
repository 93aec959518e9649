package dataset

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// TableError reports a table that cannot be used as a whole: missing, damaged, or without
// a column. Single broken rows are not errors but outcomes.
type TableError struct {
	File   string
	Line   int    // 0 when the table as a whole is meant
	Column string // empty unless a column is meant
	Detail string
	Hint   string // the way out, may be empty
	Err    error
}

func (e *TableError) Error() string {
	var b strings.Builder
	b.WriteString("table " + e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, " line %d", e.Line)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, " column %s", e.Column)
	}
	b.WriteString(": " + e.Detail)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *TableError) Unwrap() error { return e.Err }

// table streams one CSV file, plain or compressed, whose columns are found by name.
type table struct {
	file    string
	raw     fs.File
	gz      *gzip.Reader
	csv     *csv.Reader
	columns map[string]int
	width   int
	line    int   // of the last record
	bom     int64 // bytes before the first record
	count   *countingReader
}

// countingReader counts the bytes that the CSV reader took, and holds a read error.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// openTable opens a table and reads its header. Compression is found by content.
//
// Errors: *TableError for a table that lacks one of the required columns, names a column
// twice, or has no header; the storage's own error otherwise.
func openTable(fsys fs.FS, file string, required ...string) (*table, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", file, err)
	}
	t := &table{file: file, raw: f}
	buffered := bufio.NewReaderSize(f, 1<<18)
	t.count = &countingReader{r: buffered}
	if magic, _ := buffered.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		if t.gz, err = gzip.NewReader(buffered); err != nil {
			f.Close()
			return nil, &TableError{File: file, Detail: "damaged gzip header", Hint: hintDownload, Err: err}
		}
		t.count.r = t.gz
	}
	body := bufio.NewReaderSize(t.count, 1<<16)
	if bom, _ := body.Peek(3); string(bom) == "\xef\xbb\xbf" {
		n, _ := body.Discard(3)
		t.bom = int64(n)
	}
	t.csv = csv.NewReader(body)
	t.csv.ReuseRecord = true
	t.csv.FieldsPerRecord = -1
	if err := t.header(required); err != nil {
		f.Close()
		return nil, err
	}
	return t, nil
}

const hintDownload = "download the file again and compare it with SHA256SUMS.txt"

func (t *table) header(required []string) error {
	names, err := t.csv.Read()
	if errors.Is(err, io.EOF) && t.count.err == nil {
		return &TableError{File: t.file, Detail: "is empty, want a header line", Hint: hintDownload}
	}
	if err != nil {
		return t.broken(err)
	}
	t.width, t.line = len(names), 1
	t.columns = make(map[string]int, len(names))
	for i, n := range names {
		n = strings.TrimSpace(n)
		if _, twice := t.columns[n]; twice {
			return &TableError{File: t.file, Line: 1, Column: n, Detail: "stands twice in the header"}
		}
		t.columns[n] = i
	}
	for _, want := range required {
		if _, ok := t.columns[want]; !ok {
			return &TableError{File: t.file, Line: 1, Column: want,
				Detail: "is missing; the header has " + strings.Join(t.names(), ", "),
				Hint:   "use the table as published, or rename the column"}
		}
	}
	return nil
}

func (t *table) names() []string {
	names := make([]string, 0, len(t.columns))
	for n := range t.columns {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return t.columns[a] - t.columns[b] })
	return names
}

// next returns the next record, which is valid until the following call. bad is the
// reason why a single line is unusable; the table goes on after it.
//
// Errors: io.EOF at the end; *TableError when the rest cannot be read either.
func (t *table) next() (record []string, line int, bad string, err error) {
	record, err = t.csv.Read()
	var pe *csv.ParseError
	switch {
	case errors.Is(err, io.EOF) && t.count.err == nil:
		return nil, 0, "", io.EOF
	case errors.As(err, &pe) && t.count.err == nil && pe.Line == pe.StartLine:
		t.line = pe.Line
		return nil, pe.Line, pe.Err.Error(), nil
	case errors.As(err, &pe) && t.count.err == nil:
		return nil, 0, "", &TableError{File: t.file, Line: pe.StartLine, Detail: "a quote that is opened here swallows the lines after it",
			Hint: hintDownload, Err: pe.Err}
	case err != nil:
		return nil, 0, "", t.broken(err)
	}
	line, _ = t.csv.FieldPos(0)
	t.line = line
	if len(record) != t.width {
		return nil, line, fmt.Sprintf("%d fields, the header has %d", len(record), t.width), nil
	}
	return record, line, "", nil
}

// broken tells a damaged file from storage that failed.
func (t *table) broken(err error) error {
	if t.count.err != nil {
		err = t.count.err
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return fmt.Errorf("read table %s after line %d: %w", t.file, t.line, err)
	}
	return &TableError{File: t.file, Line: t.line, Detail: "the file breaks off or is damaged after this line", Hint: hintDownload, Err: err}
}

// column returns the index of a column, -1 if the table has none of that name.
func (t *table) column(name string) int {
	if i, ok := t.columns[name]; ok {
		return i
	}
	return -1
}

// offset returns where the next record begins in the uncompressed file.
func (t *table) offset() int64 { return t.bom + t.csv.InputOffset() }

func (t *table) close() error { return t.raw.Close() }
