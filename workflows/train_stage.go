package workflows

import (
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// trains is what a reproduction knows of the training whose checkpoints it evaluates.
type trains struct {
	prepared *contract.PreparedTraining
	measured int
	family   family
	receipt  *contract.ReceiptTraining
}

// train prepares the training, measures what its rounds ask about, and runs it to its end.
func (r *reproduction) train(ctx workflow.Context, totals *contract.ChunkTotals) error {
	t, c := &r.trained, r.in.Common
	own := work{queue: contract.QueueTrain(c.Queue), chunk: true}
	prepared, err := call(ctx, c, own, contract.PrepareTraining, contract.PrepareTrainingInput{
		Plan: c.Plan, Questions: r.in.Questions.Questions, Reproduction: r.in.Reproduction,
	})
	if err != nil {
		return passOn(err)
	}
	t.prepared = &prepared
	if err := r.measureAll(ctx, totals, &t.measured, prepared.Windows, contract.MeasurePicturesInput{
		Plan: prepared.Plan, Questions: prepared.Questions, Reproduction: r.in.Reproduction,
	}); err != nil {
		return err
	}
	out, err := child[contract.TrainInput, contract.TrainResult]{
		common: c, reproduction: r.in.Reproduction, gate: &r.gate, kin: &t.family,
		kind: contract.Train, stage: contract.StageTrain, id: contract.TrainWorkflowID(r.in.Reproduction),
		input: func(g contract.Gate) contract.TrainInput {
			return contract.TrainInput{
				Common: c, Training: prepared.Training, Runs: len(prepared.Stages), Reproduction: r.in.Reproduction,
				Parent: workflow.GetInfo(ctx).WorkflowExecution.ID, Gate: g,
			}
		},
	}.run(ctx)
	if err != nil {
		r.state = contract.StateFailed
		return err
	}
	closed, err := call(ctx, c, own, contract.CloseTraining, contract.CloseTrainingInput{
		Training: prepared.Training, Plan: c.Plan, Questions: r.in.Questions.Questions, Reproduction: r.in.Reproduction,
	})
	if err != nil {
		return passOn(err)
	}
	given := []contract.NamedWeights{{Name: contract.BaseCheckpoint, Weights: prepared.Base}}
	for i, weights := range out.Ends {
		given = append(given, contract.NamedWeights{Name: prepared.Stages[i], Weights: weights})
	}
	t.receipt = &contract.ReceiptTraining{Prepared: prepared, Closed: closed, Checkpoints: given}
	return nil
}

// checkpoints are the weights that the training gave; none without one.
func (t *trains) checkpoints() []contract.NamedWeights {
	if t.receipt == nil {
		return nil
	}
	return t.receipt.Checkpoints
}

// served runs the sets in their order, those of one checkpoint together, which is served before.
func (r *reproduction) served(ctx workflow.Context, run func(ctx workflow.Context, sets []int) error) error {
	sets := r.agent.sets
	for begin := 0; begin < len(sets); {
		end := begin
		var group []int
		for ; end < len(sets) && sets[end].Checkpoint == sets[begin].Checkpoint; end++ {
			group = append(group, end)
		}
		if weights := sets[begin].Checkpoint; !weights.IsZero() {
			own := work{queue: contract.QueueTrain(r.in.Common.Queue), chunk: true}
			in := contract.ServeCheckpointInput{Training: r.trained.prepared.Training, Weights: weights}
			if _, err := call(ctx, r.in.Common, own, contract.ServeCheckpoint, in); err != nil {
				return passOn(err)
			}
		}
		if err := run(ctx, group); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// progress is the line of the training; its open workflow answers for itself.
func (t *trains) progress() contract.StageProgress {
	p := contract.StageProgress{Stage: contract.StageTrain, State: contract.StateWaiting, Active: append([]string{}, t.family.active...)}
	if t.prepared != nil {
		p.State, p.Windows, p.ItemsAll = contract.StateRunning, len(t.prepared.Stages), t.prepared.Steps+t.prepared.Rounds
	}
	if t.receipt != nil {
		p.State, p.Done, p.Items = contract.StateDone, p.Windows, p.ItemsAll
	}
	return p
}
