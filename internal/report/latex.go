package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of the pieces that a table is printed in: rows of a page, upright or on its side,
// and the letters of a row from which a table lies on its side.
const (
	latexRows     = 44
	latexRowsWide = 30
	latexWide     = 150
)

// WriteLaTeX writes the table in the style of the booktabs package: no vertical lines, rules
// above, below and between groups, caption, label, notes below. Verdicts are marks in the
// margin of a figure.
//
// Nothing runs off the page: what is wider than the text is made smaller, a table with very
// long rows lies on its side, and one of more rows than fit a page is printed in pieces.
//
// The text needs the packages of LaTeXPackages.
func (t *Table) WriteLaTeX(w io.Writer) error {
	b := &strings.Builder{}
	rows, wide := latexRows, t.latexWidth() > latexWide
	if wide {
		rows = latexRowsWide
	}
	for from := 0; from == 0 || from < len(t.Rows); from += rows {
		t.latexPiece(b, from, min(from+rows, len(t.Rows)), wide)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// LaTeXPackages are the packages that a text with such tables loads.
const LaTeXPackages = "\\usepackage[T1]{fontenc}, \\usepackage{booktabs}, \\usepackage{graphicx} and \\usepackage{pdflscape}"

// latexWidth is how many letters the longest entries of all columns have together.
func (t *Table) latexWidth() int {
	width := 0
	for k, c := range t.Columns {
		most := utf8.RuneCountInString(c.Name)
		for _, r := range t.Rows {
			if k < len(r.Cells) {
				most = max(most, utf8.RuneCountInString(r.Cells[k].String()))
			}
		}
		width += most + 2
	}
	return width
}

// latexPiece writes some rows as a float of their own. The first has caption and label, the
// last the notes.
func (t *Table) latexPiece(b *strings.Builder, from, to int, wide bool) {
	align := &strings.Builder{}
	for _, c := range t.Columns {
		if c.Right {
			align.WriteByte('r')
		} else {
			align.WriteByte('l')
		}
	}
	if wide {
		b.WriteString("\\begin{landscape}\n")
	}
	b.WriteString("\\begin{table}[htbp]\n\\centering\\footnotesize\n")
	switch {
	case from > 0:
		b.WriteString(latexText(t.Title) + ", continued\\par\\smallskip\n")
	case t.Name != "":
		b.WriteString("\\caption{" + latexText(t.Title) + "}\\label{tab:" + t.Name + "}\n")
	default:
		b.WriteString("\\caption{" + latexText(t.Title) + "}\n")
	}
	fmt.Fprintf(b, "\\resizebox{\\ifdim\\width>\\linewidth \\linewidth\\else\\width\\fi}{!}{%%\n\\begin{tabular}{@{}%s@{}}\n\\toprule\n%s\\midrule\n", align, t.latexHead())
	for i, r := range t.Rows[from:to] {
		if r.Head && i > 0 {
			b.WriteString("\\addlinespace\n")
		}
		b.WriteString(latexRow(r))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}}\n")
	if to == len(t.Rows) {
		b.WriteString(t.latexNotes())
	}
	b.WriteString("\\end{table}\n")
	if wide {
		b.WriteString("\\end{landscape}\n")
	}
}

func (t *Table) latexHead() string {
	cells := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = latexText(c.Name)
	}
	return strings.Join(cells, " & ") + " \\\\\n"
}

func latexRow(r Row) string {
	cells := make([]string, len(r.Cells))
	for i, c := range r.Cells {
		text := latexText(strings.TrimSpace(c.String()))
		if c.Soft && text != "" {
			text = "\\textit{" + text + "}"
		}
		cells[i] = text
	}
	return strings.Join(cells, " & ") + " \\\\\n"
}

// latexNotes are formulas and notes as small print.
func (t *Table) latexNotes() string {
	if len(t.Formulas)+len(t.Notes) == 0 {
		return ""
	}
	var parts []string
	for _, f := range t.Formulas {
		parts = append(parts, "\\texttt{"+latexText(f.ID)+"}: "+latexText(f.Text)+".")
	}
	for _, n := range t.Notes {
		parts = append(parts, latexText(n))
	}
	return "\\par\\smallskip{\\scriptsize\\raggedright " + strings.Join(parts, "\n") + "\\par}\n"
}

var latexEscapes = strings.NewReplacer(
	"\\", "\\textbackslash{}", "&", "\\&", "%", "\\%", "$", "\\$", "#", "\\#", "_", "\\_", "{", "\\{", "}", "\\}",
	"[", "{[}", "~", "\\textasciitilde{}", "^", "\\textasciicircum{}", "<", "\\textless{}", ">", "\\textgreater{}", "|", "\\textbar{}",
	"\u00a0", "~", "\u2212", "$-$", "\u00b1", "$\\pm$", "\u00d7", "$\\times$", "\u2248", "$\\approx$", "\u2715", "$\\times$", "\u201c", "``", "\u201d", "''", "\u2019", "'", "\n", " ",
)

func latexText(s string) string { return latexEscapes.Replace(s) }
