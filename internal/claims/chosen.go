package claims

import (
	"fmt"

	"cxrepro/internal/cxreasonbench"
)

// Chosen returns one set of numbers behind the published rows of a task, for a simulation that is
// to come to the published figures.
//
// Of several that agree with everything printed, the one with the most cases that answer the first
// question is taken. Where a row contradicts the path before it, the numbers are those out of the
// cases that there are which give the most of its printed figures.
//
// Errors: an unknown model; a row that no numbers explain.
func Chosen(model string, s cxreasonbench.Sampling, t cxreasonbench.Task) (map[cxreasonbench.Path]cxreasonbench.Counts, error) {
	p, err := PaperFigures()
	if err != nil {
		return nil, err
	}
	rows, err := PaperRows(model, s, t)
	if err != nil {
		return nil, err
	}
	for _, path := range cxreasonbench.Paths() {
		if len(rows.Alone[path]) == 0 {
			return nil, fmt.Errorf("%s: %s", path, rows.Contradiction[path])
		}
	}
	one := rows.Joint[cxreasonbench.Path1][0]
	for _, c := range rows.Joint[cxreasonbench.Path1] {
		if c.Entered > one.Entered {
			one = c
		}
	}
	two, ok := first(rows.Joint[cxreasonbench.Path2], func(c cxreasonbench.Counts) bool { return c.Entered == sent(one) })
	if !ok {
		two = rowOf(p, model, s, t, cxreasonbench.Path2).closest(sent(one), sent(one))
	}
	again, ok := first(rows.Joint[cxreasonbench.RePath1], func(c cxreasonbench.Counts) bool { return c.Entered <= guided(two) })
	if !ok {
		again = rowOf(p, model, s, t, cxreasonbench.RePath1).closest(0, guided(two))
	}
	return map[cxreasonbench.Path]cxreasonbench.Counts{cxreasonbench.Path1: one, cxreasonbench.Path2: two, cxreasonbench.RePath1: again}, nil
}

func first(list []cxreasonbench.Counts, ok func(cxreasonbench.Counts) bool) (cxreasonbench.Counts, bool) {
	for _, c := range list {
		if ok(c) {
			return c, true
		}
	}
	return cxreasonbench.Counts{}, false
}

// closest returns the counts that give the most printed figures of a row that none gives whole,
// out of so many cases as least to most that entered.
func (r printedRow) closest(least, most int) cxreasonbench.Counts {
	best, grade := cxreasonbench.Counts{}, -1
	try := func(c cxreasonbench.Counts) {
		if same, _ := r.matches(c); same > grade {
			best, grade = c, same
		}
	}
	stages := 3
	if r.path != cxreasonbench.Path2 {
		stages = 4
	}
	var descend func(c cxreasonbench.Counts, stage, asked int)
	descend = func(c cxreasonbench.Counts, stage, asked int) {
		if stage < stages {
			for right := 0; right <= asked; right++ {
				c.Right[stage] = right
				descend(c, stage+1, right)
			}
			return
		}
		c.Aligned = c.Right[stages-1]
		try(c)
		if cxreasonbench.KindOf(r.task) == cxreasonbench.Measurement {
			r.values(c, try)
		}
	}
	for entered := least; entered <= most; entered++ {
		descend(cxreasonbench.Counts{Entered: entered}, 0, entered)
	}
	return best
}
