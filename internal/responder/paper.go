package responder

import (
	"fmt"
	"math"

	"cxrepro/internal/claims"
	"cxrepro/internal/cxreasonbench"
)

// PaperModels returns the names of the models that the paper has tables of.
func PaperModels() []string {
	p, err := claims.PaperFigures()
	if err != nil {
		return nil
	}
	return p.Models()
}

// PaperTables recovers the numbers of cases behind the published tables of a model.
//
// Of several numbers that agree with everything printed, those are taken that [claims.Chosen]
// chooses. Cells printed N/A have nobody asked.
//
// Not printed, and therefore set: of the cases that do not end right, half have the first
// question right.
//
// Source: [paper] tables 11 to 28; formulas as the scores of cxreasonbench.
//
// Errors: an unknown model; a row that no numbers explain.
func PaperTables(model string, s cxreasonbench.Sampling) (map[cxreasonbench.Task]Table, error) {
	out := map[cxreasonbench.Task]Table{}
	for _, t := range cxreasonbench.Tasks() {
		counts, err := claims.Chosen(model, s, t)
		if err != nil {
			return nil, fmt.Errorf("responder: %s, %s, %s: %w", model, s, t, err)
		}
		out[t] = tableOf(t, counts)
	}
	return out, nil
}

// tableOf completes the numbers with those that depend on them alone.
func tableOf(task cxreasonbench.Task, of map[cxreasonbench.Path]cxreasonbench.Counts) Table {
	numbers := func(p cxreasonbench.Path) *Numbers {
		c := of[p]
		stages := c.Right
		if p == cxreasonbench.Path2 { // its stages are the last three of the others
			stages = [4]int{0, c.Right[0], c.Right[1], c.Right[2]}
		}
		n := &Numbers{Criteria: float64(stages[0]), Rejected: float64(c.Rejected), Structures: float64(stages[1]), Measurement: float64(stages[2]), Final: float64(stages[3])}
		if cxreasonbench.KindOf(task) == cxreasonbench.Measurement {
			right := float64(c.RightConsistent)
			n.Consistent, n.RightConsistent = float64(c.Consistent), &right
		}
		return n
	}
	a, b, c := numbers(cxreasonbench.Path1), numbers(cxreasonbench.Path2), numbers(cxreasonbench.RePath1)
	one, two, again := of[cxreasonbench.Path1], of[cxreasonbench.Path2], of[cxreasonbench.RePath1]
	a.Cases, a.Unknown, a.Aligned = claims.PaperCases, float64(one.Unknown), float64(one.Aligned)
	a.Initial = a.Aligned + math.Round(float64(one.Entered-one.Right[3])/2)
	b.Cases = float64(two.Entered)
	c.Cases, c.Initial = float64(max(two.Right[2], again.Entered)), float64(again.Entered)
	t := Table{Path1: a}
	if two.Entered > 0 {
		t.Path2 = b
	}
	if c.Cases > 0 {
		t.RePath1 = c
	}
	return t
}
