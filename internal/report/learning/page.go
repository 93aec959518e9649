package learning

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"cxrepro/internal/report"
)

// Fact is a line about a training: what it was told, and what came of it.
type Fact struct{ Name, Text string }

// Page is everything that is said of a training. The first curve is its own; others are shown
// beside it.
type Page struct {
	Title  string
	Facts  []Fact
	Curves []Curve
	Tables []*report.Table
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Write writes the page as one HTML file that needs no other.
//
// Errors: a page without a curve, a table that contradicts itself, the writer's.
func (p Page) Write(w io.Writer) error {
	if len(p.Curves) == 0 {
		return fmt.Errorf("page %q has no curve", p.Title)
	}
	view := struct {
		Title, Note string
		Facts       []Fact
		Plots       []template.HTML
		Tables      []template.HTML
	}{Title: p.Title, Note: Note, Facts: p.facts()}
	view.Plots = []template.HTML{template.HTML(Rewards(p.Curves)), template.HTML(Shares(p.Curves[0]))} // numbers and escaped words only
	for _, t := range p.Tables {
		if wrong := t.Check(); len(wrong) > 0 {
			return fmt.Errorf("table %q: %v", t.Title, wrong)
		}
		view.Tables = append(view.Tables, template.HTML(t.HTML()))
	}
	return page.Execute(w, view)
}

// facts are the page's, and the ends of its curves.
func (p Page) facts() []Fact {
	out := append([]Fact{}, p.Facts...)
	for _, c := range p.Curves {
		first, last := c.Ends()
		n := min(Window, len(c.Rounds))
		out = append(out, Fact{c.Name, fmt.Sprintf("mean reward %.3f over the first %d rounds, %.3f over the last: %+.3f", first, n, last, last-first)})
	}
	return out
}
