package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
)

// Recorded is an entry with the ref of its record.
type Recorded[T any] struct {
	Ref   artifacts.Ref
	Value T
}

// Datasets returns the data sets in the store.
func Datasets(ctx context.Context, store *artifacts.Repository) ([]Recorded[contract.DatasetEntry], error) {
	return all[contract.DatasetEntry](ctx, store, contract.StepDataset)
}

// Checkpoints returns the checkpoints in the store.
func Checkpoints(ctx context.Context, store *artifacts.Repository) ([]Recorded[contract.Checkpoint], error) {
	return all[contract.Checkpoint](ctx, store, contract.StepCheckpoint)
}

// TrainingSets returns the training sets in the store.
func TrainingSets(ctx context.Context, store *artifacts.Repository) ([]Recorded[contract.TrainingSet], error) {
	return all[contract.TrainingSet](ctx, store, contract.StepTrainingSet)
}

// Batches returns the batches of rounds in the store.
func Batches(ctx context.Context, store *artifacts.Repository) ([]Recorded[contract.Batch], error) {
	return all[contract.Batch](ctx, store, contract.StepBatch)
}

// Reports returns the recorded comparisons in the store.
func Reports(ctx context.Context, store *artifacts.Repository) ([]Recorded[contract.OverlapReport], error) {
	return all[contract.OverlapReport](ctx, store, contract.StepCheckOverlap)
}

func all[T any](ctx context.Context, store *artifacts.Repository, step string) (out []Recorded[T], err error) {
	err = each(ctx, store, step, func(ref artifacts.Ref, v T) error {
		out = append(out, Recorded[T]{ref, v})
		return nil
	})
	return out, err
}

// Lineage is where the weights of a checkpoint come from.
type Lineage struct {
	// Chain is the checkpoint and its parents, as far as they are recorded, the checkpoint
	// first. Training are their training sets, each once, in that order.
	Chain    []Recorded[contract.Checkpoint]
	Training []Recorded[contract.TrainingSet]
	// Unknown is the first parent without a record, zero when the chain ends at its base.
	Unknown artifacts.Digest
}

// ErrNoCheckpoint is the error of weights that no checkpoint of the store has.
var ErrNoCheckpoint = errors.New("no checkpoint with these weights is recorded")

// LineageOf returns the lineage of weights. Weights with several records have the training
// sets of all; a lineage that leads back to itself ends there.
//
// Errors: ErrNoCheckpoint.
func LineageOf(ctx context.Context, store *artifacts.Repository, weights artifacts.Digest) (Lineage, error) {
	list, err := Checkpoints(ctx, store)
	if err != nil {
		return Lineage{}, err
	}
	l, err := lineageIn(ctx, store, list, weights)
	if err == nil && len(l.Chain) == 0 {
		err = fmt.Errorf("%s: %w", weights.Short(), ErrNoCheckpoint)
	}
	return l, err
}

// lineageIn is LineageOf among a list; the chain is empty when the weights are in none of it.
func lineageIn(ctx context.Context, store *artifacts.Repository, list []Recorded[contract.Checkpoint], weights artifacts.Digest) (l Lineage, err error) {
	todo := []artifacts.Digest{weights}
	seen := map[artifacts.Digest]bool{}
	for len(todo) > 0 {
		d := todo[0]
		todo = todo[1:]
		if seen[d] {
			continue
		}
		seen[d] = true
		known := false
		for _, c := range list {
			if c.Value.Weights != d {
				continue
			}
			known = true
			l.Chain = append(l.Chain, c)
			if p := c.Value.Parent; !p.IsZero() {
				todo = append(todo, p)
			}
			if slices.ContainsFunc(l.Training, func(t Recorded[contract.TrainingSet]) bool { return t.Ref.Digest == c.Value.Training.Digest }) {
				continue
			}
			s, err := read[contract.TrainingSet](ctx, store, c.Value.Training)
			if err != nil {
				return l, fmt.Errorf("training set of checkpoint %s: %w", c.Value.Name, err)
			}
			l.Training = append(l.Training, Recorded[contract.TrainingSet]{c.Value.Training, s})
		}
		if !known && d != weights && l.Unknown.IsZero() {
			l.Unknown = d
		}
	}
	return l, nil
}

// base is what the lineage begins with, for people.
func (l Lineage) base() string {
	last := l.Chain[len(l.Chain)-1].Value
	if !l.Unknown.IsZero() {
		return "a checkpoint without a record, " + l.Unknown.Short()
	}
	return last.Base
}

// refs are the records of the training sets.
func (l Lineage) refs() []artifacts.Ref {
	refs := make([]artifacts.Ref, 0, len(l.Training))
	for _, t := range l.Training {
		refs = append(refs, t.Ref)
	}
	return refs
}

// images joins the image lists of the training sets. Sets that were hashed under other names
// than the first contribute their digests alone.
func (l Lineage) images(ctx context.Context, store manifest.Getter) (out overlap.List, err error) {
	for _, t := range l.Training {
		part, err := Images(ctx, store, t.Value.Images)
		if err != nil {
			return out, fmt.Errorf("images of training set %s: %w", t.Value.Name, err)
		}
		if out.Perceptual == "" {
			out.Perceptual = part.Perceptual
		}
		if out.Grouping == "" {
			out.Grouping = part.Grouping
		}
		for _, m := range part.Images {
			if part.Perceptual != out.Perceptual {
				m.Perceptual = nil
			}
			if part.Grouping != out.Grouping {
				m.Study, m.Patient = "", ""
			}
			out.Images = append(out.Images, m)
		}
	}
	return out, nil
}

// ExamplesOf calls fn for every example of a training set that descends from an image, with its
// place.
func ExamplesOf(ctx context.Context, store manifest.Getter, s contract.TrainingSet, image artifacts.Digest, fn func(at int, e contract.TrainingExample) error) error {
	at := -1
	return items(ctx, store, s.Examples, func(e contract.TrainingExample) error {
		at++
		if !slices.Contains(e.Images, image) {
			return nil
		}
		return fn(at, e)
	})
}

// items reads every item of a stored list.
func items[T any](ctx context.Context, store manifest.Getter, ref artifacts.Ref, fn func(T) error) error {
	list, err := manifest.Open(ctx, store, ref)
	if err != nil {
		return err
	}
	return list.Each(ctx, 0, list.Total(), func(at int64, item json.RawMessage) error {
		var v T
		if err := json.Unmarshal(item, &v); err != nil {
			return fmt.Errorf("item %d of %s: %w", at, ref.Digest.Short(), err)
		}
		return fn(v)
	})
}

// digests is the set of a list's images.
func digests(l overlap.List) map[artifacts.Digest]bool {
	set := make(map[artifacts.Digest]bool, len(l.Images))
	for _, m := range l.Images {
		set[m.Image] = true
	}
	return set
}
