package worker

import (
	"maps"
	"os"
	"strconv"
	"testing"

	"cxrepro/internal/contract"
)

// TestTrainKilled: a training that is killed at named points ends with the weights and the
// records of one that was not, repeats no recorded call, and continues as new on its way.
//
// CXREPRO_TRAIN_POINTS is the point of a kill, or all of them, each in a training of its own.
func TestTrainKilled(t *testing.T) {
	rounds := 20
	if n, err := strconv.Atoi(os.Getenv("CXREPRO_TRAIN_ROUNDS")); err == nil {
		rounds = n
	}
	conn := server(t)
	calm := newTrainLab(t, conn, "calm", rounds)
	want := calm.run()
	lineage, calls := calm.records()
	if want.Rollouts != rounds*labBatch*labGroup || calls != 2*want.Rollouts || calm.requests() != calls {
		t.Fatalf("undisturbed: %+v, %d calls, %d requests", want, calls, calm.requests())
	}
	m := measure(t, t.Context(), conn.Client)
	if m.continued == 0 && rounds >= 10 || m.longest > 4096 || m.largest > 64<<10 {
		t.Errorf("histories: %+v", m)
	}
	t.Logf("%d rounds, histories %+v", rounds, m)
	kills := map[string][]trainKill{"two": {{fault: "in-update:6"}, {fault: "before-manifest:5"}}}
	if only := os.Getenv("CXREPRO_TRAIN_POINTS"); only != "" {
		kills = map[string][]trainKill{"after-update-before-save": {{fault: "in-update:4", how: "crash:updated:2"}}}
		for _, point := range []string{"before-request", "after-answer-put", "after-call-commit", "rewards-stored", "batch-written", "trainer-started", "in-update", "in-checkpoint-upload", "before-manifest", "server-loading"} {
			kills[point] = []trainKill{{fault: point + ":3"}}
		}
		maps.DeleteFunc(kills, func(name string, _ []trainKill) bool { return only != "all" && only != name })
	}
	for name, at := range kills {
		t.Run(name, func(t *testing.T) {
			l := newTrainLab(t, conn, name, rounds)
			got := l.run(at...)
			same, made := l.records()
			if got.Weights != want.Weights || same != lineage || got.Rollouts != want.Rollouts {
				t.Errorf("weights %s and records %s, undisturbed %s and %s", got.Weights.Short(), same.Short(), want.Weights.Short(), lineage.Short())
			}
			if sent := l.requests(); made != calls || sent > calls+len(at)*labOpen {
				t.Errorf("%d calls and %d requests, undisturbed %d; %d were in hand at %d kills", made, sent, calls, labOpen, len(at))
			}
		})
	}
}

// TestTrainRefused: a trainer that ends with 0 and lies ends the training with the lie's own type.
func TestTrainRefused(t *testing.T) {
	conn := server(t)
	for how, want := range map[string]string{"nothing": contract.ErrTypeNoProgress} {
		l := newTrainLab(t, conn, "refused-"+how, 1)
		l.o.How = how
		if err := l.fails(); err != want {
			t.Errorf("%s: %s, want %s", how, err, want)
		}
	}
}
