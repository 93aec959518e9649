package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/why"
)

// makeCalls runs a variant of the experiment for every factor whose calls are missing, one after
// the other, and returns how many calls were made.
func (a *app) makeCalls(ctx context.Context, store *artifacts.Repository, q *whyQuestion, out *whyAnswer, f whyFlags) (calls int, err error) {
	for _, name := range f.factors {
		if names := factorNames(out); !slices.Contains(names, name) {
			return 0, usageError("there are: "+strings.Join(names, ", "), "no factor is called %s", name)
		}
	}
	var scored []why.Factor
	for _, s := range out.Shares {
		scored = append(scored, s.Factors...)
	}
	for _, n := range out.Needing {
		if n.Recorded || n.Factor.Unavailable != "" || len(f.factors) > 0 && !slices.Contains(f.factors, n.Factor.Name) {
			continue
		}
		variant, err := q.ours.Apply(append(slices.Clone(scored), n.Factor)...)
		if err != nil {
			return calls, err
		}
		p, err := plannedVariant(ctx, store, variant, q.ref.Path)
		if err != nil {
			return calls, err
		}
		a.say(fmt.Sprintf("asking with %s: %s", n.Factor.Name, n.Factor.Theirs))
		o, err := a.runPlanned(ctx, store, p, f.run)
		if err != nil {
			return calls, err
		}
		if c := o.receipt.Calls; c != nil {
			calls += c.Run
		}
	}
	return calls, nil
}

// factorNames are those of all factors that differ, also of those whose calls are recorded.
func factorNames(w *whyAnswer) (out []string) {
	for _, s := range w.Shares {
		for _, f := range s.Factors {
			out = append(out, f.Name)
		}
	}
	for _, n := range w.Needing {
		out = append(out, n.Factor.Name)
	}
	return out
}

// plannedVariant stores the plan of a setting, ready to be started as any other. A cell of Path
// 1 needs no more than that.
func plannedVariant(ctx context.Context, store *artifacts.Repository, s why.Setting, path cxreasonbench.Path) (*planned, error) {
	doc := *s.Plan
	if path == cxreasonbench.Path1 {
		e := *doc.Spec.Evaluation
		e.Paths = []string{path.String()}
		doc.Spec.Evaluation = &e
	}
	data, err := doc.Encode()
	if err != nil {
		return nil, err
	}
	ref, err := store.Put(ctx, data, experiments.PlanMediaType)
	if err != nil {
		return nil, storeError(err)
	}
	return &planned{spec: &doc.Spec, doc: &doc, plan: ref, id: contract.SpecID(ref.Digest)}, nil
}
