package cxreasonbench

import (
	"math"
	"testing"
)

type paperRow struct {
	Table    int                 `json:"table"`
	Path     Path                `json:"path"`
	Sampling string              `json:"sampling"`
	Group    string              `json:"group"`
	Level    string              `json:"level"`
	Model    string              `json:"model"`
	Values   map[string]*float64 `json:"values"`
	Refined  map[string]*float64 `json:"refined"`
}

type paperTables struct {
	Tasks map[string][]Task `json:"tasks"`
	Rows  []paperRow        `json:"rows"`
}

// printed is a figure as the paper prints it; only its value is known.
func printed(v *float64, formula string) Figure {
	if v == nil {
		return absent(formula, WhyNothingAsked)
	}
	return Figure{Known: true, Value: *v, Exact: *v, Formula: formula}
}

// TestPaperGroups rebuilds every group row of the published tables from the task rows. Plain
// depths enter means before rounding, which the paper does not print, and exact decimal ties
// depend on the order of adding: there a hundredth is allowed.
func TestPaperGroups(t *testing.T) {
	paper := load[paperTables](t, "../../../experiments/cxreasonbench/claims/tables.json")
	type series struct {
		path            Path
		sampling, model string
	}
	tasks := map[series]map[Task]ScoreRow{}
	for _, r := range paper.Rows {
		if r.Level != "task" {
			continue
		}
		var task Task
		if err := task.UnmarshalText([]byte(r.Group)); err != nil {
			t.Fatal(err)
		}
		key := series{r.Path, r.Sampling, r.Model}
		if tasks[key] == nil {
			tasks[key] = map[Task]ScoreRow{}
		}
		var row ScoreRow
		for _, col := range Columns(r.Path) {
			cell := Cell{Column: col, Plain: printed(r.Values[col.String()], FormulaAdjustedWilson)}
			if Refines(r.Path, col) {
				if cell.Refined = cell.Plain; KindOf(task) == Measurement {
					cell.Refined = printed(r.Refined[col.String()], FormulaRefined)
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		tasks[key][task] = row
	}
	rules := rulesOf(t, AsReleased, nil)
	exact, near, none := 0, 0, 0
	for _, r := range paper.Rows {
		if r.Level != "group" {
			continue
		}
		key := series{r.Path, r.Sampling, r.Model}
		if len(tasks[key]) != len(Tasks()) {
			t.Fatalf("%v has %d task rows", key, len(tasks[key]))
		}
		groups := groupRows(rules, r.Path, tasks[key])
		for _, g := range Groups() {
			if g.String() != r.Group {
				continue
			}
			check := func(name string, f Figure, want *float64) {
				switch {
				case want == nil && !f.Known:
					none++
				case want == nil || !f.Known:
					t.Errorf("table %d %v %s %s: got %+v, want %v", r.Table, key, g, name, f, want)
				case f.Value == *want:
					exact++
				case math.Abs(f.Value-*want) < 0.0101 && (name == "depth" || tie(f.Exact)):
					near++
				default:
					t.Errorf("table %d %v %s %s: got %v, printed %v", r.Table, key, g, name, f.Value, *want)
				}
			}
			for name, want := range r.Values {
				cell, ok := groups[g].Cell(columnOf(t, name))
				if !ok {
					t.Errorf("table %d: no column %s", r.Table, name)
				}
				check(name, cell.Plain, want)
			}
			for name, want := range r.Refined {
				cell, _ := groups[g].Cell(columnOf(t, name))
				check(name+" refined", cell.Refined, want)
			}
		}
	}
	// 1,790 figures with and 400 without a value in 18 tables, some of them repeated.
	if exact != 1772 || near != 18 || none != 400 {
		t.Errorf("%d equal, %d a hundredth apart, %d without value", exact, near, none)
	}
}

// tie reports whether a mean lies half way between two hundredths, up to the last bits.
func tie(v float64) bool {
	_, rest := math.Modf(v * 100)
	return math.Abs(rest-0.5) < 1e-9
}

func columnOf(t *testing.T, name string) Column {
	t.Helper()
	for c := Initial; c.Valid(); c++ {
		if c.String() == name {
			return c
		}
	}
	t.Fatalf("no column is called %q", name)
	return 0
}

// TestPaperOnGrid holds that every printed percentage of a task is an adjusted Wilson value of
// some k of n up to 100 cases.
func TestPaperOnGrid(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	grid := map[int]bool{}
	for n := 1; n <= 100; n++ {
		for k := 0; k <= n; k++ {
			grid[int(math.Round(proportion(rules, k, n, "").Value*100))] = true
		}
	}
	seen := 0
	for _, r := range load[paperTables](t, "../../../experiments/cxreasonbench/claims/tables.json").Rows {
		for name, v := range r.Values {
			if r.Level == "task" && name != "depth" && v != nil {
				seen++
				if !grid[int(math.Round(*v*100))] {
					t.Errorf("table %d %s %s %s: %v is on no grid point", r.Table, r.Model, r.Group, name, *v)
				}
			}
		}
	}
	if seen != 2072 {
		t.Errorf("%d percentages, the tables have 2072", seen)
	}
}
