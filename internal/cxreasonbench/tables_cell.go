package cxreasonbench

import (
	"strings"

	"cxrepro/internal/report"
)

// block is the lines of one task or group under one path.
type block struct {
	path  Path
	name  string
	key   string
	group Group
	task  Task
}

func (l layout) blocks(p Path) []block {
	var list []block
	for _, g := range l.groups {
		name := g.String()
		if len(l.paths) > 1 {
			name = PathTitle(p)
		}
		list = append(list, block{path: p, name: name, key: g.String(), group: g})
	}
	for _, t := range l.tasks {
		list = append(list, block{path: p, name: strings.ReplaceAll(t.String(), "_", " "), key: t.String(), task: t})
	}
	return list
}

func (b block) row(s PathScores) ScoreRow {
	if b.group != 0 {
		return s.Groups[b.group]
	}
	return s.Tasks[b.task]
}

// refines reports whether the block shows refined figures.
func (b block) refines() bool {
	if b.group != 0 {
		return b.group != RecognitionTasks
	}
	return KindOf(b.task) == Measurement
}

// evaluated is the nth evaluation with its scores of a path. called is its model in references.
type evaluated struct {
	n      int
	called string
	*Evaluation
	scores PathScores
}

// addModel adds a model's line, and the published one below it.
func (l layout) addModel(t *report.Table, b block, e evaluated, o TableOptions, head bool) {
	name := ""
	if head {
		name = b.name
	}
	line := []report.Cell{report.Text(name), report.Text(e.Model)}
	paper := []report.Cell{report.Text("").Lighter(), report.Text("  paper").Lighter()}
	known := false
	for _, col := range l.columns(b.path) {
		c, _ := b.row(e.scores).Cell(col)
		cell := b.cell(e.scores, c, o.Standard, e.Intervals[b.path].of(b, col))
		text := ""
		if x, ok := compared(o.Beside, e.n, Place{e.Model, l.sampling, b.path, b.key, col}); ok {
			known = true
			cell = x.Beside(cell)
			text = x.Printed + " " + cell.Verdict.Sign()
		}
		kind := report.Printed
		if o.Standard {
			kind = report.Textbook
		}
		line, paper = append(line, cell.Named(l.ref(b, e.called, col, kind))), append(paper, report.Text(text).Lighter())
	}
	if head {
		t.AddHead(line...)
	} else {
		t.Add(line...)
	}
	if known {
		t.Add(paper...)
	}
}

// compared is what stands beside a figure; nothing does without a Beside.
func compared(by Beside, n int, at Place) (x Comparison, ok bool) {
	if by == nil {
		return x, false
	}
	return by.Compared(n, at)
}

// cases is how many cases are behind a figure of the block: the n of a task, and of a group
// those of its tasks together.
func (b block) cases(s PathScores, c Cell) int {
	if b.group == 0 {
		return c.Plain.N
	}
	pool, _ := s.pooled(b.group, c.Column)
	return pool.N
}

// GroupCell is a group's figure of the nth evaluation as tables show it, beside what there is. A
// path that was not evaluated has none.
func GroupCell(n int, e *Evaluation, p Path, g Group, col Column, by Beside) report.Cell {
	at := Place{e.Model, e.Sampling, p, g.String(), col}
	cell, ok := e.cellAt(at)
	if x, has := compared(by, n, at); ok && has {
		cell = x.Beside(cell)
	}
	return cell
}

// CellAt is the figure at a place as tables show it, whatever model and way of sampling the place
// names.
func CellAt(e *Evaluation, at Place) report.Cell {
	cell, _ := e.cellAt(at)
	return cell
}

func (e *Evaluation) cellAt(at Place) (cell report.Cell, ok bool) {
	r, err := e.At(at)
	if err != nil {
		return report.None(err.Error()), false
	}
	scores, _ := e.path(at.Path)
	b, _ := at.block()
	return b.cell(scores, r.Cell, false, r.Interval), true
}

// cell is a figure of the block in the paper's formulas or the textbook's, with its interval.
func (b block) cell(scores PathScores, c Cell, standard bool, in CellInterval) report.Cell {
	switch {
	case standard && b.group != 0:
		return pooledCell(scores, b.group, c)
	case standard:
		return standardCell(c)
	}
	cell := paperCell(b.path, c, b.refines())
	if cell.Detail == nil {
		return cell
	}
	d := *cell.Detail
	if b.group != 0 && c.Column != Depth {
		if pool, ok := scores.pooled(b.group, c.Column); ok {
			if s, ok := standardOf(pool); ok {
				d.Standard = s.interval()
			}
		}
	}
	d.Interval = in.Plain.bounds()
	if d.Refined != nil {
		d.RefinedInterval = in.Refined.bounds()
	}
	return cell.With(d)
}

// Beside puts the published figure with its verdict and the reason beside a cell.
func (x Comparison) Beside(cell report.Cell) report.Cell {
	d := report.Detail{}
	if cell.Detail != nil {
		d = *cell.Detail
	}
	d.Why = x.Why
	return cell.Beside(x.Printed, x.Verdict).With(d)
}
