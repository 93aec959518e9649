package report

import (
	"fmt"
	"html"
	"strings"
)

// verdictSigns are the marks beside a compared figure. They differ in form, not in colour
// alone.
var verdictSigns = [...]string{Reproduced: "=", WithinNoise: "\u2248", Off: "\u2715", NotComputable: "?", Undetermined: "\u2026"}

// Sign is the mark of a verdict in pages: =, almost equal, a cross, a question mark, or dots.
func (v Verdict) Sign() string {
	if int(v) >= len(verdictSigns) {
		return ""
	}
	return verdictSigns[v]
}

// class is the verdict as a class name.
func (v Verdict) class() string { return strings.ReplaceAll(v.String(), " ", "-") }

// wideColumns is the number of columns from which a table has the class "wide" too, for a page
// to save room.
const wideColumns = 6

// Grid returns the table as a table element with class "grid" for an interactive page. Every
// figure carries where it comes from in its data-facts attribute, one fact a line; the
// published figure with its mark and the textbook reading stand below the figure as elements
// of the classes "published" and "textbook", which a page may hide. Rows that are lighter
// throughout repeat what those elements say and are left out. Every text is escaped.
func (t *Table) Grid() string {
	b := &strings.Builder{}
	class := "grid"
	if len(t.Columns) > wideColumns {
		class += " wide"
	}
	fmt.Fprintf(b, `<div class="scroll"><table class="%s">`, class)
	if t.Title != "" {
		fmt.Fprintf(b, "<caption>%s</caption>", html.EscapeString(t.Title))
	}
	b.WriteString("<thead><tr>")
	for _, c := range t.Columns {
		fmt.Fprintf(b, `<th scope="col"%s>%s</th>`, alignClass(c, ""), html.EscapeString(c.Name))
	}
	b.WriteString("</tr></thead>\n")
	open := false
	names := t.names()
	for i, r := range t.Rows {
		if r.soft() {
			continue
		}
		if r.Head || !open {
			if open {
				b.WriteString("</tbody>\n")
			}
			b.WriteString("<tbody>")
			open = true
		}
		b.WriteString("<tr>")
		for k, c := range r.Cells {
			t.gridCell(b, names[i], k, c)
		}
		b.WriteString("</tr>\n")
	}
	if open {
		b.WriteString("</tbody>")
	}
	b.WriteString("</table></div>\n")
	if len(t.Formulas)+len(t.Notes) > 0 {
		b.WriteString(`<div class="legend">`)
		for _, n := range t.Notes {
			fmt.Fprintf(b, `<p class="note">%s</p>`, html.EscapeString(n))
		}
		for _, f := range t.Formulas {
			fmt.Fprintf(b, `<p class="formula"><code>%s</code> %s</p>`, html.EscapeString(f.ID), html.EscapeString(f.Text))
		}
		b.WriteString("</div>\n")
	}
	return b.String()
}

// soft reports whether every cell of a row that says anything is lighter.
func (r Row) soft() bool {
	any := false
	for _, c := range r.Cells {
		if c.String() != "" {
			if !c.Soft {
				return false
			}
			any = true
		}
	}
	return any
}

func (t *Table) gridCell(b *strings.Builder, row string, i int, c Cell) {
	var col Column
	if i < len(t.Columns) {
		col = t.Columns[i]
	}
	if !c.figures() {
		tag, scope := "td", ""
		if i == 0 || !col.Right && i == 1 {
			tag, scope = "th", ` scope="row"`
		}
		extra := ""
		if c.Soft {
			extra = "soft"
		}
		fmt.Fprintf(b, "<%s%s%s>%s</%s>", tag, scope, alignClass(col, extra), html.EscapeString(strings.TrimSpace(c.text)), tag)
		return
	}
	extra := "fig"
	if c.kind == kindAbsent {
		extra += " absent"
	}
	if c.Verdict != 0 {
		extra += " " + c.Verdict.class()
	}
	if c.kind != kindAbsent && c.String() == "0" {
		extra += " zero"
	}
	facts := append([]string{row + ", " + col.Name}, c.Facts()...)
	fmt.Fprintf(b, `<td%s data-facts="%s">%s`, alignClass(col, extra), html.EscapeString(strings.Join(facts, "\n")), html.EscapeString(c.String()))
	if c.kind == kindShare && c.N > 0 {
		fmt.Fprintf(b, `<span class="bar"><i style="width:%.1f%%"></i></span>`, 100*float64(c.K)/float64(c.N))
	}
	if c.Verdict != 0 {
		fmt.Fprintf(b, `<span class="published"><i>paper</i> <span class="value">%s</span> <b title="%s">%s</b></span>`, html.EscapeString(c.published()), c.Verdict, c.Verdict.Sign())
	}
	if d := c.Detail; d != nil && d.Standard != nil {
		fmt.Fprintf(b, `<span class="textbook"><i>Wilson</i> %s [%s, %s]</span>`, one(100*d.Standard.Mid), one(100*d.Standard.Low), one(100*d.Standard.High))
	}
	b.WriteString("</td>")
}
