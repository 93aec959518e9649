package cxreasonbench

import (
	"fmt"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/report"
)

// Sampling is how replies are decoded. The zero value is invalid.
type Sampling uint8

const (
	// Greedy is one reply at temperature 0.
	Greedy Sampling = iota + 1
	// Stochastic is three replies with a vote.
	Stochastic
)

var samplingText = [...]string{Greedy: "greedy", Stochastic: "stochastic"}

// Samplings returns both.
func Samplings() []Sampling { return []Sampling{Greedy, Stochastic} }

// Valid reports whether s is one of [Samplings].
func (s Sampling) Valid() bool { return s == Greedy || s == Stochastic }

// String returns "greedy" or "stochastic".
func (s Sampling) String() string {
	if !s.Valid() {
		return fmt.Sprintf("invalid sampling %d", uint8(s))
	}
	return samplingText[s]
}

// Draws is the number of replies to every question.
func (s Sampling) Draws() int {
	if s == Stochastic {
		return 3
	}
	return 1
}

// MarshalText encodes a valid sampling.
func (s Sampling) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", s)
	}
	return []byte(samplingText[s]), nil
}

// UnmarshalText accepts exactly the text forms.
func (s *Sampling) UnmarshalText(b []byte) error {
	for _, v := range Samplings() {
		if samplingText[v] == string(b) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no sampling is called %q; there are greedy and stochastic", b)
}

// Evaluation is what one model reached in one sampling.
type Evaluation struct {
	Model    string
	Sampling Sampling
	Paths    []PathScores
	// Intervals holds the 95 % bootstrap interval of each path, for the comparison with
	// published figures; nil without.
	Intervals map[Path]*Intervals
	// Simulated: a stand-in answered for the model. Every table with it says so.
	Simulated bool
	// Undetermined names the cases of each path whose outcome an infrastructure failure left
	// open. Every table with such a path says that it is not complete.
	Undetermined map[Path][]int
}

func (e Evaluation) path(p Path) (PathScores, bool) {
	for _, s := range e.Paths {
		if s.Path == p {
			return s, true
		}
	}
	return PathScores{}, false
}

// A layout is one of the paper's tables.
type layout struct {
	number   int
	sampling Sampling
	title    string
	paths    []Path
	// groups or tasks are the blocks under each path.
	groups  []Group
	tasks   []Task
	columns func(Path) []Column
}

// paperMeasurement and paperRecognition are the orders of the paper's task tables.
var (
	paperMeasurement = []Task{
		chexstruct.Cardiomegaly, chexstruct.CarinaAngle, chexstruct.Rotation, chexstruct.MediastinalWidening,
		chexstruct.Projection, chexstruct.AorticKnobEnlargement, chexstruct.DescendingAortaEnlargement, chexstruct.DescendingAortaTortuous,
	}
	paperRecognition = []Task{
		chexstruct.TracheaDeviation, chexstruct.Inclusion, chexstruct.Inspiration, chexstruct.AscendingAortaEnlargement,
	}
)

// layouts are the tables of the paper with results, in its order: the summaries 3, 4, 8 to
// 10, then for each path greedy and stochastic groups, recognition tasks, measurement tasks.
func layouts() []layout {
	overall := []Group{Overall}
	list := []layout{
		{3, Greedy, "Path 1 and re-evaluated Path 1, overall", []Path{Path1, RePath1}, overall, nil, summary(true)},
		{4, Greedy, "Path 2, overall", []Path{Path2}, overall, nil, summary(false)},
		{8, Stochastic, "Path 1, overall", []Path{Path1}, overall, nil, summary(true)},
		{9, Stochastic, "Path 2, overall", []Path{Path2}, overall, nil, summary(false)},
		{10, Stochastic, "re-evaluated Path 1, overall", []Path{RePath1}, overall, nil, summary(false)},
	}
	number := 11
	for _, p := range Paths() {
		for _, s := range Samplings() {
			// The paper leaves alignment out of the stochastic re-evaluation.
			columns := staged(p != RePath1 || s == Greedy)
			name, paths := PathTitle(p), []Path{p}
			list = append(list,
				layout{number, s, name + ", groups of tasks", paths, Groups(), nil, columns},
				layout{number + 1, s, name + ", recognition tasks", paths, nil, paperRecognition, columns},
				layout{number + 2, s, name + ", measurement tasks", paths, nil, paperMeasurement, columns})
			number += 3
		}
	}
	return list
}

// summary are the columns of a summary, with or without alignment.
func summary(alignment bool) func(Path) []Column {
	return func(p Path) []Column {
		columns := []Column{Completion, Depth, Consistency}
		if alignment && p != Path2 {
			columns = append(columns, Alignment)
		}
		return columns
	}
}

// staged are the columns of a full table: all but the initial question.
func staged(alignment bool) func(Path) []Column {
	return func(p Path) []Column {
		var columns []Column
		for _, c := range Columns(p) {
			if c != Initial && (c != Alignment || alignment) {
				columns = append(columns, c)
			}
		}
		return columns
	}
}

// TableNumbers returns the numbers of the paper's tables that [PaperTable] makes, in order.
func TableNumbers() []int {
	var numbers []int
	for _, l := range layouts() {
		numbers = append(numbers, l.number)
	}
	return numbers
}

// TableTitle names one of the paper's tables.
//
// Errors: as [PaperTable].
func TableTitle(number int) (string, error) {
	l, err := layoutOf(number)
	return l.heading(), err
}

// TableOptions say what a table shows of the evaluations. The zero value shows the paper's
// figures alone.
type TableOptions struct {
	// Beside, if set, puts a second line under each model that it has figures of, and a
	// verdict at each figure.
	Beside Beside
	// Standard shows the textbook reading of the same counts instead of the paper's
	// formulas; nothing is compared then.
	Standard bool
}

// PaperTable lays evaluations out as one of the paper's tables, one line for each model and
// task or group. Its title says where a stand-in answered and where cases are undetermined.
//
// Errors: a number that is not one of [TableNumbers].
func PaperTable(number int, evaluations []Evaluation, o TableOptions) (*report.Table, error) {
	l, err := layoutOf(number)
	if err != nil {
		return nil, err
	}
	return l.table(evaluations, o), nil
}

// TableMissing says why a table has no figures of ours; empty where it has some.
//
// Errors: as [PaperTable].
func TableMissing(number int, evaluations []Evaluation) (why string, err error) {
	l, err := layoutOf(number)
	if err != nil {
		return "", err
	}
	sampled := false
	for _, e := range evaluations {
		if e.Sampling != l.sampling {
			continue
		}
		sampled = true
		for _, p := range l.paths {
			if _, ok := e.path(p); ok {
				return "", nil
			}
		}
	}
	if !sampled {
		return "no model was asked in the " + l.sampling.String() + " way", nil
	}
	return PathTitle(l.paths[0]) + " is not part of this evaluation", nil
}

func layoutOf(number int) (layout, error) {
	for _, l := range layouts() {
		if l.number == number {
			return l, nil
		}
	}
	return layout{}, fmt.Errorf("cxreasonbench: the paper's table %d has no results of models; those that do are %v", number, TableNumbers())
}

func (l layout) table(evaluations []Evaluation, o TableOptions) *report.Table {
	t := &report.Table{Title: l.heading(), Name: fmt.Sprintf("table-%d", l.number)}
	if o.Standard {
		o.Beside = nil
		t.Title, t.Name = strings.Replace(t.Title, ". ", ", textbook reading. ", 1), t.Name+"-standard"
	}
	t.Columns = []report.Column{{Name: l.rows()}, {Name: "model"}}
	for _, c := range l.columns(l.paths[0]) {
		t.Columns = append(t.Columns, report.Column{Name: c.String(), Right: true})
	}
	names := l.models(evaluations)
	for _, p := range l.paths {
		for _, b := range l.blocks(p) {
			head := true
			for i, e := range evaluations {
				scores, ok := e.path(p)
				if e.Sampling != l.sampling || !ok {
					continue
				}
				l.addModel(t, b, evaluated{i, names[i], &e, scores}, o, head)
				head = false
			}
		}
	}
	t.Formulas = usedFormulas(t, !o.Standard)
	l.notes(t, evaluations, o)
	return t
}

// notes says in title and notes what a reader must know of the models in the table.
func (l layout) notes(t *report.Table, evaluations []Evaluation, o TableOptions) {
	var simulated, unknown []string
	open := map[int]bool{} // a case may be open in several paths and of several models
	for _, e := range evaluations {
		if e.Sampling != l.sampling {
			continue
		}
		for _, p := range l.paths {
			for _, c := range e.Undetermined[p] {
				open[c] = true
			}
		}
		if e.Simulated {
			simulated = append(simulated, e.Model)
		}
		if o.Beside != nil && !o.Beside.Has(e.Model) {
			unknown = append(unknown, e.Model)
		}
	}
	if len(simulated) > 0 {
		t.Title += ", simulated"
		t.Notes = append(t.Notes, "Simulated: a stand-in answered for "+strings.Join(simulated, ", ")+". These figures say nothing about a model.")
	}
	if len(open) > 0 {
		t.Title += ", not complete"
		t.Notes = append(t.Notes, "Not complete: "+UndeterminedWords(len(open))+" and in no denominator.")
	}
	if o.Beside != nil {
		t.Notes = append(t.Notes, "paper: = reproduced as printed; \u2248 inside our 95 % bootstrap interval over cases; \u2715 off; ? not computable; \u2026 undetermined.")
	}
	if len(unknown) > 0 {
		t.Notes = append(t.Notes, "The paper has no figures of "+strings.Join(unknown, ", ")+".")
	}
}

// UndeterminedWords says of n cases that they have no result.
func UndeterminedWords(n int) string {
	if n == 1 {
		return "1 case is undetermined"
	}
	return report.Number(n) + " cases are undetermined"
}

// heading is the title without what a reader must know of the models.
func (l layout) heading() string {
	return fmt.Sprintf("Table %d. %s (%s)", l.number, l.title, l.sampling)
}

// rows says what the rows are.
func (l layout) rows() string {
	switch {
	case len(l.paths) > 1:
		return "path"
	case l.tasks != nil:
		return "task"
	}
	return "group"
}
