package responder

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/stats"
)

// published are the figures of the paper's tables, read once. They are part of the program.
var published = sync.OnceValues(cxreasonbench.PaperFigures)

// PaperModels returns the names of the models that the paper has tables of.
func PaperModels() []string {
	p, err := published()
	if err != nil {
		return nil
	}
	return p.Models()
}

// PaperTables recovers the numbers of cases behind the published tables of a model.
//
// Every percentage printed is an adjusted Wilson value of x of n cases, n at most 100, and so
// names few pairs of whole numbers; the columns of a row share their numbers, which leaves one
// row of numbers almost always. Of several, the one is taken whose cases without an answer and
// with a rejected criterion are as many as Path 2 began with; then the one with the most
// cases. Cells printed N/A have nobody asked.
//
// Not printed, and therefore set: of the cases that do not end right, half have the first
// question right.
//
// Source: [paper] tables 11 to 28; formulas as the scores of cxreasonbench.
//
// Errors: an unknown model; a row that no numbers explain.
func PaperTables(model string, s cxreasonbench.Sampling) (map[cxreasonbench.Task]Table, error) {
	p, err := published()
	if err != nil {
		return nil, err
	}
	out := map[cxreasonbench.Task]Table{}
	for _, t := range cxreasonbench.Tasks() {
		r := rowReader{p, s, t, model}
		table, err := r.recover()
		if err != nil {
			return nil, fmt.Errorf("responder: %s, %s, %s: %w", model, s, t, err)
		}
		out[t] = table
	}
	return out, nil
}

// rowReader reads the printed cells of one task of a model.
type rowReader struct {
	published *cxreasonbench.Published
	sampling  cxreasonbench.Sampling
	task      cxreasonbench.Task
	model     string
}

// printed is a cell: a number in hundredths, or N/A.
type printed struct {
	known bool
	value int
}

func (r rowReader) cell(p cxreasonbench.Path, c cxreasonbench.Column) printed {
	f, _ := r.published.Figure(p, r.sampling, r.task.String(), r.model, c)
	return printed{f.Known, int(math.Round(f.Value * 100))}
}

// row are the numbers of cases of a path: those that came to it, rejected, and right at each
// stage. first is the number of attempts of the first stage.
type row struct{ first, c1, rejected, c2, c3, c4 int }

func (r rowReader) recover() (Table, error) {
	one := r.chain(cxreasonbench.Path1)
	two := r.chain(cxreasonbench.Path2)
	again := r.chain(cxreasonbench.RePath1)
	if len(one) == 0 || len(two) == 0 || len(again) == 0 {
		return Table{}, fmt.Errorf("no numbers of cases give the printed row")
	}
	var best [3]row
	grade := -1
	for _, a := range one {
		for _, b := range two {
			for _, c := range again {
				g := a.first
				if b.first == paperCases-a.first+a.rejected {
					g += 1000
				}
				if fits(r.cell(cxreasonbench.RePath1, cxreasonbench.Initial), c.first, b.c4) {
					g += 1000
				}
				if g > grade {
					grade, best = g, [3]row{a, b, c}
				}
			}
		}
	}
	return r.table(best[0], best[1], best[2]), nil
}

// paperCases is the number of cases of each task.
const paperCases = 100

// chain returns every row of numbers that gives the printed cells of a path. In Path 2 there
// is no criterion; its three stages are numbered like the last three of the others.
func (r rowReader) chain(p cxreasonbench.Path) []row {
	stages := []cxreasonbench.Column{cxreasonbench.Stage1, cxreasonbench.Stage2, cxreasonbench.Stage3, cxreasonbench.Stage4}
	if p == cxreasonbench.Path2 {
		stages = []cxreasonbench.Column{0, cxreasonbench.Stage1, cxreasonbench.Stage2, cxreasonbench.Stage3}
	}
	var out []row
	for first := 0; first <= paperCases; first++ {
		lowest := 0
		if p == cxreasonbench.Path2 {
			lowest = first
		}
		for c1 := lowest; c1 <= first; c1++ {
			if p != cxreasonbench.Path2 && !fits(r.cell(p, stages[0]), c1, first) {
				continue
			}
			most := 0
			if p == cxreasonbench.Path1 && cxreasonbench.ExpertDefined(r.task) {
				most = c1
			}
			for rejected := 0; rejected <= most; rejected++ {
				out = append(out, r.rest(p, stages, row{first: first, c1: c1, rejected: rejected})...)
			}
		}
	}
	return out
}

// rest goes on with the three last stages, completion and depth.
func (r rowReader) rest(p cxreasonbench.Path, stages []cxreasonbench.Column, w row) []row {
	var out []row
	asked, over := w.c1-w.rejected, w.first-w.rejected
	for w.c2 = 0; w.c2 <= asked; w.c2++ {
		if !fits(r.cell(p, stages[1]), w.c2, asked) {
			continue
		}
		for w.c3 = 0; w.c3 <= w.c2; w.c3++ {
			if !fits(r.cell(p, stages[2]), w.c3, w.c2) {
				continue
			}
			for w.c4 = 0; w.c4 <= w.c3; w.c4++ {
				depth := w.c2 + w.c3 + w.c4
				if p != cxreasonbench.Path2 {
					depth += asked
				}
				if fits(r.cell(p, stages[3]), w.c4, w.c3) && fits(r.cell(p, cxreasonbench.Completion), w.c4, over) &&
					fitsDepth(r.cell(p, cxreasonbench.Depth), depth, over) {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// table completes the numbers with those that depend on them alone.
func (r rowReader) table(one, two, again row) Table {
	numbers := func(p cxreasonbench.Path, w row) *Numbers {
		n := &Numbers{Criteria: float64(w.c1), Rejected: float64(w.rejected), Structures: float64(w.c2), Measurement: float64(w.c3), Final: float64(w.c4)}
		n.Consistent = float64(r.of(p, cxreasonbench.Consistency, w.c3))
		return n
	}
	a, b, c := numbers(cxreasonbench.Path1, one), numbers(cxreasonbench.Path2, two), numbers(cxreasonbench.RePath1, again)
	a.Cases, a.Unknown = paperCases, float64(paperCases-one.first)
	a.Aligned = float64(min(r.of(cxreasonbench.Path1, cxreasonbench.Alignment, one.c3), one.c4))
	a.Initial = a.Aligned + math.Round(float64(one.first-one.c4)/2)
	b.Cases, b.Criteria = float64(two.first), 0
	c.Cases, c.Initial = float64(max(two.c4, again.first)), float64(again.first)
	t := Table{Path1: a}
	if two.first > 0 {
		t.Path2 = b
	}
	if c.Cases > 0 {
		t.RePath1 = c
	}
	return t
}

// of returns the x that gives a printed share of n; 0 where there is none.
func (r rowReader) of(p cxreasonbench.Path, c cxreasonbench.Column, n int) int {
	cell := r.cell(p, c)
	for x := 0; x <= n && cell.known; x++ {
		if fits(cell, x, n) {
			return x
		}
	}
	return 0
}

// fits reports whether x of n gives a printed percentage.
func fits(cell printed, x, n int) bool {
	if !cell.known || n == 0 {
		return !cell.known && n == 0
	}
	return wilsonHundredths(x, n) == cell.value
}

// fitsDepth reports whether a sum over n cases gives a printed mean, in hundredths, give or
// take how it was rounded.
func fitsDepth(cell printed, sum, n int) bool {
	if !cell.known || n == 0 {
		return !cell.known && n == 0
	}
	return math.Abs(100*float64(sum)/float64(n)-float64(cell.value)) < 0.51
}

// wilsonHundredths is the adjusted Wilson percentage of x of n as printed, in hundredths.
//
// Source: [paper] formula 4; [official code] for 0 of n.
var wilsonHundredths = func() func(x, n int) int {
	var table [paperCases + 1][paperCases + 1]int
	for n := 1; n <= paperCases; n++ {
		for x := 1; x <= n; x++ {
			centre, half, _ := stats.Proportion{K: x, N: n}.WilsonCentre(1.96)
			v, err := strconv.ParseFloat(strconv.FormatFloat(100*centre*(1-half), 'f', 2, 64), 64)
			if err == nil {
				table[n][x] = int(math.Round(v * 100))
			}
		}
	}
	return func(x, n int) int { return table[n][x] }
}()
