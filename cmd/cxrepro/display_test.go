package main

import (
	"strings"
	"testing"
	"time"

	"cxrepro/internal/contract"
)

// TestLines shows what a log gets: a line when a stage changes, and now and then in
// between, with rate and time left.
func TestLines(t *testing.T) {
	var out strings.Builder
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	l := &lines{w: &out, every: 5 * time.Second, now: func() time.Time { return at }, seen: map[string]*pace{}}
	show := func(after time.Duration, state string, items int, trouble ...string) {
		at = at.Add(after)
		l.show(view{Trouble: trouble, Progress: contract.Progress{Stages: []contract.StageProgress{
			{Stage: contract.StageSegment, State: state, Items: items, ItemsAll: 100},
			{Stage: contract.StageAssess, State: contract.StateWaiting, ItemsAll: 100},
		}}})
	}
	show(0, contract.StateRunning, 0)
	show(time.Second, contract.StateRunning, 10)
	show(time.Second, contract.StateRunning, 20, "SegmentChunk, attempt 2: the store is full")
	show(3*time.Second, contract.StateRunning, 50, "SegmentChunk, attempt 3: the store is full")
	show(5*time.Second, contract.StateDone, 100)
	show(50*time.Second, contract.StateDone, 100)
	want := `segment   running  0/100 images
trying again: SegmentChunk, attempt 2: the store is full
segment   running  50/100 images, 10.0/s, 5s left
segment   done     100/100 images
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if r := l.seen[contract.StageSegment].rate(); r != 10 {
		t.Errorf("a finished stage runs at %.1f/s, want 10 however long ago it ended", r)
	}
}

func TestOutcome(t *testing.T) {
	var out strings.Builder
	half := 0.5
	printSummary(&out, &contract.Summary{
		Name: "x", Paper: "y", Rules: "corrected", Images: contract.SummaryImages{Images: 4},
		Expected: "Table 6", Global: contract.SummaryGlobal{Kept: 3, Removed: 1, Failed: []contract.Count{{Name: "global.gradient", N: 1}}, ExpectedImages: 40, ExpectedKept: 30},
		Tasks: []contract.SummaryTask{{
			Task: "rotation", Total: 2, Expected: 20, Statuses: []contract.Count{{Name: "ok", N: 2}, {Name: "qc_failed", N: 1}},
			Labels: []contract.LabelCount{{Label: "not_rotated", N: 1, Fraction: &half, Expected: 15}, {Label: "rotated", N: 1, Fraction: &half, Expected: 5}},
		}},
	})
	for _, want := range []string{
		"global filter: 3 of 4 images kept (published: 30 of 40); failed rules (1 global.gradient)",
		"1 of 2 (50.0 %)", "15 of 20 (75.0 %)", "within noise",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}
