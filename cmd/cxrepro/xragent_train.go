package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"cxrepro/artifacts"
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
	rounds quiztraining.Rounds
	seen   []trainedRound
}

// update prints what is new.
func (t *roundTable) update(ctx context.Context) error {
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

// trainAll starts the training, or joins the one under way, and waits for its end.
func (a *app) trainAll(ctx context.Context, s *session, in contract.TrainInput, table *roundTable) (out contract.TrainResult, err error) {
	id := contract.TrainWorkflowID(in.Reproduction)
	run, err := startOrJoin(ctx, s.conn.Client, id, in.Common, contract.Train.Name, in)
	if err != nil {
		return out, err
	}
	said := false
	err = followStage(ctx, s.conn.Client, run, &out, func(g contract.StageProgress) error {
		if g.Done == 0 && g.ItemsAll > 0 && !said {
			said = true
			a.say(fmt.Sprintf("SFT: %s are under way", plural(g.ItemsAll, "step", "steps")))
		}
		return table.update(ctx)
	})
	if err != nil {
		return out, err
	}
	return out, table.update(ctx)
}

// showTraining prints the result, and writes the last checkpoint if a folder is named.
func (a *app) showTraining(ctx context.Context, store *artifacts.Repository, id string, res contract.TrainResult, t *roundTable, out string) error {
	if out != "" {
		path, err := downloadCheckpoint(ctx, store, res.Segment, out)
		if err != nil {
			return err
		}
		a.say("wrote " + path)
	}
	if a.JSON() {
		return a.printJSON(struct {
			Training   string           `json:"training"`
			Weights    artifacts.Digest `json:"weights"`
			Checkpoint artifacts.Ref    `json:"checkpoint"`
			Rollouts   int              `json:"rollouts"`
			Rounds     []trainedRound   `json:"rounds"`
			Note       string           `json:"note"`
		}{id, res.Weights, res.Checkpoint, res.Rollouts, t.seen, trainSays})
	}
	_, err := fmt.Fprintf(a.out, "\nweights %s\ntraining %s\n%s\n", res.Weights, id, trainSays)
	return err
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

// followStage waits for a workflow that is one stage and shows its progress. A stage that is
// paused ends the wait, and the same command takes it up.
func followStage(ctx context.Context, c client.Client, run client.WorkflowRun, into any, show func(contract.StageProgress) error) error {
	done := result(ctx, run, into)
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				err = workflowError(err)
			}
			return err
		case <-tick.C:
		}
		value, err := c.QueryWorkflow(ctx, run.GetID(), "", contract.QueryProgress)
		var g contract.StageProgress
		if err != nil || value.Get(&g) != nil {
			continue // busy, or just over
		}
		if g.State == contract.StatePaused {
			return &exitError{Code: exitPaused, Err: errors.New("paused: an endpoint refused, the budget is used up, or something here must be cured"), Hint: "the log says why; cure it, then the same command goes on"}
		}
		if err := show(g); err != nil {
			return err
		}
	}
}
