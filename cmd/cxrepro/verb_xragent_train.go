package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cxrepro/internal/contract"
	"cxrepro/internal/report/learning"
	"cxrepro/internal/trainer/quiztraining"
)

// trainSays goes with every result of the small policy.
const trainSays = learning.Note

// tinySpec is the spec that `xragent train` is the short form of, among the experiments.
const tinySpec = "xragent-tiny/spec.yaml"

// trainFlags are what `xragent train` is told.
type trainFlags struct {
	quiztraining.Options
	judged int
	out    string
	run    runFlags
}

func newXragentTrainCommand(a *app) *cobra.Command {
	f := trainFlags{Options: quiztraining.Measured(), judged: 16}
	c := &cobra.Command{
		Use:   "train [--rounds N] [--pictures N] [--sft-steps N] [--judged N] [--seed N] [--out DIR]",
		Short: "Train the small policy on drawn questions: SFT on a teacher, then GRPO",
		Long: `train draws questions on phantoms, lets a scripted teacher answer them, and trains a policy of
97,000 numbers: SFT on what the teacher wrote, then GRPO in rounds of 16 questions, 4 draws each,
that are answered by the last checkpoint. At last the first weights and the checkpoints of both answer
questions about pictures that they were not shown: --judged 500 are the 2,000 questions of
docs/tiny-policy.md. It is
` + trainSays + `.

It is ` + "`cxrepro run`" + ` of experiments/` + tinySpec + ` with these numbers set: one reproduction with one
receipt, which status, resume, verify, lineage and overlap know. It runs in this process with the
embedded server, on one Python with numpy, which is found or fetched (CXREPRO_PYTHON names one), and
with the recipe "tiny" of --trainers or of the checkout of this project around the working folder. The
same options are the same reproduction: after a kill or Ctrl-C the same command goes on where it
stopped, and of a finished one it prints the result.

Pictures are measured first (view check, segmentation, gate), and the teacher, the rounds and the
judgement read the same records. Its report folder gets learning.html: learning curves, and the
checkpoints beside each other with exact McNemar tests.

--permute trains a control, whose rewards are permuted inside each group; --scale divides advantages by
the group's deviation. Each is another reproduction.

The defaults are the numbers of docs/tiny-policy.md.

--out writes the last checkpoint, checkpoint-N, into a folder.

With --json one object at the end: {"reproduction_id","training","weights","checkpoint","rollouts",
"rounds":[{"step","weights","mean","correct","calls","degenerate","groups","malformed"}],"note"}.

Exit codes: as of ` + "`cxrepro run`" + `.`,
		Example: `  cxrepro xragent train --pictures 60 --sft-steps 150 --rounds 5
  cxrepro xragent train --out policy --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Pictures < quiztraining.FewestPictures {
				return usageError(fmt.Sprintf("--pictures %d is the least: a step takes 16 questions", quiztraining.FewestPictures), "xragent train: --pictures %d", f.Pictures)
			}
			if f.Steps < 1 || f.Rounds < 1 || f.judged < 1 {
				return usageError("give numbers from 1 on", "xragent train: --sft-steps %d, --rounds %d, --judged %d", f.Steps, f.Rounds, f.judged)
			}
			f.run.budgetGiven = c.Flags().Changed("budget")
			return a.train(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.Rounds, "rounds", f.Rounds, "rounds of GRPO")
	fl.IntVar(&f.Pictures, "pictures", f.Pictures, "pictures to draw for training, with four questions each")
	fl.IntVar(&f.Steps, "sft-steps", f.Steps, "steps of SFT, of 16 examples")
	fl.IntVar(&f.judged, "judged", f.judged, "pictures to draw for judging the checkpoints")
	fl.Uint64Var(&f.Seed, "seed", f.Seed, "seed of weights, pictures, order and sampling")
	fl.StringVar(&f.run.plan.trainers.recipes, "trainers", "", "folder of the recipes (default: "+trainRecipes+" of the checkout)")
	fl.BoolVar(&f.Permute, "permute", false, "a control: permute the rewards inside each group")
	fl.BoolVar(&f.Scale, "scale", false, "divide advantages by the group's deviation")
	fl.StringVar(&f.out, "out", "", "folder for the last checkpoint")
	addTuningFlags(fl, &f.run.tuning)
	return c
}

// sets are the options as changes to the spec.
func (f *trainFlags) sets() []string {
	return []string{
		fmt.Sprintf("training.seed=%d", f.Seed), fmt.Sprintf("training.policy.draws.seed=%d", f.Seed),
		fmt.Sprintf("training.data.quiz={seed: %d, split: train, pictures: %d}", f.Seed, f.Pictures),
		fmt.Sprintf("training.sft.steps=%d", f.Steps), fmt.Sprintf("training.grpo.rounds=%d", f.Rounds),
		fmt.Sprintf("training.grpo.permute_rewards=%t", f.Permute), fmt.Sprintf("training.grpo.scale_rewards=%t", f.Scale),
		fmt.Sprintf("dataset.quiz={seed: %d, split: held-out, pictures: %d}", f.Seed, f.judged),
	}
}

func (a *app) train(ctx context.Context, f trainFlags) error {
	dir := filepath.Join(a.StateDir(), "training", "experiments")
	if err := writeExperiments(dir); err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	f.run.plan.sets = f.sets()
	p, err := a.prepare(ctx, store, filepath.Join(dir, filepath.FromSlash(tinySpec)), f.run.plan)
	if err != nil {
		return err
	}
	a.say(fmt.Sprintf("%s of SFT on %s, %s of GRPO, seed %d", plural(f.Steps, "step", "steps"), plural(f.Pictures, "picture", "pictures"), plural(f.Rounds, "round", "rounds"), f.Seed))
	f.run.worker = workerFlags{queue: contract.DefaultQueue, cpuSlots: 4, stop: stopPatience}
	table := &roundTable{app: a, store: store, plan: p.doc}
	f.run.watch = func(view) {
		_ = table.update(ctx) // what cannot be read now is read at the end
	}
	o, err := a.runPlanned(ctx, store, p, f.run)
	if err != nil {
		return err
	}
	return a.showTraining(ctx, o, table, f.out)
}
