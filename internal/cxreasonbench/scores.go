package cxreasonbench

import (
	"fmt"

	"cxrepro/internal/chexstruct"
)

// Column is a column of the tables. The zero value is invalid.
type Column uint8

const (
	// Initial: re-evaluation only, first answer right of the cases that came to it.
	Initial Column = iota + 1
	// Stage1 to Stage4: right of the attempts of that stage.
	Stage1
	Stage2
	Stage3
	Stage4
	// Completion: every stage right of the cases.
	Completion
	// Depth: stages passed per case, 0 to 4, in Path 2 0 to 3.
	Depth
	// Consistency: the value told last lies in the range chosen before.
	Consistency
	// Alignment: first and last answer right of the attempts of the last stage.
	Alignment
)

var columnText = [...]string{
	Initial: "initial", Stage1: "stage1", Stage2: "stage2", Stage3: "stage3", Stage4: "stage4",
	Completion: "completion", Depth: "depth", Consistency: "consistency", Alignment: "alignment",
}

// Valid reports whether c is one of the columns.
func (c Column) Valid() bool { return c >= Initial && c <= Alignment }

// String returns the text form, for example "completion".
func (c Column) String() string {
	if !c.Valid() {
		return fmt.Sprintf("invalid column %d", uint8(c))
	}
	return columnText[c]
}

// ParseColumn returns the column with a text form; ok is false for any other text.
func ParseColumn(text string) (c Column, ok bool) {
	for c := Initial; c.Valid(); c++ {
		if columnText[c] == text {
			return c, true
		}
	}
	return 0, false
}

// Columns returns the columns of a path in the order of the tables.
func Columns(path Path) []Column {
	switch path {
	case Path1:
		return []Column{Stage1, Stage2, Stage3, Stage4, Completion, Depth, Consistency, Alignment}
	case Path2:
		return []Column{Stage1, Stage2, Stage3, Completion, Depth, Consistency}
	case RePath1:
		return []Column{Initial, Stage1, Stage2, Stage3, Stage4, Completion, Depth, Consistency, Alignment}
	}
	return nil
}

// Refines reports whether a column of a path also has a refined figure, the one in
// parentheses, in which consistency enters.
func Refines(path Path, c Column) bool {
	switch c {
	case Stage2:
		return path == Path2
	case Stage3, Stage4, Completion, Depth, Alignment:
		return true
	}
	return false
}

// Cell is one column of a row. Refined is a figure only where [Refines] says so.
type Cell struct {
	Column  Column
	Plain   Figure
	Refined Figure
}

// ScoreRow is one task's or one group's line.
type ScoreRow struct{ Cells []Cell }

// Cell returns the cell of a column; ok is false where the path has none.
func (r ScoreRow) Cell(c Column) (cell Cell, ok bool) {
	for _, x := range r.Cells {
		if x.Column == c {
			return x, true
		}
	}
	return Cell{}, false
}

// Group is a set of tasks that a mean is over. The zero value is invalid.
type Group uint8

const (
	// Overall is every task.
	Overall Group = iota + 1
	// MeasurementTasks ask for a number.
	MeasurementTasks
	// RecognitionTasks ask for a label.
	RecognitionTasks
)

// Groups returns every group.
func Groups() []Group { return []Group{Overall, MeasurementTasks, RecognitionTasks} }

// String returns "overall", "measurement" or "recognition".
func (g Group) String() string {
	switch g {
	case Overall:
		return "overall"
	case MeasurementTasks:
		return "measurement"
	case RecognitionTasks:
		return "recognition"
	}
	return fmt.Sprintf("invalid group %d", uint8(g))
}

// Has reports whether a task belongs to g.
func (g Group) Has(t Task) bool {
	switch g {
	case Overall:
		return true
	case MeasurementTasks:
		return KindOf(t) == Measurement
	case RecognitionTasks:
		return KindOf(t) == Recognition
	}
	return false
}

// PathScores are the rows of one model, decoding mode and path.
type PathScores struct {
	Path   Path
	Counts map[Task]Counts
	Tasks  map[Task]ScoreRow
	Groups map[Group]ScoreRow
}

// ScorePath computes every figure of a path from the cases of each task. A task without cases has
// a row of figures without values.
//
// Source: [official code], confirmed against every row of the published tables.
func ScorePath(rules Rules, path Path, cases map[Task][]CaseScores) PathScores {
	counts := map[Task]Counts{}
	for _, t := range Tasks() {
		counts[t] = Count(path, cases[t])
	}
	return ScoreCounts(rules, path, counts)
}

// ScoreCounts computes every figure of a path from the counts of each task.
func ScoreCounts(rules Rules, path Path, counts map[Task]Counts) PathScores {
	p := PathScores{Path: path, Counts: map[Task]Counts{}, Tasks: map[Task]ScoreRow{}}
	for _, t := range Tasks() {
		p.Counts[t] = counts[t]
		p.Tasks[t] = TaskRow(rules, t, path, counts[t])
	}
	p.Groups = groupRows(rules, path, p.Tasks)
	return p
}

// TaskRow computes a task's figures from its counts.
func TaskRow(rules Rules, task Task, path Path, c Counts) ScoreRow {
	// stages holds k and n of each stage.
	var stages [][2]int
	cases, why := c.Entered, WhyNothingAsked
	switch path {
	case Path1:
		cases = c.Remaining()
		stages = [][2]int{{c.Right[0], c.Entered}, {c.Right[1], c.Accepted()}, {c.Right[2], c.Right[1]}, {c.Right[3], c.Right[2]}}
		if c.Rejected > 0 {
			why = WhyRejected
		}
	case Path2:
		stages = [][2]int{{c.Right[0], c.Entered}, {c.Right[1], c.Right[0]}, {c.Right[2], c.Right[1]}}
	case RePath1:
		stages = [][2]int{{c.Right[0], c.Entered}, {c.Right[1], c.Right[0]}, {c.Right[2], c.Right[1]}, {c.Right[3], c.Right[2]}}
		why = WhyNoReview
	}
	last := len(stages) - 1
	final, measured := stages[last][0], stages[last][1]
	passed := 0
	for _, s := range stages[1:] {
		passed += s[0]
	}
	first := c.Right[0]
	if path == Path1 {
		first = c.Accepted()
	}
	passed += first
	columns := Columns(path)
	row := ScoreRow{Cells: make([]Cell, 0, len(columns))}
	for _, col := range columns {
		cell := Cell{Column: col}
		switch col {
		case Initial:
			cell.Plain = proportion(rules, c.Entered, c.Candidates, WhyNoReview)
		case Stage1, Stage2, Stage3, Stage4:
			s := stages[col-Stage1]
			cell.Plain = proportion(rules, s[0], s[1], WhyNothingAsked)
		case Completion:
			cell.Plain = proportion(rules, final, cases, why)
		case Depth:
			cell.Plain = depth(passed, cases, FormulaDepth, why)
		case Consistency:
			cell.Plain = proportion(rules, c.Consistent, measured, WhyNothingAsked)
			if KindOf(task) != Measurement {
				cell.Plain = absent(FormulaAdjustedWilson, WhyNotMeasured)
			}
		case Alignment:
			cell.Plain = proportion(rules, c.Aligned, measured, WhyNothingAsked)
		}
		if Refines(path, col) {
			cell.Refined = refineCell(task, cell, c, passed-measured-final+c.Consistent+c.RightConsistent, cases, measured)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// refineCell returns the refined figure of a cell. A recognition task has no value, so its
// refined figure is the plain one.
func refineCell(task Task, cell Cell, c Counts, passed, cases, measured int) Figure {
	switch {
	case KindOf(task) != Measurement:
		return cell.Plain
	case cell.Column == Depth:
		return depth(passed, cases, FormulaRefinedDepth, cell.Plain.Why)
	}
	return refined(cell.Plain, c.Consistent, measured)
}

// meanOrder is the order in which tasks enter a mean. Sums of rounded values depend on it
// where the mean is an exact decimal tie.
//
// Source: [official code].
var meanOrder = [...]Task{
	chexstruct.Inclusion, chexstruct.Inspiration, chexstruct.Rotation, chexstruct.Projection,
	chexstruct.Cardiomegaly, chexstruct.MediastinalWidening, chexstruct.CarinaAngle, chexstruct.TracheaDeviation,
	chexstruct.AorticKnobEnlargement, chexstruct.AscendingAortaEnlargement,
	chexstruct.DescendingAortaEnlargement, chexstruct.DescendingAortaTortuous,
}

// groupRows computes the unweighted means over the tasks that have a value. Percentages enter
// as reported, plain depths before rounding, refined depths as reported; the refined depth of
// a recognition task is its plain one. Under GroupMean=cases the cases of the tasks are added
// up instead.
func groupRows(rules Rules, path Path, tasks map[Task]ScoreRow) map[Group]ScoreRow {
	groups := map[Group]ScoreRow{}
	for _, g := range Groups() {
		columns := Columns(path)
		row := ScoreRow{Cells: make([]Cell, 0, len(columns))}
		for i, col := range columns {
			plain, ref := make([]Figure, 0, len(meanOrder)), make([]Figure, 0, len(meanOrder))
			for _, t := range meanOrder {
				if !g.Has(t) {
					continue
				}
				// A task that was left out has no figures at all.
				cell := Cell{}
				if r, ok := tasks[t]; ok {
					cell = r.Cells[i]
				}
				plain, ref = append(plain, cell.Plain), append(ref, cell.Refined)
			}
			cell := Cell{Column: col}
			if rules.is(GroupMean, OfCases) {
				cell.Plain = ofCases(rules, col, plain)
			} else {
				cell.Plain = mean(rules, plain)
			}
			switch {
			case !Refines(path, col):
			case rules.is(GroupMean, OfCases):
				cell.Refined = refinedOfCases(rules, g, cell, ref, tasks)
			default:
				cell.Refined = mean(rules, ref)
			}
			row.Cells = append(row.Cells, cell)
		}
		groups[g] = row
	}
	return groups
}

// ofCases is the figure of the cases of several tasks taken together.
func ofCases(rules Rules, col Column, figures []Figure) Figure {
	k, n := 0, 0
	for _, f := range figures {
		if f.Known {
			k, n = k+f.K, n+f.N
		}
	}
	switch {
	case n == 0:
		return absent(FormulaMean, WhyNoTask)
	case col == Depth:
		return depth(k, n, FormulaDepth, WhyNoTask)
	}
	return proportion(rules, k, n, WhyNoTask)
}

// refinedOfCases refines the figure of a group's cases by the share of consistent values among
// them. Depths are recounts and add up over any tasks; proportions of tasks with and without a
// value to check have no common share.
func refinedOfCases(rules Rules, g Group, cell Cell, figures []Figure, tasks map[Task]ScoreRow) Figure {
	switch {
	case cell.Column == Depth:
		f := ofCases(rules, Depth, figures)
		f.Formula = FormulaRefinedDepth
		return f
	case g == RecognitionTasks:
		return cell.Plain
	case g == Overall:
		return absent(FormulaRefined, WhyMixed)
	}
	consistent, checked := 0, 0
	for _, t := range Tasks() {
		if c, ok := tasks[t].Cell(Consistency); ok && g.Has(t) && c.Plain.Known {
			consistent, checked = consistent+c.Plain.K, checked+c.Plain.N
		}
	}
	return refined(cell.Plain, consistent, checked)
}

// CaseRow returns what one case adds to the figures of its task: k of n with n 0 or 1 where a
// column counts cases, and the stages it passed of 0 or 1 cases for a depth. A case that is in
// no denominator of a column has no value there.
func CaseRow(rules Rules, task Task, path Path, c CaseScores) ScoreRow {
	return TaskRow(rules, task, path, c.count(path))
}
