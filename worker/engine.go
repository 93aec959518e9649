package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/segment"
)

// engines loads models by content and keeps the last one open.
type engines struct {
	opts Options

	mu   sync.Mutex // guards what follows; loading a model takes seconds
	key  string
	pool *segment.Pool
	now  *activities.Engine
}

// Engine returns what opens the model of a plan for those who are no worker, and what closes it.
// Of o, Store, Cache and Library are needed.
func Engine(o Options) (get func(ctx context.Context, p *experiments.Plan) (*activities.Engine, error), stop func() error) {
	if o.GPUSlots == 0 {
		o.GPUSlots = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &engines{opts: o}
	return e.get, e.close
}

// get returns the model of a plan. A model that cannot serve here is an error at the first
// image, never another model.
func (e *engines) get(ctx context.Context, p *experiments.Plan) (*activities.Engine, error) {
	if p.Model == nil {
		return nil, fmt.Errorf("plan %s has no model", p.Spec.Name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := p.Model.Card.Digest.Hex() + p.Spec.Masks.Provider
	if e.now != nil && e.key == key {
		return e.now, nil
	}
	if err := e.drop(); err != nil {
		return nil, err
	}
	card, err := e.card(ctx, p.Model)
	if err != nil {
		return nil, err
	}
	library, err := e.opts.Library(ctx)
	if err != nil {
		return nil, fmt.Errorf("find ONNX Runtime: %w", err)
	}
	pool, err := segment.NewPool(card, segment.Options{Provider: p.Spec.Masks.Provider, Library: library, Threads: e.opts.Threads}, e.opts.GPUSlots)
	if err != nil {
		return nil, err
	}
	id := pool.Identity()
	e.key, e.pool = key, pool
	e.now = &activities.Engine{
		Segmenter: pool, Declared: card.Structures(), Runtime: pool.Runtime().Version,
		Identity: contract.Inference{Model: id.Model, Settings: id.Settings, Provider: id.Provider, Preprocessing: id.Preprocessing, Decoder: cxr.DecoderVersion},
	}
	e.opts.Log.Info("model loaded", "model", card.Name, "digest", id.Model.Short(), "provider", id.Provider, "onnxruntime", pool.Runtime().Version)
	return e.now, nil
}

// card lays out a model's files and loads its card from there.
func (e *engines) card(ctx context.Context, m *experiments.Model) (*segment.Card, error) {
	return layOut(ctx, e.opts, m, func(file string) (*segment.Card, string, func() error, error) {
		card, err := segment.LoadCard(file)
		if err != nil {
			return nil, "", nil, err
		}
		return card, card.File, card.Verify, nil
	})
}

// layOut puts card and weights of a model into the cache folder and loads the card from there.
// Files are named by digest, so what is there is right or damaged, never old. load returns the
// card, the name of its weights and what verifies them.
func layOut[Card any](ctx context.Context, o Options, m *experiments.Model, load func(file string) (card Card, weights string, verify func() error, err error)) (Card, error) {
	var none Card
	dir := filepath.Join(o.Cache, "models", m.Card.Digest.Hex()[:16])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return none, err
	}
	file := filepath.Join(dir, "card.yaml")
	if err := fetch(ctx, o.Store, m.Card, file); err != nil {
		return none, err
	}
	card, name, verify, err := load(file)
	if err != nil {
		return none, err
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return none, fmt.Errorf("model card %s: file %q is not below the card", m.Name, name)
	}
	weights := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(weights), 0o755); err != nil {
		return none, err
	}
	if err := fetch(ctx, o.Store, m.Weights, weights); err != nil {
		return none, err
	}
	if err := verify(); err != nil {
		// A damaged copy is fetched once more; the card's digest decides.
		if err := errors.Join(os.Remove(weights), fetch(ctx, o.Store, m.Weights, weights)); err != nil {
			return none, err
		}
	}
	return card, nil
}

// fetch writes a blob to path, unless a file of its size is there.
func fetch(ctx context.Context, store *artifacts.Repository, ref artifacts.Ref, path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() == ref.Size {
		return nil
	}
	from, err := store.Open(ctx, ref)
	if err != nil {
		return fmt.Errorf("fetch model file: %w", err)
	}
	defer from.Close()
	tmp, err := os.CreateTemp(filepath.Dir(path), ".fetch-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, from)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("fetch model file: %w", err)
	}
	return os.Rename(tmp.Name(), path)
}

// drop closes the open model. The caller holds mu.
func (e *engines) drop() error {
	if e.pool == nil {
		return nil
	}
	err := e.pool.Close()
	e.pool, e.now, e.key = nil, nil, ""
	return err
}

func (e *engines) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.drop()
}
