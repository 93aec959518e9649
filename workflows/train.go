package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// training is one run of a Train workflow.
type training struct {
	in   contract.TrainInput
	gate gate
	// rounded is how far the rollouts of the round in hand are, of how many.
	rounded, rounds int
}

// Train runs the trainers of a training one after the other: segment by segment where a trainer
// reads examples or generates by itself, round by round where we roll out. A round's rollouts
// are answered by the checkpoint before it, under the digest of its weights; its batch makes the
// next. What is recorded is not made again, wherever it stopped.
//
// A trainer that is not believed ends the training with the reason's own type. Trouble that a
// person must cure pauses it.
func Train(ctx workflow.Context, in contract.TrainInput) (contract.TrainResult, error) {
	t := &training{in: in}
	t.gate.set(in.Gate)
	t.gate.listen(ctx)
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, t.progress); err != nil {
		return contract.TrainResult{}, err
	}
	for t.in.Index < t.in.Runs {
		if err := workflow.Await(ctx, func() bool { return !t.gate.state.Paused }); err != nil {
			return contract.TrainResult{}, err
		}
		if historyFull(ctx, in.Common.Tuning) {
			t.gate.drain(ctx)
			t.in.Gate = t.gate.state
			return contract.TrainResult{}, workflow.NewContinueAsNewError(ctx, contract.Train.Name, t.in)
		}
		err := t.next(t.gate.epoch(ctx))
		switch {
		case err == nil, ctx.Err() == nil && (t.gate.state.Paused || temporal.IsCanceledError(err)):
			// What a pause ended is taken up again, also where the pause is over by now.
		case ctx.Err() != nil:
			return contract.TrainResult{}, ctx.Err()
		case contract.Pauses(typeOf(err)):
			t.trouble(ctx, err)
		default:
			return contract.TrainResult{}, passOn(err)
		}
	}
	return contract.TrainResult{Weights: t.in.Weights, Checkpoint: t.in.Checkpoint, Segment: t.in.Segment, Rollouts: t.in.Rollouts, Ends: t.in.Ends}, nil
}

// next plans the next run, or trains its next segment.
func (t *training) next(ctx workflow.Context) error {
	if t.in.Run == nil {
		run, err := call(ctx, t.in.Common, t.work(), contract.PlanTraining, contract.PlanTrainingInput{Training: t.in.Training, Index: t.in.Index, Weights: t.in.Weights})
		if err != nil {
			return err
		}
		t.in.Run, t.in.Step, t.in.Weights = &run, 0, run.Base
		return nil
	}
	run := *t.in.Run
	seg := contract.TrainSegmentInput{
		Training: t.in.Training, Index: t.in.Index, Run: run, Reproduction: t.in.Reproduction,
		From: t.in.Step, To: min(t.in.Step+run.Segment, run.Steps), Weights: t.in.Weights,
	}
	if run.RollsOut {
		batch, err := t.round(ctx, run)
		if err != nil {
			return err
		}
		seg.To, seg.Batch = seg.From+1, batch.Batch
	}
	out, err := trainSegment(ctx, t.in.Common, seg)
	if err != nil {
		return err
	}
	t.in.Step, t.in.Weights, t.in.Checkpoint, t.in.Segment = seg.To, out.Weights, out.Checkpoint, out.Segment
	if run.RollsOut {
		t.in.Rollouts += t.rounds
	}
	if t.in.Step == run.Steps {
		t.in.Ends = append(t.in.Ends, t.in.Weights)
		t.in.Run, t.in.Index, t.in.Trained = nil, t.in.Index+1, t.in.Trained+run.Steps
	}
	return nil
}

// round rolls out one step and makes its batch.
func (t *training) round(ctx workflow.Context, run contract.PlannedRun) (contract.CloseRoundResult, error) {
	in := contract.RoundInput{Training: t.in.Training, Index: t.in.Index, Run: run, Step: t.in.Step + 1, Weights: t.in.Weights, Reproduction: t.in.Reproduction}
	open, err := call(ctx, t.in.Common, t.work(), contract.OpenRound, in)
	if err != nil {
		return contract.CloseRoundResult{}, err
	}
	if err := t.rollOut(ctx, run, in, open); err != nil {
		return contract.CloseRoundResult{}, err
	}
	return call(ctx, t.in.Common, t.work(), contract.CloseRound, in)
}

// rollOut runs every draw of every item of a round, as many groups at a time as the rollouts that
// may be in hand.
func (t *training) rollOut(ctx workflow.Context, run contract.PlannedRun, in contract.RoundInput, open contract.OpenRoundResult) error {
	t.rounded, t.rounds = 0, len(open.Items)*run.Group
	errs := make([]error, len(open.Items))
	err := each(ctx, len(open.Items), max(1, t.in.Common.Tuning.Calls.Open/run.Group), func(ctx workflow.Context, i int) {
		errs[i] = rollOutGroup(ctx, t.in.Common, open.Card, contract.RolloutGroupInput{Size: run.Group, Input: contract.RolloutInput{
			Plan: open.Plan, Questions: open.Questions, Reproduction: in.Reproduction, Policy: open.Policy, Checkpoint: in.Weights, Arm: open.Arm,
			Item: open.Items[i], Draw: contract.TrainDraw(in.Step, run.Group, 0), Budget: t.gate.state.Budget,
		}})
		t.rounded += run.Group
	})
	if err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("item %d of step %d: %w", open.Items[i], in.Step, err)
		}
	}
	return nil
}

// rollOutGroup runs the draws of one item on the queue of their policy.
func rollOutGroup(ctx workflow.Context, c contract.Common, card string, in contract.RolloutGroupInput) error {
	return workflow.ExecuteActivity(asking(ctx, c, card), contract.RolloutGroup.Name, in).Get(ctx, nil)
}

// work is where trainers and what serves their checkpoints run.
func (t *training) work() work {
	return work{queue: contract.QueueTrain(t.in.Common.Queue), chunk: true}
}

// trainSegment trains a segment. An attempt may last for days; it ends when its worker falls
// silent, and the next one attaches to what runs or resumes.
func trainSegment(ctx workflow.Context, c contract.Common, in contract.TrainSegmentInput) (contract.TrainSegmentResult, error) {
	t := c.Tuning
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           contract.QueueTrain(c.Queue),
		StartToCloseTimeout: contract.MostTraining,
		HeartbeatTimeout:    t.Heartbeat,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: t.Retry, BackoffCoefficient: 2, MaximumInterval: t.RetryMax, NonRetryableErrorTypes: contract.Permanent(),
		},
	})
	var out contract.TrainSegmentResult
	err := workflow.ExecuteActivity(ctx, contract.TrainSegment.Name, in).Get(ctx, &out)
	return out, err
}

// trouble shuts the gate here and tells whoever started the training.
func (t *training) trouble(ctx workflow.Context, err error) {
	g := contract.Gate{Paused: true, Reason: messageOf(err), By: typeOf(err), Seq: t.gate.state.Seq, Budget: t.gate.state.Budget}
	t.gate.set(g)
	tellParent(ctx, t.in.Parent, g)
}

func (t *training) progress() (contract.StageProgress, error) {
	p := contract.StageProgress{Stage: contract.StageTrain, State: contract.StateRunning, Done: t.in.Index, Windows: t.in.Runs, Items: t.in.Trained, Calls: t.in.Rollouts}
	if run := t.in.Run; run != nil {
		p.Items, p.ItemsAll = t.in.Trained+t.in.Step, t.in.Trained+run.Steps
	}
	if t.gate.state.Paused {
		p.State = contract.StatePaused
	}
	return p, nil
}
