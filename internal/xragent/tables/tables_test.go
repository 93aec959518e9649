package tables

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"cxrepro/internal/report"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/analysis"
	"cxrepro/internal/xragent/bench"
	"cxrepro/internal/xragent/benchtest"
)

// items are 100 questions of each benchmark, with columns as the real ones.
func items() []xragent.Item {
	var out []xragent.Item
	groups, sources := bench.Groups(), []string{bench.SourceOpenI, bench.SourceRadReStruct, bench.SourceSLAKE}
	for _, b := range bench.Benchmarks() {
		for i := range 100 {
			it := xragent.Item{ID: fmt.Sprintf("%s/%d", b, i), Question: xragent.Question{Type: xragent.Lettered, Text: "?", Options: []string{"x", "y", "z"}, Key: "A"}}
			switch b {
			case bench.ChestAgentBench:
				it.Labels = groups[i%5].Labels
			case bench.CheXbench:
				it.Source = sources[i%3]
			}
			out = append(out, it)
		}
	}
	return out
}

// printed stands for the claims: every figure is printed as one number, with one verdict.
type printed struct{}

func (printed) Figure(id string) (Comparison, bool) {
	return Comparison{Printed: "12.3", Derived: strings.HasPrefix(id, "derived."), Verdict: report.Off, Why: "a test"}, true
}

func (printed) Constants() ([]Setting, error) {
	return []Setting{{"grpo.steps", "300", "Sec 3"}, {"turns", "2", "Sec 2.1"}}, nil
}

func all(t *testing.T, in Input) map[string]*report.Table {
	t.Helper()
	list, err := All(in)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*report.Table{}
	for _, table := range list {
		out[table.Name] = table
	}
	return out
}

func cellsOf(t *testing.T, table *report.Table, row string, whose string) []report.Cell {
	t.Helper()
	name := ""
	for _, r := range table.Rows {
		if s := r.Cells[0].String(); s != "" {
			name = s
		}
		if name == row && r.Cells[1].String() == whose {
			return r.Cells
		}
	}
	t.Fatalf("%s has no row %q of %s", table.Name, row, whose)
	return nil
}

// TestTablesAreDirect: what the tables print equals counting the scripted outcomes by hand.
func TestTablesAreDirect(t *testing.T) {
	list := items()
	outcomes := benchtest.Outcomes(list, benchtest.Paper(), 3, 1)
	a, err := analysis.New(list, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	tables := all(t, Input{Analysis: a, Beside: printed{}, Settings: map[string]string{"grpo.steps": "20"}, Simulated: true})
	share := func(config string, in func(*xragent.Item) bool) string {
		var sum float64
		for repeat := range 3 {
			k, n := 0, 0
			for _, o := range outcomes {
				for i := range list {
					if list[i].ID == o.Item && o.Config == config && o.Repeat == repeat && in(&list[i]) {
						n++
						if o.Correct {
							k++
						}
					}
				}
			}
			sum += 100 * float64(k) / float64(n) / 3
		}
		return fmt.Sprintf("%.1f", sum)
	}
	x := cellsOf(t, tables["table-1"], "X-Ragent", "ours")
	if got, want := x[2].String(), share(analysis.Default, func(it *xragent.Item) bool { return strings.HasPrefix(it.ID, "chestagentbench/") }); got != want {
		t.Errorf("all: %s, want %s", got, want)
	}
	for i, c := range bench.Capabilities() {
		want := share(analysis.Default, func(it *xragent.Item) bool { return strings.Contains(strings.Join(it.Labels, " "), c) })
		if got := x[3+i].String(); got != want || tables["table-1"].Columns[3+i].Name != c {
			t.Errorf("%s: %s, want %s", c, got, want)
		}
	}
	paper := cellsOf(t, tables["table-1"], "X-Ragent", "paper")
	if paper[2].String() != "12.3" || paper[3].String() != "-" || x[2].Verdict != report.Off {
		t.Errorf("beside ours stands %v with %s; a capability has %v", paper[2], x[2].Verdict, paper[3])
	}
	d := cellsOf(t, tables["table-10"], "(e) none of them", "ours")
	var none, on, delta float64
	fmt.Sscan(d[2].String(), &none)
	fmt.Sscan(cellsOf(t, tables["table-10"], "(a) everything on", "ours")[2].String(), &on)
	fmt.Sscan(d[3].String(), &delta)
	if math.Abs(none-on-delta) > 0.11 || !strings.HasPrefix(d[3].String(), "-") {
		t.Errorf("%v - %v is printed as %v", none, on, d[3])
	}
	if s := tables["table-7"].Rows[0].Cells; s[2].String() != "300" || s[3].String() != "20" {
		t.Errorf("settings %v", s)
	}
}

// TestEveryTable: all eleven are there with both printed numbers where the text shifts them, every
// one renders in every form, and a simulated one says so.
func TestEveryTable(t *testing.T) {
	list := items()
	a, err := analysis.New(list, benchtest.Outcomes(list, benchtest.Paper(), 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	tables := all(t, Input{Analysis: a, Beside: printed{}, Simulated: true, Scorer: bench.Strict.String()})
	for _, n := range Numbers() {
		table := tables[fmt.Sprintf("table-%d", n)]
		if table == nil || len(table.Rows) == 0 {
			t.Errorf("table %d is not there", n)
			continue
		}
		for _, write := range []func(*bytes.Buffer) error{
			func(b *bytes.Buffer) error { return table.WriteText(b) }, func(b *bytes.Buffer) error { return table.WriteMarkdown(b) },
			func(b *bytes.Buffer) error { return table.WriteLaTeX(b) }, func(b *bytes.Buffer) error { return table.WriteCSV(b) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil || b.Len() == 0 {
				t.Errorf("table %d: %v", n, err)
			}
			if os.Getenv("SHOW") != "" {
				t.Logf("%s", b.String())
			}
		}
		if !strings.Contains(strings.Join(table.Notes, " "), "Simulated") {
			t.Errorf("table %d does not say that it is simulated", n)
		}
	}
	for n, want := range map[int]string{2: "Tab. 3", 4: "Tab. 5", 5: "Tab. 5"} {
		if !strings.Contains(tables[fmt.Sprintf("table-%d", n)].Title, want) {
			t.Errorf("table %d does not name %s", n, want)
		}
	}
}

// TestNothingRun: without outcomes every figure is N/A with its reason, and none is zero.
func TestNothingRun(t *testing.T) {
	a, err := analysis.New(items(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := all(t, Input{Analysis: a, Beside: printed{}})
	for _, name := range []string{"table-1", "table-2", "table-3", "table-5", "table-9", "table-10", "table-11"} {
		table := tables[name]
		if notes := strings.Join(table.Notes, " "); !strings.Contains(notes, "was not run") {
			t.Errorf("%s does not say why: %s", name, notes)
		}
		for _, r := range table.Rows {
			for k, c := range r.Cells {
				if column := table.Columns[k].Name; c.String() == "0.0" && column != "unparsed" && column != "open" && column != "repeats" {
					t.Errorf("%s, %s: 0.0 in %s", name, r.Cells[0], column)
				}
			}
		}
	}
}
