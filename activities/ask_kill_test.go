package activities

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/ledger/limit"
)

// killPlan tells a child process what to ask and where to die.
type killPlan struct {
	Folder, URL, Point string
	Inputs             []contract.AskInput
	// Nth is at which passing of the point, counted over all calls.
	Nth int
	// Priced says that the endpoint states a price.
	Priced bool
}

const killVariable = "CXREPRO_TEST_ASK_KILL"

// TestAskChild is the child: a worker process that asks everything at once and is killed.
func TestAskChild(t *testing.T) {
	text := os.Getenv(killVariable)
	if text == "" {
		t.Skip("runs in a child process")
	}
	var p killPlan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	l := &askLab{t: t, store: dirRepository(t, p.Folder)}
	var hits atomic.Int64
	at := place{}
	if p.Priced {
		at.price = testPrice{}
	}
	a := l.worker("child", l.endpoint(p.URL, at), func(o *Options) {
		o.Fault = func(name string) {
			if name == p.Point && hits.Add(1) == int64(p.Nth) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	})
	var wg sync.WaitGroup
	for _, in := range p.Inputs {
		wg.Go(func() { _, _ = ask(a, in) })
	}
	wg.Wait()
}

// die runs a child until it is killed.
func die(t *testing.T, p killPlan) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAskChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), killVariable+"="+string(text))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child was not killed at %s: %v\n%s", p.Point, err, out.String())
	}
}

// TestKilledAtEveryPoint: whoever comes next takes the claim over, sends the call at most once
// more, and counts what nobody saw the end of.
func TestKilledAtEveryPoint(t *testing.T) {
	for _, c := range []struct {
		point           string
		before, after   int // requests
		repeated, maybe int
	}{
		{FaultBeforeRequest, 0, 1, 1, 1}, // nobody can know that it was not sent
		{FaultAfterReply, 1, 1, 1, 1},
		{FaultAfterAnswerPut, 1, 1, 1, 1},
		{FaultAfterCallCommit, 1, 0, 0, 0},
	} {
		t.Run(c.point, func(t *testing.T) {
			dir := t.TempDir()
			l := newAskLabIn(t, dirRepository(t, dir))
			s := serve(t, always(reply{text: "(a)"}))
			in := l.input(0)
			die(t, killPlan{Folder: dir, URL: s.URL, Point: c.point, Nth: 1, Inputs: []contract.AskInput{in}})
			if n := s.requests(); n != c.before {
				t.Fatalf("%d requests before the kill", n)
			}
			a := l.worker("heir", l.endpoint(s.URL, place{}))
			begin := time.Now()
			out := l.mustAsk(a, in)
			if d := time.Since(begin); d > 5*time.Second {
				t.Errorf("the claim of a dead process was taken over after %s", d)
			}
			if n := s.requests() - c.before; n != c.after || out.Score != cxreasonbench.Right {
				t.Errorf("%d requests after the kill: %+v", n, out)
			}
			if out.Count.Run != 1 || out.Count.Repeated != c.repeated || out.Count.MaybeBilled != c.maybe || out.Count.Attempts != 1+c.maybe {
				t.Errorf("the account: %+v", out.Count)
			}
			if left := objects(t, l.store, "claims/"); len(left) > 1 || len(left) == 1 && c.point != FaultAfterCallCommit {
				t.Errorf("%d claims are left", len(left))
			}
		})
	}
}

// TestKilledTwice: attempts of both dead processes are counted.
func TestKilledTwice(t *testing.T) {
	dir := t.TempDir()
	l := newAskLabIn(t, dirRepository(t, dir))
	s := serve(t, always(reply{text: "(a)"}))
	in := l.input(0)
	for range 2 {
		die(t, killPlan{Folder: dir, URL: s.URL, Point: FaultAfterReply, Nth: 1, Inputs: []contract.AskInput{in}})
	}
	out := l.mustAsk(l.worker("heir", l.endpoint(s.URL, place{})), in)
	if s.requests() != 3 || out.Count.Attempts != 3 || out.Count.MaybeBilled != 2 || out.Count.Repeated != 2 {
		t.Errorf("%d requests: %+v", s.requests(), out.Count)
	}
}

// TestKilledBetweenRepetitions: replies that were not answers are not asked for more often
// because a process died between them.
func TestKilledBetweenRepetitions(t *testing.T) {
	dir := t.TempDir()
	l := newAskLabIn(t, dirRepository(t, dir))
	s := serve(t, always(reply{refusal: "no"}))
	in := l.input(0)
	die(t, killPlan{Folder: dir, URL: s.URL, Point: FaultBeforeRequest, Nth: 3, Inputs: []contract.AskInput{in}})
	out := l.mustAsk(l.worker("heir", l.endpoint(s.URL, place{})), in)
	if s.requests() != 3 || out.Terminal != cxreasonbench.Refusal || out.Count.Attempts != 4 || out.Count.MaybeBilled != 1 {
		t.Errorf("%d requests: %+v", s.requests(), out)
	}
}

// TestKilledInFlight: with many calls in flight a kill repeats no more than those, and recorded
// ones not at all.
func TestKilledInFlight(t *testing.T) {
	dir := t.TempDir()
	l := newAskLabIn(t, dirRepository(t, dir))
	s := serve(t, always(reply{text: "(a)", wait: 2 * time.Millisecond}))
	const calls, kills = 24, 4
	inputs := make([]contract.AskInput, calls)
	for i := range inputs {
		inputs[i] = l.input(i % 3)
		inputs[i].Evaluation, inputs[i].Call.Draw = 1, i
	}
	for kill := range kills {
		points := []string{FaultAfterReply, FaultAfterCallCommit, FaultAfterAnswerPut, FaultBeforeRequest}
		die(t, killPlan{Folder: dir, URL: s.URL, Point: points[kill], Nth: 3, Inputs: inputs})
	}
	a := l.worker("heir", l.endpoint(s.URL, place{}))
	var total contract.CallCount
	for _, in := range inputs {
		out := l.mustAsk(a, in)
		total.Attempts += out.Count.Attempts
		total.MaybeBilled += out.Count.MaybeBilled
	}
	n := s.requests()
	if n > calls+kills*calls || total.Attempts < n || total.Attempts-total.MaybeBilled != calls {
		t.Errorf("%d requests for %d calls after %d kills; the account has %d attempts, %d of them maybe billed", n, calls, kills, total.Attempts, total.MaybeBilled)
	}
	for _, in := range inputs {
		l.mustAsk(a, in)
	}
	if s.requests() != n {
		t.Error("a recorded call was asked again")
	}
}

// TestBudget: what is spent stays within the budget, with many calls in flight and also after a
// process died with money in hand; then the reproduction pauses, and a larger budget goes on.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	l := newAskLabIn(t, dirRepository(t, dir))
	s := serve(t, always(reply{text: "(a)", wait: time.Millisecond}))
	const perCall = 2*100 + 8*10
	const budget = 100 * perCall
	inputs := make([]contract.AskInput, 200)
	for i := range inputs {
		inputs[i] = l.input(i % 3)
		inputs[i].Evaluation, inputs[i].Call.Draw, inputs[i].Budget = 1, i, budget
	}
	die(t, killPlan{Folder: dir, URL: s.URL, Point: FaultAfterReply, Nth: 1, Inputs: inputs[:1], Priced: true})
	a := l.worker("heir", l.endpoint(s.URL, place{price: testPrice{}, limits: limit.Limits{Concurrency: 8}}))
	spend := func(budget int64) (over int) {
		var wg sync.WaitGroup
		var stopped atomic.Int64
		for _, in := range inputs {
			in.Budget = budget
			wg.Go(func() {
				_, err := ask(a, in)
				if err == nil {
					return
				}
				stopped.Add(1)
				app := failure(t, err)
				if app.Type() != contract.ErrTypeBudget || !contract.Pauses(app.Type()) || !strings.Contains(app.Message(), "USD") {
					t.Errorf("%s: %s", app.Type(), app.Message())
				}
			})
		}
		wg.Wait()
		return int(stopped.Load())
	}
	over := spend(budget)
	if spent := s.requests() * perCall; spent > budget || spent < budget/2 || over == 0 {
		t.Errorf("spent %d of %d, %d calls stopped", spent, budget, over)
	}
	before := s.requests()
	if over := spend(1000 * perCall); over != 0 || s.requests() != before+(len(inputs)-(before-1)) {
		t.Errorf("with a larger budget %d calls stopped; %d requests after %d", over, s.requests(), before)
	}
	unpriced := l.input(0)
	unpriced.Evaluation, unpriced.Call.Draw, unpriced.Budget = 1, 999, budget
	_, err := ask(l.worker("other", l.endpoint(s.URL, place{})), unpriced)
	if app := failure(t, err); app.Type() != contract.ErrTypeEndpoint || !contains(app.Message(), "no price") {
		t.Errorf("a budget without a price: %s", app.Message())
	}
}

// TestHeartbeats: slow calls send them, quick ones do not, a stuck one stops, and they come from
// few goroutines.
func TestHeartbeats(t *testing.T) {
	l := newAskLab(t)
	var slow atomic.Bool
	s := serve(t, func(int, *http.Request, string) reply {
		if slow.Load() {
			return reply{text: "(a)", wait: 400 * time.Millisecond}
		}
		return reply{text: "(a)"}
	})
	var beats atomic.Int64
	a := l.worker("one", l.endpoint(s.URL, place{}), func(o *Options) {
		o.Beat = 100 * time.Millisecond
		o.Fault = func(name string) {
			if name == FaultInHeartbeat {
				beats.Add(1)
			}
		}
	})
	// How long a call takes depends on what else the machine does, so heartbeats are compared
	// with the time it took.
	call := func(number int) (sent, most int64) {
		in := l.input(number)
		before, begin := beats.Load(), time.Now()
		l.mustAsk(a, in)
		return beats.Load() - before, int64(time.Since(begin) / (100 * time.Millisecond))
	}
	if sent, most := call(0); sent > most {
		t.Errorf("a quick call sent %d heartbeats in %d beats", sent, most)
	}
	slow.Store(true)
	if sent, most := call(1); sent < 2 || sent > most {
		t.Errorf("a call of 400 ms sent %d heartbeats in %d beats", sent, most)
	}
}
