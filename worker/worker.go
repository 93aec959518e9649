package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/onnx"
	"cxrepro/internal/provenance"
	"cxrepro/internal/trainer"
	"cxrepro/workflows"
)

// Options say what a worker serves and with what. Client, Store and Name are required.
type Options struct {
	Client client.Client
	Store  *artifacts.Repository
	// Name names this worker in claims, statements and receipts, such as host:pid.
	Name string
	// Queue is the prefix of the task queues. Default contract.DefaultQueue.
	Queue string
	// NoCPU and NoGPU leave out one of the two queues.
	NoCPU, NoGPU bool
	// CPUSlots and GPUSlots bound what runs at a time. Defaults: the CPU quota, and 1.
	CPUSlots, GPUSlots int
	// Data are the data roots by name, Roots their paths: digests of files are remembered
	// per path.
	Data  map[string]fs.FS
	Roots map[string]string
	// CopyInputs makes ingest store every image that enters, for workers without the folder.
	CopyInputs bool
	// Cache is a folder for what can be made again: digests of files, models, unpacked
	// tables. Required.
	Cache string
	// Library finds the ONNX Runtime library when a model is first needed; Threads works
	// on one image, 0 for the quota divided by the slots.
	Library func(ctx context.Context) (string, error)
	Threads int
	// Ahead is how many images of a chunk are in hand during segmentation, so that reading
	// and decoding goes on beside the model. Default 2.
	Ahead int
	// Reporters make files from results.
	Reporters []activities.Reporter
	// Endpoints are where models run; nil serves no calls. Getenv reads their credentials.
	// Default os.Getenv.
	Endpoints *endpoint.Set
	Getenv    func(string) string
	// Recorded are model cards whose calls are answered from the ledger alone.
	Recorded []string
	// Training runs trainers and serves their checkpoints; nil leaves out that queue.
	Training *activities.Training
	// Lease is how long the lease of an endpoint outlives its last renewal. Clocks of workers
	// may differ by a third of it. Default 15 s.
	Lease time.Duration
	// Stop bounds the clean stop. Default 30 s.
	Stop time.Duration
	// StickyTimeout is how long a workflow task waits for the worker that has the
	// workflow in memory. Default 1 s: embedded workers come and go.
	StickyTimeout time.Duration
	// Stall is how long an item may take before heartbeats stop. Default 2 minutes.
	Stall time.Duration
	// Code goes into statements; BuildID names the build to the server.
	Code    provenance.Code
	BuildID string
	Log     *slog.Logger
	// Fault is called at fault points; tests place kills there.
	Fault func(name string)
}

// Worker serves task queues until Stop.
type Worker struct {
	workers []worker.Worker
	engines *engines
	viewers *viewers
	digests *digestCache
	askers  *askers
	policy  *trainer.Server
}

// deployment names this program's workers to a server that versions them.
const deployment = "cxrepro"

// trainSlots is how many activities of trainings run at a time; a folder of a run trains one
// segment at a time whatever this is.
const trainSlots = 4

// throttle bounds how stale a heartbeat may be that the server has.
const throttle = 2 * time.Second

// Environment names what this process computes on.
func Environment() provenance.Environment {
	return provenance.Environment{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuName()}
}

// Start begins to serve. Errors: a missing option, or the server's.
func Start(o Options) (*Worker, error) {
	if o.Client == nil || o.Store == nil || o.Name == "" || o.Cache == "" {
		return nil, errors.New("worker: Options need Client, Store, Name and Cache")
	}
	o.defaults()
	w := &Worker{engines: &engines{opts: o}, viewers: &viewers{opts: o}}
	var err error
	if w.digests, err = openDigests(filepath.Join(o.Cache, digestsFile), o.Roots, o.Log); err != nil {
		return nil, err
	}
	if w.askers, err = newAskers(o); err != nil {
		return nil, errors.Join(err, w.digests.close())
	}
	acts, err := activities.New(activities.Options{
		Store: o.Store, Owner: localhost.New().Owner(artifacts.Owner{Worker: o.Name}), Now: time.Now, Data: o.Data,
		Engine: w.engines.get, Viewer: w.viewers.get, Cache: o.Cache, CopyInputs: o.CopyInputs, Digests: w.digests, Code: o.Code,
		Environment: Environment(),
		Log:         o.Log, Stall: o.Stall, Ahead: o.Ahead, Fault: o.Fault, Reporters: o.Reporters,
		Endpoint: w.askers.endpoint, Segmenter: newSegmenters(o).get, Training: o.Training,
	})
	if err != nil {
		return nil, err
	}
	if !o.NoCPU {
		cpu := worker.New(o.Client, contract.QueueCPU(o.Queue), o.sdk(o.CPUSlots))
		Register(cpu)
		acts.RegisterCPU(cpu)
		w.workers = append(w.workers, cpu)
	}
	if !o.NoGPU {
		so := o.sdk(o.GPUSlots)
		so.DisableWorkflowWorker = true
		gpu := worker.New(o.Client, contract.QueueGPU(o.Queue), so)
		acts.RegisterGPU(gpu)
		w.workers = append(w.workers, gpu)
	}
	if o.Training != nil {
		so := o.sdk(trainSlots)
		so.DisableWorkflowWorker = true
		train := worker.New(o.Client, contract.QueueTrain(o.Queue), so)
		acts.RegisterTrain(train)
		w.workers = append(w.workers, train)
		if w.policy = o.Training.Server; w.policy != nil {
			if err := w.policy.Resume(); err != nil {
				return nil, fmt.Errorf("serve the policy again: %w", err)
			}
		}
	}
	for i, sw := range w.workers {
		if err := sw.Start(); err != nil {
			for _, started := range w.workers[:i] {
				started.Stop()
			}
			return nil, fmt.Errorf("start worker: %w", err)
		}
	}
	w.askers.start(acts)
	return w, nil
}

func (o *Options) defaults() {
	if o.Queue == "" {
		o.Queue = contract.DefaultQueue
	}
	if o.CPUSlots <= 0 {
		o.CPUSlots = onnx.Quota()
	}
	if o.GPUSlots <= 0 {
		o.GPUSlots = 1
	}
	if o.Stop <= 0 {
		o.Stop = 30 * time.Second
	}
	if o.StickyTimeout <= 0 {
		o.StickyTimeout = time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func (o *Options) sdk(slots int) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: slots,
		WorkerStopTimeout:                  o.Stop,
		StickyScheduleToStartTimeout:       o.StickyTimeout,
		MaxHeartbeatThrottleInterval:       throttle,
		DefaultHeartbeatThrottleInterval:   throttle,
		Identity:                           o.Name,
		DeploymentOptions:                  worker.DeploymentOptions{Version: worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: o.BuildID}},
		DisableEagerActivities:             true,
	}
}

// Register registers every workflow under its contract name.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.Launch, workflow.RegisterOptions{Name: contract.Launch.Name})
	r.RegisterWorkflowWithOptions(workflows.IngestDataset, workflow.RegisterOptions{Name: contract.IngestDataset.Name})
	r.RegisterWorkflowWithOptions(workflows.Reproduction, workflow.RegisterOptions{Name: contract.Reproduction.Name})
	r.RegisterWorkflowWithOptions(workflows.Stage, workflow.RegisterOptions{Name: contract.Stage.Name})
	r.RegisterWorkflowWithOptions(workflows.Evaluation, workflow.RegisterOptions{Name: contract.Evaluation.Name})
	r.RegisterWorkflowWithOptions(workflows.Train, workflow.RegisterOptions{Name: contract.Train.Name})
	r.RegisterWorkflowWithOptions(workflows.Dialogues, workflow.RegisterOptions{Name: contract.Dialogues.Name})
	r.RegisterWorkflowWithOptions(workflows.Rollouts, workflow.RegisterOptions{Name: contract.Rollouts.Name})
	r.RegisterWorkflowWithOptions(workflows.RadCoT, workflow.RegisterOptions{Name: contract.RadCoT.Name})
}

// Preload loads the model of a plan, so that a model, library or provider that cannot
// serve is known before any work.
func (w *Worker) Preload(ctx context.Context, p *experiments.Plan) error {
	if p.Model == nil {
		return nil
	}
	if _, err := w.engines.get(ctx, p); err != nil || p.View == nil {
		return err
	}
	_, err := w.viewers.get(ctx, p)
	return err
}

// Stop finishes what is in hand and ends. It waits for at most Options.Stop per queue.
func (w *Worker) Stop() error {
	var asked error
	asking := make(chan struct{})
	go func() {
		defer close(asking)
		asked = w.askers.close(context.Background())
	}()
	done := make(chan struct{}, len(w.workers))
	for _, sw := range w.workers {
		go func() {
			sw.Stop()
			done <- struct{}{}
		}()
	}
	for range w.workers {
		<-done
	}
	<-asking
	if w.policy != nil {
		w.policy.Close()
	}
	return errors.Join(asked, w.engines.close(), w.viewers.close(), w.digests.close())
}

// DisableStickyCache makes every workflow task replay its whole history: a test of
// determinism. It works for the whole process and only before the first worker.
func DisableStickyCache() { worker.SetStickyWorkflowCacheSize(0) }
