package report

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// WriteMarkdown writes the table in the pipe form of GitHub's Markdown.
func (t *Table) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	if t.Title != "" {
		fmt.Fprintf(b, "### %s\n\n", markdownText(t.Title))
	}
	for _, c := range t.Columns {
		fmt.Fprintf(b, "| %s ", markdownText(c.Name))
	}
	b.WriteString("|\n")
	for _, c := range t.Columns {
		if c.Right {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			fmt.Fprintf(b, "| %s ", markdownText(c.String()))
		}
		b.WriteString("|\n")
	}
	for _, f := range t.Formulas {
		fmt.Fprintf(b, "\n- `%s`: %s", f.ID, markdownText(f.Text))
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "\n\n%s", markdownText(n))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

var markdownEscapes = strings.NewReplacer("\\", "\\\\", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "<", "&lt;", "\n", " ")

func markdownText(s string) string { return markdownEscapes.Replace(s) }

// HTML returns the table as a table element with class "figures"; every text in it is
// escaped. Shares carry a bar, and every figure its formula as a title.
func (t *Table) HTML() string {
	b := &strings.Builder{}
	b.WriteString(`<table class="figures">`)
	if t.Title != "" {
		fmt.Fprintf(b, "<caption>%s</caption>", html.EscapeString(t.Title))
	}
	b.WriteString("<thead><tr>")
	for _, c := range t.Columns {
		fmt.Fprintf(b, "<th%s>%s</th>", alignClass(c, ""), html.EscapeString(c.Name))
	}
	b.WriteString("</tr></thead>\n")
	open := false
	for _, r := range t.Rows {
		if r.Head || !open {
			if open {
				b.WriteString("</tbody>\n")
			}
			b.WriteString("<tbody>")
			open = true
		}
		b.WriteString("<tr>")
		for i, c := range r.Cells {
			t.cellHTML(b, i, c)
		}
		b.WriteString("</tr>\n")
	}
	if open {
		b.WriteString("</tbody>")
	}
	b.WriteString("</table>\n")
	for _, f := range t.Formulas {
		fmt.Fprintf(b, `<p class="formula"><code>%s</code> %s</p>`+"\n", html.EscapeString(f.ID), html.EscapeString(f.Text))
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, `<p class="note">%s</p>`+"\n", html.EscapeString(n))
	}
	return b.String()
}

func (t *Table) cellHTML(b *strings.Builder, i int, c Cell) {
	var col Column
	if i < len(t.Columns) {
		col = t.Columns[i]
	}
	extra := ""
	if c.kind == kindAbsent {
		extra = "absent"
	}
	if c.Verdict != 0 {
		extra = "verdict-" + strings.ReplaceAll(c.Verdict.String(), " ", "-")
	}
	title := ""
	if c.Formula != "" {
		title = fmt.Sprintf(` title="formula %s"`, html.EscapeString(c.Formula))
	}
	if c.short {
		title = fmt.Sprintf(` title="%s"`, html.EscapeString(c.text))
	}
	fmt.Fprintf(b, "<td%s%s>%s", alignClass(col, extra), title, html.EscapeString(c.String()))
	if c.kind == kindShare && c.N > 0 {
		fmt.Fprintf(b, `<span class="bar"><i style="width:%.1f%%"></i></span>`, 100*float64(c.K)/float64(c.N))
	}
	b.WriteString("</td>")
}

func alignClass(c Column, extra string) string {
	var classes []string
	if c.Right {
		classes = append(classes, "num")
	}
	if extra != "" {
		classes = append(classes, extra)
	}
	if len(classes) == 0 {
		return ""
	}
	return fmt.Sprintf(` class="%s"`, strings.Join(classes, " "))
}
