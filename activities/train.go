package activities

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/worker"

	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/provenance"
	"cxrepro/internal/trainer"
)

// Training is what a worker needs to run trainers. Work and Recipes are required.
type Training struct {
	// Work is an absolute folder of this machine for runs: what lies there can be made again
	// from the store, but for what is trained right now.
	Work string
	// Recipes is the folder of the recipes, one folder for each trainer.
	Recipes string
	// Values fill placeholders of recipes: python, addresses, base models by path.
	Values trainer.Values
	// Environment is the trainers', as NAME=value; Secrets are values in it.
	Environment []string
	Secrets     []string
	// Server answers as checkpoints, for runs that roll out.
	Server *trainer.Server
	// Watch is how patiently trainers are watched.
	Watch trainer.Options
}

// RegisterTrain registers what runs trainers and loads their checkpoints.
func (a *Activities) RegisterTrain(r worker.ActivityRegistry) {
	register(a, r, contract.TrainSegment, a.TrainSegment)
	register(a, r, contract.OpenRound, a.OpenRound)
	register(a, r, contract.PlanTraining, a.PlanTraining)
	register(a, r, contract.CloseRound, a.CloseRound)
	register(a, r, contract.PrepareTraining, a.PrepareTraining)
	register(a, r, contract.ServeCheckpoint, a.ServeCheckpoint)
	register(a, r, contract.CloseTraining, a.CloseTraining)
}

// Fault points of a training.
const (
	FaultServerLoading  = "server-loading"
	FaultInUpdate       = "in-update"
	FaultInUpload       = "in-checkpoint-upload"
	FaultBeforeManifest = "before-manifest"
	FaultRewardsStored  = "rewards-stored"
	FaultBatchWritten   = "batch-written"
)

// fault calls the worker's fault point.
func (a *Activities) fault(name string) {
	if a.opts.Fault != nil {
		a.opts.Fault(name)
	}
}

// training reads a training.
func (a *Activities) training(ctx context.Context, ref artifacts.Ref, index int) (*contract.Training, *contract.TrainingRun, error) {
	t, err := load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*contract.Training, error) {
		return getJSON[*contract.Training](ctx, a.opts.Store, ref)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("load training: %w", err)
	}
	if t.Format != contract.TrainingFormat || index < 0 || index >= len(t.Runs) {
		return nil, nil, fail(contract.ErrTypeSpec, "training %s: format %q with %d runs, run %d is asked for", ref.Digest.Short(), t.Format, len(t.Runs), index)
	}
	return t, &t.Runs[index], nil
}

// equipped refuses a worker that cannot run trainers.
func (a *Activities) equipped() (*Training, error) {
	t := a.opts.Training
	if t == nil {
		return nil, fail(contract.ErrTypeModel, "this worker runs no trainers; start it with a folder for runs")
	}
	return t, nil
}

// trainerRecipe loads the recipe of a run and refuses another than the training was planned for.
func (a *Activities) trainerRecipe(run *contract.TrainingRun) (*trainer.Recipe, error) {
	t, err := a.equipped()
	if err != nil {
		return nil, err
	}
	r, err := trainer.LoadRecipe(filepath.Join(t.Recipes, filepath.Base(run.Trainer)))
	if err != nil {
		return nil, fail(contract.ErrTypeModel, "%w", err)
	}
	if r.Digest() != run.Recipe {
		return nil, fail(contract.ErrTypeModel, "recipe of trainer %s is %s here, and the training was planned for %s; plan it anew, or bring the recipe back",
			run.Trainer, r.Digest().Short(), run.Recipe.Short())
	}
	return r, nil
}

// folder is where a run is trained on this machine.
func (t *Training) folder(run artifacts.Digest) string {
	return filepath.Join(t.Work, "runs", run.Hex()[:16])
}

// job is a segment in its folder, with every file that its trainer reads.
func (a *Activities) job(ctx context.Context, in contract.TrainSegmentInput, run *contract.TrainingRun) (*trainer.Job, error) {
	t, err := a.equipped()
	if err != nil {
		return nil, err
	}
	recipe, err := a.trainerRecipe(run)
	if err != nil {
		return nil, err
	}
	spec, err := getJSON[trainer.Spec](ctx, a.opts.Store, in.Run.Spec)
	if err != nil {
		return nil, fmt.Errorf("load the spec of run %s: %w", in.Run.Run.Short(), err)
	}
	j := &trainer.Job{
		Folder: t.folder(in.Run.Run), Spec: spec, Recipe: recipe, Environment: t.Environment, Secrets: t.Secrets,
		Segment: trainer.Segment{Run: in.Run.Run, From: in.From, To: in.To, Weights: in.Weights},
		Values:  trainer.Values{"token": "", "reward_url": "", "observations_url": "", "cache": filepath.Join(t.Work, "cache")},
	}
	for name, value := range t.Values {
		j.Values[name] = value
	}
	if err := os.MkdirAll(j.Folder, 0o700); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range run.Files {
		if files[f.Name], err = a.opts.Store.Get(ctx, f.Ref); err != nil {
			return nil, fmt.Errorf("file %s of the run: %w", f.Name, err)
		}
	}
	if !in.Batch.IsZero() {
		if err := a.batchFiles(ctx, in, j, files); err != nil {
			return nil, err
		}
	}
	schedule, err := a.opts.Store.Get(ctx, in.Run.Schedule)
	if err != nil {
		return nil, err
	}
	if err := j.WriteFiles(schedule, files); err != nil {
		return nil, err
	}
	return j, nil
}

// batchFiles are the samples and pictures of an update.
func (a *Activities) batchFiles(ctx context.Context, in contract.TrainSegmentInput, j *trainer.Job, files map[string][]byte) error {
	b, err := getJSON[contract.Batch](ctx, a.opts.Store, in.Batch)
	if err != nil {
		return fmt.Errorf("batch of step %d: %w", in.To, err)
	}
	if b.Run != in.Run.Run || b.Step != in.To || b.Weights != in.Weights {
		return fail(contract.ErrTypeMismatch, "the batch is of run %s, step %d and weights %s, the segment of run %s, step %d and weights %s",
			b.Run.Short(), b.Step, b.Weights.Short(), in.Run.Run.Short(), in.To, in.Weights.Short())
	}
	j.Segment.Batch = fmt.Sprintf("batches/step-%06d.jsonl", in.To)
	for _, f := range append(b.Pictures, contract.NamedRef{Name: j.Segment.Batch, Ref: b.Samples}) {
		if files[f.Name], err = a.opts.Store.Get(ctx, f.Ref); err != nil {
			return fmt.Errorf("file %s of the batch: %w", f.Name, err)
		}
	}
	return nil
}

// recorder writes entries of training sets and checkpoints.
func (a *Activities) recorder(ctx context.Context, reproduction string) *checkpoint.Recorder {
	return &checkpoint.Recorder{Store: a.opts.Store, Owner: ownerOf(ctx, a.opts.Owner, reproduction), Code: a.opts.Code, Environment: a.opts.Environment, Now: a.opts.Now}
}

// checkpointEntry records the checkpoint of a trained segment.
func (a *Activities) checkpointEntry(ctx context.Context, in contract.TrainSegmentInput, t *contract.Training, run *contract.TrainingRun, s *contract.TrainedSegment) (artifacts.Ref, error) {
	m, err := a.filesManifest(ctx, s.Files)
	if err != nil {
		return artifacts.Ref{}, err
	}
	weights, err := weightsFiles(m, s.Weights)
	if err != nil {
		return artifacts.Ref{}, err
	}
	trained := run.Trained
	if !in.Batch.IsZero() {
		b, err := getJSON[contract.Batch](ctx, a.opts.Store, in.Batch)
		if err != nil {
			return artifacts.Ref{}, err
		}
		trained = b.Trained
	}
	parent := in.Weights
	if parent == t.BaseWeights {
		parent = artifacts.Digest{} // the base, which Base names; it is no checkpoint of ours
	}
	return a.recorder(ctx, in.Reproduction).PutCheckpoint(ctx, contract.Checkpoint{
		Name: fmt.Sprintf("%s/%s/%d", t.Name, run.Stage, s.To), Weights: s.Weights, Files: weights, Base: t.Base, BaseWeights: t.BaseWeights,
		Parent: parent, Trainer: contract.Program{Name: run.Trainer, Version: run.Recipe.Short()}, Recipe: in.Training, Training: trained, Step: s.To,
	})
}

// storeOf is the store for what a training gives.
func (a *Activities) storeOf(t *contract.Training) *artifacts.Repository {
	return a.opts.Store.ForClass(datause.StoreClass(t.DataUse))
}

// stallOf is how long a trainer may write nothing before its activity falls silent too: a
// little longer than until its watcher ends it.
func (t *Training) stall() time.Duration {
	s := t.Watch.Stall
	if s <= 0 {
		s = 30 * time.Minute
	}
	return 2*s + time.Minute
}

// described names weights in a statement.
func described(weights artifacts.Digest) provenance.Descriptor {
	return provenance.DescribeDigest("weights", weights)
}
