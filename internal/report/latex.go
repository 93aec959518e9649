package report

import (
	"fmt"
	"io"
	"strings"
)

// longTable is the number of rows from which a table may break over pages.
const longTable = 44

// WriteLaTeX writes the table in the style of the booktabs package: no vertical lines, rules
// above, below and between groups, caption, label, notes below. Verdicts are marks in the
// margin of a figure. Tables of more rows than fit a page use longtable.
//
// The text needs \usepackage{booktabs}, and \usepackage{longtable} where a table is long.
func (t *Table) WriteLaTeX(w io.Writer) error {
	b := &strings.Builder{}
	align := &strings.Builder{}
	for _, c := range t.Columns {
		if c.Right {
			align.WriteByte('r')
		} else {
			align.WriteByte('l')
		}
	}
	long := len(t.Rows) > longTable
	caption := "\\caption{" + latexText(t.Title) + "}"
	if t.Name != "" {
		caption += "\\label{tab:" + t.Name + "}"
	}
	head := t.latexHead()
	if long {
		fmt.Fprintf(b, "{\\footnotesize\n\\begin{longtable}{@{}%s@{}}\n%s\\\\\n\\toprule\n%s\\midrule\n\\endfirsthead\n\\toprule\n%s\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n", align, caption, head, head)
	} else {
		fmt.Fprintf(b, "\\begin{table}[htbp]\n\\centering\\footnotesize\n%s\n\\begin{tabular}{@{}%s@{}}\n\\toprule\n%s\\midrule\n", caption, align, head)
	}
	for i, r := range t.Rows {
		if r.Head && i > 0 {
			b.WriteString("\\addlinespace\n")
		}
		b.WriteString(latexRow(r))
	}
	notes := t.latexNotes()
	if long {
		fmt.Fprintf(b, "\\end{longtable}\n%s}\n", notes)
	} else {
		fmt.Fprintf(b, "\\bottomrule\n\\end{tabular}\n%s\\end{table}\n", notes)
	}
	_, err := io.WriteString(w, b.String())
	return err
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
