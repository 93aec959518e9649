package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
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
	// trainers are what a training is run with.
	trainers trainerFlags
	// over, if set, is data that were read before: nothing is read again.
	over *contract.ReproductionInput
}

// prepare reads a spec, pins what it names and stores the plan, so that any worker that
// reaches the store can carry it out.
func (a *app) prepare(ctx context.Context, store *artifacts.Repository, file string, f planFlags) (*planned, error) {
	file, err := specFile(file)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError("name a spec file, or a folder with a spec.yaml", "%v", err)
	}
	return a.prepareText(ctx, store, file, text, f)
}

// prepareText prepares a spec that was read already; what it names lies beside file.
func (a *app) prepareText(ctx context.Context, store *artifacts.Repository, file string, text []byte, f planFlags) (*planned, error) {
	spec, err := experiments.Parse(file, text, f.sets...)
	if err != nil {
		return nil, usageError("correct the spec; nothing was started", "%v", err)
	}
	if class, err := datause.Parse(spec.Dataset.DataUse); err == nil && !class.Free() {
		if err := store.MayHold(class.String()); err != nil {
			return nil, usageError(artifacts.HintOf(err), "dataset.data_use: %v", err)
		}
	}
	pins, err := a.pinSpec(ctx, store, spec, filepath.Dir(file), &f)
	if err != nil {
		return nil, err
	}
	p, err := experiments.Pin(spec, pins)
	if err != nil {
		return nil, usageError("correct spec or cards; nothing was started", "%v", err)
	}
	data, err := p.Encode()
	if err != nil {
		return nil, err
	}
	ref, err := store.Put(ctx, data, experiments.PlanMediaType)
	if err != nil {
		return nil, storeError(err)
	}
	return &planned{spec: spec, doc: p, plan: ref, id: contract.SpecID(ref.Digest), trainers: f.trainers}, nil
}

// planFlags are the flags that change what a spec becomes.
type planFlags struct {
	sets          []string
	allowUnpinned bool
	trainers      trainerFlags
}

func (f *planFlags) add(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.sets, "set", nil, "PATH=VALUE: a field of the spec, changed before anything is hashed")
	fl.BoolVar(&f.allowUnpinned, "allow-unpinned", false, "take model cards that do not say which weights answer; results are marked as such")
	fl.StringVar(&f.trainers.recipes, "trainers", "", "folder of trainers' recipes, for a spec with a training section (default: "+trainRecipes+" of the checkout)")
	fl.StringArrayVar(&f.trainers.values, "trainer-value", nil, "NAME=VALUE: what a recipe's placeholder {NAME} stands for on this machine, such as base, the folder of published weights")
}

// pinSpec reads and stores what the spec names beside data: model, model cards, prompts.
func (a *app) pinSpec(ctx context.Context, store *artifacts.Repository, spec *experiments.Spec, dir string, f *planFlags) (pins experiments.Pins, err error) {
	if spec.Masks.Source != "" {
		if pins.Model, err = a.pinMasks(ctx, store, spec, dir); err != nil {
			return pins, err
		}
	}
	if b := spec.Benchmark; b != nil {
		if pins.Prompts, err = pinPrompts(ctx, store, dir, b.Prompts); err != nil {
			return pins, err
		}
	}
	if t := spec.Training; t != nil {
		if pins.Training, err = a.pinTraining(ctx, store, t, &f.trainers); err != nil {
			return pins, err
		}
	}
	if spec.Agent != nil {
		err = a.pinAgent(ctx, store, spec, dir, *f, &pins)
		return pins, err
	}
	e := spec.Evaluation
	if e == nil {
		return pins, nil
	}
	for _, name := range e.Models {
		card, err := a.pinCard(dir, name, *f)
		if err != nil {
			return pins, err
		}
		pins.Models = append(pins.Models, *card)
	}
	if e.Judge != "" {
		pins.Judge, err = a.pinCard(dir, e.Judge, *f)
	}
	return pins, err
}

// pinCard reads a model card.
func (a *app) pinCard(dir, name string, f planFlags) (*experiments.ModelCard, error) {
	path := beside(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError("evaluation.models, evaluation.judge, agent.policies and agent.lookup name model cards, relative to the spec", "model card: %v", err)
	}
	card, err := experiments.ParseModelCard(path, data)
	if err != nil {
		return nil, usageError("correct the model card; nothing was started", "%v", err)
	}
	if err := card.Pinned(); err != nil {
		if !f.allowUnpinned {
			return nil, usageError("", "%v", err)
		}
		a.say(fmt.Sprintf("model card %s is not pinned: its results say so", card.Name))
	}
	return card, nil
}

// pinPrompts stores the program's prompt pack, or the one that a spec names.
func pinPrompts(ctx context.Context, store *artifacts.Repository, dir, name string) (artifacts.Ref, error) {
	data := cxreasonbench.Prompts().Bytes()
	if name != "" {
		var err error
		if data, err = os.ReadFile(beside(dir, name)); err != nil {
			return artifacts.Ref{}, usageError("benchmark.prompts names a prompt pack, relative to the spec", "prompt pack: %v", err)
		}
		if _, err := cxreasonbench.ParsePack(data); err != nil {
			return artifacts.Ref{}, usageError("correct the prompt pack; nothing was started", "%s: %v", name, err)
		}
	}
	ref, err := store.Put(ctx, data, cxreasonbench.PackMediaType)
	if err != nil {
		return ref, storeError(err)
	}
	return ref, nil
}

// beside is the path of a file that a spec names, relative to the spec's folder.
func beside(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
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
	path := beside(dir, spec.Masks.Card)
	card, err := segment.LoadCard(path)
	if err == nil {
		err = card.Verify()
	}
	if err != nil {
		return nil, modelError(err)
	}
	if spec.Agent == nil { // the global filter takes no part in what an agent is asked
		if err := experiments.CheckMasks(spec, card.Structures()); err != nil {
			return nil, usageError("correct the spec; nothing was started", "%v", err)
		}
	}
	id, err := card.Identity(spec.Masks.Provider)
	if err != nil {
		return nil, usageError("correct masks.provider", "%v", err)
	}
	m := &experiments.Model{Name: card.Name, Settings: id.Settings, Preprocessing: id.Preprocessing}
	if err := storeModel(ctx, store, m, path, card.File, id.Model); err != nil {
		return nil, err
	}
	if notice := card.Licence.Notice; notice != "" {
		a.say(fmt.Sprintf("model %s (%s): %s", card.Name, card.Licence.Name, notice))
	}
	return m, nil
}

// storeModel stores card and weights of a model, which must be those that the card names.
func storeModel(ctx context.Context, store *artifacts.Repository, m *experiments.Model, path, weights string, want artifacts.Digest) (err error) {
	if m.Card, err = store.PutFile(ctx, path, cardMediaType); err != nil {
		return storeError(err)
	}
	if m.Weights, err = store.PutFile(ctx, beside(filepath.Dir(path), weights), weightsMediaType); err != nil {
		return storeError(err)
	}
	if m.Weights.Digest != want {
		return fmt.Errorf("model file %s changed while it was stored", weights)
	}
	return nil
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
