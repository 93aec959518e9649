package activities

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
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
	var path1 []derive.Path1
	err = eachPacked(ctx, w.a.opts.Store, pages, func(doc *contract.DialoguesDoc) error {
		path1 = append(path1, path1Of(doc.Dialogues)...)
		for range doc.Dialogues {
			moved()
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return w.Population(seed, path1)
}

// path1Of is what dialogues of Path 1 mean for Path 2.
func path1Of(dialogues []contract.DialogueDoc) []derive.Path1 {
	list := make([]derive.Path1, len(dialogues))
	for i, d := range dialogues {
		list[i] = derive.Path1{Case: d.Case, Known: d.Undetermined == nil, State: d.State}
	}
	return list
}
