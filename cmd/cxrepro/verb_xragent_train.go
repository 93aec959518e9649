package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/process"
	"cxrepro/internal/resolve"
	"cxrepro/internal/sourcetree"
	"cxrepro/internal/trainer"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/worker"
)

// trainSays goes with every result of the small policy.
const trainSays = "a small policy that proves the machinery and says nothing about the paper's numbers"

// trainRecipes is where a checkout of this project has the recipes.
const trainRecipes = "infra/trainers"

// trainFlags are what `xragent train` is told.
type trainFlags struct {
	quiztraining.Options
	out    string
	tuning contract.Tuning
}

func newXragentTrainCommand(a *app) *cobra.Command {
	f := trainFlags{Options: quiztraining.Measured()}
	c := &cobra.Command{
		Use:   "train [--rounds N] [--pictures N] [--sft-steps N] [--seed N] [--out DIR]",
		Short: "Train the small policy on drawn questions: SFT on a teacher, then GRPO",
		Long: `train draws questions on phantoms, lets a scripted teacher answer them, and trains a policy of
97,000 numbers: SFT on what the teacher wrote, then GRPO in rounds of 16 questions, 4 draws each,
that are answered by the last checkpoint. It is
` + trainSays + `.

It runs in this process with the embedded server, on one Python with numpy, which is found or
fetched (CXREPRO_PYTHON names one), and with the recipe "tiny" of --trainers or of the checkout of
this project around the working folder. The same options are the same training: after a kill or
Ctrl-C the same command goes on where it stopped, and of a finished one it prints the result.

The policy is asked without measurements (arm ` + quiztraining.Arm + `), which need models that segment:
questions about the heart are left out. The defaults are the numbers of docs/tiny-policy.md.

--out writes the last checkpoint, checkpoint-N, into a folder.

With --json one object at the end: {"training","weights","checkpoint","rollouts","rounds":[{"step",
"weights","mean","correct","calls","degenerate","groups","malformed"}],"note"}.

Exit codes: 0 done; 1 failed; 2 usage; 4 paused; 5 cancelled or interrupted; 6 store or Temporal
unreachable.`,
		Example: `  cxrepro xragent train --pictures 60 --sft-steps 150 --rounds 5
  cxrepro xragent train --out policy --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Pictures < quiztraining.FewestPictures {
				return usageError(fmt.Sprintf("--pictures %d is the least: a step takes 16 questions", quiztraining.FewestPictures), "xragent train: --pictures %d", f.Pictures)
			}
			if f.Steps < 1 || f.Rounds < 1 {
				return usageError("give numbers from 1 on", "xragent train: --sft-steps %d, --rounds %d", f.Steps, f.Rounds)
			}
			return a.train(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.Rounds, "rounds", f.Rounds, "rounds of GRPO")
	fl.IntVar(&f.Pictures, "pictures", f.Pictures, "pictures to draw, with three questions each")
	fl.IntVar(&f.Steps, "sft-steps", f.Steps, "steps of SFT, of 16 examples")
	fl.Uint64Var(&f.Seed, "seed", f.Seed, "seed of weights, pictures, order and sampling")
	fl.StringVar(&f.Recipes, "trainers", "", "folder of the recipes (default: "+trainRecipes+" of the checkout)")
	fl.StringVar(&f.out, "out", "", "folder for the last checkpoint")
	addTuningFlags(fl, &f.tuning)
	return c
}

func (a *app) train(ctx context.Context, f trainFlags) (err error) {
	if err := a.trainTools(ctx, &f); err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	f.Recorder = &checkpoint.Recorder{Store: store, Owner: artifacts.Owner{Worker: "xragent train"}, Code: readCodeVersion().code(), Environment: worker.Environment(), Now: time.Now}
	t, ref, err := quiztraining.Put(ctx, f.Options)
	if err != nil {
		return err
	}
	id := contract.TrainingID(ref.Digest)
	a.say(fmt.Sprintf("training %s: %s of SFT on %s, %s of GRPO, seed %d", id, plural(f.Steps, "step", "steps"), plural(f.Pictures, "picture", "pictures"), plural(f.Rounds, "round", "rounds"), f.Seed))
	w, unlock, err := a.trainWorker(f, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	s, err := a.open(ctx, store, w)
	if err != nil {
		return err
	}
	in := contract.TrainInput{
		Common:   contract.Common{Plan: t.Plan, Spec: id, Paper: paperXRagent, DataUse: t.DataUse, Queue: w.queue, Tuning: f.tuning.WithDefaults()},
		Training: ref, Runs: len(t.Runs), Reproduction: id,
	}
	table := &roundTable{app: a, rounds: quiztraining.Rounds{Store: store, Training: t, Ref: ref}}
	res, err := a.trainAll(ctx, s, in, table)
	if err = errors.Join(err, s.close()); err != nil {
		return a.ended(ctx, err)
	}
	return a.showTraining(ctx, store, id, res, table, f.out)
}

// trainTools finds Python and the recipes.
func (a *app) trainTools(ctx context.Context, f *trainFlags) error {
	if f.Recipes == "" {
		root, err := sourcetree.Root(trainRecipes + "/" + quiztraining.Trainer)
		if err != nil {
			return usageError("or name "+trainRecipes+" of one with --trainers", "xragent train: %v", err)
		}
		f.Recipes = filepath.Join(root, filepath.FromSlash(trainRecipes))
	}
	var err error
	if f.Recipes, err = filepath.Abs(f.Recipes); err != nil {
		return err
	}
	if _, err := trainer.LoadRecipe(filepath.Join(f.Recipes, quiztraining.Trainer)); err != nil {
		return usageError("--trainers names a folder with the recipe "+quiztraining.Trainer, "%v", err)
	}
	p, err := resolve.Python(ctx, a.resolveOptions("python"))
	f.Python = p.Path
	return err
}

// trainWorker says how a worker trains, in a folder that it holds alone. Its task queues are the
// training's own: rollouts are answered by the server that runs beside it.
func (a *app) trainWorker(f trainFlags, id string) (w workerFlags, unlock func() error, err error) {
	folder, err := filepath.Abs(filepath.Join(a.StateDir(), "training", id))
	if err != nil {
		return w, nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return w, nil, err
	}
	lock, err := process.TryLock(filepath.Join(folder, "command.lock"))
	if errors.Is(err, process.ErrLocked) {
		return w, nil, &exitError{Code: exitFailed, Err: fmt.Errorf("training %s is under way in another process", id), Hint: "wait for that one, or end it and go on here"}
	}
	if err != nil {
		return w, nil, err
	}
	address, err := freePort()
	if err != nil {
		return w, nil, errors.Join(err, lock.Close())
	}
	var environment []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			environment = append(environment, name+"="+value)
		}
	}
	values := trainer.Values{"python": f.Python}
	w = workerFlags{queue: contract.DefaultQueue + "-" + id, only: "cpu", cpuSlots: 4, stop: stopPatience}
	w.training = &activities.Training{
		Work: folder, Recipes: f.Recipes, Values: values, Environment: environment,
		Server: &trainer.Server{Address: address, Log: filepath.Join(folder, "server.log"), State: filepath.Join(folder, "server.json"), Values: values, Environment: environment},
	}
	w.served = &endpoint.Set{Endpoints: []endpoint.Card{{
		Name: quiztraining.Policy, Adapter: "openai", URL: "http://" + address + "/v1/", Models: map[string]string{quiztraining.Policy: quiztraining.Policy},
		Limits: endpoint.Limits{Concurrency: 4, Timeout: time.Minute}, Attestation: datause.Attestation{Local: true},
	}}}
	return w, lock.Close, nil
}

// freePort is an address of this machine where nobody listens.
func freePort() (string, error) {
	n, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return n.Addr().String(), n.Close()
}
