package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// CellsHeader names the columns of WriteCells.
var CellsHeader = []string{
	"table", "row", "column", "text", "value", "refined", "k", "n", "formula", "refined_formula",
	"standard_share", "standard_low", "standard_high", "bootstrap_low", "bootstrap_high",
	"refined_bootstrap_low", "refined_bootstrap_high", "published", "verdict", "why", "ref",
}

// WriteCells writes the figures of several tables as one CSV, a line per figure with
// everything that is known of it. Figures that do not exist have empty numbers and say why.
func WriteCells(w io.Writer, tables []*Table) error {
	out := csv.NewWriter(w)
	if err := out.Write(CellsHeader); err != nil {
		return err
	}
	for _, t := range tables {
		for _, line := range t.cellLines() {
			if err := out.Write(line); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// CellTable lists every figure of a table as a row of its own, for people: what it is made
// of, in words, and its reference where the table's figures have one.
func (t *Table) CellTable() *Table {
	out := &Table{
		Title: t.Title + ": cell by cell", Name: t.Name + "-cells", Formulas: t.Formulas, Notes: t.Notes,
		Columns: []Column{{Name: "row"}, {Name: "column"}, {Name: "value", Right: true}, {Name: "k", Right: true}, {Name: "n", Right: true},
			{Name: "formula"}, {Name: "textbook", Right: true}, {Name: "bootstrap", Right: true}, {Name: "published", Right: true}, {Name: "verdict"}, {Name: "why"}},
	}
	referred := t.referred()
	if referred {
		out.Columns = append(out.Columns, Column{Name: "ref"})
	}
	last := ""
	t.figures(func(row, column string, c Cell) {
		l := c.line(t.Title, row, column)
		textbook, bootstrap := "", ""
		if d := c.Detail; d != nil {
			if r := d.Standard; r != nil {
				textbook = one(100*r.Mid) + " [" + one(100*r.Low) + ", " + one(100*r.High) + "]"
			}
			if r := d.Interval; r != nil {
				bootstrap = "[" + two(r.Low) + ", " + two(r.High) + "]"
			}
		}
		line := []string{row, column, l[3], l[6], l[7], l[8], textbook, bootstrap, l[17], l[18], l[19]}
		if referred {
			line = append(line, l[20])
		}
		cells := make([]Cell, len(line))
		for i, s := range line {
			cells[i] = Text(s)
		}
		out.Rows = append(out.Rows, Row{Head: row != last, Cells: cells})
		last = row
	})
	return out
}

// figures calls fn for every figure of ours with the names of its row and column.
func (t *Table) figures(fn func(row, column string, c Cell)) {
	names := t.names()
	for i, r := range t.Rows {
		for k, c := range r.Cells {
			if c.figures() && !c.Soft && k < len(t.Columns) {
				fn(names[i], t.Columns[k].Name, c)
			}
		}
	}
}

// referred reports whether a figure of the table has a reference.
func (t *Table) referred() (any bool) {
	t.figures(func(_, _ string, c Cell) { any = any || !c.Ref.IsZero() })
	return any
}

// cellLines returns a line in the columns of CellsHeader for every figure.
func (t *Table) cellLines() [][]string {
	var lines [][]string
	t.figures(func(row, column string, c Cell) { lines = append(lines, c.line(t.Title, row, column)) })
	return lines
}

func (c Cell) line(table, row, column string) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	short := c
	short.short = true
	l := make([]string, len(CellsHeader))
	l[0], l[1], l[2], l[3], l[8], l[20] = table, row, column, short.String(), c.Formula, c.Ref.String()
	if hasK, hasN := c.counted(); hasK {
		l[6] = strconv.Itoa(c.K)
		if hasN {
			l[7] = strconv.Itoa(c.N)
		}
	}
	put := func(at int, r *Range, digits int) {
		if r != nil {
			l[at], l[at+1] = strconv.FormatFloat(r.Low, 'f', digits, 64), strconv.FormatFloat(r.High, 'f', digits, 64)
		}
	}
	if d := c.Detail; d != nil {
		if d.Value != nil {
			l[4] = number(*d.Value)
		}
		if d.Refined != nil {
			l[5], l[9] = number(*d.Refined), d.RefinedFormula
		}
		if d.Standard != nil {
			l[10] = strconv.FormatFloat(d.Standard.Mid, 'f', 4, 64)
		}
		put(11, d.Standard, 4)
		put(13, d.Interval, 2)
		put(15, d.RefinedInterval, 2)
		l[19] = d.Why
	}
	if c.Verdict != 0 {
		l[17], l[18] = c.published(), c.Verdict.String()
	}
	if why := c.Why(); why != "" {
		l[19] = why
		if d := c.Detail; d != nil && d.Why != "" && d.Why != why {
			l[19] += "; " + d.Why
		}
	}
	return l
}
