package claims

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cxrepro/internal/cxreasonbench"
)

// Rows are the whole numbers of cases behind the printed rows of one task of a model in one way
// of sampling, in each path.
type Rows struct {
	// Alone are those that give a path's row by itself.
	Alone map[cxreasonbench.Path][]cxreasonbench.Counts
	// Joint are those of them that agree with some of the other paths: Path 2 begins with the
	// cases that Path 1 sends there, the re-evaluation with some of those that it ends right.
	Joint map[cxreasonbench.Path][]cxreasonbench.Counts
	// Contradiction proves that a row agrees with none of the path before; no entry where it
	// agrees with some.
	Contradiction map[cxreasonbench.Path]string
}

type rowsKey struct {
	model    string
	sampling cxreasonbench.Sampling
}

// solved keeps the rows that were solved: the same figures are asked for again and again.
var solved sync.Map // rowsKey to func() (map[cxreasonbench.Task]*Rows, error)

// PaperRows returns the numbers behind a task's published rows.
//
// Errors: a model that the paper does not have.
func PaperRows(model string, s cxreasonbench.Sampling, t cxreasonbench.Task) (*Rows, error) {
	solve, _ := solved.LoadOrStore(rowsKey{model, s}, sync.OnceValues(func() (map[cxreasonbench.Task]*Rows, error) {
		p, err := PaperFigures()
		if err != nil {
			return nil, err
		}
		if !p.Has(model) {
			return nil, fmt.Errorf("claims: the paper has no model %q; it has %s", model, strings.Join(p.Models(), ", "))
		}
		return solveModel(p, model, s), nil
	}))
	rows, err := solve.(func() (map[cxreasonbench.Task]*Rows, error))()
	return rows[t], err
}

// solveModel solves the rows of every task, and leaves of several solutions those that also give
// the printed depths of the groups: they are means of depths before rounding.
func solveModel(p *cxreasonbench.Published, model string, s cxreasonbench.Sampling) map[cxreasonbench.Task]*Rows {
	all := map[cxreasonbench.Task]*Rows{}
	for _, t := range cxreasonbench.Tasks() {
		all[t] = solveRows(p, model, s, t)
		all[t].link()
	}
	for _, path := range cxreasonbench.Paths() {
		narrow(p, cxreasonbench.Place{Model: model, Sampling: s, Path: path, Column: cxreasonbench.Depth}, all)
	}
	for _, r := range all {
		r.link()
	}
	return all
}

// sent is how many cases Path 1 sends to Path 2.
func sent(c cxreasonbench.Counts) int { return c.Unknown + c.Rejected }

// guided is how many cases Path 2 ends right.
func guided(c cxreasonbench.Counts) int { return c.Right[2] }

func solveRows(p *cxreasonbench.Published, model string, s cxreasonbench.Sampling, t cxreasonbench.Task) *Rows {
	r := &Rows{Alone: map[cxreasonbench.Path][]cxreasonbench.Counts{}, Joint: map[cxreasonbench.Path][]cxreasonbench.Counts{}, Contradiction: map[cxreasonbench.Path]string{}}
	for _, path := range cxreasonbench.Paths() {
		r.Alone[path] = rowOf(p, model, s, t, path).solve()
		r.Joint[path] = r.Alone[path]
		if len(r.Alone[path]) == 0 {
			r.Contradiction[path] = "no whole numbers of at most " + strconv.Itoa(PaperCases) + " cases give the printed row"
		}
	}
	return r
}

// link leaves the solutions that agree with those of the other paths. The paths form a chain, so
// going along it forth and back leaves exactly what is part of some agreement of all three. A row
// that agrees with none of the path before contradicts it, and its solutions stay.
func (r *Rows) link() {
	one, two, again := r.Joint[cxreasonbench.Path1], r.Joint[cxreasonbench.Path2], r.Joint[cxreasonbench.RePath1]
	if len(one) == 0 || len(two) == 0 || len(again) == 0 {
		return
	}
	begins := func(b cxreasonbench.Counts) bool {
		return slices.ContainsFunc(one, func(a cxreasonbench.Counts) bool { return sent(a) == b.Entered })
	}
	sends := func(a cxreasonbench.Counts) bool {
		return slices.ContainsFunc(two, func(b cxreasonbench.Counts) bool { return sent(a) == b.Entered })
	}
	apart := true
	if agree := keep(two, begins); len(agree) > 0 {
		two, apart = agree, false
	} else {
		r.Contradiction[cxreasonbench.Path2] = fmt.Sprintf("Path 1 as printed sends %s of the %d cases to Path 2, whose printed row needs %s", numbers(one, sent), PaperCases, numbers(two, entered))
	}
	follows := func(c cxreasonbench.Counts) bool {
		return slices.ContainsFunc(two, func(b cxreasonbench.Counts) bool { return c.Entered <= guided(b) })
	}
	if agree := keep(again, follows); len(agree) > 0 {
		again = agree
		least := slices.Min(each(again, entered))
		two = keep(two, func(b cxreasonbench.Counts) bool { return guided(b) >= least })
	} else {
		r.Contradiction[cxreasonbench.RePath1] = fmt.Sprintf("Path 2 as printed ends %s cases right, but the re-evaluation's row needs at least %d", numbers(two, guided), slices.Min(each(again, entered)))
	}
	if !apart {
		one = keep(one, sends)
	}
	r.Joint = map[cxreasonbench.Path][]cxreasonbench.Counts{cxreasonbench.Path1: one, cxreasonbench.Path2: two, cxreasonbench.RePath1: again}
}

// mostCombined bounds how many combinations of solutions are held against the groups.
const mostCombined = 5000

// narrow leaves the solutions of a path that are part of a combination, over the tasks, that gives
// the printed depth of every group. Where none does, or there are too many to try, all stay.
func narrow(p *cxreasonbench.Published, at cxreasonbench.Place, all map[cxreasonbench.Task]*Rows) {
	var open []cxreasonbench.Task
	combinations := 1
	for _, t := range cxreasonbench.Tasks() {
		n := len(all[t].Joint[at.Path])
		if n > 1 {
			open = append(open, t)
		}
		if combinations *= max(n, 1); combinations > mostCombined {
			return
		}
	}
	counts := map[cxreasonbench.Task]cxreasonbench.Counts{}
	for t, r := range all {
		if list := r.Joint[at.Path]; len(list) > 0 {
			counts[t] = list[0]
		}
	}
	fitting := map[cxreasonbench.Task][]cxreasonbench.Counts{}
	var try func(k int)
	try = func(k int) {
		if k < len(open) {
			for _, c := range all[open[k]].Joint[at.Path] {
				counts[open[k]] = c
				try(k + 1)
			}
			return
		}
		if !groupsPrinted(p, at, counts) {
			return
		}
		for _, t := range open {
			if !slices.Contains(fitting[t], counts[t]) {
				fitting[t] = append(fitting[t], counts[t])
			}
		}
	}
	if len(open) > 0 {
		try(0)
	}
	for t, list := range fitting {
		all[t].Joint[at.Path] = list
	}
}

// groupsPrinted reports whether counts give a column's printed figure of every group.
func groupsPrinted(p *cxreasonbench.Published, at cxreasonbench.Place, counts map[cxreasonbench.Task]cxreasonbench.Counts) bool {
	scores := cxreasonbench.ScoreCounts(released(), at.Path, counts)
	for _, g := range cxreasonbench.Groups() {
		at.Row = g.String()
		f, printed := p.Figure(at)
		cell, ok := scores.Groups[g].Cell(at.Column)
		if !printed || !ok || !f.Known || !cell.Plain.Known {
			continue
		}
		if same, _ := equal(cell.Plain, f.Value); !same {
			return false
		}
	}
	return true
}

func entered(c cxreasonbench.Counts) int { return c.Entered }

func keep(list []cxreasonbench.Counts, ok func(cxreasonbench.Counts) bool) []cxreasonbench.Counts {
	return slices.DeleteFunc(slices.Clone(list), func(c cxreasonbench.Counts) bool { return !ok(c) })
}

func each(list []cxreasonbench.Counts, of func(cxreasonbench.Counts) int) []int {
	out := make([]int, len(list))
	for i, c := range list {
		out[i] = of(c)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// numbers lists the different values of some counts in words: "31", "31 or 32", "9 to 100".
func numbers(list []cxreasonbench.Counts, of func(cxreasonbench.Counts) int) string {
	values := each(list, of)
	switch n := len(values); {
	case n == 0:
		return "none"
	case n == 1:
		return strconv.Itoa(values[0])
	case n > 4:
		return strconv.Itoa(values[0]) + " to " + strconv.Itoa(values[n-1])
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
