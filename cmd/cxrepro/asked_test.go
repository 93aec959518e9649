package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/responder"
)

// everyCall makes TestCallsKilled place kills at every call instead of at a few: `task
// chaos:calls`.
const everyCall = "CXREPRO_EVERY_CALL"

// askedBench is a state directory with a released benchmark, a spec that puts it to a simulated
// model and a judge, and the endpoint where they answer.
type askedBench struct {
	*bench
	lab *evaltest.Lab
}

func newAskedBench(t *testing.T, o evaltest.Options, concurrency int, reversed bool) *askedBench {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	b := &askedBench{bench: &bench{t: t, dir: t.TempDir(), spec: evaltest.SpecFile}, lab: evaltest.New(t, memstore.Open(), o)}
	b.state = filepath.Join(b.dir, "state")
	b.data = []string{"--data", "made=" + evaltest.ReleaseFolder, "--endpoints", evaltest.EndpointsFile}
	if err := b.lab.Write(b.dir, concurrency, reversed); err != nil {
		t.Fatal(err)
	}
	return b
}

// guidedModel is guided in most cases, so that every path is walked.
func guidedModel() evaltest.Options {
	return evaltest.Options{
		Tasks: cxreasonbench.Tasks()[:1], Cases: 2, Judge: &responder.Model{Name: evaltest.JudgeCard, Behaviour: responder.Judge},
		Models: []responder.Model{{Name: "guided", Behaviour: responder.Exact, Tables: map[string]map[string]responder.Table{"all": {"all": {
			Path1:   &responder.Numbers{Cases: 2, Unknown: 1, Initial: 1, Criteria: 1, Structures: 1, Measurement: 1, Final: 1, Consistent: 1},
			Path2:   &responder.Numbers{Cases: 1, Structures: 1, Measurement: 1, Final: 1, Consistent: 1},
			RePath1: &responder.Numbers{Cases: 1, Initial: 1, Criteria: 1, Structures: 1, Measurement: 1, Final: 1, Consistent: 1},
		}}}}},
	}
}

// killedAt runs the command until the n-th time that a point is passed. It reports whether the
// command was killed there, and did not end before.
func (b *bench) killedAt(point string, n int) bool {
	b.t.Helper()
	var talk bytes.Buffer
	cmd := b.command(append([]string{"run", b.spec, "--json", "--heartbeat-timeout", "2s", "--retry-interval", "100ms"}, b.data...)...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("CXREPRO_FAULT=%s:%d", point, n))
	cmd.Stdout, cmd.Stderr = &talk, &talk
	err := cmd.Run()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if _, exited := err.(*exec.ExitError); err != nil && (!exited || cmd.ProcessState.ExitCode() != exitOK) {
		b.t.Fatalf("killed %s:%d: %v\n%s", point, n, err, talk.String())
	}
	return false
}

// inHand is how many calls a worker has in hand for an endpoint that takes one request at a
// time: one on its way, and those that are looked up or recorded meanwhile.
const inHand = 3

// TestCallsKilled kills the command at the boundaries of calls, and twice more while it resumes:
// the result is the undisturbed one, a kill costs at most the calls in hand, and no recorded
// call is made again.
func TestCallsKilled(t *testing.T) {
	calm := newAskedBench(t, guidedModel(), 1, false)
	code, want, talk := calm.run()
	if code != exitOK || want.Calls == nil {
		t.Fatalf("undisturbed: exit %d\n%s", code, talk)
	}
	needed := int(calm.lab.Responder.Counts().Requests)
	if want.Calls.Run != needed || calm.recorded() != needed || needed < 20 {
		t.Fatalf("%d requests, %d recorded, receipt %+v", needed, calm.recorded(), want.Calls)
	}
	points := []string{"after-reply", "after-answer-put", "after-call-commit", "before-request"}
	begin, step, last := needed/3, needed, 1 // one round with kills at different points
	if os.Getenv(everyCall) != "" {
		begin, step, last = 1, 1, len(points)
	}
	rounds, killed, costs := 0, 0, 0
	for at := begin; at <= needed; at += step {
		for i := range last {
			b := newAskedBench(t, guidedModel(), 1, rounds%2 == 1)
			kills, requests, recorded := 0, 0, 0
			for k, n := range []int{at, 2, 3} {
				point := points[i]
				if last == 1 {
					point = points[k]
				}
				if b.killedAt(point, n) {
					kills++
				}
				requests, recorded = int(b.lab.Responder.Counts().Requests), b.recorded()
			}
			code, got, talk := b.run()
			if code != exitOK {
				t.Fatalf("killed %d times, first %s:%d: exit %d\n%s", kills, points[i], at, code, talk)
			}
			n := int(b.lab.Responder.Counts().Requests)
			lost := requests - recorded
			if got.ResultDigest != want.ResultDigest || n != needed+lost || lost > kills*inHand || kills == 0 {
				t.Errorf("killed %d times, first %s:%d: result %s after %d requests, %d of them lost; undisturbed %s after %d",
					kills, points[i], at, got.ResultDigest, n, lost, want.ResultDigest, needed)
			}
			sameCallsBut(t, want, got, kills*inHand)
			rounds, killed, costs = rounds+1, killed+kills, costs+lost
		}
	}
	t.Logf("%d rounds, %d kills over %d calls cost %d requests", rounds, killed, needed, costs)
}

// recorded counts the calls in the index.
func (b *bench) recorded() (n int) {
	b.t.Helper()
	root := filepath.Join(b.state, "store", "index", contract.StepCall)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
	return n
}

// sameCallsBut compares the accounts of two runs of one evaluation, of which one lost so many
// calls at most.
func sameCallsBut(t *testing.T, want, got *contract.Receipt, lost int) {
	t.Helper()
	w, g := want.Calls, got.Calls
	if g.Needed != w.Needed || g.Run != w.Run || g.Repeated > lost || g.Attempts < w.Attempts || g.Attempts > w.Attempts+lost {
		t.Errorf("calls %+v, undisturbed %+v, at most %d lost", g, w, lost)
	}
}

// TestUndeterminedRun leaves cases undetermined because the endpoint does not answer: exit code
// 3, nothing marked as finished. The same command with the model at another address asks what
// is missing and nothing else. An endpoint without money left pauses the run.
func TestUndeterminedRun(t *testing.T) {
	o := guidedModel()
	o.Faults = "format: cxrepro-responder-faults-1\nseed: 1\nrules:\n  - {do: server_error, kind: model, stage: criteria}\n"
	b := newAskedBench(t, o, 4, false)
	code, first, talk := b.run("--call-patience", "3s")
	if code != exitQuarantined || first == nil || !first.Incomplete() || !strings.Contains(talk, "are undetermined") || !strings.Contains(talk, contract.ErrTypeUnreachable) {
		t.Fatalf("exit %d, receipt %+v\n%s", code, first, talk)
	}
	answered := b.lab.Responder.Counts().Answered

	o.Faults = "format: cxrepro-responder-faults-1\nseed: 1\nrules:\n  - {do: quota, nth: [3]}\n"
	b.move(o)
	code, _, talk = b.run()
	if code != exitPaused || !strings.Contains(talk, "paused: ") || !strings.Contains(talk, "402") {
		t.Fatalf("out of money: exit %d\n%s", code, talk)
	}
	code, got, talk := b.run()
	answered += b.lab.Responder.Counts().Answered
	if code != exitOK || got.Reproduction != first.Reproduction || got.Incomplete() || got.Calls.Run != int(answered) {
		t.Fatalf("exit %d after %d answers, receipt %+v\n%s", code, answered, got, talk)
	}
}

// move gives the models another address.
func (b *askedBench) move(o evaltest.Options) {
	b.t.Helper()
	b.lab = evaltest.New(b.t, memstore.Open(), o)
	if err := b.lab.Write(b.dir, 4, false); err != nil {
		b.t.Fatal(err)
	}
}
