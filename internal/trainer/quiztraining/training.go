package quiztraining

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/trainer"
	"cxrepro/internal/xragent"
)

// Names in what is put together.
const (
	// Trainer is the recipe's folder.
	Trainer = "tiny"
	// Policy names the model card that an endpoint must answer for.
	Policy = "policy"
	// Arm is how the policy is asked: without measurements, which would need models.
	Arm = xragent.ArmNoMeasure
	// DataUse is that of everything here: it is drawn.
	DataUse = "synthetic"
)

const (
	batch     = 16 // items of a step
	group     = 4  // draws of an item
	updates   = 2  // of a round
	saveEvery = 50 // steps of SFT
)

// FewestPictures is the number with questions for one step.
const FewestPictures = 6

// Options decide a training. All are required.
type Options struct {
	// Recorder records the teacher's examples as a training set; everything goes into its store.
	Recorder *checkpoint.Recorder
	// Recipes is the folder of the recipes, Python one that imports numpy.
	Recipes, Python string
	// Pictures are drawn, FewestPictures or more, with a question of each family but the heart's.
	Pictures int
	// Steps is the number of steps of SFT, Rounds that of GRPO.
	Steps, Rounds int
	// Seed decides weights, pictures, order and sampling. The rest, such as learning rates, are
	// the trainer's own defaults, which its recipe's digest covers.
	Seed uint64
	// Scale divides advantages by the group's deviation; Permute makes a control, whose rewards are
	// permuted inside each group.
	Scale, Permute bool
}

// Measured are the numbers that docs/tiny-policy.md reports.
func Measured() Options { return Options{Pictures: 500, Steps: 700, Rounds: 100, Seed: 1} }

// Put stores a training and everything that it names.
//
// Errors: a recipe or Python that is not there, with the trainer's last words; the store's.
func Put(ctx context.Context, o Options) (contract.Training, artifacts.Ref, error) {
	t := contract.Training{Format: contract.TrainingFormat, Name: Trainer, DataUse: DataUse, Base: fmt.Sprintf("%s, seed %d", Trainer, o.Seed), Arm: Arm}
	recipe, err := trainer.LoadRecipe(filepath.Join(o.Recipes, Trainer))
	if err != nil {
		return t, artifacts.Ref{}, err
	}
	store := o.Recorder.Store
	if t.BaseWeights, t.BaseFiles, err = o.base(ctx); err != nil {
		return t, artifacts.Ref{}, err
	}
	plan, err := Plan(Arm, t.BaseWeights, int64(o.Seed))
	if err != nil {
		return t, artifacts.Ref{}, err
	}
	if t.Plan, err = put(ctx, store, plan, experiments.PlanMediaType); err != nil {
		return t, artifacts.Ref{}, err
	}
	reward, err := artifacts.Canonical(plan.Spec.Agent.Reward)
	if err != nil {
		return t, artifacts.Ref{}, err
	}
	q, err := o.draw(ctx)
	if err != nil {
		return t, artifacts.Ref{}, err
	}
	t.Questions = q.questions
	run := contract.TrainingRun{Trainer: Trainer, Recipe: recipe.Digest(), Mode: string(trainer.PlatformDriven), Batch: batch, Seed: o.Seed, Items: q.items, Hyper: map[string]any{}}
	sft, grpo := run, run
	sft.Stage, sft.Steps, sft.Group, sft.Updates, sft.SaveEvery, sft.Segment = string(trainer.SFT), o.Steps, 1, 1, saveEvery, o.Steps
	sft.Trained, sft.Files = q.trained, q.files
	grpo.Stage, grpo.Steps, grpo.Group, grpo.Updates, grpo.SaveEvery, grpo.Segment = string(trainer.GRPO), o.Rounds, group, updates, 1, 1
	grpo.Reward, grpo.KeepNear, grpo.Scale, grpo.Permute = artifacts.Sum(reward), true, o.Scale, o.Permute
	t.Runs = []contract.TrainingRun{sft, grpo}
	ref, err := put(ctx, store, t, contract.TrainingMediaType)
	return t, ref, err
}

// base makes and stores the weights that the training begins with.
func (o Options) base(ctx context.Context) (weights artifacts.Digest, files artifacts.Ref, err error) {
	folder, err := os.MkdirTemp("", "cxrepro-base-")
	if err != nil {
		return weights, files, err
	}
	defer os.RemoveAll(folder)
	init := exec.CommandContext(ctx, o.Python, filepath.Join(o.Recipes, Trainer), "init", "--seed", fmt.Sprint(o.Seed), "--out", filepath.Join(folder, "checkpoint-0"))
	if said, err := init.CombinedOutput(); err != nil {
		return weights, files, fmt.Errorf("initial weights: %s: %w: %s", o.Python, err, said[max(0, len(said)-400):])
	}
	return Upload(ctx, o.Recorder.Store, folder)
}

// Upload stores the one complete checkpoint of a folder in the small trainer's layout, and
// returns the digest of its weights and the manifest of its files.
func Upload(ctx context.Context, store *artifacts.Repository, folder string) (weights artifacts.Digest, files artifacts.Ref, err error) {
	layout, err := trainer.LayoutOf(Trainer)
	if err != nil {
		return weights, files, err
	}
	list, err := layout.Checkpoints(folder)
	if err != nil {
		return weights, files, err
	}
	if len(list) != 1 || list[0].Torn != "" {
		return weights, files, fmt.Errorf("initial weights in %s: %+v is not one complete checkpoint", folder, list)
	}
	digest := func(files []trainer.File) (artifacts.Digest, error) { weights = files[0].Digest; return weights, nil }
	_, files, err = trainer.Upload(ctx, store, artifacts.Sum([]byte("none")), folder, list[0], digest, func() {})
	return weights, files, err
}

// Plan is an agent's plan with one policy, which is sampled at temperature 1, and one arm.
func Plan(arm string, weights artifacts.Digest, seed int64) (experiments.Plan, error) {
	warm := 1.0
	p := experiments.Plan{Format: "cxrepro-plan-1", Models: []experiments.ModelCard{{
		Name: Policy, Adapter: lvlm.OpenAI, Identity: lvlm.Identity{Weights: weights}, Pictures: "original",
		Draws: &lvlm.Decoding{Temperature: &warm, Seed: &seed},
	}}}
	p.Spec.Preset, p.Spec.Dataset.DataUse = "corrected", DataUse
	p.Spec.Agent = &experiments.Agent{Profile: "table", Policies: []experiments.Policy{{}}, Arms: []string{arm}, Sampling: experiments.Draws, Repeats: 1,
		Scorer: "strict", Reward: experiments.Reward{Evidence: 0.2, Cost: 0.05, Gated: true, MalformedCountsAsWrong: true}}
	a, err := xragent.ArmOf(arm, xragent.Profile(p.Spec.Agent.Profile))
	if err != nil {
		return p, err
	}
	text, err := artifacts.Canonical(a.Identity())
	p.Arms = []experiments.ArmPin{{Name: a.Name, Identity: artifacts.Sum(text)}}
	return p, err
}

func put(ctx context.Context, store *artifacts.Repository, v any, mediaType string) (artifacts.Ref, error) {
	text, err := artifacts.Canonical(v)
	if err != nil {
		return artifacts.Ref{}, err
	}
	return store.Put(ctx, text, mediaType)
}
