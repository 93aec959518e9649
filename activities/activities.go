package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
	"cxrepro/internal/provenance"
	"cxrepro/internal/xragent/tools"
)

// Segmenter turns pixels into masks. It serves several goroutines, who may wait for it.
type Segmenter interface {
	Segment(ctx context.Context, img *cxr.Image) (*anatomy.Masks, error)
}

// Engine is a ready model with what identifies it.
type Engine struct {
	Segmenter Segmenter
	// Identity is what its masks depend on; Declared what it can produce at all.
	Identity contract.Inference
	Declared anatomy.Set
	// Runtime is the version of the inference library, for provenance.
	Runtime string
}

// Options are what activities need of their worker. Store, Owner and Now are required.
type Options struct {
	Store *artifacts.Repository
	// Owner names this process in claims and statements.
	Owner artifacts.Owner
	Now   func() time.Time
	// Data are the data roots by data set name.
	Data map[string]fs.FS
	// Engine returns the model of a plan, loading it at the first call. Nil on workers
	// without inference.
	Engine func(ctx context.Context, p *experiments.Plan) (*Engine, error)
	// Viewer returns the view model of an agent's plan, as Engine does that of segmentation.
	Viewer func(ctx context.Context, p *experiments.Plan) (*ViewEngine, error)
	// CopyInputs makes ingest store every image that enters, for workers without the folder.
	CopyInputs bool
	// Cache is a folder for copies that can be made again; empty means none.
	Cache string
	// Digests remembers digests of files by size and time; nil remembers nothing.
	Digests DigestCache
	// Code and Environment go into statements.
	Code        provenance.Code
	Environment provenance.Environment
	Log         *slog.Logger
	// Beat is the time between heartbeats. Default a quarter of the heartbeat timeout, at
	// most 5 s.
	Beat time.Duration
	// Ahead is how many images of a chunk are in hand during segmentation. Default 2.
	Ahead int
	// Stall is how long an item may take before heartbeats stop. Default 2 minutes.
	Stall time.Duration
	// ReadOnly: nothing is computed for the store; what has no record is missing. For those
	// who look at what others did.
	ReadOnly bool
	// Reporters make files from results, in this order.
	Reporters []Reporter
	// Training runs trainers. Nil on workers that run none.
	Training *Training
	// Endpoint returns where the calls to a model card go. Nil on workers without endpoints.
	Endpoint func(card string) (*AskEndpoint, error)
	// Segmenter returns the text-prompted segmenter of a name for pictures of a data-use class.
	// Nil on workers without one.
	Segmenter func(model string, class datause.Class) (tools.Finder, error)
	// Fault, if set, is called at every heartbeat and at the points of a call; tests place
	// kills there.
	Fault func(name string)
}

// DigestCache remembers the digest of a file that was read once. Implementations serve
// several goroutines. What it says is trusted only while size and time are the same.
type DigestCache interface {
	Lookup(dataset, path string, size int64, modified time.Time) (artifacts.Digest, bool)
	Store(dataset, path string, size int64, modified time.Time, d artifacts.Digest) error
}

// FaultInHeartbeat is the fault point of a heartbeat.
const FaultInHeartbeat = "in-heartbeat"

// Activities holds what all activities of one worker share.
type Activities struct {
	opts    Options
	docs    *docs
	steps   *steps
	sources sources
	asks    *asks
}

// New checks opts and returns the activities.
func New(opts Options) (*Activities, error) {
	switch {
	case opts.Store == nil:
		return nil, fmt.Errorf("activities: Options.Store is nil")
	case opts.Now == nil:
		return nil, fmt.Errorf("activities: Options.Now is nil")
	case opts.Owner.Worker == "":
		return nil, fmt.Errorf("activities: Options.Owner.Worker is empty; claims need a name")
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Ahead <= 0 {
		opts.Ahead = 2
	}
	if opts.Stall <= 0 {
		opts.Stall = 2 * time.Minute
	}
	docs := newDocs()
	return &Activities{
		opts: opts, docs: docs, steps: &steps{opts: opts}, asks: newAsks(opts, docs),
		sources: sources{open: map[artifacts.Digest]*source{}},
	}, nil
}

// RegisterCPU registers everything that needs no accelerator.
func (a *Activities) RegisterCPU(r worker.ActivityRegistry) {
	register(a, r, contract.ScanTables, a.ScanTables)
	register(a, r, contract.IngestChunk, a.IngestChunk)
	register(a, r, contract.PackRefs, a.PackRefs)
	register(a, r, contract.BuildManifest, a.BuildManifest)
	register(a, r, contract.FindReceipt, a.FindReceipt)
	register(a, r, contract.AssessWindow, a.AssessWindow)
	register(a, r, contract.ReconcilePage, a.ReconcilePage)
	register(a, r, contract.Summarise, a.Summarise)
	register(a, r, contract.WriteReceipt, a.WriteReceipt)
	a.registerBenchmark(r)
	register(a, r, contract.PlanEvaluations, a.PlanEvaluations)
	register(a, r, contract.LoadDialogues, a.LoadDialogues)
	register(a, r, contract.CloseDialogues, a.CloseDialogues)
	register(a, r, contract.SelectPath2, a.SelectPath2)
	register(a, r, contract.CloseEvaluation, a.CloseEvaluation)
	register(a, r, contract.Tabulate, a.Tabulate)
	a.registerAgent(r)
	a.registerRadCoT(r)
}

// RegisterGPU registers segmentation.
func (a *Activities) RegisterGPU(r worker.ActivityRegistry) {
	register(a, r, contract.SegmentChunk, a.SegmentChunk)
	register(a, r, contract.MeasurePictures, a.MeasurePictures)
}

// RegisterAsk registers model calls.
func (a *Activities) RegisterAsk(r worker.ActivityRegistry) {
	register(a, r, contract.Ask, a.Ask)
	register(a, r, contract.Rollout, a.Rollout)
	register(a, r, contract.RolloutGroup, a.RolloutGroup)
	register(a, r, contract.BuildCandidate, a.BuildCandidate)
}

// register binds fn to its name. Whatever fn returns or panics with leaves as one of the
// error types of package contract.
func register[In, Out any](a *Activities, r worker.ActivityRegistry, name contract.Activity[In, Out], fn func(context.Context, In) (Out, error)) {
	wrapped := func(ctx context.Context, in In) (out Out, err error) {
		info := activity.GetInfo(ctx)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic in %s: %v", name.Name, p)
			}
			if err != nil {
				a.opts.Log.Warn("activity attempt ended", "activity", name.Name, "workflow_id", info.WorkflowExecution.ID, "attempt", info.Attempt, "err", clean(name.Name, err))
				err = translate(ctx, name.Name, int(info.Attempt), err)
			}
		}()
		out, err = fn(ctx, in)
		if err == nil {
			err = small(out)
		}
		return out, err
	}
	r.RegisterActivityWithOptions(wrapped, activity.RegisterOptions{Name: name.Name})
}

// maxResult is what one result may weigh in a history, in bytes.
const maxResult = 60 << 10

// small refuses a result that is too large for a history. The server would take up to
// 2 MiB and then fail the workflow task for ever.
func small(out any) error {
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if len(text) > maxResult {
		return fail(contract.ErrTypeOversize, "a result of %d bytes, at most %d may enter a history", len(text), maxResult)
	}
	return nil
}
