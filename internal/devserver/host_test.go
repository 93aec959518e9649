package devserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// A host is what these tests kill: a process of its own that starts or joins the server of
// a state directory, runs a worker, starts or finds one workflow of four activities and
// waits for its result, as `cxrepro run` does.
const (
	hostEnv    = "CXREPRO_TEST_HOST"
	hostQueue  = "steps"
	hostSteps  = 4
	hostID     = "steps-1"
	stepTime   = 500 * time.Millisecond
	wantResult = "s1,s2,s3,s4"
)

type hostInput struct {
	State, Journal, Binary string
	KeepOrphans            bool
}

// hostLine is what a host prints, one JSON line each.
type hostLine struct {
	Event  string // "ready", "notice", "result" or "failed"
	Text   string
	Owner  bool
	PID    int
	RunID  string
	Millis int64 // since the host began
}

func hostMain() int {
	began := time.Now()
	var mu sync.Mutex
	say := func(l hostLine) {
		mu.Lock()
		defer mu.Unlock()
		l.PID, l.Millis = os.Getpid(), time.Since(began).Milliseconds()
		_ = json.NewEncoder(os.Stdout).Encode(l)
	}
	if err := runHost(say); err != nil {
		say(hostLine{Event: "failed", Text: err.Error()})
		return 1
	}
	return 0
}

func runHost(say func(hostLine)) error {
	var in hostInput
	if err := json.Unmarshal([]byte(os.Getenv(hostEnv)), &in); err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	s, err := Start(ctx, Options{
		StateDir: in.State, NoUI: true, SearchAttributes: []string{"Paper", "Stage"}, keepOrphans: in.KeepOrphans,
		Resolve: func(context.Context) (string, error) { return in.Binary, nil },
		Notify:  func(line string) { say(hostLine{Event: "notice", Text: line}) },
	})
	if err != nil {
		return err
	}
	defer s.Stop(context.Background())
	c, err := client.DialContext(ctx, client.Options{HostPort: s.Address(), Namespace: s.Namespace(), Logger: quietLogger()})
	if err != nil {
		return err
	}
	defer c.Close()
	w := worker.New(c, hostQueue, worker.Options{StickyScheduleToStartTimeout: 300 * time.Millisecond})
	w.RegisterWorkflowWithOptions(stepsWorkflow, workflow.RegisterOptions{Name: "Steps"})
	w.RegisterActivityWithOptions(func(ctx context.Context, n int) (string, error) { return step(ctx, in.Journal, n) }, activity.RegisterOptions{Name: "Step"})
	if err := w.Start(); err != nil {
		return err
	}
	defer w.Stop()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: hostID, TaskQueue: hostQueue, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		TypedSearchAttributes: temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("Paper").ValueSet("x")),
	}, "Steps")
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &started) {
		run, err = c.GetWorkflow(ctx, hostID, ""), nil
	}
	if err != nil {
		return fmt.Errorf("start workflow: %w", err)
	}
	say(hostLine{Event: "ready", Owner: s.Owner(), RunID: run.GetRunID()})
	var got string
	if err := run.Get(ctx, &got); err != nil {
		return fmt.Errorf("workflow: %w", err)
	}
	say(hostLine{Event: "result", Text: got, RunID: run.GetRunID(), Owner: s.Owner()})
	return nil
}

func stepsWorkflow(ctx workflow.Context) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 20 * time.Second, HeartbeatTimeout: time.Second,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 50 * time.Millisecond, MaximumInterval: 200 * time.Millisecond},
	})
	var out []string
	for n := 1; n <= hostSteps; n++ {
		var s string
		if err := workflow.ExecuteActivity(ctx, "Step", n).Get(ctx, &s); err != nil {
			return "", err
		}
		out = append(out, s)
	}
	return strings.Join(out, ","), nil
}

// step works for stepTime and writes its begin and end into the journal.
func step(ctx context.Context, journal string, n int) (string, error) {
	note := func(what string) error {
		f, err := os.OpenFile(journal, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = fmt.Fprintf(f, "%s %d %d %d\n", what, n, activity.GetInfo(ctx).Attempt, os.Getpid())
		return err
	}
	if err := note("begin"); err != nil {
		return "", err
	}
	for end := time.Now().Add(stepTime); time.Now().Before(end); {
		activity.RecordHeartbeat(ctx)
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Sprintf("s%d", n), note("done")
}

func quietLogger() log.Logger {
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// host is a running host process seen from the test.
type host struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan hostLine // closed at its end
	seen  []hostLine
}

func startHost(t *testing.T, in hostInput) *host {
	t.Helper()
	in.Binary = temporalBinary
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, cmd: exec.Command(os.Args[0]), lines: make(chan hostLine, 100)}
	h.cmd.Env = append(os.Environ(), hostEnv+"="+string(b))
	h.cmd.Stderr = os.Stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(h.lines)
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			var l hostLine
			if json.Unmarshal(sc.Bytes(), &l) == nil {
				h.lines <- l
			}
		}
		_ = h.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		for range h.lines { // let its reader end
		}
		<-ended
	})
	return h
}

// await returns the first line with this event.
func (h *host) await(event string) hostLine {
	h.t.Helper()
	deadline := time.After(50 * time.Second)
	for {
		select {
		case l, ok := <-h.lines:
			if !ok {
				h.t.Fatalf("host ended before %q; it said %+v", event, h.seen)
			}
			h.seen = append(h.seen, l)
			if l.Event == event {
				return l
			}
			if l.Event == "failed" {
				h.t.Fatalf("host failed before %q: %s", event, l.Text)
			}
		case <-deadline:
			h.t.Fatalf("host did not say %q in time; it said %+v", event, h.seen)
		}
	}
}

// journalLine is one line of the journal: "begin" or "done", step, attempt, process.
type journalLine struct {
	what               string
	step, attempt, pid int
}

func readJournal(t *testing.T, path string) []journalLine {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []journalLine
	for _, s := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Fields(s)
		if len(f) != 4 {
			continue
		}
		var n [3]int
		for i := range n {
			if n[i], err = strconv.Atoi(f[i+1]); err != nil {
				t.Fatalf("journal line %q: %v", s, err)
			}
		}
		out = append(out, journalLine{f[0], n[0], n[1], n[2]})
	}
	return out
}

// awaitStep waits until step n was begun in the journal.
func awaitStep(t *testing.T, path string, n int) {
	t.Helper()
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, l := range readJournal(t, path) {
			if l.what == "begin" && l.step == n {
				return
			}
		}
	}
	t.Fatalf("step %d was not begun in time", n)
}

// checkJournal demands that every step ended and that none was begun again once the next
// one had begun: a finished activity is never repeated. The step in hand at a kill may end
// twice, once where the server could not hear of it.
func checkJournal(t *testing.T, path string) {
	t.Helper()
	highest, done := 0, map[int]int{}
	for _, l := range readJournal(t, path) {
		switch {
		case l.what == "done":
			done[l.step]++
		case l.step < highest:
			t.Errorf("step %d was begun again (attempt %d) after step %d had begun", l.step, l.attempt, highest)
		default:
			highest = l.step
		}
	}
	for n := 1; n <= hostSteps; n++ {
		if done[n] == 0 {
			t.Errorf("step %d never ended", n)
		}
	}
}
