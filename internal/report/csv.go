package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// csvHeader names the columns that WriteCSV writes.
var csvHeader = []string{"row", "column", "text", "k", "n", "formula", "published_k", "published_n", "verdict"}

// WriteCSV writes one line per figure: the row's words joined by " / ", the column, and
// what the cell holds. Words and figures that do not exist have empty k and n; the text
// says why.
func (t *Table) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHeader); err != nil {
		return err
	}
	words := ""
	for _, r := range t.Rows {
		words = rowWords(r, words)
		for i, cell := range r.Cells {
			if cell.kind == kindText || i >= len(t.Columns) {
				continue
			}
			cell.short = false // the reason belongs to the figure
			line := []string{words, t.Columns[i].Name, cell.String(), "", "", cell.Formula, "", "", cell.Verdict.String()}
			if cell.kind != kindAbsent {
				line[3] = strconv.Itoa(cell.K)
			}
			if cell.kind == kindShare || cell.kind == kindFigure {
				line[4] = strconv.Itoa(cell.N)
			}
			if cell.PublishedText != "" {
				line[6] = cell.PublishedText
			}
			if p := cell.Published; p != nil {
				line[6] = strconv.Itoa(p.K)
				if cell.kind == kindShare {
					line[7] = strconv.Itoa(p.N)
				}
			}
			if err := c.Write(line); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// rowWords names a row by its leading words; a group's later rows, whose first cell is
// empty, take it from the row before.
func rowWords(r Row, before string) string {
	first, rest := "", ""
	for i, c := range r.Cells {
		if c.kind != kindText || c.text == "" && i > 0 {
			continue
		}
		if i == 0 {
			first = c.text
		} else if c.Verdict == 0 && c.Published == nil && rest == "" {
			rest = c.text
		}
	}
	if first == "" {
		first, _, _ = strings.Cut(before, " / ")
	}
	if rest == "" {
		return first
	}
	return first + " / " + rest
}
