package activities

import (
	"context"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// SelectPath2 reads the Path 1 results of every case of a task and says who enters Path 2, and
// on which case each is re-evaluated. The choice depends on the identifiers of the cases, the
// seed and the results: not on the order of a case list, on shards, workers or resumption.
//
// While a case has no Path 1 result there is no population: Path 2 of the task waits.
func (a *Activities) SelectPath2(ctx context.Context, in contract.SelectPath2Input) (contract.SelectPath2Result, error) {
	p := a.beat(ctx, in.Range.Count)
	defer p.close()
	in.Range.Path = cxreasonbench.Path1
	w, err := a.walk(p.work, in.Range)
	if err != nil {
		return contract.SelectPath2Result{}, err
	}
	plan, err := a.asks.plan(p.work, in.Range.Plan)
	if err != nil {
		return contract.SelectPath2Result{}, err
	}
	var out contract.SelectPath2Result
	var doc *contract.PopulationDoc
	if doc, out.Waits, err = w.select2(p.work, in.Pages, plan.Spec.Evaluation.Seed, func() { p.step(1) }); err != nil || doc == nil {
		return out, err
	}
	out.Count = len(doc.Entries)
	out.Population, err = putJSON(p.work, w.store(), doc, contract.PopulationMediaType)
	return out, err
}

// select2 says who enters Path 2 by the pages of Path 1; nil while cases, of which it returns
// the number, have no result there. moved is called for every case.
func (w *walker) select2(ctx context.Context, pages artifacts.Ref, seed uint64, moved func()) (doc *contract.PopulationDoc, waits int, err error) {
	ids, path1, numbers := []string{}, map[string]cxreasonbench.State{}, map[string]int{}
	err = eachPacked(ctx, w.a.opts.Store, pages, func(doc *contract.DialoguesDoc) error {
		for _, d := range doc.Dialogues {
			if d.Case < 0 || d.Case >= len(w.bench.Cases) {
				return fail(contract.ErrTypeSpec, "a dialogue of %s is about case %d, the benchmark has %d", w.r.Task, d.Case, len(w.bench.Cases))
			}
			id := w.bench.Cases[d.Case].ID
			ids, numbers[id] = append(ids, id), d.Case
			if d.Undetermined != nil {
				waits++
				continue
			}
			path1[id] = d.State
			moved()
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	if len(ids) != w.r.Count {
		return nil, 0, fail(contract.ErrTypeSpec, "%d dialogues of %s, the benchmark has %d cases", len(ids), w.r.Task, w.r.Count)
	}
	if waits > 0 {
		return nil, waits, nil
	}
	pop, err := cxreasonbench.NewPopulation(w.r.Evaluation.Rules, w.r.Task, ids, path1)
	if err != nil {
		// The error would name a case of the data set.
		return nil, 0, fail(contract.ErrTypeSpec, "%s: the pages of path 1 hold a dialogue that is not finished", w.r.Task)
	}
	doc = &contract.PopulationDoc{
		Format: contract.PopulationFormat, Evaluation: w.r.Evaluation.Name, Task: w.r.Task,
		Entries: []contract.PopulationEntry{}, FinalRight: []int{},
	}
	for _, id := range pop.FinalRight() {
		doc.FinalRight = append(doc.FinalRight, numbers[id])
	}
	for _, entry := range cxreasonbench.Entries() {
		for _, id := range pop.Entering(entry) {
			e := contract.PopulationEntry{Case: numbers[id], Entry: entry, Review: -1, Candidates: len(pop.Candidates(id)), Path1: path1[id]}
			if other := pop.Reselect(seed, id); other != "" {
				e.Review = numbers[other]
			}
			doc.Entries = append(doc.Entries, e)
		}
	}
	return doc, 0, nil
}

// caseNumber is the case of a dialogue as a number of the manifest.
func caseNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fail(contract.ErrTypeSpec, "case %q of a dialogue is no number of the manifest", text)
	}
	return n, nil
}
