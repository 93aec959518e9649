package quiztraining

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// Rounds reads the rounds of a training from the records, whoever made them and in whatever
// attempt.
type Rounds struct {
	Store    *artifacts.Repository
	Training contract.Training
	Ref      artifacts.Ref

	run  artifacts.Digest // the run that rolls out, zero before it is planned
	seen map[artifacts.Key]bool
	kept []contract.Batch // found, and a step before it is not
	next int
}

// Next returns the batches that were recorded since the last call, in the order of their steps
// and without a gap.
func (r *Rounds) Next(ctx context.Context) (out []contract.Batch, err error) {
	if r.run.IsZero() {
		if r.run, err = r.rollingRun(ctx); err != nil || r.run.IsZero() {
			return nil, err
		}
		r.seen, r.next = map[artifacts.Key]bool{}, 1
	}
	err = r.Store.Keys(ctx, contract.StepBatch, func(key artifacts.Key, _ artifacts.Info) error {
		if r.seen[key] {
			return nil
		}
		b, ok, err := recorded[contract.Batch](ctx, r.Store, key)
		if err != nil || !ok {
			return err
		}
		r.seen[key] = true
		if b.Run == r.run {
			r.kept = append(r.kept, b)
		}
		return nil
	})
	slices.SortStableFunc(r.kept, func(a, b contract.Batch) int { return cmp.Compare(a.Step, b.Step) })
	for len(r.kept) > 0 && r.kept[0].Step <= r.next {
		if r.kept[0].Step == r.next {
			out, r.next = append(out, r.kept[0]), r.next+1
		}
		r.kept = r.kept[1:]
	}
	return out, err
}

// rollingRun follows the records from the initial weights to the run that rolls out.
func (r *Rounds) rollingRun(ctx context.Context) (artifacts.Digest, error) {
	weights := r.Training.BaseWeights
	for i := range r.Training.Runs {
		run, ok, err := find[contract.PlannedRun](ctx, r.Store, contract.PlanTrainingKey(r.Ref.Digest, i, weights))
		if err != nil || !ok || run.RollsOut {
			return run.Run, err
		}
		for from := 0; from < run.Steps; from += run.Segment {
			s, ok, err := find[contract.TrainedSegment](ctx, r.Store, contract.TrainSegmentKey(run.Spec.Digest, weights, from, min(from+run.Segment, run.Steps), artifacts.Digest{}))
			if err != nil || !ok {
				return artifacts.Digest{}, err
			}
			weights = s.Weights
		}
	}
	return artifacts.Digest{}, nil
}

func find[T any](ctx context.Context, store *artifacts.Repository, doc artifacts.KeyDoc) (v T, ok bool, err error) {
	key, err := doc.Key()
	if err != nil {
		return v, false, err
	}
	return recorded[T](ctx, store, key)
}

// recorded reads the result of a record; ok is false where there is none.
func recorded[T any](ctx context.Context, store *artifacts.Repository, key artifacts.Key) (v T, ok bool, err error) {
	rec, err := store.Lookup(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	data, err := store.Get(ctx, rec.Result)
	if err != nil {
		return v, false, err
	}
	return v, true, json.Unmarshal(data, &v)
}
