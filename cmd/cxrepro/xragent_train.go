package main

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/trainer"
	"cxrepro/internal/trainer/quiztraining"
)

// trainedRound is a round in the result.
type trainedRound struct {
	Step    int              `json:"step"`
	Weights artifacts.Digest `json:"weights"`
	contract.RoundRewards
}

// roundTable prints rounds as they are recorded.
type roundTable struct {
	app    *app
	store  *artifacts.Repository
	plan   *experiments.Plan
	rounds *quiztraining.Rounds
	seen   []trainedRound
}

// find finds the training once it is prepared; ok is false before.
func (t *roundTable) find(ctx context.Context) (ok bool, err error) {
	if t.rounds != nil {
		return true, nil
	}
	plan, err := t.plan.TrainingPlan()
	if err != nil {
		return false, err
	}
	digest, err := plan.Digest()
	if err != nil {
		return false, err
	}
	key, err := contract.PrepareTrainingKey(digest, t.plan.Training.Recipe, t.plan.Training.Base, t.plan.Spec.Training).Key()
	if err != nil {
		return false, err
	}
	rec, err := t.store.Lookup(ctx, key)
	if err != nil {
		return false, nil // not there yet, or a store that the run itself complains of
	}
	r := &quiztraining.Rounds{Store: t.store, Ref: rec.Result}
	if err := readJSON(ctx, t.store, rec.Result, &r.Training); err != nil {
		return false, err
	}
	t.rounds = r
	return true, nil
}

// update prints what is new.
func (t *roundTable) update(ctx context.Context) error {
	if ok, err := t.find(ctx); !ok {
		return err
	}
	list, err := t.rounds.Next(ctx)
	for _, b := range list {
		if len(t.seen) == 0 && !t.app.JSON() {
			fmt.Fprintf(t.app.out, "%6s %12s %12s %6s %10s\n", "step", "mean reward", "right", "calls", "malformed")
		}
		t.seen = append(t.seen, trainedRound{Step: b.Step, Weights: b.Weights, RoundRewards: b.Rewards})
		if !t.app.JSON() {
			fmt.Fprintf(t.app.out, "%6d %12.3f %12s %6d %10d\n", b.Step, b.Rewards.Mean, fmt.Sprintf("%d of %d", b.Rewards.Correct, b.Count), b.Rewards.Calls, b.Rewards.Malformed)
		}
	}
	return err
}

// showTraining prints the result, and writes the last checkpoint if a folder is named.
func (a *app) showTraining(ctx context.Context, o *outcome, t *roundTable, out string) error {
	if err := t.update(ctx); err != nil {
		return err
	}
	var doc contract.TrainingDoc
	if err := readJSON(ctx, o.store, o.receipt.Training, &doc); err != nil {
		return err
	}
	last := doc.Runs[len(doc.Runs)-1]
	if out != "" {
		path, err := downloadCheckpoint(ctx, o.store, last.Segments[len(last.Segments)-1], out)
		if err != nil {
			return err
		}
		a.say("wrote " + path)
	}
	if !a.JSON() {
		fmt.Fprintln(a.out)
		if err := a.printOutcome(ctx, o.store, o.receipt, o.summary); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.out, "\nweights %s\n%s\n", last.Weights, trainSays)
		return err
	}
	known, err := checkpoint.Checkpoints(ctx, o.store)
	if err != nil {
		return err
	}
	var entry artifacts.Ref
	for _, c := range known {
		if c.Value.Weights == last.Weights && c.Value.Recipe.Digest == doc.Training.Digest {
			entry = c.Ref
		}
	}
	if err := a.printJSON(struct {
		Reproduction string           `json:"reproduction_id"`
		Training     string           `json:"training"`
		Weights      artifacts.Digest `json:"weights"`
		Checkpoint   artifacts.Ref    `json:"checkpoint"`
		Rollouts     int              `json:"rollouts"`
		Rounds       []trainedRound   `json:"rounds"`
		Note         string           `json:"note"`
	}{o.receipt.Reproduction, contract.TrainingID(doc.Training.Digest), last.Weights, entry, doc.Rollouts, t.seen, trainSays}); err != nil {
		return err
	}
	return a.verdict(o.receipt)
}

// downloadCheckpoint writes the checkpoint that a segment ended with into a folder.
func downloadCheckpoint(ctx context.Context, store *artifacts.Repository, segment artifacts.Ref, folder string) (string, error) {
	var s contract.TrainedSegment
	if err := readJSON(ctx, store, segment, &s); err != nil {
		return "", err
	}
	var m trainer.Manifest
	if err := readJSON(ctx, store, s.Files, &m); err != nil {
		return "", err
	}
	return trainer.Download(ctx, store, m, folder, quiztraining.Trainer)
}
