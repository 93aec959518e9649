package activities

import (
	"context"
	"strconv"

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
	ids, path1, numbers := []string{}, map[string]cxreasonbench.State{}, map[string]int{}
	err = eachPacked(p.work, a.opts.Store, in.Pages, func(doc *contract.DialoguesDoc) error {
		for _, d := range doc.Dialogues {
			id := w.bench.Cases[d.Case].ID
			ids, numbers[id] = append(ids, id), d.Case
			if d.Undetermined != nil {
				out.Waits++
				continue
			}
			path1[id] = d.State
			p.step(1)
		}
		return nil
	})
	if err != nil {
		return contract.SelectPath2Result{}, err
	}
	if len(ids) != in.Range.Count {
		return out, fail(contract.ErrTypeSpec, "%d dialogues of %s, the benchmark has %d cases", len(ids), in.Range.Task, in.Range.Count)
	}
	if out.Waits > 0 {
		return out, nil
	}
	pop, err := cxreasonbench.NewPopulation(in.Range.Evaluation.Rules, in.Range.Task, ids, path1)
	if err != nil {
		// The error would name a case of the data set.
		return out, fail(contract.ErrTypeSpec, "%s: the pages of path 1 hold a dialogue that is not finished", in.Range.Task)
	}
	doc := contract.PopulationDoc{
		Format: contract.PopulationFormat, Evaluation: in.Range.Evaluation.Name, Task: in.Range.Task,
		Entries: []contract.PopulationEntry{}, FinalRight: []int{},
	}
	for _, id := range pop.FinalRight() {
		doc.FinalRight = append(doc.FinalRight, numbers[id])
	}
	for _, entry := range cxreasonbench.Entries() {
		for _, id := range pop.Entering(entry) {
			e := contract.PopulationEntry{Case: numbers[id], Entry: entry, Review: -1, Candidates: len(pop.Candidates(id)), Path1: path1[id]}
			if other := pop.Reselect(plan.Spec.Evaluation.Seed, id); other != "" {
				e.Review = numbers[other]
			}
			doc.Entries = append(doc.Entries, e)
		}
	}
	out.Count = len(doc.Entries)
	out.Population, err = putJSON(p.work, w.store(), doc, contract.PopulationMediaType)
	return out, err
}

// caseNumber is the case of a dialogue as a number of the manifest.
func caseNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fail(contract.ErrTypeSpec, "case %q of a dialogue is no number of the manifest", text)
	}
	return n, nil
}
