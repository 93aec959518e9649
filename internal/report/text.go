package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteText lays the table out for a terminal: columns aligned, formulas and
// notes below.
func (t *Table) WriteText(w io.Writer) error {
	b := &strings.Builder{}
	if t.Title != "" {
		fmt.Fprintf(b, "%s\n\n", t.Title)
	}
	lines := [][]string{}
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Name
	}
	lines = append(lines, head)
	for _, r := range t.Rows {
		line := make([]string, len(t.Columns))
		for i, c := range r.Cells {
			if i < len(line) {
				line[i] = c.String()
			}
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(t.Columns))
	for _, line := range lines {
		for i, s := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	for n, line := range lines {
		out := ""
		for i, s := range line {
			out += pad(s, widths[i], t.Columns[i].Right) + "  "
		}
		b.WriteString(strings.TrimRight(out, " ") + "\n")
		if n == 0 {
			b.WriteString(strings.Repeat("-", total(widths)) + "\n")
		}
	}
	for _, f := range t.Formulas {
		fmt.Fprintf(b, "\n%s: %s", f.ID, f.Text)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "\n%s", n)
	}
	if len(t.Formulas)+len(t.Notes) > 0 {
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		return fill + s
	}
	return s + fill
}

func total(widths []int) int {
	n := 2 * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return max(n, 0)
}
