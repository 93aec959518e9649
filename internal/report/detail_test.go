package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func detailed() *Table {
	v, refined := 36.39, 18.2
	t := &Table{
		Title: "Table 3", Name: "table-3",
		Columns:  []Column{{Name: "path"}, {Name: "model"}, {Name: "completion", Right: true}, {Name: "depth", Right: true}},
		Formulas: []Formula{{"f", "a formula"}}, Notes: []string{"50 % of <b> & {x}_1"},
	}
	c := Figure("36.39 (18.20)", 1, 1, "f").Beside("40.10", Off).With(Detail{
		Value: &v, Refined: &refined, RefinedFormula: "g", Why: "it lies outside",
		Standard: &Range{Mid: 1, Low: 0.2065, High: 1}, Interval: &Range{Low: 30.1, High: 39.9},
	})
	ref := func(column string) Ref { return NewRef(3, []string{"Path 1", "A"}, column) }
	t.AddHead(Text("Path 1"), Text("A"), c.Named(ref("completion")), None("no case came here").Named(ref("depth")))
	t.Add(Text("").Lighter(), Text("paper").Lighter(), Text("40.10 x").Lighter(), Text("").Lighter())
	t.Add(Text(""), Text("B"), Share(1, 3, "f"), Count(4, ""))
	return t
}

// TestCells: one line per figure with all that is known of it; rows of a group keep their
// name, lighter rows are no figures.
func TestCells(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCells(&b, []*Table{detailed()}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		CellsHeader,
		{"Table 3", "Path 1 / A", "completion", "36.39 (18.20)", "36.39", "18.2", "1", "1", "f", "g", "1.0000", "0.2065", "1.0000", "30.10", "39.90", "", "", "40.10", "off", "it lies outside", "t3/path-1.a/completion"},
		{"Table 3", "Path 1 / A", "depth", "N/A", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "no case came here", "t3/path-1.a/depth"},
		{"Table 3", "Path 1 / B", "completion", "1 of 3 (33.3 %)", "", "", "1", "3", "f", "", "", "", "", "", "", "", "", "", "", "", ""},
		{"Table 3", "Path 1 / B", "depth", "4", "", "", "4", "", "", "", "", "", "", "", "", "", "", "", "", "", ""},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("CSV differs (-want +got):\n%s", d)
	}
	list := detailed().CellTable()
	if wrong := list.Check(); len(wrong) > 0 || len(list.Rows) != 4 {
		t.Errorf("the list of cells: %d rows, %v", len(list.Rows), wrong)
	}
	if got := list.Rows[0].Cells[11].String(); got != "t3/path-1.a/completion" {
		t.Errorf("reference %q", got)
	}
	if got := list.Rows[0].Cells[6].String(); got != "100.0 [20.6, 100.0]" {
		t.Errorf("textbook reading %q", got)
	}
}

// TestGrid: facts, published figure and textbook reading are in the page, markup of texts is
// not, and the repeated published line is left out.
func TestGrid(t *testing.T) {
	grid := detailed().Grid()
	for _, want := range []string{
		`<th scope="row">Path 1</th><th scope="row">A</th>`, `class="num fig off"`, "k = 1 of n = 1\nformula f",
		"95 % bootstrap over cases 30.10 to 39.90", `<span class="value">40.10</span> <b title="off">`, `<span class="textbook"><i>Wilson</i> 100.0 [20.6, 100.0]</span>`,
		"no value: no case came here", "50 % of &lt;b&gt; &amp; {x}_1",
	} {
		if !strings.Contains(grid, want) {
			t.Errorf("no %q in\n%s", want, grid)
		}
	}
	if strings.Contains(grid, "40.10 x") {
		t.Error("the published line is there twice")
	}
	if n := detailed().Tally()[Off]; n != 1 {
		t.Errorf("%d figures are off, want 1", n)
	}
}

// TestLaTeX: special characters are escaped, groups are set apart, a long table comes in
// pieces, and a wide one lies on its side.
func TestLaTeX(t *testing.T) {
	text := func(t *testing.T, table *Table) string {
		var b bytes.Buffer
		if err := table.WriteLaTeX(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	short := text(t, detailed())
	for _, want := range []string{
		"\\begin{tabular}{@{}llrr@{}}\n\\toprule\n", "\\caption{Table 3}\\label{tab:table-3}", "Path 1 & A & 36.39 (18.20) & N/A \\\\\n",
		" & \\textit{paper} & \\textit{40.10 x} &  \\\\\n", "50 \\% of \\textless{}b\\textgreater{} \\& \\{x\\}\\_1", "\\bottomrule\n\\end{tabular}",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in\n%s", want, short)
		}
	}
	long := detailed()
	for i := range 50 {
		long.AddHead(Text(fmt.Sprintf("[%d]", i)), Text("A"), Count(i, ""), Count(i, ""))
	}
	got := text(t, long)
	if strings.Count(got, "\\begin{table}") != 2 || strings.Count(got, "\\label{") != 1 || strings.Count(got, "\\resizebox{") != 2 || !strings.Contains(got, ", continued") || !strings.Contains(got, "{[}3] & A") {
		t.Errorf("a long table:\n%s", got)
	}
	long.AddHead(Text(strings.Repeat("wide ", latexWide/5)), Text("A"), Count(1, ""), Count(1, ""))
	if got := text(t, long); strings.Count(got, "\\begin{landscape}") != 2 {
		t.Errorf("a wide table:\n%s", got)
	}
}
