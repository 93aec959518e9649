package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
	"cxrepro/internal/resolve/resolvetest"
	"cxrepro/internal/temporalconn"
	"cxrepro/internal/trainer/quiztraining"
)

// TestTrainTiny runs the small trainer through the platform: SFT on what the teacher wrote, then
// GRPO rounds that the platform rolls out. Killed twice it ends with the same weights and records.
// A small policy that proves the machinery and says nothing about the paper's numbers.
//
// CXREPRO_TRAIN_TINY is the number of rounds, 20 by default.
func TestTrainTiny(t *testing.T) {
	rounds := 20
	if text := os.Getenv("CXREPRO_TRAIN_TINY"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("CXREPRO_TRAIN_TINY: %v", err)
		}
	}
	conn := server(t)
	python := resolvetest.Python(t).Path
	calm := newTinyTrainLab(t, conn, "tiny-calm", python, rounds)
	killed := calm.twin("tiny-killed")
	began := time.Now()
	var want, got contract.TrainResult
	t.Run("both", func(t *testing.T) {
		t.Run("calm", func(t *testing.T) { t.Parallel(); want = calm.with(t).run() })
		t.Run("killed", func(t *testing.T) {
			t.Parallel()
			got = killed.with(t).run(trainKill{fault: "in-update:8"}, trainKill{fault: "after-call-commit:40"})
		})
	})
	t.Logf("SFT and %d rounds, twice side by side: %v; weights %s", rounds, time.Since(began).Round(time.Second), want.Weights.Short())
	lineage, calls := calm.records()
	for _, r := range calm.rewards() {
		t.Logf("step %3d: mean reward %.3f, %d right, %d calls, %d malformed, %d of %d groups degenerate", r.Step, r.Rewards.Mean, r.Rewards.Correct, r.Rewards.Calls, r.Rewards.Malformed, r.Rewards.Degenerate, r.Rewards.Groups)
	}
	l := killed
	if same, made := l.records(); got.Weights != want.Weights || same != lineage || made != calls {
		t.Errorf("killed: weights %s, records %s, %d calls; undisturbed %s, %s, %d", got.Weights.Short(), same.Short(), made, want.Weights.Short(), lineage.Short(), calls)
	}
	chain, err := checkpoint.LineageOf(t.Context(), l.store, got.Weights)
	if err != nil || len(chain.Chain) != rounds+1 || len(chain.Training) != rounds+1 || !chain.Unknown.IsZero() {
		t.Errorf("lineage of the last checkpoint: %d checkpoints with %d training sets, %v", len(chain.Chain), len(chain.Training), err)
	}
}

// rewards are the batches of a training, by step.
func (l *trainLab) rewards() []contract.Batch {
	l.Helper()
	rounds := quiztraining.Rounds{Store: l.store, Ref: l.in.Training}
	data, err := l.store.Get(l.Context(), l.in.Training)
	if err != nil {
		l.Fatal(err)
	}
	if err := json.Unmarshal(data, &rounds.Training); err != nil {
		l.Fatal(err)
	}
	out, err := rounds.Next(l.Context())
	if err != nil || len(out) != l.rounds {
		l.Fatalf("%d of %d rounds, %v", len(out), l.rounds, err)
	}
	return out
}

// tinyPictures and tinySteps are enough for rounds in which rewards differ.
const (
	tinyPictures = 60
	tinySteps    = 150
)

func newTinyTrainLab(t *testing.T, conn *temporalconn.Conn, name, python string, rounds int) *trainLab {
	t.Helper()
	l := newTrainLab(t, conn, name, rounds)
	l.o.Python = python
	var err error
	if l.o.Recipes, err = filepath.Abs("../infra/trainers"); err != nil {
		t.Fatal(err)
	}
	tr, _, err := quiztraining.Put(t.Context(), quiztraining.Options{
		Recorder: &checkpoint.Recorder{Store: l.store, Owner: artifacts.Owner{Worker: "lab"}, Code: provenance.Code{Version: "test"}, Now: time.Now},
		Recipes:  l.o.Recipes, Python: python, Pictures: tinyPictures, Steps: tinySteps, Rounds: rounds, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.in = l.input(name, tr)
	l.o.Poll = 50 * time.Millisecond
	l.in.Common.Tuning.Calls.Open, l.in.Common.Tuning.Heartbeat, l.in.Common.Tuning.Calls.Heartbeat = 8, 10*time.Second, 10*time.Second
	return l
}
