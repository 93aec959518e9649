package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/resolve"
	"cxrepro/internal/review"
	"cxrepro/internal/temporalconn"
	"cxrepro/worker"
)

// workerFlags say what a worker of this process serves and with what.
type workerFlags struct {
	data               []string
	queue, only        string
	cpuSlots, gpuSlots int
	threads, ahead     int
	stop, stall        time.Duration
	noStickyCache      bool
	copyInputs         bool
	tiles              int
	endpoints          string
	onlyRecorded       bool
	// served are the endpoints that were read from the file, or made up by the demo.
	served *endpoint.Set
	// recorded are model cards whose calls are answered from the ledger alone.
	recorded []string
	// training, if set, runs trainers.
	training *activities.Training
}

func (f *workerFlags) add(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.data, "data", nil, "NAME=FOLDER: where a data set that specs call NAME lies; companions may have their own: chest-imagenome, chexmask, masks")
	fl.BoolVar(&f.copyInputs, "copy-inputs", false, "store every image that enters, for workers that lack the data set's folder")
	fl.IntVar(&f.cpuSlots, "cpu-slots", 0, "chunks worked on at a time without accelerator (0: the CPU quota)")
	fl.IntVar(&f.gpuSlots, "gpu-slots", 1, "chunks segmented at a time, each with a model session of its own")
	fl.IntVar(&f.ahead, "ahead", 2, "images of a chunk in hand during segmentation: the next is decoded while the model works")
	fl.IntVar(&f.threads, "threads", 0, "threads of one model session (0: the CPU quota divided by --gpu-slots)")
	fl.DurationVar(&f.stop, "stop-timeout", 30*time.Second, "longest clean stop")
	fl.DurationVar(&f.stall, "stall-timeout", 2*time.Minute, "an image that takes longer counts as hung")
	fl.BoolVar(&f.noStickyCache, "no-sticky-cache", false, "replay whole histories at every step (a test of determinism)")
	fl.StringVar(&f.only, "only", "", "serve one task queue only: cpu or gpu")
	fl.IntVar(&f.tiles, "review-tiles", 12, "most cases per outcome on a page of the review sheet")
	fl.StringVar(&f.endpoints, "endpoints", "", "FILE: endpoint cards, where models run and what their operators vouch for")
	addQueueFlag(fl, &f.queue)
}

func (f *workerFlags) noGPU() bool { return f.only == "cpu" }

func addQueueFlag(fl *pflag.FlagSet, queue *string) {
	fl.StringVar(queue, "queue", contract.DefaultQueue, "prefix of the task queues")
}

// openStore opens the artifact store that flags and environment name.
func (a *app) openStore(ctx context.Context) (*artifacts.Repository, error) {
	d, err := a.durability()
	if err != nil {
		return nil, err
	}
	store, err := storeurl.Open(ctx, a.storeAddress(), storeurl.Options{Durability: d})
	if err != nil {
		return nil, storeError(err)
	}
	for _, f := range store.Fallbacks() {
		a.say("store " + store.URL() + ": " + f)
	}
	return store, nil
}

// storeError gives an error of the artifact store its exit code and hint.
func storeError(err error) error {
	code := exitUnreachable
	var address *storeurl.AddressError
	hint := artifacts.HintOf(err)
	switch {
	case errors.As(err, &address):
		code = exitUsage
	case fullDisk(err):
		if hint == "" {
			hint = "free some space there and run the same command again: it goes on from what is recorded"
		}
	case errors.Is(err, artifacts.ErrDigestMismatch):
		code = exitFailed
		if hint == "" {
			hint = "`cxrepro artifacts verify` names what is damaged; --drop-damaged removes it, and the same run makes it again"
		}
	case artifacts.ClassOf(err) == artifacts.Unknown:
		code = exitFailed
	}
	return &exitError{Code: code, Err: err, Hint: hint}
}

// fullDisk reports whether err comes from a disk, a quota or a store without room.
func fullDisk(err error) bool {
	return errors.Is(err, artifacts.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// runWorker starts a worker in this process and returns what stops it.
func (a *app) runWorker(conn *temporalconn.Conn, store *artifacts.Repository, log *slog.Logger, f workerFlags) (*worker.Worker, error) {
	if f.only != "" && f.only != "cpu" && f.only != "gpu" {
		return nil, usageError("leave it out to serve both", "--only %q is not cpu or gpu", f.only)
	}
	roots, err := parseData(f.data)
	if err != nil {
		return nil, err
	}
	a.rememberData(roots)
	data, paths := map[string]fs.FS{}, map[string]string{}
	for _, r := range roots {
		data[r.name], paths[r.name] = openFolder(r.path), r.path
	}
	hook, err := worker.ParseFault(os.Getenv(worker.FaultVariable))
	if err != nil {
		return nil, usageError("unset it, or correct it", "%v", err)
	}
	artifacts.FaultHook = hook
	if f.noStickyCache {
		worker.DisableStickyCache()
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	if err := f.readEndpoints(); err != nil {
		return nil, err
	}
	v := readCodeVersion()
	return worker.Start(worker.Options{
		Client: conn.Client, Store: store, Name: fmt.Sprintf("%s:%d", host, os.Getpid()), Queue: f.queue,
		NoCPU: f.only == "gpu", NoGPU: f.only == "cpu", CPUSlots: f.cpuSlots, GPUSlots: f.gpuSlots, Threads: f.threads, Ahead: f.ahead,
		Data: data, Roots: paths, CopyInputs: f.copyInputs, Cache: filepath.Join(a.StateDir(), "cache"), Stop: f.stop, Stall: f.stall, Log: log, Fault: hook,
		BuildID: v.build(), Code: v.code(),
		Reporters: []activities.Reporter{&review.Reporter{
			Options: review.Options{PerStratum: f.tiles}, Temporary: filepath.Join(a.StateDir(), "cache", "reports"),
		}},
		Endpoints: f.served, Recorded: f.recorded, Training: f.training,
		Library: func(ctx context.Context) (string, error) {
			lib, err := resolve.ONNXRuntime(ctx, a.resolveOptions("onnxruntime"))
			return lib.Path, err
		},
	})
}

// maxLog is the size at which the worker's log is begun anew; the last one is kept.
const maxLog = 32 << 20

// openLog returns a logger that writes to a file below the state directory.
func (a *app) openLog() (*slog.Logger, func() error, error) {
	dir := filepath.Join(a.StateDir(), "log")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, "worker.log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewJSONHandler(f, nil)), f.Close, nil
}
