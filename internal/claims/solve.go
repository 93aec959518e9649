package claims

import (
	"math"
	"slices"
	"sync"

	"cxrepro/internal/cxreasonbench"
)

// PaperCases is the number of cases of each task behind the published tables.
const PaperCases = 100

// released are the rules that the published figures were made with.
var released = sync.OnceValue(func() cxreasonbench.Rules {
	r, err := cxreasonbench.NewRules(cxreasonbench.AsReleased, nil)
	if err != nil {
		panic("claims: " + err.Error()) // a preset without overrides
	}
	return r
})

// hundredths is a figure as printed, in hundredths.
func hundredths(v float64) int { return int(math.Round(v * 100)) }

// grid finds the k that are printed as a percentage of n cases.
var grid = sync.OnceValue(func() map[[2]int][]int {
	of := map[[2]int][]int{}
	for n := 1; n <= PaperCases; n++ {
		for k := 0; k <= n; k++ {
			at := [2]int{n, hundredths(cxreasonbench.Proportion(released(), k, n).Value)}
			of[at] = append(of[at], k)
		}
	}
	return of
})

// printed is a cell: a number in hundredths, N/A, or not printed at all.
type printed struct {
	shown, known bool
	value        int
}

// ks returns every k of n that a cell is printed for. Of a cell that is not printed that is every
// one.
func (c printed) ks(n int) []int {
	switch {
	case !c.shown:
		all := make([]int, n+1)
		for k := range all {
			all[k] = k
		}
		return all
	case n == 0 && !c.known:
		return []int{0}
	case n == 0 || !c.known:
		return nil
	}
	return grid()[[2]int{n, c.value}]
}

// fits reports whether a cell is printed for k of n.
func (c printed) fits(k, n int) bool { return slices.Contains(c.ks(n), k) }

// near reports whether a sum over n cases gives a printed mean, give or take how it was rounded.
func (c printed) near(sum, n int) bool {
	if !c.shown {
		return true
	}
	if n == 0 || !c.known {
		return n == 0 && !c.known
	}
	return math.Abs(100*float64(sum)/float64(n)-float64(c.value)) < 0.51
}

// printedRow is the printed line of a task.
type printedRow struct {
	path  cxreasonbench.Path
	task  cxreasonbench.Task
	cells map[cxreasonbench.Column]printed
	// refined are those in parentheses.
	refined map[cxreasonbench.Column]printed
}

func rowOf(p *cxreasonbench.Published, model string, s cxreasonbench.Sampling, t cxreasonbench.Task, path cxreasonbench.Path) printedRow {
	r := printedRow{path, t, map[cxreasonbench.Column]printed{}, map[cxreasonbench.Column]printed{}}
	for _, c := range cxreasonbench.Columns(path) {
		f, ok := p.Figure(cxreasonbench.Place{Model: model, Sampling: s, Path: path, Row: t.String(), Column: c})
		r.cells[c] = printed{ok, f.Known, hundredths(f.Value)}
		r.refined[c] = printed{f.HasRefined, f.HasRefined, hundredths(f.Refined)}
	}
	return r
}

// matches counts the printed numbers of the row that some counts give, and those it has.
func (r printedRow) matches(c cxreasonbench.Counts) (same, all int) {
	for _, cell := range cxreasonbench.TaskRow(released(), r.task, r.path, c).Cells {
		for _, x := range []struct {
			want printed
			got  cxreasonbench.Figure
		}{{r.cells[cell.Column], cell.Plain}, {r.refined[cell.Column], cell.Refined}} {
			if !x.want.shown {
				continue
			}
			all++
			if x.got.Known == x.want.known && (!x.got.Known || hundredths(x.got.Value) == x.want.value) {
				same++
			}
		}
	}
	return same, all
}

// solve returns every set of whole numbers of cases that gives the whole printed row, out of at
// most PaperCases.
//
// The stages of a row are nested: each percentage leaves few numbers for a stage out of those
// right at the stage before. What is left is checked with the formulas of the scores.
func (r printedRow) solve() []cxreasonbench.Counts {
	var out []cxreasonbench.Counts
	for entered := 0; entered <= PaperCases; entered++ {
		r.stages(entered, func(c cxreasonbench.Counts) {
			r.values(c, func(c cxreasonbench.Counts) {
				if same, all := r.matches(c); same == all {
					out = append(out, c)
				}
			})
		})
	}
	return out
}

// stages calls fn with the numbers right at each stage, given those that entered.
func (r printedRow) stages(entered int, fn func(cxreasonbench.Counts)) {
	c := cxreasonbench.Counts{Entered: entered}
	if r.path == cxreasonbench.Path2 {
		r.chain(c, []cxreasonbench.Column{cxreasonbench.Stage1, cxreasonbench.Stage2, cxreasonbench.Stage3}, entered, entered, fn)
		return
	}
	rest := []cxreasonbench.Column{cxreasonbench.Stage2, cxreasonbench.Stage3, cxreasonbench.Stage4}
	for _, c.Right[0] = range r.cells[cxreasonbench.Stage1].ks(entered) {
		most := 0
		if r.path == cxreasonbench.Path1 {
			c.Unknown = PaperCases - entered
			if cxreasonbench.ExpertDefined(r.task) {
				most = c.Right[0]
			}
		}
		for c.Rejected = 0; c.Rejected <= most; c.Rejected++ {
			r.chain(c, rest, c.Accepted(), c.Remaining(), fn)
		}
	}
}

// chain goes through three stages, the first asked of some cases, and then holds completion and
// depth, which are over others.
func (r printedRow) chain(c cxreasonbench.Counts, stages []cxreasonbench.Column, asked, over int, fn func(cxreasonbench.Counts)) {
	first := 1
	if r.path == cxreasonbench.Path2 {
		first = 0
	}
	for _, x := range r.cells[stages[0]].ks(asked) {
		for _, y := range r.cells[stages[1]].ks(x) {
			for _, z := range r.cells[stages[2]].ks(y) {
				passed := x + y + z
				if first == 1 {
					passed += asked
				}
				if r.cells[cxreasonbench.Completion].fits(z, over) && r.cells[cxreasonbench.Depth].near(passed, over) {
					c.Right[first], c.Right[first+1], c.Right[first+2] = x, y, z
					fn(c)
				}
			}
		}
	}
}

// values adds the cases with a consistent value, those of them that are right, and those right in
// the first question too.
func (r printedRow) values(c cxreasonbench.Counts, fn func(cxreasonbench.Counts)) {
	last := 3
	if r.path == cxreasonbench.Path2 {
		last = 2
	}
	measured, final := c.Right[last-1], c.Right[last]
	aligned := []int{0}
	switch r.path {
	case cxreasonbench.Path1:
		aligned = r.cells[cxreasonbench.Alignment].ks(measured)
	case cxreasonbench.RePath1: // who entered was right in the first question
		aligned = []int{final}
	}
	for _, c.Aligned = range aligned {
		if c.Aligned > final {
			continue
		}
		if cxreasonbench.KindOf(r.task) != cxreasonbench.Measurement {
			fn(c)
			continue
		}
		c.Checked = measured
		for _, c.Consistent = range r.cells[cxreasonbench.Consistency].ks(measured) {
			for c.RightConsistent = max(0, c.Consistent+final-measured); c.RightConsistent <= min(c.Consistent, final); c.RightConsistent++ {
				fn(c)
			}
		}
	}
}
