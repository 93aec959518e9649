package cxreasonbench

import (
	"strconv"

	"cxrepro/internal/report"
	"cxrepro/internal/spelling"
)

// CellRef is what a figure of one of the paper's tables is about.
type CellRef struct {
	Ref report.Ref
	// Evaluation is the place of its evaluation among those that the table was laid out from.
	Evaluation int
	Model      string
	Sampling   Sampling
	Path       Path
	// Group or Task is the row, the other is zero.
	Group Group
	Task  Task
	// Column is the statistic; Ref.Kind says which of its figures is meant.
	Column Column
}

// Place is where the figure stands, whatever table prints it.
func (r CellRef) Place() Place { return Place{r.Model, r.Sampling, r.Path, r.Row(), r.Column} }

// Tasks are the tasks whose cases are behind the figure.
func (r CellRef) Tasks() []Task { return r.Place().Tasks() }

// Row is the name of the task or group.
func (r CellRef) Row() string {
	if r.Group != 0 {
		return r.Group.String()
	}
	return r.Task.String()
}

func (r CellRef) block() block {
	return block{path: r.Path, key: r.Row(), group: r.Group, task: r.Task}
}

// Figure returns the figure with k, n and its formula. The textbook reading is a percentage; of
// a group it pools the cases of the tasks. A path that was not evaluated has a figure without
// value.
func (r CellRef) Figure(evaluations []Evaluation) Figure {
	if r.Evaluation < 0 || r.Evaluation >= len(evaluations) {
		return Figure{Why: "it was not evaluated"}
	}
	scores, ok := evaluations[r.Evaluation].path(r.Path)
	if !ok {
		return Figure{Why: PathTitle(r.Path) + " is not part of this evaluation"}
	}
	b := r.block()
	c, _ := b.row(scores).Cell(r.Column)
	switch r.Ref.Kind {
	case report.Refined:
		return c.Refined
	case report.Textbook:
		return textbook(scores, b, c)
	}
	return c.Plain
}

// textbook is the textbook reading of a cell as a figure.
func textbook(scores PathScores, b block, c Cell) Figure {
	f := c.Plain
	if b.group != 0 {
		pool, ok := scores.pooled(b.group, c.Column)
		if !ok {
			return f
		}
		f.K, f.N, f.Formula = pool.K, pool.N, FormulaStandardPooled
		if c.Column == Depth {
			f.Formula = FormulaStandardMean
		}
	} else if c.Column != Depth {
		f.Formula = FormulaStandard
	}
	if !f.Known || f.N == 0 {
		return f
	}
	f.Exact = float64(f.K) / float64(f.N)
	if c.Column != Depth {
		f.Exact *= 100
	}
	f.Value = f.Exact
	return f
}

// TableCells lists the figures of one of the paper's tables in its order: of each cell the
// printed one, the refined one where there is one, and the textbook reading.
//
// Errors: as [PaperTable].
func TableCells(number int, evaluations []Evaluation) ([]CellRef, error) {
	l, err := layoutOf(number)
	if err != nil {
		return nil, err
	}
	return l.cells(evaluations), nil
}

// Cells lists the figures of every table.
func Cells(evaluations []Evaluation) []CellRef {
	var list []CellRef
	for _, l := range layouts() {
		list = append(list, l.cells(evaluations)...)
	}
	return list
}

// mostNear is how many references a message names.
const mostNear = 3

// FindCell returns what a reference is about.
//
// Errors: *report.UnknownRefError with the nearest references.
func FindCell(text string, evaluations []Evaluation) (CellRef, error) {
	list := Cells(evaluations)
	if ref, err := report.ParseRef(text); err == nil {
		if l, err := layoutOf(ref.Table); err == nil {
			// A slip of the pen stays in the table.
			if own := l.cells(evaluations); len(own) > 0 {
				list = own
			}
		}
	}
	names := make([]string, len(list))
	for i, r := range list {
		if names[i] = r.Ref.String(); names[i] == text {
			return r, nil
		}
	}
	return CellRef{}, &report.UnknownRefError{Ref: text, Near: spelling.Nearest(text, names, mostNear)}
}

// Unasked returns evaluations without figures of some models in both ways of sampling and every
// path: they name the cells that the models would have.
func Unasked(models ...string) []Evaluation {
	var list []Evaluation
	for _, s := range Samplings() {
		for _, m := range models {
			e := Evaluation{Model: m, Sampling: s}
			for _, p := range Paths() {
				e.Paths = append(e.Paths, ScoreCounts(Rules{}, p, nil))
			}
			list = append(list, e)
		}
	}
	return list
}

// cells lists the figures of a table.
func (l layout) cells(evaluations []Evaluation) []CellRef {
	var list []CellRef
	names := l.models(evaluations)
	for _, p := range l.paths {
		for _, b := range l.blocks(p) {
			for i, e := range evaluations {
				if _, ok := e.path(p); !ok || e.Sampling != l.sampling {
					continue
				}
				for _, col := range l.columns(p) {
					r := CellRef{Evaluation: i, Model: e.Model, Sampling: e.Sampling, Path: p, Group: b.group, Task: b.task, Column: col}
					for _, k := range b.kinds(col) {
						r.Ref = l.ref(b, names[i], col, k)
						list = append(list, r)
					}
				}
			}
		}
	}
	return list
}

// kinds are the figures that a cell of the block has.
func (b block) kinds(c Column) []report.Kind {
	if b.refines() && Refines(b.path, c) {
		return []report.Kind{report.Printed, report.Refined, report.Textbook}
	}
	return []report.Kind{report.Printed, report.Textbook}
}

// ref names a figure. called is the model as models names it.
func (l layout) ref(b block, called string, c Column, k report.Kind) report.Ref {
	return report.NewRef(l.number, []string{b.name, called}, c.String()).As(k)
}

// models names the evaluations of the table's sampling, each by its model and differently: of
// several models with one name, later ones have a number.
func (l layout) models(evaluations []Evaluation) []string {
	names := make([]string, len(evaluations))
	taken := map[string]bool{}
	for i, e := range evaluations {
		if e.Sampling != l.sampling {
			continue
		}
		base := report.Slug(e.Model)
		if base == "" {
			base = "model"
		}
		names[i] = base
		for n := 2; taken[names[i]]; n++ {
			names[i] = base + "-" + strconv.Itoa(n)
		}
		taken[names[i]] = true
	}
	return names
}
