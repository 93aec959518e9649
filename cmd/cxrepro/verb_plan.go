package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/overlaystore"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm/endpoint"
	forecast "cxrepro/internal/plan"
	"cxrepro/worker"
)

// forecastFlags are the flags of `plan`.
type forecastFlags struct {
	plan      planFlags
	data      []string
	against   string
	endpoints string
	exact     bool
	out       string
}

func newPlanCommand(a *app) *cobra.Command {
	var f forecastFlags
	c := &cobra.Command{
		Use:   "plan SPEC [--data NAME=FOLDER]... [--against RUN] [--set path=value]...",
		Short: "Say what a run will do, reuse and cost, before it does anything",
		Long: `plan says which steps and calls a run of the spec will make, which it finds done, and why: the
first field in which a key differs from that of an earlier reproduction, or from the nearest
recorded key. It starts nothing, asks nobody, and writes nothing but what --out and --exact name.

Every figure is exact; or lies between two numbers, because it depends on answers that nobody has
yet, with what an earlier run makes one expect; or is unknown, printed as ?, which is never 0.

The data set is read from the folders of --data, as a run reads it. Without them it is taken as
the reproduction compared with read it. --against names that reproduction: its id or its
beginning, its experiment's name, or latest; without it, it is the last one of the same experiment.

Of an agent's spec the rollouts are walked over what is recorded; the gate and the tools are asked in
memory, and what policies were not asked yet lies between the bounds of the protocol.

Limits of labels and of quality rules are tried on the stored measurements: the plan counts what
flips and goes on with it. Other thresholds need masks; --exact runs assessment, draw and questions
here and keeps their results, as a run would, so that the plan becomes exact for them. It
runs no model.

--out writes the plan as JSON; after the run, ` + "`cxrepro receipt RUN --plan FILE`" + ` says what came of it.

With --json: {"format","name","paper","plan","reproduction","finished","data","against","made",
"steps":[{"step","needed","reused","done","run","stale","seconds","why":[{"field","ours","other",
"after","keys","example"}]}],"calls":[{"kind","card","sampling","needed","reused","done","run",
"prompt_tokens","completion_tokens","cost","currency","seconds","why"}],"tasks":[{"task","needed",
"run"}],"rollouts":[{"policy","arm","rollouts","ended","open","pages","needed","run"}],"flips":[...],"totals":{...},"notes"}; a figure is {"mark":"exact","value"}, {"mark":"between","low","high","expected"} or
{"mark":"unknown"}.

Exit codes: 0 planned; 2 usage, spec or data; 6 store unreachable.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.plan(c.Context(), args[0], f) },
	}
	fl := c.Flags()
	f.plan.add(fl)
	fl.StringArrayVar(&f.data, "data", nil, "NAME=FOLDER: where a data set that specs call NAME lies; companions may have their own: chest-imagenome, chexmask, masks")
	fl.StringVar(&f.against, "against", "", "the reproduction to compare with")
	fl.StringVar(&f.endpoints, "endpoints", "", "FILE: endpoint cards, for their prices")
	fl.BoolVar(&f.exact, "exact", false, "run assessment, draw and questions here, and keep their results")
	fl.StringVar(&f.out, "out", "", "FILE: write the plan as JSON")
	return c
}

func (a *app) plan(ctx context.Context, file string, f forecastFlags) error {
	made, err := a.forecast(ctx, file, f)
	if err != nil {
		return err
	}
	if f.out != "" {
		data, err := json.MarshalIndent(made, "", "  ")
		if err == nil {
			err = os.WriteFile(f.out, append(data, '\n'), 0o644)
		}
		if err != nil {
			return usageError("name a file that can be written", "--out: %v", err)
		}
	}
	if a.JSON() {
		return a.printJSON(made)
	}
	return forecast.WriteText(a.out, made)
}

// forecaster holds what the making of one forecast shares.
type forecaster struct {
	a *app
	f forecastFlags
	// store is read; over is what is written to: one that forgets, or with --exact the store.
	store, over *artifacts.Repository
	index       *shelfIndex
	planned     *planned
	acts        *activities.Activities
	opts        forecast.Options
}

func (a *app) forecast(ctx context.Context, file string, f forecastFlags) (made *forecast.Forecast, err error) {
	w := &forecaster{a: a, f: f}
	if err := w.open(ctx, file); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.index.Close()) }()
	if err := w.base(ctx); err != nil {
		return nil, err
	}
	if err := w.read(ctx); err != nil {
		return nil, err
	}
	if w.opts.Price, err = w.prices(); err != nil {
		return nil, err
	}
	if f.exact {
		if err := w.exact(ctx); err != nil {
			return nil, err
		}
	}
	return w.make(ctx)
}

// open opens stores and catalog, and makes the plan's document.
func (w *forecaster) open(ctx context.Context, file string) (err error) {
	a := w.a
	if w.f.exact {
		w.store, err = a.openStore(ctx)
		w.over = w.store
	} else {
		if w.store, err = a.readStore(ctx); emptyFolder(err, a.storeAddress()) {
			w.store, err = memstore.Open(), nil
		}
		if err == nil {
			w.over, err = overlaystore.Over(w.store)
		}
	}
	if err != nil {
		return err
	}
	if w.planned, err = a.prepare(ctx, w.over, file, w.f.plan); err != nil {
		return err
	}
	if w.planned.spec.Agent != nil && w.f.exact {
		return usageError("leave --exact out: gate and tools are asked on the way, and what policies answer nobody knows",
			"spec %s is an agent's: its plan is as exact as it gets without asking", w.planned.spec.Name)
	}
	if w.planned.spec.Dataset.Layout == experiments.LayoutRadCoT {
		return usageError("`cxrepro xragent radcot run` asks nothing twice; --budget bounds what it pays",
			"spec %s builds training examples: what it will ask follows from what the teacher answers, and is not foretold", w.planned.spec.Name)
	}
	if w.planned.spec.Training != nil {
		return usageError("plan the spec without its training section for what is judged; --budget bounds what a run pays",
			"spec %s trains: what it will ask follows from what the policy learns, and is not foretold", w.planned.spec.Name)
	}
	w.index = a.index(w.store)
	return nil
}

// emptyFolder reports that a store's folder does not exist: nothing is recorded yet.
func emptyFolder(err error, address string) bool {
	if err == nil {
		return false
	}
	_, statErr := os.Stat(address)
	return errors.Is(statErr, fs.ErrNotExist)
}

// base chooses the reproduction to compare with.
func (w *forecaster) base(ctx context.Context) error {
	list, err := reproductions(ctx, w.store)
	if err != nil {
		return err
	}
	which := w.f.against
	if which == "" {
		which = w.planned.spec.Name
		if !slices.ContainsFunc(list, func(r *remembered) bool { return r.Name == which && withReceipt(r) }) {
			return nil
		}
	}
	r, err := chooseReproduction(list, which, withReceipt)
	if err != nil {
		return err
	}
	if !withReceipt(r) {
		return usageError("`cxrepro status "+r.ID+"` shows how far it is", "reproduction %s (%s) has no receipt yet to compare with", r.ID, r.Name)
	}
	w.opts.Against = r.receipt
	return nil
}

// read makes activities over the store that forgets and reads the data set, if its folder is
// named.
func (w *forecaster) read(ctx context.Context) error {
	roots, err := parseData(w.f.data)
	if err != nil {
		return err
	}
	data, paths := map[string]fs.FS{}, map[string]string{}
	for _, r := range roots {
		data[r.name], paths[r.name] = openFolder(r.path), r.path
	}
	cache := filepath.Join(w.a.StateDir(), "cache")
	w.acts, err = activities.New(activities.Options{
		Store: w.over, Owner: localhost.New().Owner(artifacts.Owner{Worker: "plan"}), Now: time.Now, Data: data, Cache: cache,
		Digests: worker.ReadDigests(cache, paths), Code: readCodeVersion().code(), Environment: worker.Environment(),
	})
	drawn, drawErr := w.drawn(ctx)
	if err := errors.Join(err, drawErr); err != nil || len(roots) == 0 && !drawn {
		return err
	}
	if err := needData(w.planned, w.f.data); err != nil {
		return err
	}
	if w.planned.spec.Agent != nil {
		read, err := w.acts.ImportQuestions(ctx, contract.ImportQuestionsInput{Plan: w.planned.plan})
		w.opts.Questions = &read
		return dataError(err)
	}
	if b := w.planned.spec.Benchmark; b != nil && b.Source == experiments.SourceRelease {
		read, err := w.acts.ImportRelease(ctx, contract.ImportReleaseInput{Plan: w.planned.plan})
		w.opts.Release = &read
		return dataError(err)
	}
	read, err := w.acts.ReadDataset(ctx, w.planned.plan)
	w.opts.Data = &read
	return dataError(err)
}

// drawn reports that the questions follow from the spec alone, and are not those of the
// reproduction compared with.
func (w *forecaster) drawn(ctx context.Context) (bool, error) {
	ours := w.planned.spec.Dataset
	if ours.Quiz == nil {
		return false, nil
	}
	if w.opts.Against == nil {
		return true, nil
	}
	var theirs experiments.Plan
	if err := readJSON(ctx, w.store, w.opts.Against.Plan, &theirs); err != nil {
		return false, err
	}
	d := theirs.Spec.Dataset.Quiz
	return d == nil || *d != *ours.Quiz, nil
}

// dataError is an error of reading a data set, which is the caller's to mend.
func dataError(err error) error {
	var typed *contract.Failure
	if errors.As(err, &typed) {
		return usageError("`cxrepro dataset check FOLDER` says more", "%v", err)
	}
	return err
}

// prices are those of the endpoint cards.
func (w *forecaster) prices() (func(string) ledger.Price, error) {
	if w.f.endpoints == "" {
		return nil, nil
	}
	set, err := endpoint.Load(w.f.endpoints)
	if err != nil {
		return nil, usageError("docs/endpoints.md describes the file", "--endpoints: %v", err)
	}
	if err := mayReceive(w.planned.doc, set); err != nil {
		return nil, err
	}
	return func(card string) ledger.Price {
		if e, _ := set.For(card); e != nil && e.Price != nil {
			return *e.Price
		}
		return nil
	}, nil
}

// make makes the forecast over what is recorded now.
func (w *forecaster) make(ctx context.Context) (*forecast.Forecast, error) {
	cat, err := w.index.catalog(ctx)
	if err != nil {
		return nil, err
	}
	o := w.opts
	o.Store, o.Catalog, o.Plan, o.Ref, o.Now = w.over, cat, w.planned.doc, w.planned.plan, time.Now()
	o.Draw, o.Rollouts = w.acts.DrawCases, w.acts
	made, err := forecast.Make(ctx, o)
	var data *forecast.DataError
	if errors.As(err, &data) {
		return nil, usageError(fmt.Sprintf("add --data %s=FOLDER", w.planned.spec.Dataset.Name), "%v", err)
	}
	return made, err
}

// exact runs the steps that need no model, and keeps their results.
func (w *forecaster) exact(ctx context.Context) error {
	if w.opts.Release != nil || w.planned.spec.Benchmark != nil && w.planned.spec.Benchmark.Source == experiments.SourceRelease {
		return nil // a release is read, and that is all
	}
	manifest := artifacts.Ref{}
	switch {
	case w.opts.Data != nil:
		manifest = w.opts.Data.Manifest.Manifest
	case w.opts.Against != nil:
		manifest = w.opts.Against.Manifest
	default:
		return usageError(fmt.Sprintf("add --data %s=FOLDER", w.planned.spec.Dataset.Name), "--exact needs the data set")
	}
	done, err := w.acts.Compute(ctx, w.planned.plan, manifest, "plan-"+w.planned.id)
	if err != nil {
		return dataError(err)
	}
	if done.WithoutMasks > 0 {
		w.a.say(fmt.Sprintf("%d of %d windows lack masks: what follows from them stays unknown, because a plan runs no model", done.WithoutMasks, done.Windows))
	}
	return nil
}

// readForecast reads what `plan --out` wrote.
func readForecast(file string) (*forecast.Forecast, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError("name the file that `cxrepro plan --out` wrote", "--plan: %v", err)
	}
	var made forecast.Forecast
	if err := json.Unmarshal(data, &made); err != nil || made.Format != forecast.Format {
		return nil, usageError("name the file that `cxrepro plan --out` wrote", "--plan: %s is no plan of format %s", file, forecast.Format)
	}
	return &made, nil
}
