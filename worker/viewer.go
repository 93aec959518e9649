package worker

import (
	"context"
	"fmt"
	"sync"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/viewcheck"
	"cxrepro/internal/xragent"
)

// viewers loads view models by content and keeps the last one open.
type viewers struct {
	opts Options

	mu  sync.Mutex // guards what follows; loading a model takes a moment
	key string
	now *activities.ViewEngine
	one *viewer
}

// viewer is a view model that several goroutines wait for.
type viewer struct {
	mu      sync.Mutex // guards checker, which reads one picture at a time
	checker *viewcheck.Checker
}

// View implements activities.Viewer.
func (v *viewer) View(ctx context.Context, img *cxr.Image) (xragent.ViewReading, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r, err := v.checker.Check(ctx, img)
	if err != nil && viewcheck.Permanent(err) {
		err = contract.Fail(contract.ErrTypeModel, "%w", err)
	}
	return xragent.ViewReading(r), err
}

// get returns the view model of an agent's plan.
func (s *viewers) get(ctx context.Context, p *experiments.Plan) (*activities.ViewEngine, error) {
	if p.View == nil {
		return nil, fmt.Errorf("plan %s has no view model", p.Spec.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := p.View.Card.Digest.Hex() + p.Spec.Masks.Provider
	if s.now != nil && s.key == key {
		return s.now, nil
	}
	if err := s.drop(); err != nil {
		return nil, err
	}
	card, err := layOut(ctx, s.opts, p.View, func(file string) (*viewcheck.Card, string, func() error, error) {
		card, err := viewcheck.LoadCard(file)
		if err != nil {
			return nil, "", nil, err
		}
		return card, card.File, func() error { _, err := card.Model(); return err }, nil
	})
	if err != nil {
		return nil, err
	}
	library, err := s.opts.Library(ctx)
	if err != nil {
		return nil, fmt.Errorf("find ONNX Runtime: %w", err)
	}
	checker, err := viewcheck.New(card, viewcheck.Options{Provider: p.Spec.Masks.Provider, Library: library, Threads: s.opts.Threads})
	if err != nil {
		return nil, contract.Fail(contract.ErrTypeModel, "%w", err)
	}
	id, err := ViewIdentity(card, p.Spec.Masks.Provider)
	if err != nil {
		return nil, err
	}
	s.key, s.one = key, &viewer{checker: checker}
	s.now = &activities.ViewEngine{Viewer: s.one, Identity: id, Runtime: checker.Runtime().Version}
	s.opts.Log.Info("view model loaded", "model", card.Name, "digest", id.Model.Short(), "provider", id.Provider, "onnxruntime", s.now.Runtime)
	return s.now, nil
}

// ViewIdentity is what decides a view reading besides the picture.
func ViewIdentity(card *viewcheck.Card, provider string) (contract.Inference, error) {
	params, err := card.Identity(provider)
	if err != nil {
		return contract.Inference{}, err
	}
	settings, err := artifacts.Canonical(map[string]any{"input": card.Input, "output": card.Output})
	return contract.Inference{
		Model: card.Digest(), Settings: artifacts.Sum(settings), Provider: fmt.Sprint(params["provider"]),
		Preprocessing: fmt.Sprint(params["preprocessing"]), Decoder: cxr.DecoderVersion,
	}, err
}

// drop closes the open model. The caller holds mu.
func (s *viewers) drop() error {
	if s.one == nil {
		return nil
	}
	s.one.mu.Lock()
	defer s.one.mu.Unlock()
	err := s.one.checker.Close()
	s.one, s.now, s.key = nil, nil, ""
	return err
}

func (s *viewers) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop()
}
