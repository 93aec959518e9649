package workflows_test

import (
	"path/filepath"
	"strings"
	"testing"

	sdk "go.temporal.io/sdk/worker"

	"cxrepro/worker"
)

// TestReplay replays every recorded history with today's workflow code. Histories whose
// name begins with bad- must be refused: they hold what the code would not do.
//
// To record anew, after a change that workflow.GetVersion cannot bridge (then no
// reproduction under way survives an upgrade, so say so in the changelog):
//
//	go test ./worker -run 'TestRecordHistories|TestRecordEvaluations|TestRecordTrainings' -update
//
// bad-launch-other-activity.json is launch-01-completed.json with FindReceipt renamed.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil {
		t.Fatal(err)
	}
	good, bad := map[string]int{}, 0
	for _, file := range files {
		name := filepath.Base(file)
		replayer := sdk.NewWorkflowReplayer()
		worker.Register(replayer)
		err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet{}, file)
		if strings.HasPrefix(name, "bad-") {
			bad++
			if err == nil {
				t.Errorf("%s was replayed; it must be refused", name)
			}
			continue
		}
		kind, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "asked-"), "trained-"), "-")
		good[kind]++
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, kind := range []string{"launch", "ingestdataset", "reproduction", "stage", "evaluation", "dialogues", "rollouts", "radcot", "train"} {
		if good[kind] < 3 {
			t.Errorf("%d recorded histories of %s, want at least 3", good[kind], kind)
		}
	}
	if bad == 0 {
		t.Error("no history that must be refused")
	}
}
