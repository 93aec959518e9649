package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"cxrepro/experiments"
	"cxrepro/internal/phantom"
)

// demoFlags are the flags of `demo`.
type demoFlags struct {
	paper  string
	n      int
	nGiven bool
	seed   uint64
	size   string
	run    runFlags
}

// demoSeed is a seed that PhantomSeg was neither trained nor measured on, whose first 24
// phantoms have several of each label of every task.
const demoSeed = 33

func newDemoCommand(a *app) *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a whole reproduction on synthetic radiographs",
		Long: `demo draws synthetic chest radiographs with known truth into the state directory and runs the
experiment cxreasonbench-demo on them: a real server, a real segmentation model, every task,
a benchmark built from the findings, and its dialogues with two simulated models and a
simulated judge that answer over a real connection. It prints the tables in the form of the
paper's Table 6, how well each measurement recovers the truth, the receipt, the paths of the
review sheet and of the evaluation's report, and at last Tables 3 and 4 of the two models
beside the published ones. Nothing else is needed: no credentials, no accelerator.

With --paper xragent it runs the experiment xragent-demo instead: the two-turn agent of X-Ragent on
drawn questions about phantoms, with the validity gate and without, and with two simulated
policies; view check, segmentation, gate, tools and rewards are real. Its report shows tables
and transcripts. --n is the number of pictures then, each with four questions.

Run it again and every step is found; stop it in the middle and the same command goes on.

With --json: one line with the recovery of every measurement, then the receipt as the last
line.

Exit codes: as of run.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.run.budgetGiven, f.nGiven = c.Flags().Changed("budget"), c.Flags().Changed("n")
			return a.demo(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.paper, "paper", paperCXReasonBench, "paper: "+paperCXReasonBench+" or "+paperXRagent)
	fl.IntVar(&f.n, "n", 24, "number of phantoms")
	fl.Uint64Var(&f.seed, "seed", demoSeed, "seed of the phantoms")
	fl.StringVar(&f.size, "size", "native", "picture size: native (about 1024 x 1231), mimic (about 2544 x 3056), or WxH")
	f.run.worker.add(fl)
	addTuningFlags(fl, &f.run.tuning)
	return c
}

func (a *app) demo(ctx context.Context, f demoFlags) error {
	if f.run.worker.endpoints != "" {
		return usageError("leave it out, or run experiments/cxreasonbench-demo with it", "the demo answers by itself: --endpoints %s would be asked nothing", f.run.worker.endpoints)
	}
	switch f.paper {
	case paperCXReasonBench:
	case paperXRagent:
		return a.demoAgent(ctx, f)
	default:
		return usageError(paperCXReasonBench+" or "+paperXRagent, "--paper %q is none that the demo knows", f.paper)
	}
	dir := filepath.Join(a.StateDir(), "demo")
	folder, err := a.demoData(ctx, dir, f)
	if err != nil {
		return err
	}
	if err := writeExperiments(filepath.Join(dir, "experiments")); err != nil {
		return err
	}
	for name, sub := range map[string]string{
		"phantom": phantom.FolderImages, "chest-imagenome": phantom.FolderImaGenome, "chexmask": phantom.FolderCheXmask,
	} {
		f.run.worker.data = append(f.run.worker.data, name+"="+filepath.Join(folder, sub))
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	sim, err := startSimulator(store)
	if err != nil {
		return err
	}
	defer sim.close()
	if f.run.worker.served, err = sim.endpoints(); err != nil {
		return err
	}
	f.run.watch = func(v view) { sim.look(ctx, v) }
	o, err := a.runSpec(ctx, filepath.Join(dir, "experiments", "cxreasonbench-demo", "spec.yaml"), f.run)
	if err != nil {
		return err
	}
	truth, err := readTruth(filepath.Join(folder, phantom.FolderTruth))
	if err != nil {
		return err
	}
	rec, err := recovery(ctx, o, truth)
	if err != nil {
		return err
	}
	if a.JSON() {
		if err := json.NewEncoder(a.out).Encode(map[string]any{"recovery": rec}); err != nil {
			return err
		}
		return a.printOutcome(ctx, o.store, o.receipt, o.summary)
	}
	printSummary(a.out, o.summary)
	printRecovery(a.out, rec, len(truth))
	printReceipt(a.out, o.receipt, a.sheetPath(ctx, o.store, o.receipt))
	if err := a.printAsked(ctx, o.store, o.receipt); err != nil {
		return err
	}
	return a.verdict(o.receipt)
}

// demoData draws the phantoms once. A folder that was not finished is drawn anew.
func (a *app) demoData(ctx context.Context, dir string, f demoFlags) (string, error) {
	folder := filepath.Join(dir, fmt.Sprintf("phantoms-v%d-seed%d-n%d-%s", phantom.AppearanceVersion, f.seed, f.n, f.size))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	a.say(fmt.Sprintf("drawing %d phantoms into %s", f.n, folder))
	part := folder + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	pf := phantomFlags{n: f.n, seed: f.seed, out: part, size: f.size, shard: 1, workers: runtime.GOMAXPROCS(0)}
	if err := pf.check(); err != nil {
		return "", err
	}
	quiet := &app{out: discard{}, err: discard{}, settings: a.settings}
	if err := quiet.writePhantoms(ctx, pf); err != nil {
		return "", err
	}
	return folder, os.Rename(part, folder)
}

// discard drops what a part of a verb would print.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// writeExperiments lays the program's experiments out as files, to look at and to change.
func writeExperiments(dir string) error {
	return fs.WalkDir(experiments.Files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err == nil && e.IsDir() && e.Name() == "claims":
			return fs.SkipDir // published figures are nothing to change
		case err != nil || e.IsDir():
			return err
		}
		data, err := fs.ReadFile(experiments.Files, name)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o644)
	})
}
