package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.temporal.io/sdk/temporal"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
	"cxrepro/internal/rewardserver"
	"cxrepro/internal/trainer"
)

// TrainSegment trains the steps of one segment with a program of others, or finds that this was
// done. A trainer that an earlier attempt started and that still runs is attached to. What it
// leaves counts when it is proved to be trained; otherwise the segment fails with the reason's
// own type.
func (a *Activities) TrainSegment(ctx context.Context, in contract.TrainSegmentInput) (contract.TrainSegmentResult, error) {
	var out contract.TrainSegmentResult
	t, run, err := a.training(ctx, in.Training, in.Index)
	if err != nil {
		return out, err
	}
	eq, err := a.equipped()
	if err != nil {
		return out, err
	}
	progress := &latest{}
	p := a.beatFor(ctx, in.To-in.From, eq.stall(), progress.get)
	defer p.close()
	sum := &tally{effort: effort{reproduction: in.Reproduction, id: in.Reproduction}}
	var batch artifacts.Digest
	if !in.Batch.IsZero() {
		batch = in.Batch.Digest
	}
	key := contract.TrainSegmentKey(in.Run.Spec.Digest, in.Weights, in.From, in.To, batch)
	rec, err := a.steps.once(p, key, sum, t.DataUse, func(context.Context) (product, error) {
		return a.trainNow(p, in, t, run, progress)
	})
	if err != nil {
		return out, err
	}
	doc, err := getJSON[contract.TrainedSegment](p.work, a.opts.Store, rec.Result)
	if err != nil {
		return out, err
	}
	out.Segment, out.Weights = rec.Result, doc.Weights
	out.Checkpoint, err = a.checkpointEntry(p.work, in, t, run, &doc)
	return out, err
}

// latest is the progress that heartbeats carry.
type latest struct {
	mu sync.Mutex
	p  trainer.Progress
}

func (l *latest) set(p trainer.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p = p
}

func (l *latest) get() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.p
}

// trainNow supervises the trainer and judges what it left.
func (a *Activities) trainNow(p *pulse, in contract.TrainSegmentInput, t *contract.Training, run *contract.TrainingRun, progress *latest) (product, error) {
	ctx, detach, stop := p.trainerContext()
	defer stop()
	job, err := a.job(ctx, in, run)
	if err != nil {
		return product{}, err
	}
	if err := a.base(ctx, in, t, job); err != nil {
		return product{}, err
	}
	opts := a.opts.Training.Watch
	opts.Detach, opts.Fault = detach, a.fault
	opts.Beat = func(now trainer.Progress) {
		progress.set(now)
		p.done.Store(int64(now.Step - in.From))
		p.progress()
		a.fault(FaultInUpdate)
	}
	opts.Sync = func(ctx context.Context, folder string, c trainer.Checkpoint) error {
		p.progress()
		_, _, err := a.keepFiles(ctx, p, in, t, folder, c)
		return err
	}
	opts.Restore = func(ctx context.Context, folder string, least, most int) error {
		return a.restore(ctx, in.Run.Run, folder, job.Recipe.Layout, least, most)
	}
	err = trainer.Supervise(ctx, *job, opts)
	if errors.Is(err, trainer.ErrDetached) {
		return product{}, errDraining
	}
	if err != nil {
		return product{}, err
	}
	return a.judge(ctx, p, in, t, job)
}

// trainerContext is what ends a trainer: that it was cancelled, and a claim that was taken over.
// detach closes where only the watch shall end: the worker stops, or the attempt was lost, and a
// heartbeat that came too late is no reason to end hours of training. Another attempt attaches.
func (p *pulse) trainerContext() (ctx context.Context, detach <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(p.ctx))
	let := make(chan struct{})
	go func() {
		select {
		case <-p.ctx.Done():
			var asked *temporal.CanceledError
			if cause := context.Cause(p.ctx); errors.As(cause, &asked) {
				cancel(cause)
				return
			}
			close(let)
		case <-p.work.Done():
			cancel(context.Cause(p.work))
		case <-p.drain:
			close(let)
		case <-ctx.Done():
		}
	}()
	return ctx, let, func() { cancel(nil) }
}

// judge proves that a segment was trained and describes it.
func (a *Activities) judge(ctx context.Context, p *pulse, in contract.TrainSegmentInput, t *contract.Training, job *trainer.Job) (product, error) {
	samples, err := a.samples(ctx, in, job)
	if err != nil {
		return product{}, err
	}
	e, at, err := job.Gather(samples, trainerWeights)
	if err != nil {
		return product{}, err
	}
	proof, err := trainer.Prove(e)
	if err != nil {
		return product{}, err
	}
	manifest, weights, err := a.keepFiles(ctx, p, in, t, job.CheckpointsFolder(), *at)
	if err != nil {
		return product{}, err
	}
	doc := contract.TrainedSegment{
		Format: contract.SegmentFormat, Run: in.Run.Run, From: in.From, To: in.To, Files: manifest, Weights: weights, Order: proof.Order,
		Items: proof.Items, Samples: proof.Samples, Dropped: proof.Dropped, Counter: proof.Counter, Determinism: job.Recipe.Determinism,
	}
	if err := job.Prune(job.Recipe.Keep, in.To); err != nil {
		return product{}, err
	}
	text, err := artifacts.Canonical(doc)
	materials := []provenance.Descriptor{described(in.Weights), provenance.Describe("spec", in.Run.Spec), provenance.Describe("training", in.Training)}
	if !in.Batch.IsZero() {
		materials = append(materials, provenance.Describe("batch", in.Batch))
	} else if job.Spec.Stage == trainer.GRPO { // the trainer generates, and its rewards are what we recorded
		pages, err := rewardserver.Pages(ctx, a.opts.Store, in.Run.Run.String())
		if err != nil {
			return product{}, err
		}
		for i, page := range pages {
			materials = append(materials, provenance.Describe(fmt.Sprintf("rewards.%d", i), page))
		}
	}
	return product{data: text, mediaType: contract.SegmentMediaType, materials: materials,
		subjects: []provenance.Descriptor{described(weights), provenance.Describe("files", manifest)}}, err
}

// trainerWeights is contract.WeightsDigest of a trainer's files.
func trainerWeights(files []trainer.File) (artifacts.Digest, error) {
	return contract.WeightsDigest(checkpointFiles(files))
}

func checkpointFiles(files []trainer.File) []contract.CheckpointFile {
	out := make([]contract.CheckpointFile, len(files))
	for i, f := range files {
		out[i] = contract.CheckpointFile{Name: f.Name, Digest: f.Digest, Size: f.Size}
	}
	return out
}

// samples are the rollouts of a segment as our own records have them.
func (a *Activities) samples(ctx context.Context, in contract.TrainSegmentInput, job *trainer.Job) (out []trainer.Sample, err error) {
	starts, err := job.Starts()
	if err != nil || job.Spec.Stage != trainer.GRPO {
		return nil, err
	}
	if !in.Batch.IsZero() {
		b, err := getJSON[contract.Batch](ctx, a.opts.Store, in.Batch)
		if err != nil {
			return nil, err
		}
		lines, err := a.batchLines(ctx, b.Samples)
		for _, l := range lines {
			out = append(out, trainer.Sample{Attempt: len(starts), Step: l.Step, Item: l.Item, Group: l.Item, Draw: l.Draw})
		}
		return out, err
	}
	list, err := rewardserver.Recorded(ctx, a.opts.Store, in.Run.Run.String())
	for _, s := range list {
		attempt, err := attemptOf(s.Sample)
		if err != nil {
			return nil, err
		}
		if s.Draw == nil {
			return nil, fail(contract.ErrTypeReplayed, "sample %q of step %d says no draw", s.Sample, s.Step)
		}
		out = append(out, trainer.Sample{Attempt: attempt, Step: s.Step, Item: s.Item, Group: s.Group, Draw: *s.Draw})
	}
	return out, err
}

// attemptOf reads the attempt that a recipe's reward shim puts before a sample's id, "a2/...".
func attemptOf(sample string) (int, error) {
	head, _, ok := strings.Cut(sample, "/")
	n, err := strconv.Atoi(strings.TrimPrefix(head, "a"))
	if !ok || err != nil || !strings.HasPrefix(head, "a") {
		return 0, fail(contract.ErrTypeReplayed, "sample %q does not say its attempt; a recipe's reward shim writes ids as a<attempt>/<step>/<item>/<draw>", sample)
	}
	return n, nil
}

// keepFiles stores a complete checkpoint and records its files, so that a resume on another
// machine finds them.
func (a *Activities) keepFiles(ctx context.Context, p *pulse, in contract.TrainSegmentInput, t *contract.Training, folder string, c trainer.Checkpoint) (artifacts.Ref, artifacts.Digest, error) {
	a.fault(FaultInUpload)
	m, ref, err := trainer.Upload(ctx, a.storeOf(t), in.Run.Run, folder, c, trainerWeights, func() { a.fault(FaultBeforeManifest) })
	if err != nil {
		return ref, artifacts.Digest{}, err
	}
	weights, err := artifacts.ParseDigest(m.Weights)
	if err != nil {
		return ref, weights, err
	}
	list, err := m.List()
	if err != nil {
		return ref, weights, err
	}
	materials := []provenance.Descriptor{provenance.Describe("spec", in.Run.Spec)}
	subjects := []provenance.Descriptor{described(weights)}
	for _, f := range list {
		subjects = append(subjects, provenance.Describe(f.Name, artifacts.Ref{Digest: f.Digest, Size: f.Size, MediaType: trainer.FileMediaType}))
	}
	text, err := artifacts.Canonical(m)
	if err != nil {
		return ref, weights, err
	}
	_, err = a.steps.once(p, contract.CheckpointFilesKey(in.Run.Run, c.Step, ref.Digest), &tally{effort: effort{reproduction: in.Reproduction, id: in.Reproduction}}, t.DataUse,
		func(context.Context) (product, error) {
			return product{data: text, mediaType: trainer.ManifestMediaType, materials: materials, subjects: subjects}, nil
		})
	return ref, weights, err
}

// filesManifest reads a stored manifest.
func (a *Activities) filesManifest(ctx context.Context, ref artifacts.Ref) (trainer.Manifest, error) {
	return getJSON[trainer.Manifest](ctx, a.opts.Store, ref)
}

// weightsFiles are the files of a manifest whose digest is that of the weights.
func weightsFiles(m trainer.Manifest, weights artifacts.Digest) ([]contract.CheckpointFile, error) {
	list, err := m.List()
	if err != nil {
		return nil, err
	}
	files := checkpointFiles(list)
	held := slices.DeleteFunc(files, func(f contract.CheckpointFile) bool { return !m.Files[f.Name].Weights })
	got, err := contract.WeightsDigest(held)
	if err == nil && got != weights {
		err = fail(contract.ErrTypeDigest, "checkpoint %s: its weights are %s, and its manifest says %s", m.Path, got.Short(), weights.Short())
	}
	return held, err
}

// stored are the manifests of a run's checkpoints in the store, by step, the later record of a
// step last.
func (a *Activities) stored(ctx context.Context, keep func(trainer.Manifest) bool) (out []trainer.Manifest, err error) {
	err = a.opts.Store.Keys(ctx, contract.StepCheckpointFiles, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := a.opts.Store.Lookup(ctx, key)
		if errors.Is(err, artifacts.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		m, err := a.filesManifest(ctx, rec.Result)
		if err == nil && keep(m) {
			out = append(out, m)
		}
		return err
	})
	slices.SortStableFunc(out, func(a, b trainer.Manifest) int { return cmp.Compare(a.Step, b.Step) })
	return out, err
}

// restore brings the newest stored checkpoint of a run into a folder.
func (a *Activities) restore(ctx context.Context, run artifacts.Digest, folder, layout string, least, most int) error {
	list, err := a.stored(ctx, func(m trainer.Manifest) bool { return m.Run == run.String() && m.Step >= least && m.Step <= most })
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = trainer.Download(ctx, a.opts.Store, list[len(list)-1], folder, layout)
	return err
}

// base puts the weights that a run begins with beside it, unless the worker says where they are.
func (a *Activities) base(ctx context.Context, in contract.TrainSegmentInput, t *contract.Training, job *trainer.Job) error {
	if _, known := job.Values["base"]; known && in.Run.Base == t.BaseWeights {
		return nil
	}
	path, err := a.bring(ctx, t, in.Run.Base, job.Recipe.Layout)
	if err != nil {
		return fmt.Errorf("weights that run %s begins with: %w", in.Run.Run.Short(), err)
	}
	job.Values["base"] = path
	return nil
}
