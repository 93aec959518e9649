package claims

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/stats"
)

// Behind are the whole numbers behind a printed figure.
type Behind struct {
	// Solutions are all k of n that agree with the figure and everything printed around it.
	Solutions []stats.Proportion `json:"solutions,omitempty"`
	// Refined are all numbers behind the figure in parentheses: the k of n of the figure beside
	// it, and the cases with a consistent value.
	Refined []RefinedSolution `json:"refined,omitempty"`
	// Alone counts the k of n that give the figure by itself, out of at most PaperCases.
	Alone int `json:"alone"`
	// Unique: exactly one solution, in parentheses too. A mean is unique where every task in it is.
	Unique bool `json:"unique"`
	// Tasks, of a mean, are the numbers behind each task that enters it.
	Tasks []TaskBehind `json:"tasks,omitempty"`
	// Why there is none.
	Why string `json:"why,omitempty"`
}

// RefinedSolution is what a figure in parentheses is made of. Of a percentage it is that of k of
// n times the share of consistent values; of a depth k stages passed over n cases.
type RefinedSolution struct {
	stats.Proportion
	Consistent *stats.Proportion `json:"consistent,omitempty"`
}

// TaskBehind are the numbers behind one task of a mean.
type TaskBehind struct {
	Task      cxreasonbench.Task `json:"task"`
	Solutions []stats.Proportion `json:"solutions"`
}

// behindPlace returns the whole numbers behind the figure printed at a place.
func behindPlace(at cxreasonbench.Place) (Behind, error) {
	t, ok := at.Task()
	if !ok {
		return behindMean(at)
	}
	p, err := PaperFigures()
	if err != nil {
		return Behind{}, err
	}
	f, _ := p.Figure(at)
	if !f.Known {
		return Behind{Why: "the paper has no value: nobody was asked"}, nil
	}
	rows, err := PaperRows(at.Model, at.Sampling, t)
	if err != nil {
		return Behind{}, err
	}
	b := Behind{Alone: alone(at.Column, f)}
	for _, n := range rows.Joint[at.Path] {
		cell, _ := cxreasonbench.TaskRow(released(), t, at.Path, n).Cell(at.Column)
		if !cell.Plain.Known {
			continue
		}
		pair := stats.Proportion{K: cell.Plain.K, N: cell.Plain.N}
		if !slices.Contains(b.Solutions, pair) {
			b.Solutions = append(b.Solutions, pair)
		}
		if f.HasRefined {
			b.addRefined(cell, n)
		}
	}
	slices.SortFunc(b.Solutions, byNK)
	b.Unique = len(b.Solutions) == 1 && len(b.Refined) <= 1
	b.Why = rows.Contradiction[at.Path]
	return b, nil
}

func (b *Behind) addRefined(cell cxreasonbench.Cell, n cxreasonbench.Counts) {
	s := RefinedSolution{Proportion: stats.Proportion{K: cell.Refined.K, N: cell.Refined.N}}
	if cell.Refined.Formula == cxreasonbench.FormulaRefined {
		s.Consistent = &stats.Proportion{K: n.Consistent, N: n.Checked}
	}
	same := func(x RefinedSolution) bool {
		return x.Proportion == s.Proportion && (x.Consistent == nil) == (s.Consistent == nil) && (s.Consistent == nil || *x.Consistent == *s.Consistent)
	}
	if !slices.ContainsFunc(b.Refined, same) {
		b.Refined = append(b.Refined, s)
	}
}

func byNK(a, b stats.Proportion) int {
	if a.N != b.N {
		return a.N - b.N
	}
	return a.K - b.K
}

// alone counts the k of n that give a figure by itself.
func alone(c cxreasonbench.Column, f cxreasonbench.PublishedFigure) int {
	n := 0
	cell := printed{true, true, hundredths(f.Value)}
	for of := 1; of <= PaperCases; of++ {
		if c != cxreasonbench.Depth {
			n += len(cell.ks(of))
			continue
		}
		for k := 0; k <= 4*of; k++ {
			if hundredths(cxreasonbench.RoundNumpy(float64(k)/float64(of), 2)) == cell.value {
				n++
			}
		}
	}
	return n
}

// behindMean collects the tasks behind a mean.
func behindMean(at cxreasonbench.Place) (Behind, error) {
	b := Behind{Unique: true}
	for _, t := range at.Tasks() {
		task := at
		task.Row = t.String()
		one, err := behindPlace(task)
		if err != nil {
			return b, err
		}
		if len(one.Solutions) == 0 {
			continue
		}
		b.Tasks = append(b.Tasks, TaskBehind{t, one.Solutions})
		b.Unique = b.Unique && one.Unique
	}
	if len(b.Tasks) == 0 {
		b.Unique, b.Why = false, "no task of the group has a value"
	}
	return b, nil
}

// Words tells the solutions: "13/14 unique", "3 solutions: 0/31, 0/32, 0/33".
func (b Behind) Words() string {
	if len(b.Tasks) > 0 {
		many := 0
		for _, t := range b.Tasks {
			if len(t.Solutions) > 1 {
				many++
			}
		}
		words := fmt.Sprintf("mean of %d tasks", len(b.Tasks))
		if many == 0 {
			return words + ", each unique"
		}
		return fmt.Sprintf("%s, %d of them with several solutions", words, many)
	}
	if len(b.Solutions) == 0 {
		return b.Why
	}
	pair := func(p stats.Proportion) string { return fmt.Sprintf("%d/%d", p.K, p.N) }
	words := ""
	if len(b.Solutions) == 1 {
		words = pair(b.Solutions[0])
		if b.Unique {
			words += " unique"
		}
	} else {
		words = fmt.Sprintf("%d solutions: ", len(b.Solutions)) + listed(b.Solutions, pair)
	}
	if len(b.Refined) > 0 {
		words += "; (" + listed(b.Refined, RefinedSolution.words) + ")"
	}
	return words
}

func (r RefinedSolution) words() string {
	if r.Consistent == nil {
		return fmt.Sprintf("%d/%d", r.K, r.N)
	}
	return fmt.Sprintf("%d/%d x %d/%d", r.K, r.N, r.Consistent.K, r.Consistent.N)
}

// mostListed bounds how many solutions are listed in words.
const mostListed = 6

func listed[T any](list []T, word func(T) string) string {
	var words []string
	for i, x := range list {
		if i == mostListed {
			words = append(words, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		words = append(words, word(x))
	}
	return strings.Join(words, ", ")
}
