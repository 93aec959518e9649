package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/storeurl"
	"cxrepro/experiments"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/devserver"
	"cxrepro/internal/phantom"
	"cxrepro/internal/resolve"
	"cxrepro/internal/temporalconn"
	"cxrepro/worker"
)

// slowModel answers after a fixed time with the masks of a phantom. Like a session of the
// real runtime it serves one picture at a time.
type slowModel struct {
	takes time.Duration
	masks *anatomy.Masks
	free  chan struct{}
}

func newSlowModel(takes time.Duration) (*slowModel, error) {
	pic, err := phantom.New(9, 0, phantom.Options{}).Picture(512, 512)
	if err != nil {
		return nil, err
	}
	m := &slowModel{takes: takes, masks: pic.Masks, free: make(chan struct{}, 1)}
	m.free <- struct{}{}
	return m, nil
}

// Segment waits for the model, then as long as an inference takes.
func (m *slowModel) Segment(ctx context.Context, img *cxr.Image) (*anatomy.Masks, error) {
	select {
	case <-m.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { m.free <- struct{}{} }()
	t := time.NewTimer(m.takes)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out, err := anatomy.NewMasks(m.masks.GridW, m.masks.GridH, img.Width, img.Height, m.masks.Declared)
	if err != nil {
		return nil, err
	}
	for _, s := range m.masks.Present().List() {
		if err := out.Put(s, m.masks.Mask(s)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// runOverhead sends phantoms through the real workflows on an embedded server and an
// ordinary folder store, with a model that sleeps, and compares the segmentation stage with
// a bare loop over the same files.
func runOverhead(ctx context.Context, args []string) error {
	var images int
	var takes time.Duration
	if err := flags("overhead", args, func(fl *flag.FlagSet) {
		fl.IntVar(&images, "images", 40, "pictures")
		fl.DurationVar(&takes, "inference", time.Second, "time that an inference takes")
	}); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cxrepro-overhead-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files, err := drawPhantoms(filepath.Join(dir, "data"), images)
	if err != nil {
		return err
	}
	model, err := newSlowModel(takes)
	if err != nil {
		return err
	}
	bare := time.Now()
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		img, err := cxr.Decode(data, cxr.Limits{})
		if err != nil {
			return err
		}
		if _, err := model.Segment(ctx, img); err != nil {
			return err
		}
	}
	loop := time.Since(bare)
	c := &campaign{dir: dir, model: model}
	stage, whole, err := c.run(ctx)
	if err != nil {
		return err
	}
	n := float64(len(files))
	per := func(d time.Duration) float64 { return d.Seconds() * 1000 / n }
	over := stage - time.Duration(len(files))*takes
	fmt.Printf("%d pictures, an inference of %s; milliseconds a picture\n", len(files), takes)
	fmt.Printf("  bare loop of reading, decoding and inference %.1f\n", per(loop))
	fmt.Printf("  segmentation stage of the workflows %.1f, %.1f above the inferences alone (%.2f %%), ratio to the loop %.3f\n",
		per(stage), per(over), 100*over.Seconds()/(n*takes.Seconds()), loop.Seconds()/stage.Seconds())
	fmt.Printf("  everything from launch to receipt %.1f (ingest, twelve tasks, tables and reports too)\n", per(whole))
	return verdict(over.Seconds() < 0.05*n*takes.Seconds(), "5 %% of the inferences")
}

// drawPhantoms writes a data set and returns its frontal pictures.
func drawPhantoms(dir string, n int) ([]string, error) {
	o := phantom.DatasetOptions{Seed: 9, Sizing: phantom.SizingNative}
	var t phantom.Tables
	var pictures []string
	write := func(files []phantom.File) error {
		for _, f := range files {
			name := filepath.Join(dir, filepath.FromSlash(f.Name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, f.Data, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range n {
		s, err := phantom.NewStudy(i, o)
		if err != nil {
			return nil, err
		}
		for _, im := range s.Images {
			if im.View == "PA" || im.View == "AP" {
				pictures = append(pictures, filepath.Join(dir, phantom.FolderImages, filepath.FromSlash(im.Path)))
			}
		}
		if err := write(s.Files); err != nil {
			return nil, err
		}
		t.Add(s)
	}
	files, _, err := t.Files(o)
	if err != nil {
		return nil, err
	}
	return pictures, write(files)
}

// campaign is one reproduction in a folder of its own.
type campaign struct {
	dir   string
	model *slowModel
}

// run returns how long the segmentation stage took, and everything.
func (c *campaign) run(ctx context.Context) (stage, whole time.Duration, err error) {
	store, err := storeurl.Open(ctx, filepath.Join(c.dir, "store"), storeurl.Options{})
	if err != nil {
		return 0, 0, err
	}
	conn, err := openServer(ctx, filepath.Join(c.dir, "state"))
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err = errors.Join(err, conn.Close(stopping))
	}()
	plan, spec, err := c.plan(ctx, store)
	if err != nil {
		return 0, 0, err
	}
	stop, err := c.serve(conn.Client, store)
	if err != nil {
		return 0, 0, err
	}
	defer stop()
	common := contract.Common{Plan: plan, Spec: contract.SpecID(plan.Digest), Paper: spec.Paper, DataUse: spec.Dataset.DataUse, Queue: "bench", Tuning: contract.DefaultTuning()}
	began := time.Now()
	run, err := conn.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: contract.LaunchWorkflowID(common.Spec), TaskQueue: contract.QueueCPU("bench")},
		contract.Launch.Name, contract.LaunchInput{Common: common})
	if err != nil {
		return 0, 0, err
	}
	var launched contract.LaunchResult
	if err := run.Get(ctx, &launched); err != nil {
		return 0, 0, err
	}
	if err := conn.Client.GetWorkflow(ctx, contract.ReproductionWorkflowID(launched.Reproduction), "").Get(ctx, nil); err != nil {
		return 0, 0, err
	}
	whole = time.Since(began)
	info, err := conn.Client.DescribeWorkflowExecution(ctx, contract.StageWorkflowID(launched.Reproduction, contract.StageSegment, 0), "")
	if err != nil {
		return 0, 0, err
	}
	e := info.GetWorkflowExecutionInfo()
	return e.GetCloseTime().AsTime().Sub(e.GetStartTime().AsTime()), whole, nil
}

func openServer(ctx context.Context, state string) (*temporalconn.Conn, error) {
	return temporalconn.Open(ctx, temporalconn.Options{
		Address: "embedded", Identity: "bench",
		Attributes: []string{contract.AttrPaper, contract.AttrReproduction, contract.AttrStage, contract.AttrDataUse},
		Server: devserver.Options{StateDir: state, NoUI: true, Resolve: func(ctx context.Context) (string, error) {
			b, err := resolve.Temporal(ctx, resolve.Options{Progress: func(l string) { fmt.Fprintln(os.Stderr, l) }})
			return b.Path, err
		}},
	})
}

// plan stores the demo's spec with a model that is ours in name only.
func (c *campaign) plan(ctx context.Context, store *artifacts.Repository) (ref artifacts.Ref, spec *experiments.Spec, err error) {
	text, err := fs.ReadFile(experiments.Files, "chexstruct-demo/spec.yaml")
	if err != nil {
		return ref, nil, err
	}
	if spec, err = experiments.Parse("spec.yaml", text, "name=overhead"); err != nil {
		return ref, nil, err
	}
	p, err := experiments.NewPlan(spec, c.pinned())
	if err != nil {
		return ref, nil, err
	}
	data, err := p.Encode()
	if err != nil {
		return ref, nil, err
	}
	ref, err = store.Put(ctx, data, experiments.PlanMediaType)
	return ref, spec, err
}

func (c *campaign) pinned() *experiments.Model {
	fake := func(name string) artifacts.Ref { return artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: 1} }
	return &experiments.Model{Name: "slow", Card: fake("card"), Weights: fake("weights"), Settings: fake("settings").Digest, Preprocessing: "none"}
}

// serve starts the workers that the program starts, with the slow model on the GPU queue.
func (c *campaign) serve(cl client.Client, store *artifacts.Repository) (stop func(), err error) {
	m := c.pinned()
	data := map[string]fs.FS{}
	for name, folder := range map[string]string{"phantom": phantom.FolderImages, experiments.BoxesChest: phantom.FolderImaGenome, experiments.LungsMask: phantom.FolderCheXmask} {
		data[name] = os.DirFS(filepath.Join(c.dir, "data", folder))
	}
	acts, err := activities.New(activities.Options{
		Store: store, Owner: localhost.New().Owner(artifacts.Owner{Worker: "bench"}), Now: time.Now, Data: data, Cache: filepath.Join(c.dir, "cache"),
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Engine: func(_ context.Context, p *experiments.Plan) (*activities.Engine, error) {
			return &activities.Engine{Segmenter: c.model, Declared: c.model.masks.Declared, Runtime: "none",
				Identity: contract.Inference{Model: m.Weights.Digest, Settings: m.Settings, Provider: p.Spec.Masks.Provider, Preprocessing: m.Preprocessing, Decoder: cxr.DecoderVersion}}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	o := sdk.Options{MaxConcurrentActivityExecutionSize: 2, StickyScheduleToStartTimeout: time.Second}
	cpu := sdk.New(cl, contract.QueueCPU("bench"), o)
	worker.Register(cpu)
	acts.RegisterCPU(cpu)
	o.MaxConcurrentActivityExecutionSize, o.DisableWorkflowWorker = 1, true
	gpu := sdk.New(cl, contract.QueueGPU("bench"), o)
	acts.RegisterGPU(gpu)
	for _, w := range []sdk.Worker{cpu, gpu} {
		if err := w.Start(); err != nil {
			return nil, err
		}
	}
	return func() { gpu.Stop(); cpu.Stop() }, nil
}
