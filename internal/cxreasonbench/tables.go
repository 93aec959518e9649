package cxreasonbench

import (
	"strconv"

	"cxrepro/internal/report"
)

// formulas explains every formula name to a reader.
var formulas = []report.Formula{
	{ID: FormulaAdjustedWilson, Text: "100 x centre x (1 - half width) of the Wilson interval of k of n, z = 1.96; 0 where k is 0"},
	{ID: FormulaRefined, Text: "in parentheses: the unrounded value times the share of consistent values"},
	{ID: FormulaDepth, Text: "k stages passed over n cases"},
	{ID: FormulaRefinedDepth, Text: "in parentheses: stages passed, the measurement only with a consistent value"},
	{ID: FormulaMean, Text: "unweighted mean over the k of n tasks that have a value"},
	{ID: FormulaMeanOfAll, Text: "unweighted mean over k of n tasks, 0 where a task could have a value and has none"},
	{ID: FormulaShare, Text: "100 x k / n"},
	{ID: FormulaStandard, Text: "k of n with its 95 % Wilson interval"},
	{ID: FormulaStandardPooled, Text: "k of n added up over the group's tasks, with its 95 % Wilson interval"},
	{ID: FormulaStandardMean, Text: "k stages passed over n cases, added up over the group's tasks"},
}

// Names of the textbook formulas.
const (
	// FormulaStandard: k/n with its 95 % Wilson interval.
	FormulaStandard = "standard.wilson"
	// FormulaStandardPooled: the same of the cases of several tasks taken together.
	FormulaStandardPooled = "standard.pooled_wilson"
	// FormulaStandardMean: stages passed over cases of several tasks taken together.
	FormulaStandardMean = "standard.pooled_mean"
)

// usedFormulas are those that the cells of a table carry, in the order of the legend; with
// refined also those of the figures in parentheses.
func usedFormulas(t *report.Table, refined bool) []report.Formula {
	used := map[string]bool{}
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			used[c.Formula] = true
		}
	}
	var list []report.Formula
	for _, f := range formulas {
		behind := f.ID == FormulaRefined && (used[FormulaAdjustedWilson] || used[FormulaShare]) || f.ID == FormulaRefinedDepth && used[FormulaDepth]
		if used[f.ID] || refined && behind {
			list = append(list, f)
		}
	}
	return list
}

func twoDecimals(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// paperText is a cell as the paper prints it: the value, and the refined one in parentheses
// where there is one.
func paperText(plain, refined Figure, hasRefined bool) string {
	if !plain.Known {
		return "N/A"
	}
	text := twoDecimals(plain.Value)
	if hasRefined && refined.Known {
		text += " (" + twoDecimals(refined.Value) + ")"
	}
	return text
}

// Printed is a cell as the paper prints it; refines says that the row has figures in parentheses.
func Printed(c Cell, refines bool) string { return paperText(c.Plain, c.Refined, refines) }

func paperCell(path Path, c Cell, showRefined bool) report.Cell {
	if !c.Plain.Known {
		cell := report.None(c.Plain.Why)
		cell.Formula = c.Plain.Formula
		return cell
	}
	showRefined = showRefined && Refines(path, c.Column)
	text := paperText(c.Plain, c.Refined, showRefined)
	d := report.Detail{Value: &c.Plain.Value}
	if showRefined && c.Refined.Known {
		d.Refined, d.RefinedFormula = &c.Refined.Value, c.Refined.Formula
	}
	if s, ok := c.Plain.Standard(); ok {
		d.Standard = s.interval()
	}
	return report.Figure(text, c.Plain.K, c.Plain.N, c.Plain.Formula).With(d)
}

// standardCell is the textbook reading of the same counts.
func standardCell(c Cell) report.Cell {
	s, ok := c.Plain.Standard()
	switch {
	case !c.Plain.Known:
		return report.None(c.Plain.Why)
	case !ok:
		return overCell(c.Plain.K, c.Plain.N, c.Plain.Formula)
	}
	return shareCell(s, c.Plain.K, c.Plain.N, FormulaStandard)
}

// pooledCell is the textbook reading of a group.
func pooledCell(p PathScores, g Group, c Cell) report.Cell {
	pool, ok := p.pooled(g, c.Column)
	if !ok {
		return report.None(c.Plain.Why)
	}
	s, ok := standardOf(pool)
	if c.Column == Depth || !ok {
		return overCell(pool.K, pool.N, FormulaStandardMean)
	}
	return shareCell(s, pool.K, pool.N, FormulaStandardPooled)
}

func overCell(k, n int, formula string) report.Cell {
	v := float64(k) / float64(n)
	text := twoDecimals(v) + " (" + strconv.Itoa(k) + " over " + strconv.Itoa(n) + ")"
	return report.Figure(text, k, n, formula).With(report.Detail{Value: &v})
}

func shareCell(s Standard, k, n int, formula string) report.Cell {
	percent := func(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) }
	text := strconv.Itoa(k) + "/" + strconv.Itoa(n) + " " + percent(s.Share) + " [" + percent(s.Low) + ", " + percent(s.High) + "]"
	v := 100 * s.Share
	return report.Figure(text, k, n, formula).With(report.Detail{Value: &v, Standard: s.interval()})
}

func (s Standard) interval() *report.Range {
	return &report.Range{Mid: s.Share, Low: s.Low, High: s.High}
}

// PathTitle names a path as the paper does, for example "Re-evaluated Path 1".
func PathTitle(p Path) string {
	switch p {
	case Path1:
		return "Path 1"
	case Path2:
		return "Path 2"
	case RePath1:
		return "Re-evaluated Path 1"
	}
	return p.String()
}

// PathTables returns a path's figures twice over: as the paper computes them, tasks and
// groups, and as a textbook does, tasks only.
func PathTables(p PathScores) (paper, standard report.Table) {
	columns := []report.Column{{Name: "task"}}
	for _, c := range Columns(p.Path) {
		columns = append(columns, report.Column{Name: c.String(), Right: true})
	}
	paper = report.Table{Title: PathTitle(p.Path) + ": the paper's formulas", Columns: columns}
	standard = report.Table{Title: PathTitle(p.Path) + ": textbook formulas", Columns: columns}
	add := func(t *report.Table, head bool, name string, row ScoreRow, cell func(Cell) report.Cell) {
		cells := []report.Cell{report.Text(name)}
		for _, c := range row.Cells {
			cells = append(cells, cell(c))
		}
		if head {
			t.AddHead(cells...)
			return
		}
		t.Add(cells...)
	}
	for i, t := range Tasks() {
		measured := KindOf(t) == Measurement
		add(&paper, i == 0 || t == Tasks()[8], t.String(), p.Tasks[t], func(c Cell) report.Cell { return paperCell(p.Path, c, measured) })
		add(&standard, i == 0 || t == Tasks()[8], t.String(), p.Tasks[t], standardCell)
	}
	for i, g := range Groups() {
		add(&paper, i == 0, g.String(), p.Groups[g], func(c Cell) report.Cell { return paperCell(p.Path, c, g != RecognitionTasks) })
	}
	if n := p.malformed(); n > 0 {
		paper.Notes = append(paper.Notes, strconv.Itoa(n)+" cases answered the refined criterion so that the judge saw neither yes nor no; they stop there and count as accepted.")
	}
	paper.Formulas, standard.Formulas = usedFormulas(&paper, true), usedFormulas(&standard, false)
	return paper, standard
}

func (p PathScores) malformed() int {
	n := 0
	for _, t := range Tasks() {
		n += p.Counts[t].Malformed
	}
	return n
}
