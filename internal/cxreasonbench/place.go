package cxreasonbench

import (
	"fmt"
	"slices"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/report"
)

// Place is where a figure stands, whatever table prints it: model and way of sampling, path,
// row and column.
type Place struct {
	Model    string   `json:"model"`
	Sampling Sampling `json:"sampling"`
	Path     Path     `json:"path"`
	// Row is the text form of a task or a group.
	Row    string `json:"row"`
	Column Column `json:"column"`
}

// Task returns the task of the place's row; ok is false for a group's.
func (p Place) Task() (t Task, ok bool) {
	if t, ok = chexstruct.ParseTask(p.Row); !ok || !t.Diagnostic() {
		return 0, false
	}
	return t, true
}

// Group returns the group of the place's row; ok is false for a task's.
func (p Place) Group() (g Group, ok bool) {
	for _, g := range Groups() {
		if g.String() == p.Row {
			return g, true
		}
	}
	return 0, false
}

// Tasks returns the tasks whose cases are behind the figure.
func (p Place) Tasks() []Task {
	if t, ok := p.Task(); ok {
		return []Task{t}
	}
	g, _ := p.Group()
	return slices.DeleteFunc(Tasks(), func(t Task) bool { return !g.Has(t) })
}

func (p Place) block() (b block, ok bool) {
	b = block{path: p.Path, key: p.Row}
	if b.task, ok = p.Task(); !ok {
		b.group, ok = p.Group()
	}
	return b, ok
}

// Refines reports whether the figure has a second one in parentheses: consistency enters the
// columns that [Refines] names, of measurement tasks and of groups that hold some.
func (p Place) Refines() bool {
	b, ok := p.block()
	return ok && b.refines() && Refines(p.Path, p.Column)
}

// Reached is a figure of an evaluation with what a comparison needs to know of it.
type Reached struct {
	Cell
	// Interval is the 95 % bootstrap interval over cases.
	Interval CellInterval
	// Cases is how many cases are behind the figure: the n of a task, and of a group those
	// of its tasks together.
	Cases int
	// Counts are those of each task behind the figure.
	Counts map[Task]Counts
}

// At returns the figure at a place, whatever model and way of sampling the place names.
//
// Errors: a path that was not evaluated, a row or column that is none.
func (e *Evaluation) At(at Place) (r Reached, err error) {
	b, ok := at.block()
	if !ok {
		return r, fmt.Errorf("no task or group is called %q", at.Row)
	}
	scores, ok := e.path(at.Path)
	if !ok {
		return r, fmt.Errorf("%s is not part of this evaluation", PathTitle(at.Path))
	}
	if r.Cell, ok = b.row(scores).Cell(at.Column); !ok {
		return r, fmt.Errorf("%s has no such column", PathTitle(at.Path))
	}
	r.Interval, r.Cases, r.Counts = e.Intervals[at.Path].of(b, at.Column), b.cases(scores, r.Cell), map[Task]Counts{}
	for _, t := range at.Tasks() {
		r.Counts[t] = scores.Counts[t]
	}
	return r, nil
}

// Comparison is what stands beside a figure: the published one as printed, the verdict, and
// its reason where it needs one.
type Comparison struct {
	Printed string
	Verdict report.Verdict
	Why     string
}

// Beside says what stands beside the figures of evaluations.
type Beside interface {
	// Has reports whether there are published figures of a model.
	Has(model string) bool
	// Compared returns the comparison at a place of the nth evaluation.
	Compared(evaluation int, at Place) (Comparison, bool)
}
