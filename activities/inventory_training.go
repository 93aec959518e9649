package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/trainer"
)

// training notes the training of an agent's reproduction: its document, what it was told, and of
// every segment the record, the batch and the files of the checkpoint.
func (v *inventory) training(ctx context.Context) error {
	if v.r.Training.IsZero() {
		return nil
	}
	const role = "the document of the training"
	v.open(v.r.Training, role)
	doc, ok, err := readHeld[contract.TrainingDoc](ctx, v, v.r.Training, role)
	if err != nil || !ok {
		return err
	}
	v.bound(doc.Training, "the training")
	t, ok, err := readHeld[contract.Training](ctx, v, doc.Training, "the training")
	if err != nil {
		return err
	}
	if ok {
		v.bound(t.BaseFiles, "first weights of the training")
		v.open(t.Plan, "the plan of the training")
		v.bound(t.Questions, "the questions of the training")
		for i, run := range t.Runs {
			for _, f := range run.Files {
				v.bound(f.Ref, fmt.Sprintf("file %s of run %d of the training", f.Name, i))
			}
			v.bound(run.Items, fmt.Sprintf("items of run %d of the training", i))
		}
	}
	for _, run := range doc.Runs {
		for i, ref := range run.Segments {
			if err := v.segment(ctx, ref, fmt.Sprintf("segment %d of %s", i, run.Stage)); err != nil {
				return err
			}
		}
		for _, round := range run.Rounds {
			if err := v.round(ctx, round); err != nil {
				return err
			}
		}
	}
	if n := len(v.r.Accounts); n > 0 && n > len(v.r.RolloutSets) {
		return v.accounts(ctx, v.r.Accounts[n-1], "the training")
	}
	return nil
}

// segment notes the checkpoint that a segment ended with.
func (v *inventory) segment(ctx context.Context, ref artifacts.Ref, name string) error {
	v.bound(ref, name)
	s, ok, err := readHeld[contract.TrainedSegment](ctx, v, ref, name)
	if err != nil || !ok {
		return err
	}
	v.bound(s.Files, "files of "+name)
	m, ok, err := readHeld[trainer.Manifest](ctx, v, s.Files, "files of "+name)
	if err != nil || !ok {
		return err
	}
	list, err := m.List()
	for _, f := range list {
		v.blob(artifacts.Ref{Digest: f.Digest, Size: f.Size, MediaType: trainer.FileMediaType}, ClassWeights, f.Name+" of "+name)
	}
	return err
}

// round notes a batch with the rollouts that it is made of.
func (v *inventory) round(ctx context.Context, round contract.TrainedRound) error {
	name := fmt.Sprintf("batch of step %d", round.Step)
	v.bound(round.Batch, name)
	b, ok, err := readHeld[contract.Batch](ctx, v, round.Batch, name)
	if err != nil || !ok {
		return err
	}
	v.bound(b.Samples, "samples of the "+name)
	v.bound(b.Rollouts, "rollouts of the "+name)
	page, ok, err := readHeld[contract.RolloutsDoc](ctx, v, b.Rollouts, "rollouts of the "+name)
	if err != nil {
		return err
	}
	for k := 0; ok && k < len(page.Rollouts); k++ {
		if err := v.rolled(ctx, &page.Rollouts[k], name); err != nil {
			return err
		}
	}
	v.p.progress()
	return nil
}
