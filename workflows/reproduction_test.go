package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

func TestReproduction(t *testing.T) {
	l := newLab(t, 5)
	r, s := l.run()
	if r.Images.In != 5 || r.Images.Kept != 5 {
		t.Errorf("images %+v, want 5 in and kept", r.Images)
	}
	// Five facts, five masks, one window of 14 sections, one summary.
	if r.Steps.Needed != 5+5+14+1 || r.Steps.Run != r.Steps.Needed || r.Steps.Repeated != 0 {
		t.Errorf("steps %+v, want 25 needed and run, none repeated", r.Steps)
	}
	if s.Global.Kept+s.Global.Removed != 5 || len(s.Tasks) != 12 {
		t.Errorf("summary %+v, want 5 images and 12 tasks", s.Global)
	}
	again, _ := l.run()
	if again.ResultDigest != r.ResultDigest || again.Steps.Run != 25 {
		t.Errorf("the same reproduction again: %s with %+v; want %s with its own 25 records", again.ResultDigest, again.Steps, r.ResultDigest)
	}
}

// TestOneThreshold changes one row: the tasks that read it are measured again, nothing else.
func TestOneThreshold(t *testing.T) {
	l := newLab(t, 3)
	first, _ := l.run()
	l.replan("thresholds.carina_angle.label.normal_range=[50, 70]")
	second, _ := l.run()
	if second.ResultDigest == first.ResultDigest {
		t.Error("another threshold gave the same result digest")
	}
	if second.Steps.Run != 2 || second.Steps.Reused != second.Steps.Needed-2 {
		t.Errorf("steps %+v; want one task and the summary run, all else reused: %+v", second.Steps, second.BySteps)
	}
}

// TestCrashAfterEveryActivity loses the result of the first attempt of every activity: the
// work was done, the word of it was not.
func TestCrashAfterEveryActivity(t *testing.T) {
	calm, _ := newLab(t, 2).run()
	l := newLab(t, 2)
	lost := map[string]int{}
	l.wrap = func(env *testsuite.TestWorkflowEnvironment, a *activities.Activities) {
		loseFirst(env, contract.ScanTables, a.ScanTables, lost)
		loseFirst(env, contract.IngestChunk, a.IngestChunk, lost)
		loseFirst(env, contract.PackRefs, a.PackRefs, lost)
		loseFirst(env, contract.BuildManifest, a.BuildManifest, lost)
		loseFirst(env, contract.SegmentChunk, a.SegmentChunk, lost)
		loseFirst(env, contract.AssessWindow, a.AssessWindow, lost)
		loseFirst(env, contract.ReconcilePage, a.ReconcilePage, lost)
		loseFirst(env, contract.Summarise, a.Summarise, lost)
		loseFirst(env, contract.WriteReceipt, a.WriteReceipt, lost)
	}
	r, _ := l.run()
	if len(lost) != 9 {
		t.Fatalf("lost the results of %v, want all 9 activities", lost)
	}
	if r.ResultDigest != calm.ResultDigest || r.Steps.Needed != calm.Steps.Needed || r.Steps.Run != calm.Steps.Run || r.Steps.Repeated != 0 {
		t.Errorf("after losses %s %+v, undisturbed %s %+v; nothing recorded may be repeated", r.ResultDigest, r.Steps, calm.ResultDigest, calm.Steps)
	}
}

func loseFirst[In, Out any](env *testsuite.TestWorkflowEnvironment, name contract.Activity[In, Out], fn func(context.Context, In) (Out, error), lost map[string]int) {
	env.OnActivity(name.Name, mock.Anything, mock.Anything).Return(func(ctx context.Context, in In) (Out, error) {
		out, err := fn(ctx, in)
		if info := activity.GetInfo(ctx); err == nil && info.Attempt == 1 {
			lost[name.Name]++
			var none Out
			return none, errors.New("the worker died before it could say so")
		}
		return out, err
	})
}

// TestPanicAtEveryStorePoint stops an attempt in the middle of a step, at each point where
// the store is about to change or has changed.
func TestPanicAtEveryStorePoint(t *testing.T) {
	calm, _ := newLab(t, 2).run()
	points := 0
	artifacts.FaultHook = func(string) { points++ }
	newLab(t, 2).run()
	artifacts.FaultHook = nil
	if points < 40 {
		t.Fatalf("%d points in a run, want more", points)
	}
	defer func() { artifacts.FaultHook = nil }()
	for at := 1; at <= points; at += 3 {
		l := newLab(t, 2)
		n := 0
		artifacts.FaultHook = func(name string) {
			if n++; n == at {
				panic("struck at " + name)
			}
		}
		r, _ := l.run()
		artifacts.FaultHook = nil
		if r.ResultDigest != calm.ResultDigest {
			t.Errorf("struck at point %d of %d: result %s, undisturbed %s", at, points, r.ResultDigest, calm.ResultDigest)
		}
		if r.Steps.Needed != calm.Steps.Needed || r.Steps.Repeated > 14 {
			t.Errorf("struck at point %d: steps %+v, undisturbed %+v", at, r.Steps, calm.Steps)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	calm := calmTiny(t, 300)
	l := newTinyLab(t, 300)
	in := l.input(l.ingest())
	env := l.env()
	asked := &answers{}
	env.RegisterDelayedCallback(func() { env.UpdateWorkflow(contract.UpdateResume, "too early", asked) }, time.Millisecond)
	env.RegisterDelayedCallback(func() { env.UpdateWorkflow(contract.UpdatePause, "p", asked) }, 2*time.Millisecond)
	env.RegisterDelayedCallback(func() {
		v, err := env.QueryWorkflow(contract.QueryProgress)
		var p contract.Progress
		if err := errors.Join(err, v.Get(&p)); err != nil || p.State != contract.StatePaused || !p.Gate.Paused {
			t.Errorf("an hour later: %+v, %v; want paused", p, err)
		}
		env.UpdateWorkflow(contract.UpdatePause, "again", asked)
		env.UpdateWorkflow(contract.UpdateResume, "r", asked)
	}, time.Hour)
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	r, _ := l.receipt(env)
	if r.ResultDigest != calm.ResultDigest || r.Steps.Needed != calm.Steps.Needed || r.Steps.Repeated != 0 {
		t.Errorf("after a pause %s %+v, undisturbed %s %+v", r.ResultDigest, r.Steps, calm.ResultDigest, calm.Steps)
	}
	if asked.done != 2 || asked.rejected != 2 {
		t.Errorf("%d updates done and %d rejected, want 2 and 2: %v", asked.done, asked.rejected, asked.errs)
	}
}

// answers counts how updates ended.
type answers struct {
	done, rejected int
	errs           []error
}

func (a *answers) Accept()          {}
func (a *answers) Reject(err error) { a.rejected++; a.errs = append(a.errs, err) }
func (a *answers) Complete(_ any, err error) {
	if err != nil {
		a.errs = append(a.errs, err)
		return
	}
	a.done++
}

func TestCancelAndRunAgain(t *testing.T) {
	calm := calmTiny(t, 300)
	l := newTinyLab(t, 300)
	in := l.input(l.ingest())
	env := l.env()
	asked := &answers{}
	env.RegisterDelayedCallback(func() { env.UpdateWorkflow(contract.UpdateCancel, "c", asked) }, time.Millisecond)
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	var cancelled *temporal.CanceledError
	if err := env.GetWorkflowError(); !errors.As(err, &cancelled) {
		t.Fatalf("ended with %v, want a cancellation", err)
	}
	if asked.done != 1 {
		t.Errorf("cancel was answered %d times, want once: %v", asked.done, asked.errs)
	}
	env = l.env()
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	if r, _ := l.receipt(env); r.ResultDigest != calm.ResultDigest {
		t.Errorf("run again after a cancellation: %s, undisturbed %s", r.ResultDigest, calm.ResultDigest)
	}
}

// TestRefusedCredentialsPause holds that what a person must cure waits for a person.
func TestRefusedCredentialsPause(t *testing.T) {
	l := newTinyLab(t, 300)
	refuse := true
	l.wrap = func(env *testsuite.TestWorkflowEnvironment, a *activities.Activities) {
		env.OnActivity(contract.SegmentChunk.Name, mock.Anything, mock.Anything).Return(func(ctx context.Context, in contract.WindowInput) (contract.ChunkResult, error) {
			if refuse {
				return contract.ChunkResult{}, temporal.NewNonRetryableApplicationError("the store refuses this key", contract.ErrTypeDenied, nil)
			}
			return a.SegmentChunk(ctx, in)
		})
	}
	in := l.input(l.ingest())
	env := l.env()
	asked := &answers{}
	env.RegisterDelayedCallback(func() {
		v, err := env.QueryWorkflow(contract.QueryProgress)
		var p contract.Progress
		if err := errors.Join(err, v.Get(&p)); err != nil || p.Gate.By != contract.ErrTypeDenied {
			t.Errorf("got %+v, %v; want paused by %s", p, err, contract.ErrTypeDenied)
		}
		refuse = false
		env.UpdateWorkflow(contract.UpdateResume, "r", asked)
	}, time.Hour)
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	if r, _ := l.receipt(env); r.Steps.Needed != r.Steps.Run {
		t.Errorf("steps %+v", r.Steps)
	}
}

// TestOneBadWindow holds that a window that cannot be done stops no other, and that the
// reproduction says so instead of ending with fewer images.
func TestOneBadWindow(t *testing.T) {
	l := newTinyLab(t, 600)
	done := map[int]bool{}
	l.wrap = func(env *testsuite.TestWorkflowEnvironment, a *activities.Activities) {
		env.OnActivity(contract.SegmentChunk.Name, mock.Anything, mock.Anything).Return(func(ctx context.Context, in contract.WindowInput) (contract.ChunkResult, error) {
			if in.Window == 1 {
				return contract.ChunkResult{}, temporal.NewNonRetryableApplicationError("case 7: the file changed", contract.ErrTypeInputChanged, nil)
			}
			done[in.Window] = true
			return a.SegmentChunk(ctx, in)
		})
	}
	in := l.input(l.ingest())
	env := l.env()
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	var app *temporal.ApplicationError
	if err := env.GetWorkflowError(); !errors.As(err, &app) || app.Type() != contract.ErrTypeIncomplete {
		t.Fatalf("ended with %v, want %s", err, contract.ErrTypeIncomplete)
	}
	if len(done) != in.Ingest.Manifest.Windows-1 {
		t.Errorf("%d of %d other windows were done", len(done), in.Ingest.Manifest.Windows-1)
	}
}

// TestReconcile gives two windows that claim to be done and are not: exactly they run again.
func TestReconcile(t *testing.T) {
	calm := calmTiny(t, 600)
	l := newTinyLab(t, 600)
	calls := map[string]int{}
	l.wrap = func(env *testsuite.TestWorkflowEnvironment, a *activities.Activities) {
		env.OnActivity(contract.SegmentChunk.Name, mock.Anything, mock.Anything).Return(func(ctx context.Context, in contract.WindowInput) (contract.ChunkResult, error) {
			return a.SegmentChunk(ctx, in)
		})
		env.OnActivity(contract.AssessWindow.Name, mock.Anything, mock.Anything).Return(func(ctx context.Context, in contract.WindowInput) (contract.ChunkResult, error) {
			key := fmt.Sprint(in.Window)
			if calls[key]++; calls[key] == 1 && in.Window != 1 {
				return contract.ChunkResult{}, nil
			}
			return a.AssessWindow(ctx, in)
		})
	}
	in := l.input(l.ingest())
	env := l.env()
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	r, _ := l.receipt(env)
	windows := in.Ingest.Manifest.Windows
	if r.RedoneWindows != windows-1 || r.ResultDigest != calm.ResultDigest {
		t.Errorf("%d windows redone, result %s; want %d and %s", r.RedoneWindows, r.ResultDigest, windows-1, calm.ResultDigest)
	}
	if calls["1"] != 1 {
		t.Errorf("the good window ran %d times, want once", calls["1"])
	}
}
