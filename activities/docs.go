package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
	"cxrepro/internal/lru"
)

// docs loads documents by reference and keeps the last ones decoded: every chunk of a
// stage asks for the same plan and manifest.
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

// plan is a decoded plan with what follows from it.
type plan struct {
	*experiments.Plan
	ref      artifacts.Ref
	rules    *chexstruct.Rules
	decoding contract.Decoding
	limits   cxr.Limits
	// tasks are the sections to assess, the global filter first.
	tasks []chexstruct.Task
}

func (a *Activities) plan(ctx context.Context, ref artifacts.Ref) (*plan, error) {
	return load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*plan, error) {
		p, err := getJSON[*experiments.Plan](ctx, a.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load plan: %w", err)
		}
		rules, err := experiments.Rules(&p.Spec)
		if err != nil {
			return nil, fail(contract.ErrTypeSpec, "plan %s: %w", ref.Digest.Short(), err)
		}
		l := p.Spec.Dataset.Limits
		out := &plan{
			Plan: p, ref: ref, rules: rules, tasks: []chexstruct.Task{chexstruct.Global},
			decoding: contract.Decoding{Version: cxr.DecoderVersion, MaxBytes: l.MaxBytes, MaxPixels: l.MaxPixels},
			limits:   cxr.Limits{MaxBytes: l.MaxBytes, MaxPixels: l.MaxPixels},
		}
		for _, name := range p.Spec.Tasks {
			t, ok := chexstruct.ParseTask(name)
			if !ok {
				return nil, fail(contract.ErrTypeSpec, "plan %s: no task is called %q; this worker knows %v", ref.Digest.Short(), name, chexstruct.Sections())
			}
			out.tasks = append(out.tasks, t)
		}
		return out, nil
	})
}

// class is the class that a store must be attested for to hold what is made from the plan's
// data set.
func (p *plan) class() string { return datause.StoreClass(p.Spec.Dataset.DataUse) }

// inference identifies the plan's model; it is the zero value for imported masks.
func (p *plan) inference() contract.Inference {
	if p.Model == nil {
		return contract.Inference{}
	}
	return contract.Inference{
		Model: p.Model.Weights.Digest, Settings: p.Model.Settings, Provider: p.Spec.Masks.Provider,
		Preprocessing: p.Model.Preprocessing, Decoder: cxr.DecoderVersion,
	}
}

// masksKey is the key of an entry's masks, from whatever source.
func (p *plan) masksKey(e contract.Entry) artifacts.KeyDoc {
	if p.Spec.Masks.Import != nil {
		return contract.ImportMasksKey(e.Masks, p.Spec.Masks.Import.Kind, e.Width, e.Height)
	}
	return contract.SegmentKey(e.Image, p.inference())
}

// dataset is an open data set manifest.
type dataset struct {
	contract.Dataset
	ref     artifacts.Ref
	windows *manifest.Manifest
}

func (a *Activities) dataset(ctx context.Context, ref artifacts.Ref) (*dataset, error) {
	return load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*dataset, error) {
		doc, err := getJSON[contract.Dataset](ctx, a.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load manifest: %w", err)
		}
		if doc.Format != contract.DatasetFormat {
			return nil, fail(contract.ErrTypeSpec, "manifest %s: format %q, want %q", ref.Digest.Short(), doc.Format, contract.DatasetFormat)
		}
		w, err := manifest.Open(ctx, a.opts.Store, doc.Windows)
		if err != nil {
			return nil, err
		}
		return &dataset{Dataset: doc, ref: ref, windows: w}, nil
	})
}

// window returns the entries of window i.
func (d *dataset) window(ctx context.Context, i int) ([]contract.Entry, error) {
	items, err := d.windows.Chunk(ctx, i)
	if err != nil {
		return nil, err
	}
	entries := make([]contract.Entry, len(items))
	for n, item := range items {
		if err := json.Unmarshal(item, &entries[n]); err != nil {
			return nil, fmt.Errorf("manifest %s window %d entry %d: %w", d.ref.Digest.Short(), i, n, err)
		}
	}
	return entries, nil
}
