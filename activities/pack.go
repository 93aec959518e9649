package activities

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// eachPacked reads the documents of a Packed list one after the other.
func eachPacked[T any](ctx context.Context, store *artifacts.Repository, list artifacts.Ref, fn func(*T) error) error {
	packed, err := getJSON[contract.Packed](ctx, store, list)
	if err != nil {
		return err
	}
	for _, item := range packed.Items {
		doc, err := getJSON[T](ctx, store, item.Ref)
		if err != nil {
			return err
		}
		if err := fn(&doc); err != nil {
			return err
		}
	}
	return nil
}

// EachRollout calls fn for every rollout of a set, in the order of its items.
func EachRollout(ctx context.Context, store *artifacts.Repository, set artifacts.Ref, fn func(*contract.RolloutDoc) error) error {
	doc, err := getJSON[contract.RolloutSetDoc](ctx, store, set)
	if err != nil {
		return err
	}
	return eachPacked(ctx, store, doc.Pages, func(page *contract.RolloutsDoc) error {
		for i := range page.Rollouts {
			if err := fn(&page.Rollouts[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// PackRefs appends references to a stored list, so that a workflow carries one digest.
func (a *Activities) PackRefs(ctx context.Context, in contract.PackInput) (contract.PackResult, error) {
	p := a.beat(ctx, len(in.Add))
	defer p.close()
	var list contract.Packed
	if !in.Previous.IsZero() {
		var err error
		if list, err = getJSON[contract.Packed](p.work, a.opts.Store, in.Previous); err != nil {
			return contract.PackResult{}, err
		}
	}
	list.Items = append(list.Items, in.Add...)
	ref, err := putJSON(p.work, a.opts.Store, list, contract.PackMediaType)
	return contract.PackResult{List: ref}, err
}
