package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/derive"
	"cxrepro/internal/lru"
)

// docs loads documents by reference and keeps the last ones decoded: every chunk of a
// stage asks for the same plan and manifest, or question set and calibration.
type docs struct{ kept *lru.Cache[docKey, any] }

// docKey is a document as it is decoded: calls and stages each read a plan in their own way.
type docKey struct {
	digest artifacts.Digest
	as     reflect.Type
}

// docsKept is how many decoded documents stay: a plan, a manifest, a row list, twice.
const docsKept = 8

func newDocs() *docs { return &docs{kept: lru.New[docKey, any](docsKept)} }

// load returns the document behind ref, decoding it once.
func load[T any](ctx context.Context, d *docs, ref artifacts.Ref, decode func(ctx context.Context, ref artifacts.Ref) (T, error)) (T, error) {
	v, err := d.kept.Load(docKey{ref.Digest, reflect.TypeFor[T]()}, func() (any, int64, error) {
		v, err := decode(ctx, ref)
		return v, 1, err
	})
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}

// getJSON reads and decodes a JSON blob.
func getJSON[T any](ctx context.Context, store *artifacts.Repository, ref artifacts.Ref) (T, error) {
	var v T
	data, err := store.Get(ctx, ref)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("decode %s: %w", ref, err)
	}
	return v, nil
}

// putJSON stores v in canonical form.
func putJSON(ctx context.Context, store *artifacts.Repository, v any, mediaType string) (artifacts.Ref, error) {
	data, err := artifacts.Canonical(v)
	if err != nil {
		return artifacts.Ref{}, err
	}
	return store.Put(ctx, data, mediaType)
}

// refOfJSON names v as putJSON would store it.
func refOfJSON(v any, mediaType string) (artifacts.Ref, error) {
	data, err := artifacts.Canonical(v)
	return artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: mediaType}, err
}

func (a *Activities) plan(ctx context.Context, ref artifacts.Ref) (*derive.Plan, error) {
	return load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*derive.Plan, error) {
		p, err := getJSON[*experiments.Plan](ctx, a.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load plan: %w", err)
		}
		return derive.NewPlan(p, ref)
	})
}

func (a *Activities) dataset(ctx context.Context, ref artifacts.Ref) (*derive.Dataset, error) {
	return load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*derive.Dataset, error) {
		return derive.OpenDataset(ctx, a.opts.Store, ref)
	})
}
