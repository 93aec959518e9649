package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/overlap"
)

// refuseLeak refuses a training that would be shown what its checkpoints are judged on.
func (a *Activities) refuseLeak(ctx context.Context, pl *derive.Plan, t *contract.Training, questions artifacts.Ref) error {
	shown, err := a.shown(ctx, t)
	if err != nil {
		return err
	}
	judged, err := a.judged(ctx, pl.Ref, questions, "")
	if err != nil {
		return err
	}
	asked, err := checkpoint.Images(ctx, a.opts.Store, judged.Images)
	if err != nil {
		return err
	}
	found := overlap.Find(shown, asked, overlap.Limit).Findings
	if len(found) == 0 {
		return nil
	}
	judgedOn := map[artifacts.Digest]bool{}
	for _, f := range found {
		judgedOn[f.Evaluation] = true
	}
	f := found[0]
	return fail(contract.ErrTypeSpec, "checkpoints of %s would be trained on what they are judged on: %d of %d pictures, the first by %s: image %s and training image %s; "+
		"give dataset and training.data different pictures, for example splits train and held-out of a quiz",
		t.Name, len(judgedOn), len(asked.Images), f.Kind, f.Evaluation.Short(), f.Training.Short())
}

// shown lists the pictures of a training: those of its examples, with all that is known of them,
// and those of the questions that its rounds ask.
func (a *Activities) shown(ctx context.Context, t *contract.Training) (out overlap.List, err error) {
	listed := map[artifacts.Digest]bool{}
	for _, run := range t.Runs {
		if run.Trained.IsZero() {
			continue
		}
		s, err := getJSON[contract.TrainingSet](ctx, a.opts.Store, run.Trained)
		if err != nil {
			return out, fmt.Errorf("training set of %s: %w", run.Stage, err)
		}
		part, err := checkpoint.Images(ctx, a.opts.Store, s.Images)
		if err != nil {
			return out, err
		}
		if out.Perceptual == "" {
			out.Perceptual, out.Grouping = part.Perceptual, part.Grouping
		}
		for _, m := range part.Images {
			if !listed[m.Image] {
				listed[m.Image] = true
				out.Images = append(out.Images, m)
			}
		}
	}
	if t.Questions.IsZero() {
		return out, nil
	}
	q, err := a.questions(ctx, t.Questions)
	if err != nil {
		return out, err
	}
	for _, picture := range q.Pictures() {
		if !listed[picture.Digest] {
			out.Images = append(out.Images, overlap.Image{Image: picture.Digest})
		}
	}
	return out, nil
}
