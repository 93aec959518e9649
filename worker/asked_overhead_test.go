package worker

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/lvlm/endpoint"
)

// overheadCases is how many cases of each task TestCallOverhead asks about; `task bench:calls`
// sets it. Latency of the endpoint is in overheadLatency.
const (
	overheadCases   = "CXREPRO_OVERHEAD_CASES"
	overheadLatency = "CXREPRO_OVERHEAD_LATENCY"
)

// TestCallOverhead measures what a call to a model costs beside the model: all twelve tasks, 64
// requests in flight, a folder as store, a real server, an endpoint that answers at once or
// after a given time. Judge calls count.
func TestCallOverhead(t *testing.T) {
	cases, err := strconv.Atoi(os.Getenv(overheadCases))
	if err != nil || cases < 2 {
		t.Skip("set " + overheadCases + " to a number of cases, such as 24")
	}
	o := asked()
	o.Tasks, o.Cases = cxreasonbench.Tasks(), cases
	if text := os.Getenv(overheadLatency); text != "" {
		if o.Latency, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	conn := server(t)
	store, err := storeurl.Open(context.Background(), t.TempDir(), storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &askedLab{lab: &lab{t: t, client: conn.Client, store: store}, Lab: evaltest.New(t, store, o)}
	var cancel context.CancelFunc
	a.ctx, cancel = context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	set := a.Endpoints()
	set.Endpoints[0].Limits = endpoint.Limits{Concurrency: 64, Timeout: time.Minute}
	w, err := Start(Options{Client: conn.Client, Store: store, Name: "overhead", Queue: "record", Cache: t.TempDir(), Endpoints: set, NoGPU: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	}()
	tuning := contract.DefaultTuning()
	tuning.Calls.Tasks = 8
	before, began := used(t), time.Now()
	out := a.result(a.ask(tuning))
	wall, cpu := time.Since(began), used(t)-before
	var r contract.Receipt
	a.read(out.Receipt, &r)
	n := a.Responder.Counts()
	m := measure(t, a.ctx, conn.Client)
	calls := r.Calls.Needed
	t.Logf("%d calls needed, %d made, %s: %.2f ms of wall and %.2f ms of this process's CPU a call needed; peak %d in flight, %d dialogues",
		calls, n.Requests, wall.Round(time.Millisecond), ms(wall)/float64(calls), ms(cpu)/float64(calls), n.Peak, r.Dialogues.Dialogues)
	if o.Latency > 0 {
		ideal := time.Duration(float64(n.Requests) / 64 * float64(o.Latency))
		t.Logf("with %s a reply and 64 in flight: %.3f of the ideal throughput", o.Latency, float64(ideal)/float64(wall))
	}
	t.Logf("%d runs of workflows, %d events (%.1f a call), %d in the longest history, largest event %d bytes",
		m.runs, m.events, float64(m.events)/float64(calls), m.longest, m.largest)
	if m.longest > 4096 || m.largest > 64<<10 {
		t.Error("a history is longer than 4,096 events, or an event larger than 64 KiB")
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// used is the processor time of this process.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
