package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/contract"
	"cxrepro/internal/resolve/resolvetest"
)

// tinyKillsEnv is the number of rounds of TestTrainTinyKills.
const tinyKillsEnv = "CXREPRO_TRAIN_KILLS"

// tinyInFlight is how many requests the lab's endpoint takes at a time.
const tinyInFlight = 4

// tinyKill is one named point: a fault of the worker, or a point in the trainer's update.
type tinyKill struct{ point, victim, fault, trainer string }

// tinyKills are the points at which a training is killed, each at least once after SFT where the
// point is one of a round.
func tinyKills() []tinyKill {
	return []tinyKill{
		{"request sent", "worker", "before-request:100", ""},
		{"reply read, not stored", "worker", "after-reply:100", ""},
		{"reply stored", "worker", "after-call-commit:100", ""},
		{"reward stored", "worker", "rewards-stored:2", ""},
		{"batch written", "worker", "batch-written:2", ""},
		{"in update", "trainer", "", "gradient"},
		{"after update, before save", "trainer", "", "save"},
		{"in checkpoint upload", "worker", "in-checkpoint-upload:5", ""},
		{"before manifest", "worker", "before-manifest:5", ""},
		{"server loading", "worker", "server-loading:2", ""},
		{"supervisor, trainer just started", "worker", "trainer-started:3", ""},
		{"supervisor, trainer at work", "worker", "in-update:8", ""},
	}
}

// TestTrainTinyKills: a short training of the small trainer, SFT and a few rounds, that is killed
// with SIGKILL at each named point ends with the weights and the records of one that was not, and
// no recorded call is asked again.
func TestTrainTinyKills(t *testing.T) {
	rounds := 0
	if _, err := fmt.Sscan(os.Getenv(tinyKillsEnv), &rounds); err != nil || rounds < 3 {
		t.Skip("set " + tinyKillsEnv + " to a number of rounds, 3 or more")
	}
	conn := server(t)
	calm := newTinyTrainLab(t, conn, "kills-calm", resolvetest.Python(t).Path, rounds)
	calm.o.Python = watched(t, calm.o.Python)
	kills := tinyKills()
	labs := make([]*trainLab, len(kills))
	for i, k := range kills {
		labs[i] = calm.twin("kills-" + strings.ReplaceAll(strings.ReplaceAll(k.point, ",", ""), " ", "-"))
		labs[i].o.TrainerKill = k.trainer
	}
	want := calm.run()
	lineage, calls := calm.records()
	if asked := calm.requests(); asked != calls {
		t.Fatalf("undisturbed: %d requests for %d calls", asked, calls)
	}
	t.Logf("undisturbed: weights %s, records %s, %d calls", want.Weights.Short(), lineage.Short(), calls)
	for i, k := range kills {
		t.Run(k.point, func(t *testing.T) {
			t.Parallel()
			l := labs[i].with(t)
			var got contract.TrainResult
			if k.trainer != "" {
				got = l.run()
				if _, err := os.Stat(filepath.Join(l.o.Folder, "killed")); err != nil {
					t.Errorf("the trainer was not killed: %v", err)
				}
			} else {
				got = l.run(trainKill{fault: k.fault})
			}
			same, made := l.records()
			asked := l.requests()
			t.Logf("| %s | %s | %s | %s | %d of %d |", k.point, k.victim, got.Weights.Short(), same.Short(), asked-calls, asked)
			if got.Weights != want.Weights || same != lineage || made != calls || asked > calls+tinyInFlight {
				t.Errorf("weights %s, records %s, %d calls, %d requests; undisturbed %s, %s, %d, with %d in flight",
					got.Weights.Short(), same.Short(), made, asked, want.Weights.Short(), lineage.Short(), calls, tinyInFlight)
			}
		})
	}
}

// watched is a Python that runs the small trainer under testdata/tiny_watched.py.
func watched(t *testing.T, python string) string {
	t.Helper()
	script, err := filepath.Abs("testdata/tiny_watched.py")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexec '%s' '%s' \"$@\"\n", python, script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
