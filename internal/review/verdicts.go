package review

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"cxrepro/internal/chexstruct"
)

// Opinion is what a reviewer says of one case and task. The zero value means nothing yet.
type Opinion uint8

// Opinions.
const (
	Good   Opinion = iota + 1 // landmarks and verdict are right
	Minor                     // small faults that change nothing
	Reject                    // wrong
)

var opinionText = [...]string{Good: "good", Minor: "minor", Reject: "reject"}

// Opinions returns every opinion.
func Opinions() []Opinion { return []Opinion{Good, Minor, Reject} }

// String is the text form; empty for the zero value.
func (o Opinion) String() string {
	if int(o) >= len(opinionText) {
		return ""
	}
	return opinionText[o]
}

func parseOpinion(s string) (Opinion, bool) {
	for _, o := range Opinions() {
		if opinionText[o] == s {
			return o, true
		}
	}
	return 0, false
}

// Verdict is one line of a reviewer's table.
type Verdict struct {
	Case    int
	Task    chexstruct.Task
	Opinion Opinion
	Note    string
}

var verdictHeader = []string{"case", "task", "verdict", "note"}

// TableError lists every line of a reviewer's table that cannot be used.
type TableError struct {
	File  string
	Lines []LineError
}

// LineError is one unusable line; Line counts from 1, the header included.
type LineError struct {
	Line int
	Why  string
}

func (e *TableError) Error() string {
	var out []string
	for _, l := range e.Lines {
		out = append(out, fmt.Sprintf("%s:%d: %s", e.File, l.Line, l.Why))
	}
	return strings.Join(out, "\n")
}

// mostTable bounds a reviewer's table.
const mostTable = 64 << 20

// readTable reads a CSV table with the given header and calls row with every line's fields.
// row returns why the line cannot be used, or nothing.
func readTable(file string, r io.Reader, header []string, row func(fields []string) string) error {
	data, err := io.ReadAll(io.LimitReader(r, mostTable+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	bad := &TableError{File: file}
	if len(data) > mostTable {
		bad.Lines = append(bad.Lines, LineError{1, "the table is larger than 64 MiB"})
		return bad
	}
	c := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	c.FieldsPerRecord = -1
	c.TrimLeadingSpace = true
	first := true
	for {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			bad.Lines = append(bad.Lines, LineError{syntax.Line, syntax.Err.Error()})
			break
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		line, _ := c.FieldPos(0)
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if first {
			first = false
			if strings.Join(fields, ",") != strings.Join(header, ",") {
				bad.Lines = append(bad.Lines, LineError{line, fmt.Sprintf("the first line is %q, want %q", strings.Join(fields, ","), strings.Join(header, ","))})
				return bad
			}
			continue
		}
		if len(fields) != len(header) {
			bad.Lines = append(bad.Lines, LineError{line, fmt.Sprintf("%d fields, want the %d of %s", len(fields), len(header), strings.Join(header, ","))})
			continue
		}
		if why := row(fields); why != "" {
			bad.Lines = append(bad.Lines, LineError{line, why})
		}
	}
	if first && len(bad.Lines) == 0 {
		bad.Lines = append(bad.Lines, LineError{1, "the table is empty; want the first line " + strings.Join(header, ",")})
	}
	if len(bad.Lines) > 0 {
		return bad
	}
	return nil
}

// ReadVerdicts reads a reviewer's table: case, task, verdict (good, minor or reject), note.
// A line without a verdict is one that nobody looked at, and is left out. known tells which
// case numbers there are.
//
// Errors: *TableError with every line that cannot be used.
func ReadVerdicts(file string, r io.Reader, known func(caseNumber int) bool) ([]Verdict, error) {
	var out []Verdict
	seen := map[[2]int]bool{}
	err := readTable(file, r, verdictHeader, func(f []string) string {
		n, why := readCase(f[0], known)
		if why != "" {
			return why
		}
		task, ok := chexstruct.ParseTask(f[1])
		if !ok || !task.Diagnostic() {
			return fmt.Sprintf("no diagnostic task is called %q; the tasks are %v", f[1], chexstruct.Tasks())
		}
		if f[2] == "" {
			return ""
		}
		o, ok := parseOpinion(f[2])
		if !ok {
			return fmt.Sprintf("verdict %q is not one of good, minor, reject", f[2])
		}
		if key := [2]int{n, int(task)}; seen[key] {
			return fmt.Sprintf("case %d, %s has a verdict already", n, task)
		} else {
			seen[key] = true
		}
		out = append(out, Verdict{Case: n, Task: task, Opinion: o, Note: f[3]})
		return ""
	})
	return out, err
}

func readCase(text string, known func(int) bool) (n int, why string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Sprintf("case %q is not a whole number", text)
	}
	if !known(n) {
		return 0, fmt.Sprintf("this reproduction has no case %d", n)
	}
	return n, ""
}

func encodeVerdicts(rows []Verdict) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// Writing to memory does not fail.
	_ = w.Write(verdictHeader)
	for _, v := range rows {
		_ = w.Write([]string{strconv.Itoa(v.Case), v.Task.String(), v.Opinion.String(), v.Note})
	}
	w.Flush()
	return b.Bytes()
}

// OpinionCount is how often each opinion was given for a task.
type OpinionCount struct {
	Task   string `json:"task"`
	Good   int    `json:"good"`
	Minor  int    `json:"minor"`
	Reject int    `json:"reject"`
}

// CountVerdicts counts opinions per task, in the order of the tasks.
func CountVerdicts(list []Verdict) []OpinionCount {
	counts := map[chexstruct.Task]*OpinionCount{}
	for _, v := range list {
		c := counts[v.Task]
		if c == nil {
			c = &OpinionCount{Task: v.Task.String()}
			counts[v.Task] = c
		}
		switch v.Opinion {
		case Good:
			c.Good++
		case Minor:
			c.Minor++
		case Reject:
			c.Reject++
		}
	}
	out := []OpinionCount{}
	for _, t := range chexstruct.Tasks() {
		if c := counts[t]; c != nil {
			out = append(out, *c)
		}
	}
	return out
}
