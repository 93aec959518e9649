package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/onnx"
	"cxrepro/internal/resolve"
	"cxrepro/internal/segment"
)

// planned is an experiment ready to start: its plan is in the store.
type planned struct {
	spec *experiments.Spec
	doc  *experiments.Plan
	plan artifacts.Ref
	id   string
}

// prepare reads a spec, pins what it names and stores the plan, so that any worker that
// reaches the store can carry it out.
func (a *app) prepare(ctx context.Context, store *artifacts.Repository, file string, sets []string) (*planned, error) {
	file, err := specFile(file)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError("name a spec file, or a folder with a spec.yaml", "%v", err)
	}
	spec, err := experiments.Parse(file, text, sets...)
	if err != nil {
		return nil, usageError("correct the spec; nothing was started", "%v", err)
	}
	if class, err := datause.Parse(spec.Dataset.DataUse); err == nil && !class.Free() {
		if err := store.MayHold(class.String()); err != nil {
			return nil, usageError(artifacts.HintOf(err), "dataset.data_use: %v", err)
		}
	}
	model, err := a.pinMasks(ctx, store, spec, filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	p, err := experiments.NewPlan(spec, model)
	if err != nil {
		return nil, err
	}
	data, err := p.Encode()
	if err != nil {
		return nil, err
	}
	ref, err := store.Put(ctx, data, experiments.PlanMediaType)
	if err != nil {
		return nil, storeError(err)
	}
	return &planned{spec: spec, doc: p, plan: ref, id: contract.SpecID(ref.Digest)}, nil
}

// specFile accepts a spec file or a folder that holds spec.yaml.
func specFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", usageError("name a spec file such as experiments/chexstruct-demo/spec.yaml", "%v", err)
	}
	if info.IsDir() {
		return filepath.Join(path, "spec.yaml"), nil
	}
	return path, nil
}

// Media types of a model's files.
const (
	cardMediaType    = "application/vnd.cxrepro.model-card+yaml"
	weightsMediaType = "application/vnd.onnx"
)

// pinMasks checks that the spec's mask source fits its filter and, for a model, stores card
// and weights.
func (a *app) pinMasks(ctx context.Context, store *artifacts.Repository, spec *experiments.Spec, dir string) (*experiments.Model, error) {
	if spec.Masks.Import != nil {
		if err := experiments.CheckMasks(spec, spec.Masks.Import.Declared()); err != nil {
			return nil, usageError("correct the spec; nothing was started", "%v", err)
		}
		return nil, nil
	}
	path := spec.Masks.Card
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, filepath.FromSlash(path))
	}
	card, err := segment.LoadCard(path)
	if err == nil {
		err = card.Verify()
	}
	if err != nil {
		return nil, modelError(err)
	}
	if err := experiments.CheckMasks(spec, card.Structures()); err != nil {
		return nil, usageError("correct the spec; nothing was started", "%v", err)
	}
	id, err := card.Identity(spec.Masks.Provider)
	if err != nil {
		return nil, usageError("correct masks.provider", "%v", err)
	}
	m := &experiments.Model{Name: card.Name, Settings: id.Settings, Preprocessing: id.Preprocessing}
	if m.Card, err = store.PutFile(ctx, path, cardMediaType); err != nil {
		return nil, storeError(err)
	}
	weights := card.File
	if !filepath.IsAbs(weights) {
		weights = filepath.Join(filepath.Dir(path), filepath.FromSlash(card.File))
	}
	if m.Weights, err = store.PutFile(ctx, weights, weightsMediaType); err != nil {
		return nil, storeError(err)
	}
	if m.Weights.Digest != id.Model {
		return nil, fmt.Errorf("model file %s changed while it was stored", card.File)
	}
	if notice := card.Licence.Notice; notice != "" {
		a.say(fmt.Sprintf("model %s (%s): %s", card.Name, card.Licence.Name, notice))
	}
	return m, nil
}

// modelError explains a model that cannot be used here.
func modelError(err error) error {
	if fullDisk(err) {
		return storeError(err)
	}
	hint := "run `cxrepro doctor`; it checks library and provider"
	var digest *segment.DigestError
	var card *segment.CardError
	var library *onnx.LibraryError
	var configured *resolve.ConfiguredError
	switch {
	case errors.As(err, &library), errors.As(err, &configured):
		hint = "run `cxrepro doctor`; if CXREPRO_ONNXRUNTIME is set, unset it to have the right library fetched, or point it at another"
	case errors.As(err, &digest):
		hint = "the file is not the one the card was written for: fetch it again, or correct the card's sha256 if you mean this file"
	case errors.As(err, &card):
		hint = "see infra/cxas for the published model, or name another card with --set masks.card=FILE"
	}
	if strings.Contains(err.Error(), "hint: ") {
		hint = "" // the message names the way out itself
	}
	return &exitError{Code: exitUsage, Err: err, Hint: hint}
}
