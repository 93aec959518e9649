package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestFigure holds what a figure of a formula shows: its text in the grid, k and n and the
// published text in the CSV, and an absent one's reason in CSV and HTML but not in the grid.
func TestFigure(t *testing.T) {
	table := &Table{
		Columns:  []Column{{Name: "model"}, {Name: "completion", Right: true}, {Name: "depth", Right: true}},
		Formulas: []Formula{{"adjusted", "adjusted share of k of n"}},
	}
	table.Add(Text("A"), Figure("36.39 (18.2)", 1, 1, "adjusted").Beside("40.1", Off), None("no case came here"))
	if wrong := table.Check(); wrong != nil {
		t.Errorf("contradictions: %v", wrong)
	}
	var grid, lines bytes.Buffer
	if err := table.WriteText(&grid); err != nil {
		t.Fatal(err)
	}
	if s := grid.String(); !strings.Contains(s, "36.39 (18.2)    N/A") || strings.Contains(s, "no case") {
		t.Errorf("grid:\n%s", s)
	}
	if err := table.WriteCSV(&lines); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A,completion,36.39 (18.2),1,1,adjusted,40.1,,off", "A,depth,n/a: no case came here,,"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("no %q in\n%s", want, lines.String())
		}
	}
	if h := table.HTML(); !strings.Contains(h, `title="no case came here"`) || strings.Contains(h, `class="bar"`) {
		t.Errorf("HTML: %s", h)
	}
	if why := None("x").Why(); why != "x" || Text("y").Why() != "" {
		t.Errorf("reason %q", why)
	}
}
