package rewardserver

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// Pages returns the recorded requests of a run, in the order of their keys: what a segment that was
// judged by them rests on.
func Pages(ctx context.Context, store *artifacts.Repository, run string) (out []artifacts.Ref, err error) {
	err = store.Keys(ctx, contract.StepReward, func(key artifacts.Key, _ artifacts.Info) error {
		page, err := readPage(ctx, store, key)
		if err != nil || page == nil || page.RunID != run {
			return err
		}
		rec, err := store.Lookup(ctx, key)
		out = append(out, rec.Result)
		return err
	})
	return out, err
}
