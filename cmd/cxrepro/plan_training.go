package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/resolve"
	"cxrepro/internal/sourcetree"
	"cxrepro/internal/trainer"
	"cxrepro/internal/trainer/quiztraining"
)

// trainRecipes is where a checkout of this project has the recipes.
const trainRecipes = "infra/trainers"

// trainerFlags say with what trainers are run here.
type trainerFlags struct {
	// recipes is the folder of the recipes, python an interpreter once it is resolved.
	recipes, python string
	values          []string
}

// find completes the flags: the recipes of the checkout around the working folder, and a Python.
func (f *trainerFlags) find(ctx context.Context, a *app, trainerName string) (*trainer.Recipe, error) {
	if f.recipes == "" {
		root, err := sourcetree.Root(trainRecipes + "/" + trainerName)
		if err != nil {
			return nil, usageError("or name "+trainRecipes+" of one with --trainers", "training.trainer %s: %v", trainerName, err)
		}
		f.recipes = filepath.Join(root, filepath.FromSlash(trainRecipes))
	}
	var err error
	if f.recipes, err = filepath.Abs(f.recipes); err != nil {
		return nil, err
	}
	recipe, err := trainer.LoadRecipe(filepath.Join(f.recipes, trainerName))
	if err != nil {
		return nil, usageError("--trainers names a folder with the recipe "+trainerName, "%v", err)
	}
	if f.python == "" {
		p, err := resolve.Python(ctx, a.resolveOptions("python"))
		if err != nil {
			return nil, err
		}
		f.python = p.Path
	}
	return recipe, nil
}

// filled are the values of recipes' placeholders that flags give.
func (f *trainerFlags) filled() (trainer.Values, error) {
	out := trainer.Values{"python": f.python}
	for _, text := range f.values {
		name, value, ok := cutPair(text)
		if !ok {
			return nil, usageError("write it as NAME=VALUE, for example base=/models/qwen3-vl", "--trainer-value %q", text)
		}
		out[name] = value
	}
	return out, nil
}

// pinTraining pins what a training section names: the recipe by content, and the weights that the
// training begins with, which the recipe makes where the section names none.
func (a *app) pinTraining(ctx context.Context, store *artifacts.Repository, t *experiments.Training, f *trainerFlags) (*experiments.TrainingPin, error) {
	recipe, err := f.find(ctx, a, t.Trainer)
	if err != nil {
		return nil, err
	}
	pin := &experiments.TrainingPin{Recipe: recipe.Digest(), Base: t.Policy.Weights}
	if !pin.Base.IsZero() {
		return pin, nil
	}
	pin.Base, pin.Files, err = a.firstWeights(ctx, store, recipe, t.Seed, f)
	return pin, err
}

// firstWeights lets a recipe make the weights that a training begins with, and stores them.
func (a *app) firstWeights(ctx context.Context, store *artifacts.Repository, r *trainer.Recipe, seed uint64, f *trainerFlags) (weights artifacts.Digest, files artifacts.Ref, err error) {
	values, err := f.filled()
	if err != nil {
		return weights, files, err
	}
	folder, err := os.MkdirTemp("", "cxrepro-base-")
	if err != nil {
		return weights, files, err
	}
	defer os.RemoveAll(folder)
	argv, err := r.InitArgv(seed, folder, values)
	if err != nil {
		return weights, files, usageError("write training.policy.weights, the digest of the weights that it begins with", "training: %v", err)
	}
	return quiztraining.FirstWeights(ctx, store, r, argv, folder)
}

// trainedCards are the cards of an agent's policies: those of files, which are given in order, and
// in their places those of checkpoints.
func trainedCards(spec *experiments.Spec, pin *experiments.TrainingPin, read func(name string) (*experiments.ModelCard, error)) (out []experiments.ModelCard, err error) {
	for _, p := range spec.Agent.Policies {
		if p.Checkpoint != "" && pin != nil {
			out = append(out, spec.Training.Card(*pin, p.Checkpoint))
			continue
		}
		card, err := read(p.Card)
		if err != nil {
			return nil, err
		}
		out = append(out, *card)
	}
	return out, nil
}

// trainedNames are the names under which a training's weights are asked: in rounds, and as the
// checkpoints that are evaluated.
func trainedNames(p *experiments.Plan) []string {
	out := []string{p.Spec.Training.Policy.Name}
	for i, policy := range p.Spec.Agent.Policies {
		if name := p.Models[i].Name; policy.Checkpoint != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
