package compare

import (
	"fmt"
	"slices"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report/scoring"
)

// pair is one evaluation on both sides.
type pair struct {
	name  string
	index [2]int
	rules [2]cxreasonbench.Rules
	judge [2]string
	// talks are the dialogues of a side; order is that of A's pages.
	talks [2]map[talkKey]*contract.DialogueDoc
	order []talkKey
	cases [2]map[cxreasonbench.Path]map[cxreasonbench.Task][]cxreasonbench.CaseScores
	// ids are the cases of a side by number.
	ids [2][]contract.BenchmarkCase
	// paths are those that both sides were asked for.
	paths []cxreasonbench.Path
}

// talkKey pairs dialogues. path is that of the page.
type talkKey struct {
	path cxreasonbench.Path
	caseKey
}

// evaluations pairs what was evaluated and compares it.
func (c *comparison) evaluations() error {
	if !c.both("the evaluation of models", c.a.Tables != nil, c.b.Tables != nil) {
		return nil
	}
	for _, m := range c.pairs() {
		e, err := c.read(m)
		if err != nil {
			return err
		}
		if err := c.walk(e); err != nil {
			return err
		}
		for _, path := range cxreasonbench.Paths() {
			if c.both(cxreasonbench.PathTitle(path)+" of "+e.name, e.cases[0][path] != nil, e.cases[1][path] != nil) {
				e.paths = append(e.paths, path)
				c.pathCells(e, path)
			}
		}
		if err := c.flips(e); err != nil {
			return err
		}
	}
	return nil
}

// match is an evaluation's place on both sides.
type match struct{ a, b int }

// pairs matches evaluations by card and sampling, then by title, then, where one of a sampling is
// left on each side, those two.
func (c *comparison) pairs() []match {
	a, b := c.a.Tables.Evaluations, c.b.Tables.Evaluations
	left, right := map[int]bool{}, map[int]bool{}
	var out []match
	take := func(fits func(x, y *contract.SummaryEvaluation) bool) {
		for i := range a {
			for k := range b {
				if !left[i] && !right[k] && a[i].Sampling == b[k].Sampling && fits(&a[i], &b[k]) {
					left[i], right[k] = true, true
					out = append(out, match{i, k})
				}
			}
		}
	}
	take(func(x, y *contract.SummaryEvaluation) bool { return x.Model.Name == y.Model.Name })
	take(func(x, y *contract.SummaryEvaluation) bool { return x.Model.Title == y.Model.Title })
	free := func(list []contract.SummaryEvaluation, taken map[int]bool, sampling string) (n int) {
		for i := range list {
			if !taken[i] && list[i].Sampling == sampling {
				n++
			}
		}
		return n
	}
	take(func(x, y *contract.SummaryEvaluation) bool {
		return free(a, left, x.Sampling) == 1 && free(b, right, x.Sampling) == 1
	})
	for i := range a {
		c.both("evaluation "+a[i].Name, true, left[i])
	}
	for k := range b {
		c.both("evaluation "+b[k].Name, right[k], true)
	}
	slices.SortFunc(out, func(x, y match) int { return x.a - y.a })
	return out
}

// read loads the dialogues of a pair and counts them.
func (c *comparison) read(m match) (*pair, error) {
	e := &pair{name: c.a.Tables.Evaluations[m.a].Name, index: [2]int{m.a, m.b}}
	if other := c.b.Tables.Evaluations[m.b].Name; other != e.name {
		e.name += " and " + other
	}
	for i, s := range []*Side{c.a, c.b} {
		ref := s.Evaluations[e.index[i]].Evaluation
		e.rules[i], e.judge[i], e.ids[i] = ref.Rules, ref.Judge, s.Benchmark.Cases
		e.talks[i] = map[talkKey]*contract.DialogueDoc{}
		counted := scoring.New(ref)
		err := s.Pages(c.ctx, e.index[i], func(page *contract.DialoguesDoc) error {
			for k := range page.Dialogues {
				d := &page.Dialogues[k]
				at := talkKey{page.Path, e.caseAt(i, d.Case)}
				e.talks[i][at] = d
				if i == 0 {
					e.order = append(e.order, at)
				}
			}
			return counted.Add(page)
		})
		if err != nil {
			return nil, fmt.Errorf("evaluation %s: %w", ref.Name, err)
		}
		e.cases[i] = map[cxreasonbench.Path]map[cxreasonbench.Task][]cxreasonbench.CaseScores{}
		for _, p := range counted.Paths() {
			e.cases[i][p] = counted.Cases(p)
		}
	}
	return e, nil
}

func (e *pair) caseAt(side, number int) caseKey {
	if number < 0 || number >= len(e.ids[side]) {
		return caseKey{}
	}
	x := e.ids[side][number]
	return caseKey{x.Task, x.ID}
}

// paired are the scores of the cases of both sides, and by task how many cases only one has.
func (e *pair) paired(path cxreasonbench.Path) (pairs map[cxreasonbench.Task][]cxreasonbench.Pair, alone map[cxreasonbench.Task][2]int) {
	pairs, alone = map[cxreasonbench.Task][]cxreasonbench.Pair{}, map[cxreasonbench.Task][2]int{}
	for _, t := range cxreasonbench.Tasks() {
		other := map[caseKey]cxreasonbench.CaseScores{}
		for _, s := range e.cases[1][path][t] {
			other[e.keyOf(1, s)] = s
		}
		n := [2]int{}
		for _, s := range e.cases[0][path][t] {
			at := e.keyOf(0, s)
			if y, both := other[at]; both {
				pairs[t] = append(pairs[t], cxreasonbench.Pair{First: s, Second: y})
				delete(other, at)
			} else {
				n[0]++
			}
		}
		n[1] = len(other)
		alone[t] = n
	}
	return pairs, alone
}

// keyOf is the case of some scores: a number of the side's manifest as text.
func (e *pair) keyOf(side int, s cxreasonbench.CaseScores) caseKey {
	n, err := scoring.CaseNumber(s.Case)
	if err != nil {
		return caseKey{}
	}
	return e.caseAt(side, n)
}
