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
	"cxrepro/internal/xragent/quiz"
)

// Names in what is put together.
const (
	// Trainer is the recipe's folder.
	Trainer = "tiny"
	// Policy names the model card that an endpoint must answer for.
	Policy = "policy"
	// Arm is how the policy of Put is asked: without measurements, which would need models.
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
func Measured() Options { return Options{Pictures: 500, Steps: 700, Rounds: 80, Seed: 1} }

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
	if t.BaseWeights, t.BaseFiles, err = o.base(ctx, recipe); err != nil {
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
	arm, err := xragent.ArmOf(Arm, "table")
	if err != nil {
		return t, artifacts.Ref{}, err
	}
	data, err := Draw(ctx, o.Recorder, Trainer, arm, experiments.Quiz{Seed: o.Seed, Split: string(quiz.Train), Pictures: o.Pictures}, nil, func() {})
	if err != nil {
		return t, artifacts.Ref{}, err
	}
	t.Questions, t.Runs = data.Questions, Runs(o.section(), recipe.Digest(), artifacts.Sum(reward), data)
	ref, err := put(ctx, store, t, contract.TrainingMediaType)
	return t, ref, err
}

// section is what a spec says of the options.
func (o Options) section() *experiments.Training {
	return &experiments.Training{
		Trainer: Trainer, Mode: experiments.ModePlatform, Seed: o.Seed,
		SFT:  &experiments.SFT{Steps: o.Steps, Batch: batch, SaveEvery: saveEvery},
		GRPO: &experiments.GRPO{Rounds: o.Rounds, Items: batch, Group: group, Updates: updates, KeepNear: true, ScaleRewards: o.Scale, PermuteRewards: o.Permute},
	}
}

// Runs are the runs of a training section over data. SFT is one segment; where the platform rolls
// out, a round is one, and where the trainer generates, all rounds are.
func Runs(s *experiments.Training, recipe, reward artifacts.Digest, data Data) (out []contract.TrainingRun) {
	run := contract.TrainingRun{Trainer: s.Trainer, Recipe: recipe, Mode: string(trainer.PlatformDriven), Seed: s.Seed, Items: data.Items}
	hyper := func(set map[string]any) map[string]any {
		if set == nil {
			return map[string]any{}
		}
		return set
	}
	if x := s.SFT; x != nil {
		sft := run
		sft.Stage, sft.Steps, sft.Batch, sft.Group, sft.Updates = string(trainer.SFT), x.Steps, x.Batch, 1, 1
		sft.SaveEvery, sft.Segment, sft.Hyper = x.SaveEvery, x.Steps, hyper(x.Hyper)
		sft.Items, sft.Trained, sft.Files = data.Taught, data.Trained, data.Files
		out = append(out, sft)
	}
	if x := s.GRPO; x != nil {
		grpo := run
		grpo.Stage, grpo.Steps, grpo.Batch, grpo.Group, grpo.Updates = string(trainer.GRPO), x.Rounds, x.Items, x.Group, x.Updates
		grpo.SaveEvery, grpo.Segment, grpo.Hyper, grpo.Scale, grpo.Reward = 1, 1, hyper(x.Hyper), x.ScaleRewards, reward
		grpo.KeepNear, grpo.Permute = x.KeepNear, x.PermuteRewards
		if s.Mode == experiments.ModeTrainer {
			grpo.Mode, grpo.Segment, grpo.Trained, grpo.Files = string(trainer.TrainerDriven), x.Rounds, data.Trained, data.Files
		}
		out = append(out, grpo)
	}
	return out
}

// base makes and stores the weights that the training begins with.
func (o Options) base(ctx context.Context, r *trainer.Recipe) (weights artifacts.Digest, files artifacts.Ref, err error) {
	folder, err := os.MkdirTemp("", "cxrepro-base-")
	if err != nil {
		return weights, files, err
	}
	defer os.RemoveAll(folder)
	argv, err := r.InitArgv(o.Seed, folder, trainer.Values{"python": o.Python})
	if err != nil {
		return weights, files, err
	}
	return FirstWeights(ctx, o.Recorder.Store, r, argv, folder)
}

// FirstWeights runs the command line that writes first weights below a folder, and stores them.
func FirstWeights(ctx context.Context, store *artifacts.Repository, r *trainer.Recipe, argv []string, folder string) (weights artifacts.Digest, files artifacts.Ref, err error) {
	if said, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return weights, files, fmt.Errorf("first weights of trainer %s: %w: %s", r.Trainer, err, said[max(0, len(said)-400):])
	}
	return Upload(ctx, store, r.Layout, folder)
}

// Upload stores the one complete checkpoint of a folder in a layout, and returns the digest of its
// weights and the manifest of its files.
func Upload(ctx context.Context, store *artifacts.Repository, layoutName, folder string) (weights artifacts.Digest, files artifacts.Ref, err error) {
	layout, err := trainer.LayoutOf(layoutName)
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
	digest := func(files []trainer.File) (artifacts.Digest, error) {
		held := make([]contract.CheckpointFile, len(files))
		for i, f := range files {
			held[i] = contract.CheckpointFile{Name: f.Name, Digest: f.Digest, Size: f.Size}
		}
		weights, err = contract.WeightsDigest(held)
		return weights, err
	}
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
