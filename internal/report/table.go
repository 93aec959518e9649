package report

import (
	"fmt"
	"strconv"
	"strings"
)

// Table is a titled grid of cells. The zero value is an empty table, ready to use.
type Table struct {
	Title string
	// Name is a short name for labels and file names, for example "table-3"; may be empty.
	Name    string
	Columns []Column
	Rows    []Row
	// Notes are sentences below the table.
	Notes []string
	// Formulas explain the formula names that cells carry, in the order of the legend.
	Formulas []Formula
}

// Column is a column's heading; Right aligns figures.
type Column struct {
	Name  string
	Right bool
}

// Row is one line. Head marks the first of a group: a rule goes above it.
type Row struct {
	Head  bool
	Cells []Cell
}

// Formula is the name and the meaning of a formula.
type Formula struct{ ID, Text string }

// Add appends a row that belongs to the group above it.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }

// AddHead appends a row that begins a group.
func (t *Table) AddHead(cells ...Cell) { t.Rows = append(t.Rows, Row{Head: true, Cells: cells}) }

// Check reports every way in which the table contradicts itself: rows of another length
// than the columns, shares whose k is not within n, formulas that are not explained, two
// figures of one reference.
func (t *Table) Check() []string {
	var wrong []string
	known := map[string]bool{}
	for _, f := range t.Formulas {
		known[f.ID] = true
	}
	named := map[Ref]bool{}
	for i, r := range t.Rows {
		if len(r.Cells) != len(t.Columns) {
			wrong = append(wrong, fmt.Sprintf("row %d has %d cells, the table %d columns", i, len(r.Cells), len(t.Columns)))
		}
		for k, c := range r.Cells {
			if c.kind == kindShare && (c.K < 0 || c.K > c.N) {
				wrong = append(wrong, fmt.Sprintf("row %d cell %d: %d of %d", i, k, c.K, c.N))
			}
			if c.Formula != "" && !known[c.Formula] {
				wrong = append(wrong, fmt.Sprintf("row %d cell %d: formula %q is not explained", i, k, c.Formula))
			}
			if !c.Ref.IsZero() && named[c.Ref] {
				wrong = append(wrong, fmt.Sprintf("row %d cell %d: another one is called %s", i, k, c.Ref))
			}
			named[c.Ref] = true
		}
	}
	return wrong
}

type cellKind uint8

const (
	kindText cellKind = iota
	kindCount
	kindShare
	kindAbsent
	kindFigure
)

// Cell is one entry. Build it with Text, Count, Share, Figure or Absent. The zero value is an
// empty text.
type Cell struct {
	kind cellKind
	text string
	// K and N are the figures of a count (K alone) or a share.
	K, N int
	// Formula names how K and N were counted.
	Formula string
	// Verdict compares with Published; zero without one.
	Verdict   Verdict
	Published *Published
	// PublishedText is a published figure as printed, beside one built with Figure.
	PublishedText string
	// Detail says more than the text does, where there is more to say.
	Detail *Detail
	// Soft marks words and figures of others: shown lighter, in no list of figures.
	Soft bool
	// Ref names the figure, where it is one of a table of the paper.
	Ref Ref
	// short keeps the reason of an absent figure out of the grid.
	short bool
}

// Published is a figure of a publication: K, of N where it is a share.
type Published struct{ K, N int }

// Text is a cell of words.
func Text(s string) Cell { return Cell{text: s} }

// Count is a whole number of things.
func Count(n int, formula string) Cell { return Cell{kind: kindCount, K: n, Formula: formula} }

// Share is k of n. With n == 0 there is no share, and the cell says so.
func Share(k, n int, formula string) Cell {
	return Cell{kind: kindShare, K: k, N: n, Formula: formula}
}

// Absent is a figure that does not exist, with the reason.
func Absent(why string) Cell { return Cell{kind: kindAbsent, text: why} }

// Against puts a published figure beside the cell's own and compares them.
func (c Cell) Against(p Published) Cell {
	c.Published = &p
	c.Verdict = compare(c, p)
	return c
}

// String is the cell in words: "1,234", "12 of 20 (60.0 %)", "n/a: no image is labelled".
func (c Cell) String() string {
	switch c.kind {
	case kindCount:
		return group(c.K)
	case kindShare:
		if c.N == 0 {
			return "0 of 0"
		}
		return fmt.Sprintf("%s of %s (%s)", group(c.K), group(c.N), percent(c.K, c.N))
	case kindAbsent:
		if c.short {
			return "N/A"
		}
		return "n/a: " + c.text
	}
	return c.text
}

// percent is k of n with one decimal, the exact quotient correctly rounded.
func percent(k, n int) string {
	return strconv.FormatFloat(100*float64(k)/float64(n), 'f', 1, 64) + " %"
}

// Percent is k of n in percent with one decimal; "n/a" when n is 0.
func Percent(k, n int) string {
	if n == 0 {
		return "n/a"
	}
	return percent(k, n)
}

// group writes a number with commas between thousands.
func group(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// Number writes a whole number with commas between thousands.
func Number(n int) string { return group(n) }
