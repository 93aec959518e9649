package compare

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/stats"
)

// Cell is a figure that differs. K and N are counts of cases, tasks or stages, as the formula
// says; a figure without a value says why.
type Cell struct {
	// Of names the evaluation, empty for findings; Row a task or group, Column the statistic.
	Of     string `json:"of,omitempty"`
	Path   string `json:"path,omitempty"`
	Row    string `json:"row"`
	Column string `json:"column"`
	A      Figure `json:"a"`
	B      Figure `json:"b"`
	Test   Test   `json:"test"`
}

// Figure is one side's figure.
type Figure struct {
	Text    string `json:"text"`
	K       int    `json:"k"`
	N       int    `json:"n"`
	Formula string `json:"formula,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Names of tests.
const (
	TestMcNemar   = "exact McNemar"
	TestSign      = "sign test"
	TestBootstrap = "paired bootstrap"
	TestNone      = "none"
)

// Test compares the same cases on both sides.
type Test struct {
	Name string `json:"test"`
	// Pairs are the cases in both denominators, of findings only those that changed; of them so
	// many are yes or more on one side only. Unpaired are cases in one denominator only.
	Pairs    int    `json:"pairs"`
	OnlyA    int    `json:"only_a"`
	OnlyB    int    `json:"only_b"`
	Unpaired [2]int `json:"unpaired"`
	// P is the p-value of the first two tests, Low and High the 95 % interval of B minus A of
	// the third, in the unit of the figure. Without Known there is neither, and Why says so.
	P     float64 `json:"p,omitempty"`
	Known bool    `json:"known"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Why   string  `json:"why,omitempty"`
}

// String is the test in a few words.
func (t Test) String() string {
	switch {
	case !t.Known:
		return t.Why
	case t.Name == TestBootstrap:
		return fmt.Sprintf("B-A in [%.2f, %.2f]", t.Low, t.High)
	}
	return fmt.Sprintf("%d : %d, p = %s", t.OnlyA, t.OnlyB, pText(t.P))
}

func pText(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

// labelCells compares the label counts of every task.
func (c *comparison) labelCells(moved map[string]*labels) {
	c.count("images kept", "global filter", c.a.Findings.Global.Kept, c.b.Findings.Global.Kept)
	for i := range c.a.Findings.Tasks {
		x := &c.a.Findings.Tasks[i]
		k := slices.IndexFunc(c.b.Findings.Tasks, func(t contract.SummaryTask) bool { return t.Task == x.Task })
		if !c.both("task "+x.Task, true, k >= 0) {
			continue
		}
		y := &c.b.Findings.Tasks[k]
		m := moved[x.Task]
		if m == nil {
			m = &labels{by: map[string]*stats.Paired{}}
		}
		c.share(x.Task, "labelled", stats.Proportion{K: x.Total, N: c.a.Findings.Global.Kept}, stats.Proportion{K: y.Total, N: c.b.Findings.Global.Kept}, m.total)
		for _, l := range x.Labels {
			for _, o := range y.Labels {
				if o.Label != l.Label {
					continue
				}
				p := stats.Paired{}
				if m.by[l.Label] != nil {
					p = *m.by[l.Label]
				}
				c.share(x.Task, l.Label, stats.Proportion{K: l.N, N: x.Total}, stats.Proportion{K: o.N, N: y.Total}, p)
			}
		}
	}
	for _, y := range c.b.Findings.Tasks {
		c.both("task "+y.Task, slices.ContainsFunc(c.a.Findings.Tasks, func(t contract.SummaryTask) bool { return t.Task == y.Task }), true)
	}
}

func (c *comparison) count(column, row string, a, b int) {
	c.d.Compared++
	if a != b {
		c.d.Cells = append(c.d.Cells, Cell{Row: row, Column: column, A: Figure{Text: fmt.Sprint(a), K: a}, B: Figure{Text: fmt.Sprint(b), K: b},
			Test: Test{Name: TestNone, Why: "a count"}})
	}
}

// share compares k of n of findings. Rows of windows that are equal were not read: their images
// agree, and the test needs only those that do not.
func (c *comparison) share(row, column string, a, b stats.Proportion, p stats.Paired) {
	c.d.Compared++
	if a == b {
		return
	}
	text := func(x stats.Proportion) string { return fmt.Sprintf("%d of %d", x.K, x.N) }
	t := Test{Name: TestMcNemar, Pairs: p.N(), OnlyA: p.OnlyFirst, OnlyB: p.OnlySecond}
	if t.P, t.Known = p.McNemar(); !t.Known {
		t.Why = "no image of both differs"
	}
	c.d.Cells = append(c.d.Cells, Cell{Row: row, Column: column, A: Figure{Text: text(a), K: a.K, N: a.N}, B: Figure{Text: text(b), K: b.K, N: b.N}, Test: t})
}

// pathCells compares every figure of one path of a pair of evaluations.
func (c *comparison) pathCells(e *pair, path cxreasonbench.Path) {
	a := cxreasonbench.ScorePath(e.rules[0], path, e.cases[0][path])
	b := cxreasonbench.ScorePath(e.rules[1], path, e.cases[1][path])
	pairs, alone := e.paired(path)
	var intervals *cxreasonbench.Intervals
	for _, t := range cxreasonbench.Tasks() {
		x, y := a.Tasks[t], b.Tasks[t]
		for i := range x.Cells {
			c.cell(e, path, t.String(), x.Cells[i], y.Cells[i], func() Test { return e.taskTest(path, t, i, pairs[t], alone[t]) })
		}
	}
	for _, g := range cxreasonbench.Groups() {
		x, y := a.Groups[g], b.Groups[g]
		for i := range x.Cells {
			c.cell(e, path, g.String(), x.Cells[i], y.Cells[i], func() Test {
				if intervals == nil {
					intervals = cxreasonbench.BootstrapDifference(e.rules[0], e.rules[1], path, pairs, c.o.Seed, c.o.Draws)
				}
				return groupTest(g, x.Cells[i].Column, pairs, intervals)
			})
		}
	}
}

// cell notes a figure that differs, the refined one where only that does.
func (c *comparison) cell(e *pair, path cxreasonbench.Path, row string, a, b cxreasonbench.Cell, test func() Test) {
	c.d.Compared++
	refines := cxreasonbench.Refines(path, a.Column)
	if sameFigure(a.Plain, b.Plain) && (!refines || sameFigure(a.Refined, b.Refined)) {
		return
	}
	column := a.Column.String()
	x, y, t := a.Plain, b.Plain, Test{}
	if sameFigure(x, y) {
		x, y, column = a.Refined, b.Refined, column+":refined"
		t = Test{Name: TestNone, Why: "the plain figure is equal"}
	} else {
		t = test()
	}
	c.d.Cells = append(c.d.Cells, Cell{Of: e.name, Path: path.String(), Row: row, Column: column, A: figureOf(x), B: figureOf(y), Test: t})
}

// sameFigure reports whether two figures are equal as printed, with their counts.
func sameFigure(a, b cxreasonbench.Figure) bool {
	return a.Known == b.Known && a.K == b.K && a.N == b.N && (!a.Known || a.Value == b.Value)
}

func figureOf(f cxreasonbench.Figure) Figure {
	if !f.Known {
		return Figure{Text: "N/A", Formula: f.Formula, Why: f.Why}
	}
	return Figure{Text: fmt.Sprintf("%.2f", f.Value), K: f.K, N: f.N, Formula: f.Formula}
}

// taskTest pairs the cases of one task that are in both denominators of a column.
func (e *pair) taskTest(path cxreasonbench.Path, task cxreasonbench.Task, column int, pairs []cxreasonbench.Pair, alone [2]int) Test {
	t := Test{Name: TestMcNemar, Unpaired: alone}
	depth := false
	for _, p := range pairs {
		a := cxreasonbench.CaseRow(e.rules[0], task, path, p.First).Cells[column]
		b := cxreasonbench.CaseRow(e.rules[1], task, path, p.Second).Cells[column]
		depth = a.Column == cxreasonbench.Depth
		switch {
		case a.Plain.N == 0 && b.Plain.N == 0:
			continue
		case b.Plain.N == 0:
			t.Unpaired[0]++
			continue
		case a.Plain.N == 0:
			t.Unpaired[1]++
			continue
		}
		t.Pairs++
		switch {
		case a.Plain.K > b.Plain.K:
			t.OnlyA++
		case a.Plain.K < b.Plain.K:
			t.OnlyB++
		}
	}
	if depth {
		t.Name = TestSign
	}
	if t.P, t.Known = stats.SignTest(t.OnlyA, t.OnlyB); !t.Known {
		t.P, t.Why = 0, "no case of both differs"
		if t.Pairs == 0 {
			t.Why = "no case is in both denominators"
		}
	}
	return t
}

func groupTest(g cxreasonbench.Group, column cxreasonbench.Column, pairs map[cxreasonbench.Task][]cxreasonbench.Pair, in *cxreasonbench.Intervals) Test {
	t := Test{Name: TestBootstrap}
	for task, list := range pairs {
		if g.Has(task) {
			t.Pairs += len(list)
		}
	}
	i := in.Groups[g][column].Plain
	if t.Known, t.Low, t.High = i.Known, i.Low, i.High; !t.Known {
		t.Why = "no resample has both figures"
	}
	return t
}

// title is a task or column in words.
func title(s string) string { return strings.ReplaceAll(s, "_", " ") }
