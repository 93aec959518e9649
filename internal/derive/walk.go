package derive

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// Walker runs the dialogues of one task on one path over recorded answers: the same state
// machine that a workflow holds live.
type Walker struct {
	Range contract.DialogueRange
	Bench *Benchmark
	// Again is how often a judge is asked again whose verdict could not be read.
	Again int
	docs  Documents
	// population is set on Path 2.
	population *contract.PopulationDoc
}

// Walk returns the walker of a range; population is that of Path 2.
func (e *Evaluated) Walk(r contract.DialogueRange, b *Benchmark, docs Documents, population *contract.PopulationDoc) (*Walker, error) {
	w := &Walker{Range: r, Bench: b, docs: docs, Again: 1}
	if s := e.Spec.Evaluation; s != nil && s.Retry != nil && slices.Contains(s.Retry.Outcomes, cxreasonbench.JudgeUnparsable) {
		w.Again += 2 * s.Retry.Round
	}
	if r.Path == cxreasonbench.Path1 {
		return w, nil
	}
	if population.Format != contract.PopulationFormat || population.Task != r.Task || len(population.Entries) != r.Count {
		return nil, contract.Fail(contract.ErrTypeSpec, "population %s: format %q of %s with %d entries, want %s with %d",
			r.Population.Digest.Short(), population.Format, population.Task, len(population.Entries), r.Task, r.Count)
	}
	w.population = population
	return w, nil
}

// CaseAt is the number of the case at a place of the range, and of its re-evaluation's; -1
// for none.
func (w *Walker) CaseAt(place int) (number, review int) {
	if w.population != nil {
		e := w.population.Entries[place]
		return e.Case, e.Review
	}
	return w.Range.First + place, -1
}

// Case returns the questions of a case by its number.
func (w *Walker) Case(ctx context.Context, number int) (*Case, error) {
	return w.Bench.caseOf(ctx, w.docs, number)
}

// Begin returns the dialogue at a place before its first call.
func (w *Walker) Begin(ctx context.Context, place int) (*cxreasonbench.Session, error) {
	if place < 0 || place >= w.Range.Count {
		return nil, contract.Fail(contract.ErrTypeSpec, "dialogue %d of %s: there are %d", place, w.Range.Task, w.Range.Count)
	}
	number, review := w.CaseAt(place)
	c, err := w.Case(ctx, number)
	if err != nil {
		return nil, err
	}
	o := cxreasonbench.SessionOptions{Judged: w.Range.Evaluation.Judge != "", Again: w.Again}
	if w.population == nil {
		s, _, err := cxreasonbench.Start(w.Range.Evaluation.Rules, w.Range.Task, strconv.Itoa(number), c.Shape(cxreasonbench.Path1), w.Range.Evaluation.Draws)
		if err != nil {
			return nil, contract.Fail(contract.ErrTypeSpec, "case %d: %w", number, err)
		}
		return cxreasonbench.NewSession(s, o)
	}
	if review >= 0 {
		other, err := w.Case(ctx, review)
		if err != nil {
			return nil, err
		}
		o.ReviewCase, o.ReviewShape = strconv.Itoa(review), other.Shape(cxreasonbench.RePath1)
	}
	s, _, err := cxreasonbench.StartPath2(w.population.Entries[place].Path1, c.Guidance())
	if err != nil {
		return nil, contract.Fail(contract.ErrTypeSpec, "case %d: %w", number, err)
	}
	return cxreasonbench.NewSession(s, o)
}

// Recorded returns what came of a call, with the key of its record; ok is false when it has
// none.
type Recorded func(ctx context.Context, in contract.AskInput) (out contract.AskResult, key artifacts.Key, ok bool, err error)

// Visit is called for every recorded call of a walk, with the key of its record, after the
// session has its result.
type Visit func(c cxreasonbench.Call, out contract.AskResult, key artifacts.Key) error

// Run feeds a session with what is recorded, as far as that goes. It returns the calls that
// have no record.
func (w *Walker) Run(ctx context.Context, s *cxreasonbench.Session, recorded Recorded, see Visit) (missing []cxreasonbench.Call, err error) {
	for !s.Done() {
		calls := s.Calls()
		if len(calls) == 0 {
			return missing, nil
		}
		for _, c := range calls {
			if s.Done() {
				break // undetermined by another draw
			}
			in, err := w.Range.AskInput(s, c, 0)
			if err != nil {
				return nil, err
			}
			out, key, ok, err := recorded(ctx, in)
			if err != nil {
				return nil, fmt.Errorf("case %d, %s: %w", in.Case, c, err)
			}
			if !ok {
				missing = append(missing, c)
				continue
			}
			if err := s.Record(c, out.CallResult()); err != nil {
				return nil, err
			}
			if see != nil {
				if err := see(c, out, key); err != nil {
					return nil, err
				}
			}
		}
	}
	return nil, nil
}

// Path1 is what a finished or undetermined dialogue of Path 1 means for Path 2.
type Path1 struct {
	Case int
	// Known is false for a dialogue without a result.
	Known bool
	State cxreasonbench.State
}

// Population says who enters Path 2 of the walker's task, and on which case each is
// re-evaluated. The choice depends on the identifiers of the cases, the seed and the results:
// not on the order of a case list, on shards, workers or resumption.
//
// While a case has no Path 1 result there is no population, and waits counts those cases.
func (w *Walker) Population(seed uint64, path1 []Path1) (doc *contract.PopulationDoc, waits int, err error) {
	ids, states, numbers := []string{}, map[string]cxreasonbench.State{}, map[string]int{}
	for _, d := range path1 {
		if d.Case < 0 || d.Case >= len(w.Bench.Cases) {
			return nil, 0, contract.Fail(contract.ErrTypeSpec, "a dialogue of %s is about case %d, the benchmark has %d", w.Range.Task, d.Case, len(w.Bench.Cases))
		}
		id := w.Bench.Cases[d.Case].ID
		ids, numbers[id] = append(ids, id), d.Case
		if !d.Known {
			waits++
			continue
		}
		states[id] = d.State
	}
	if len(ids) != w.Range.Count {
		return nil, 0, contract.Fail(contract.ErrTypeSpec, "%d dialogues of %s, the benchmark has %d cases", len(ids), w.Range.Task, w.Range.Count)
	}
	if waits > 0 {
		return nil, waits, nil
	}
	pop, err := cxreasonbench.NewPopulation(w.Range.Evaluation.Rules, w.Range.Task, ids, states)
	if err != nil {
		// The error would name a case of the data set.
		return nil, 0, contract.Fail(contract.ErrTypeSpec, "%s: the pages of path 1 hold a dialogue that is not finished", w.Range.Task)
	}
	doc = &contract.PopulationDoc{
		Format: contract.PopulationFormat, Evaluation: w.Range.Evaluation.Name, Task: w.Range.Task,
		Entries: []contract.PopulationEntry{}, FinalRight: []int{},
	}
	for _, id := range pop.FinalRight() {
		doc.FinalRight = append(doc.FinalRight, numbers[id])
	}
	for _, entry := range cxreasonbench.Entries() {
		for _, id := range pop.Entering(entry) {
			e := contract.PopulationEntry{Case: numbers[id], Entry: entry, Review: -1, Candidates: len(pop.Candidates(id)), Path1: states[id]}
			if other := pop.Reselect(seed, id); other != "" {
				e.Review = numbers[other]
			}
			doc.Entries = append(doc.Entries, e)
		}
	}
	return doc, 0, nil
}
