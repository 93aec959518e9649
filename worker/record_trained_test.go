package worker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// trainedPrefix begins the names of recorded histories of trainings, rollouts and data construction.
const trainedPrefix = "trained-"

// trainedQueue is the prefix of the queues of TestRecordTrainings, trainedCard the card that is asked.
const (
	trainedQueue = "trained"
	trainedCard  = "policy"
)

// TestRecordTrainings runs the workflows of rollouts, data construction and training on a real
// server: to their end, through runs that continue as new, paused and resumed on the way, and cancelled. The
// activities answer as real ones do and compute nothing; some fail once, some for good. With -update
// it records every history for the replay tests of package workflows:
//
//	go test ./worker -run TestRecordTrainings -update
func TestRecordTrainings(t *testing.T) {
	conn := server(t)
	c := conn.Client
	hold := make(chan struct{}, 1) // told of what waits to be cancelled
	for _, queue := range []string{contract.QueueCPU(trainedQueue), contract.QueueGPU(trainedQueue), contract.QueueTrain(trainedQueue), contract.QueueAsk(trainedQueue, trainedCard)} {
		w := sdk.New(c, queue, sdk.Options{DisableWorkflowWorker: queue != contract.QueueCPU(trainedQueue), StickyScheduleToStartTimeout: time.Second})
		if queue == contract.QueueCPU(trainedQueue) {
			Register(w)
		}
		simulateTrained(w, hold)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, events := range []int{4096, 40} { // in one run, and in several
		tuning := contract.DefaultTuning()
		tuning.Events, tuning.Calls.Open, tuning.Retry = events, 3, 10*time.Millisecond
		common := func(what string) contract.Common {
			return contract.Common{Plan: ref("plan"), Spec: fmt.Sprintf("%s-%d", what, events), Paper: "a recording", DataUse: "synthetic", Queue: trainedQueue, Tuning: tuning}
		}
		whole := contract.RolloutRange{Plan: ref("plan"), Questions: ref("questions"), Reproduction: "r-1", Items: 130,
			Set: contract.RolloutSet{Name: "policy/default/0", Card: trainedCard, Arm: "default"}}
		for _, run := range []struct {
			kind string
			in   any
			held any // the same, with something that waits
		}{
			{contract.Rollouts.Name, contract.RolloutsInput{Common: common("rollouts"), Range: whole}, contract.RolloutsInput{Common: common("held"), Range: whole}},
			{contract.RadCoT.Name, contract.RadCoTInput{Common: common("radcot")}, contract.RadCoTInput{Common: common("held")}},
			{contract.Train.Name, contract.TrainInput{Common: common("train"), Training: ref("training"), Runs: 2, Reproduction: "r-1"},
				contract.TrainInput{Common: common("held"), Training: ref("training"), Runs: 2, Reproduction: "r-1"}},
		} {
			id := fmt.Sprintf("trained/%s/%d", run.kind, events)
			started := begin(t, ctx, c, id, run.kind, run.in)
			// A pause that is taken back before it is over what is in hand.
			for seq, paused := range []bool{true, false} {
				if err := c.SignalWorkflow(ctx, id, "", contract.SignalGate, contract.Gate{Paused: paused, By: "user", Seq: seq + 1}); err != nil {
					t.Log(err) // it ended before
				}
			}
			if err := started.Get(ctx, nil); err != nil {
				t.Errorf("%s: %v", id, err)
			}
			select { // of the one before
			case <-hold:
			default:
			}
			held := begin(t, ctx, c, id+"/held", run.kind, run.held)
			awaitHeld(t, ctx, hold)
			if err := c.CancelWorkflow(ctx, held.GetID(), ""); err != nil {
				t.Fatal(err)
			}
			if err := held.Get(ctx, nil); err == nil {
				t.Errorf("%s: it was cancelled and ended well", held.GetID())
			}
		}
	}
	m := measure(t, ctx, c)
	if m.continued < 3 {
		t.Errorf("%d runs continued as new, want one of each kind or more", m.continued)
	}
	t.Logf("%+v", m)
	record(t, ctx, c, trainedPrefix)
}

func begin(t *testing.T, ctx context.Context, c client.Client, id, kind string, in any) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: contract.QueueCPU(trainedQueue)}, kind, in)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// awaitHeld waits until an activity waits.
func awaitHeld(t *testing.T, ctx context.Context, hold <-chan struct{}) {
	t.Helper()
	select {
	case <-hold:
	case <-ctx.Done():
		t.Fatal("nothing came to wait")
	}
}

// simulateTrained registers activities that answer like the real ones. Those of workflows whose spec
// is "held" wait until they are cancelled, and say so.
func simulateTrained(r sdk.ActivityRegistry, hold chan<- struct{}) {
	reg := func(name string, fn any) { r.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name}) }
	held := func(ctx context.Context) error {
		info := activity.GetInfo(ctx)
		if id := info.WorkflowExecution.ID; len(id) < 5 || id[len(id)-5:] != "/held" {
			return nil
		}
		select {
		case hold <- struct{}{}:
		default:
		}
		for ctx.Err() == nil {
			activity.RecordHeartbeat(ctx)
			time.Sleep(20 * time.Millisecond)
		}
		return ctx.Err()
	}
	// asked fails the first time at every seventh, and at one for good.
	asked := func(ctx context.Context, item int) error {
		switch {
		case item == 5:
			return temporal.NewNonRetryableApplicationError("the endpoint refused item 5", contract.ErrTypeUnknown, nil)
		case item%7 == 0 && activity.GetInfo(ctx).Attempt == 1:
			return fmt.Errorf("a passing fault")
		}
		return held(ctx)
	}
	every := func(begin, end, n int) (out []int) {
		for i := begin; i < end; i++ {
			if i%n == 0 || i == 5 {
				out = append(out, i)
			}
		}
		return out
	}
	reg(contract.FindRollouts.Name, func(_ context.Context, in contract.FindRolloutsInput) (contract.FindRolloutsResult, error) {
		return contract.FindRolloutsResult{Missing: every(in.Begin, in.End, 8)}, nil
	})
	reg(contract.Rollout.Name, func(ctx context.Context, in contract.RolloutInput) (contract.RolloutResult, error) {
		return contract.RolloutResult{Ending: "completed", Asked: 2}, asked(ctx, in.Item)
	})
	reg(contract.CloseRollouts.Name, func(context.Context, contract.CloseRolloutsInput) (contract.RolloutsResult, error) {
		return contract.RolloutsResult{Doc: ref("set"), Calls: ref("calls")}, nil
	})
	reg(contract.ImportCandidates.Name, func(context.Context, contract.ImportCandidatesInput) (contract.CandidatesResult, error) {
		return contract.CandidatesResult{Candidates: ref("candidates"), Exclusions: ref("exclusions"), Questions: ref("questions"), Reproduction: "r-2", Count: 600, Windows: 2, Card: trainedCard}, nil
	})
	reg(contract.MeasurePictures.Name, func(context.Context, contract.MeasurePicturesInput) (contract.ChunkResult, error) {
		return contract.ChunkResult{Totals: contract.ChunkTotals{Items: 64}}, nil
	})
	reg(contract.FindCandidates.Name, func(_ context.Context, in contract.FindCandidatesInput) (contract.FindCandidatesResult, error) {
		return contract.FindCandidatesResult{Missing: every(in.Begin, in.End, 32)}, nil
	})
	reg(contract.BuildCandidate.Name, func(ctx context.Context, in contract.CandidateInput) (contract.CandidateResult, error) {
		return contract.CandidateResult{Accepted: true, Asked: 2}, asked(ctx, in.Candidate)
	})
	reg(contract.CloseRadCoT.Name, func(context.Context, contract.CloseRadCoTInput) (contract.RadCoTResult, error) {
		return contract.RadCoTResult{Doc: ref("radcot"), Account: ref("account"), Reproduction: "r-2", Candidates: 600}, nil
	})
	simulateTrain(reg, held)
}

// simulateTrain registers the activities of a training: SFT in two segments, and four rounds.
func simulateTrain(reg func(name string, fn any), held func(context.Context) error) {
	reg(contract.PlanTraining.Name, func(_ context.Context, in contract.PlanTrainingInput) (contract.PlannedRun, error) {
		run := contract.PlannedRun{Run: artifacts.Sum(fmt.Append(nil, in.Index)), Spec: ref("spec"), Schedule: ref("schedule"), Base: artifacts.Sum([]byte("base")), Steps: 20, Segment: 10, Group: 1}
		if in.Index == 1 {
			run.Steps, run.Segment, run.Group, run.RollsOut = 4, 1, 2, true
		}
		return run, nil
	})
	reg(contract.OpenRound.Name, func(context.Context, contract.RoundInput) (contract.OpenRoundResult, error) {
		return contract.OpenRoundResult{Plan: ref("plan"), Questions: ref("questions"), Arm: "default", Items: []int{1, 2, 3}, Card: trainedCard}, nil
	})
	reg(contract.RolloutGroup.Name, func(ctx context.Context, in contract.RolloutGroupInput) (contract.RolloutGroupResult, error) {
		if activity.GetInfo(ctx).Attempt == 1 && in.Input.Item == 1 {
			return contract.RolloutGroupResult{}, fmt.Errorf("a passing fault")
		}
		return contract.RolloutGroupResult{Asked: 2 * in.Size}, held(ctx)
	})
	reg(contract.CloseRound.Name, func(_ context.Context, in contract.RoundInput) (contract.CloseRoundResult, error) {
		return contract.CloseRoundResult{Batch: ref(fmt.Sprint("batch", in.Step)), Rewards: contract.RoundRewards{Mean: 0.5}}, nil
	})
	reg(contract.TrainSegment.Name, func(_ context.Context, in contract.TrainSegmentInput) (contract.TrainSegmentResult, error) {
		return contract.TrainSegmentResult{Segment: ref(fmt.Sprint("segment", in.To)), Checkpoint: ref(fmt.Sprint("checkpoint", in.To)), Weights: artifacts.Sum(fmt.Append(nil, in.Index, in.To))}, nil
	})
}
