package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Kind is which of the figures of a cell is meant.
type Kind string

// Kinds. A cell may print two figures, and the textbook reading of its counts stands in a table
// of its own.
const (
	// Printed is the figure as the paper prints it, the first of two.
	Printed Kind = ""
	// Refined is the second one, in parentheses.
	Refined Kind = "refined"
	// Textbook is the textbook reading of the same counts.
	Textbook Kind = "standard"
)

// Ref names a figure of one of a paper's tables, whoever lays the table out: its text form is
// t<table>/<row>/<column>, with :refined or :standard behind it for another figure of the same
// cell. Row and column are slugs of the words that stand there, so a reference stays the same
// while the table keeps its words. The zero value names nothing.
type Ref struct {
	Table  int
	Row    string
	Column string
	Kind   Kind
}

// NewRef names a figure by the words of its row and the heading of its column.
func NewRef(table int, row []string, column string) Ref {
	parts := make([]string, len(row))
	for i, words := range row {
		parts[i] = Slug(words)
	}
	return Ref{Table: table, Row: strings.Join(parts, "."), Column: Slug(column)}
}

// IsZero reports whether r names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// As names another figure of the same cell.
func (r Ref) As(k Kind) Ref {
	if !r.IsZero() {
		r.Kind = k
	}
	return r
}

// String is the text form, empty for the zero value.
func (r Ref) String() string {
	if r.IsZero() {
		return ""
	}
	text := "t" + strconv.Itoa(r.Table) + "/" + r.Row + "/" + r.Column
	if r.Kind != Printed {
		text += ":" + string(r.Kind)
	}
	return text
}

// MarshalText is String.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseRef; an empty text is the zero value.
func (r *Ref) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*r = Ref{}
		return nil
	}
	*r, err = ParseRef(string(b))
	return err
}

var refText = regexp.MustCompile(`^t([1-9][0-9]{0,3})/([a-z0-9.-]+)/([a-z0-9.-]+)(?::([a-z]+))?$`)

// ParseRef reads a text form. It does not know which tables, rows and columns there are.
//
// Errors: a text of another form.
func ParseRef(text string) (Ref, error) {
	m := refText.FindStringSubmatch(text)
	if m == nil {
		return Ref{}, fmt.Errorf("report: %q is no reference to a cell: want t<table>/<row>/<column>, for example t3/path-1.gpt-4.1/completion", text)
	}
	table, err := strconv.Atoi(m[1])
	r := Ref{Table: table, Row: m[2], Column: m[3], Kind: Kind(m[4])}
	if r.Kind != Printed && r.Kind != Refined && r.Kind != Textbook {
		return Ref{}, fmt.Errorf("report: %q: a cell has no figure %q; there are %s and %s", text, m[4], Refined, Textbook)
	}
	return r, err
}

// UnknownRefError says that nothing has a reference, and what is most like it.
type UnknownRefError struct {
	Ref  string
	Near []string
}

func (e *UnknownRefError) Error() string {
	text := fmt.Sprintf("no cell is called %s", e.Ref)
	if len(e.Near) > 0 {
		text += "; nearest are " + strings.Join(e.Near, ", ")
	}
	return text
}

// Slug writes words in lower case with only letters, digits and dots; everything between them
// becomes one hyphen.
func Slug(words string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(words) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return b.String()
}

// Named gives the cell a reference.
func (c Cell) Named(r Ref) Cell {
	c.Ref = r
	return c
}
