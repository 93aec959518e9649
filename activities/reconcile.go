package activities

import (
	"context"
	"errors"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
)

// ReconcilePage compares what a page of windows should have left in the index with what is
// there, and names the windows that lack a record. It counts keys, not activities: an
// activity that ended well without its records would be found here.
func (a *Activities) ReconcilePage(ctx context.Context, in contract.ReconcileInput) (contract.ReconcileResult, error) {
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return contract.ReconcileResult{}, err
	}
	data, err := a.dataset(ctx, in.Manifest)
	if err != nil {
		return contract.ReconcileResult{}, err
	}
	p := a.beat(ctx, in.End-in.Begin)
	defer p.close()
	var out contract.ReconcileResult
	for i := in.Begin; i < in.End; i++ {
		if err := p.next(); err != nil {
			return contract.ReconcileResult{}, err
		}
		if slices.Contains(in.Skip, i) {
			continue
		}
		entries, err := data.Window(p.work, i)
		if err != nil {
			return contract.ReconcileResult{}, err
		}
		keys, err := a.expected(p, pl, in.Stage, entries)
		if err != nil {
			return contract.ReconcileResult{}, err
		}
		absent := len(keys) == 0
		for _, key := range keys {
			_, err := a.opts.Store.Lookup(p.work, key)
			switch {
			case errors.Is(err, artifacts.ErrNotFound):
				absent = true
				out.Absent++
			case err != nil:
				return contract.ReconcileResult{}, err
			}
			p.progress()
		}
		out.Keys += len(keys)
		if absent {
			out.Missing = append(out.Missing, i)
		}
		p.step(1)
	}
	return out, nil
}

// expected lists the keys that a window must have in a stage; none when the window's own
// inputs are missing.
func (a *Activities) expected(p *pulse, pl *derive.Plan, stage string, entries []contract.Entry) ([]artifacts.Key, error) {
	var docs []artifacts.KeyDoc
	if stage == contract.StageSegment {
		for _, e := range entries {
			docs = append(docs, pl.MasksKey(e))
		}
	} else {
		w, missing, err := a.openWindow(p, pl, entries)
		if err != nil || missing > 0 {
			return nil, err
		}
		for _, task := range pl.Tasks {
			docs = append(docs, w.key(task))
		}
	}
	keys := make([]artifacts.Key, len(docs))
	for i, doc := range docs {
		key, err := doc.Key()
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}
