package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
)

// CloseTraining makes the documents of a training from the records alone, and records how its
// checkpoints stand before the pictures that will judge them.
func (a *Activities) CloseTraining(ctx context.Context, in contract.CloseTrainingInput) (contract.ClosedTraining, error) {
	p := a.beat(ctx, 1)
	defer p.close()
	t, _, err := a.training(p.work, in.Training, 0)
	if err != nil {
		return contract.ClosedTraining{}, err
	}
	out, doc, err := a.closeTraining(p, in.Training, in.Reproduction, func(doc any, mediaType string) (artifacts.Ref, error) {
		return putJSON(p.work, a.storeOf(t), doc, mediaType)
	})
	if err != nil {
		return out, err
	}
	judged, err := a.judged(p.work, in.Plan, in.Questions, in.Reproduction)
	if err != nil {
		return out, err
	}
	for _, run := range doc.Runs {
		p.progress()
		if _, _, err := a.recorder(p.work, in.Reproduction).Check(p.work, run.Weights, judged.Images, overlap.Limit, t.DataUse); err != nil {
			return out, fmt.Errorf("overlap of checkpoint %s: %w", run.Weights.Short(), err)
		}
	}
	return out, nil
}

// judged describes the pictures of a question set.
func (a *Activities) judged(ctx context.Context, plan, questions artifacts.Ref, reproduction string) (checkpoint.Described, error) {
	d := checkpoint.Describer{Recorder: a.recorder(ctx, reproduction)}
	return d.Judged(ctx, &contract.Receipt{Plan: plan, Questions: questions})
}

// closeTraining makes the documents of a training; put stores one, or only names it.
func (a *Activities) closeTraining(p *pulse, training artifacts.Ref, reproduction string, put func(doc any, mediaType string) (artifacts.Ref, error)) (out contract.ClosedTraining, doc contract.TrainingDoc, err error) {
	t, _, err := a.training(p.work, training, 0)
	if err != nil {
		return out, doc, err
	}
	doc = contract.TrainingDoc{Format: contract.TrainingDocFormat, Training: training, Name: t.Name}
	calls, weights := contract.Packed{Items: []contract.PackItem{}}, t.BaseWeights
	for i := range t.Runs {
		planned, _, err := recordedDoc[contract.PlannedRun](p.work, a, contract.PlanTrainingKey(training.Digest, i, weights))
		if err != nil {
			return out, doc, fmt.Errorf("plan of run %d of the training: %w", i, err)
		}
		run := contract.TrainedRun{Stage: t.Runs[i].Stage, Run: planned.Run, Steps: planned.Steps, Weights: weights}
		w := trainingWalk{a: a, p: p, training: t, run: &t.Runs[i], planned: planned, put: put}
		w.in = contract.RoundInput{Training: training, Index: i, Run: planned, Reproduction: reproduction}
		for from := 0; from < planned.Steps; {
			if from, err = w.segment(&run, from); err != nil {
				return out, doc, fmt.Errorf("%s after step %d: %w", run.Stage, from, err)
			}
		}
		weights = run.Weights
		doc.Rollouts += w.rollouts
		for _, ref := range w.calls {
			calls.Items = append(calls.Items, contract.PackItem{Index: len(calls.Items), Ref: ref})
		}
		doc.Runs = append(doc.Runs, run)
	}
	if out.Calls, err = put(calls, contract.PackMediaType); err != nil {
		return out, doc, err
	}
	out.Doc, err = put(doc, contract.TrainingDocMediaType)
	return out, doc, err
}

// trainingWalk goes through a run segment by segment.
type trainingWalk struct {
	a        *Activities
	p        *pulse
	training *contract.Training
	run      *contract.TrainingRun
	planned  contract.PlannedRun
	in       contract.RoundInput
	put      func(doc any, mediaType string) (artifacts.Ref, error)
	// calls are the accounts of rounds.
	calls    []artifacts.Ref
	rollouts int
}

// segment adds the segment after a step, and returns the step that it ends with.
func (w *trainingWalk) segment(run *contract.TrainedRun, from int) (to int, err error) {
	to = min(from+w.planned.Segment, w.planned.Steps)
	var batch artifacts.Digest
	if w.planned.RollsOut {
		to = from + 1
		round, err := w.round(to, run.Weights)
		if err != nil {
			return from, err
		}
		run.Rounds, batch = append(run.Rounds, round), round.Batch.Digest
	}
	s, ref, err := recordedDoc[contract.TrainedSegment](w.p.work, w.a, contract.TrainSegmentKey(w.planned.Spec.Digest, run.Weights, from, to, batch))
	if err != nil {
		return from, err
	}
	run.Segments, run.Weights, run.Determinism = append(run.Segments, ref), s.Weights, s.Determinism
	return to, nil
}

// round makes the page of a round again and finds its batch.
func (w *trainingWalk) round(step int, weights artifacts.Digest) (out contract.TrainedRound, err error) {
	in := w.in
	in.Step, in.Weights = step, weights
	b, err := w.a.gather(w.p, w.training, w.run, in, true)
	if err != nil {
		return out, err
	}
	page, err := refOfJSON(b.doc, contract.RolloutsMediaType)
	if err != nil {
		return out, err
	}
	account := b.account.doc(contract.DialogueRange{})
	account.Set = fmt.Sprintf("training/%d", step)
	ref, err := w.put(account, contract.CallsMediaType)
	if err != nil {
		return out, err
	}
	w.calls, w.rollouts = append(w.calls, ref), w.rollouts+len(b.samples)
	batch, ref, err := recordedDoc[contract.Batch](w.p.work, w.a, contract.BatchKey(w.planned.Run, step, weights, page.Digest))
	return contract.TrainedRound{Step: step, Batch: ref, Rewards: batch.Rewards}, err
}

// recordedDoc reads the document of a record that must be there.
func recordedDoc[T any](ctx context.Context, a *Activities, doc artifacts.KeyDoc) (v T, ref artifacts.Ref, err error) {
	key, err := doc.Key()
	if err != nil {
		return v, ref, err
	}
	rec, err := a.opts.Store.Lookup(ctx, key)
	if err != nil {
		return v, ref, fmt.Errorf("record %s: %w", key.Short(), err)
	}
	v, err = getJSON[T](ctx, a.opts.Store, rec.Result)
	return v, rec.Result, err
}
