// Command harness holds the same small evaluation twice against the same responder: with
// this project, everything durable and resumable, and with a widely used evaluation harness
// (inspect-ai). It prints calls, time and their ratio.
//
//	cxrepro phantom generate --n 60 --seed 1 --cases --out P
//	cxrepro cxreasonbench build --cases P/truth --data P/mimic-cxr-jpg --per-task 4 --out B \
//	    --threshold global.mask_count.mask_num_min=25
//	python3 -m venv V && V/bin/pip install -r infra/bench/harness/requirements.txt
//	go run -C infra/bench ./cmd/harness --benchmark $PWD/B --python $PWD/V/bin/python
//
// Both ask Path 1 of every case of B: a model that is always right, greedy, and a judge about
// every reply, with the same pictures. Judge calls of two cases that are the same to the letter
// are sent once here and twice there. Time runs at the responder, from the first request to
// the last reply, so neither start-up nor reading of the data counts. The responder takes part
// of the machine from both.
//
// Alone and with --latency it says how the throughput compares with the ideal, which is as many
// calls in flight as allowed all the time: over all of that time, and while 128 dialogues or more
// are open, without the first moments and the last dialogues. It says what processor time each
// process took a request, which a busy neighbour changes less than the time on the clock, and how
// much of the machine was left to others. With --rule the cards name another picture rule.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"cxrepro/infra/bench/program"
	"cxrepro/internal/responder"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

type options struct {
	benchmark, python, cxrepro string
	inFlight                   int
	latency                    time.Duration
	alone                      bool
	tasks, open                int
	rule                       string
}

func run(ctx context.Context) error {
	var o options
	flag.StringVar(&o.benchmark, "benchmark", "", "folder written by cxreasonbench build")
	flag.StringVar(&o.python, "python", "python3", "Python with harness/requirements.txt installed")
	flag.StringVar(&o.cxrepro, "cxrepro", "", "program to measure (default: built from this tree)")
	flag.IntVar(&o.inFlight, "in-flight", 64, "requests at a time")
	flag.DurationVar(&o.latency, "latency", 0, "how long every reply takes at least")
	flag.IntVar(&o.tasks, "tasks", 4, "tasks that cxrepro works on at a time")
	flag.IntVar(&o.open, "open", 32, "dialogues of a task that cxrepro has open at a time")
	flag.StringVar(&o.rule, "rule", "original", "picture rule of the model cards; the peer sends the files as they are")
	flag.BoolVar(&o.alone, "alone", false, "leave the peer out: how many requests and how fast, with nothing to compare")
	flag.Parse()
	if o.benchmark == "" {
		return errors.New("--benchmark DIR is missing")
	}
	dir, err := os.MkdirTemp("", "harness")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	watch, err := serve(o)
	if err != nil {
		return err
	}
	defer watch.server.Close()
	plan, cases, err := writePlan(o.benchmark, dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d CPUs, %s; %d cases, Path 1, greedy, judge; %d in flight, latency %s, pictures %s\n", runtime.NumCPU(), runtime.Version(), cases, o.inFlight, o.latency, o.rule)

	ours, err := watch.measure(func() error { return runOurs(ctx, o, dir, watch.url) })
	if err != nil {
		return fmt.Errorf("cxrepro: %w", err)
	}
	if o.alone {
		fmt.Println("cxrepro    ", ours)
		for _, line := range ours.account() {
			fmt.Println(line)
		}
		fmt.Printf("overhead    %.2f ms of wall time a request", 1000*ours.wall.Seconds()/float64(ours.requests))
		if o.latency <= 0 {
			fmt.Println()
			return nil
		}
		ideal := float64(ours.requests) * o.latency.Seconds() / float64(o.inFlight)
		fmt.Printf("; %.3f of the ideal throughput of %d in flight, beginning and end included\n", ideal/ours.wall.Seconds(), o.inFlight)
		fmt.Println("dialogues  ", ours.crowded.against(o.inFlight, o.latency))
		return nil
	}
	peer, err := watch.measure(func() error { return runPeer(ctx, o, dir, plan, watch.url) })
	if err != nil {
		return fmt.Errorf("inspect-ai: %w", err)
	}
	// What two cases ask in the same words is asked once here: an answer is kept by its request.
	ours.calls = peer.calls
	fmt.Println("cxrepro    ", ours)
	fmt.Println("inspect-ai ", peer)
	if ours.distinct != peer.distinct || ours.requests != ours.distinct {
		return fmt.Errorf("%d different requests, and %d of the peer: not the same evaluation", ours.distinct, peer.distinct)
	}
	fmt.Printf("ratio       %.2f times the calls per second of inspect-ai\n", peer.wall.Seconds()/ours.wall.Seconds())
	return nil
}

// watch is a responder that notes when it is busy.
type watch struct {
	r      *responder.Responder
	server *http.Server
	url    string
	seen   chan responder.Exchange
}

// figure is what one evaluation took.
type figure struct {
	// calls that the evaluation needs, requests sent for them, and how many of these differ.
	calls, requests, distinct int64
	peak                      int64
	wall, busy                time.Duration
	crowded                   during
	// used is the processor time of all that, memory what processes held.
	used   program.Used
	memory []string
}

func (f figure) String() string {
	return fmt.Sprintf("%6d calls, %6d requests in %7.2f s: %6.1f calls/s, %6.2f ms a call, at most %d in flight, %.1f on average",
		f.calls, f.requests, f.wall.Seconds(), float64(f.calls)/f.wall.Seconds(), 1000*f.wall.Seconds()/float64(f.calls), f.peak, f.busy.Seconds()/f.wall.Seconds())
}

func serve(o options) (*watch, error) {
	bench, err := responder.ReadFolder(os.DirFS(o.benchmark), nil)
	if err != nil {
		return nil, err
	}
	w := &watch{seen: make(chan responder.Exchange, 1<<20)}
	w.r, err = responder.New(responder.Options{Benchmark: bench, Latency: o.latency, Watch: func(x responder.Exchange) { w.seen <- x }, Profile: &responder.Profile{Format: responder.ProfileFormat, Models: []responder.Model{
		{Name: "oracle", Behaviour: responder.Oracle}, {Name: "judge", Behaviour: responder.Judge},
	}}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.url = "http://" + listener.Addr().String() + "/v1"
	w.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: w.r}
	go w.server.Serve(listener) //nolint:errcheck // it ends with Close
	return w, nil
}

// measure runs one evaluation and reads what it took at the responder.
func (w *watch) measure(evaluate func() error) (f figure, err error) {
	w.r.Reset()
	processes := program.NewWatch("responder", "", 2*time.Second)
	if err := errors.Join(evaluate(), processes.Stop()); err != nil {
		return f, err
	}
	n := w.r.Counts()
	if n.Requests != n.Answered {
		return f, fmt.Errorf("of %d requests %d were answered", n.Requests, n.Answered)
	}
	f.calls, f.requests, f.distinct, f.peak = n.Answered, n.Answered, n.Distinct, n.Peak
	var exchanges []responder.Exchange
	for range n.Requests {
		exchanges = append(exchanges, <-w.seen)
	}
	all := f.sum(exchanges)
	f.used, f.memory = processes.Used(all.from, all.to), processes.Memory()
	spans, most := crowded(dialogues(exchanges), enough)
	f.crowded = while(spans, most, exchanges)
	return f, nil
}

// runPeer holds the plan with inspect-ai.
func runPeer(ctx context.Context, o options, dir, plan, url string) error {
	script, err := filepath.Abs(filepath.Join("harness", "peer.py"))
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, o.python, script, plan, url, fmt.Sprint(o.inFlight), filepath.Join(dir, "logs"))
	c.Dir = dir
	return program.Quiet(c)
}
