// Command rehearsal runs CXReasonBench at the paper's size with simulated models: 1,200 cases of
// phantoms, ten models and a judge that fare as the published tables say, greedy and with three
// draws, on all paths; some 377,000 calls. Everything but radiographs and replies is real.
//
//	go run -C infra/bench ./cmd/rehearsal --out $PWD/rehearsal
//
// It draws the phantoms, builds the benchmark, starts the responder, runs the evaluation by one
// command of the program, and reports time, calls, memory of every process, objects in the store
// and sizes of histories. Run again with the same --out it goes on where it was stopped.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"cxrepro/infra/bench/program"
	"cxrepro/internal/devserver"
)

func main() {
	devserver.Trampoline()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "rehearsal:", err)
		os.Exit(1)
	}
}

type options struct {
	out, benchmark, bin         string
	phantoms, perTask, inFlight int
	tasks, models               int
	latency                     time.Duration
}

func run(ctx context.Context) error {
	var o options
	flag.StringVar(&o.out, "out", "", "folder for data, state and results; what is there is used again")
	flag.StringVar(&o.benchmark, "benchmark", "", "folder written by cxreasonbench build (default: built here)")
	flag.StringVar(&o.bin, "cxrepro", "", "program to run (default: built from this tree)")
	flag.IntVar(&o.phantoms, "phantoms", 640, "phantoms that are drawn")
	flag.IntVar(&o.perTask, "per-task", 100, "cases of a task")
	flag.IntVar(&o.inFlight, "in-flight", 64, "requests at a time")
	flag.IntVar(&o.tasks, "tasks", 12, "tasks that are worked on at a time")
	flag.IntVar(&o.models, "models", len(models), "how many of the ten models")
	flag.DurationVar(&o.latency, "latency", 0, "how long every reply takes at least")
	flag.Parse()
	if o.out == "" || o.models < 1 || o.models > len(models) {
		return fmt.Errorf("--out DIR is missing, or --models is not 1 to %d", len(models))
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	o.out = out
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if o.bin == "" {
		if o.bin, err = program.Build(ctx, o.out); err != nil {
			return err
		}
	}
	if o.benchmark == "" {
		if err := o.build(ctx); err != nil {
			return err
		}
	}
	return o.evaluate(ctx)
}

// build draws phantoms and makes the benchmark of them, unless it is there.
func (o *options) build(ctx context.Context) error {
	o.benchmark = filepath.Join(o.out, "benchmark")
	if _, err := os.Stat(o.benchmark); err == nil {
		return nil
	}
	drawn := filepath.Join(o.out, "phantoms")
	began := time.Now()
	if _, err := os.Stat(drawn); err != nil {
		if err := program.Quiet(exec.CommandContext(ctx, o.bin, "phantom", "generate", "--n", fmt.Sprint(o.phantoms), "--seed", "1", "--cases", "--out", drawn)); err != nil {
			return errors.Join(err, os.RemoveAll(drawn))
		}
	}
	unfinished := o.benchmark + ".part"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	if err := program.Quiet(exec.CommandContext(ctx, o.bin, "cxreasonbench", "build", "--cases", filepath.Join(drawn, "truth"), "--data", filepath.Join(drawn, "mimic-cxr-jpg"),
		"--per-task", fmt.Sprint(o.perTask), "--pictures", "native", "--out", unfinished, "--threshold", "global.mask_count.mask_num_min=25")); err != nil {
		return err
	}
	fmt.Printf("benchmark of %d cases a task from %d phantoms in %s\n", o.perTask, o.phantoms, time.Since(began).Round(time.Second))
	return os.Rename(unfinished, o.benchmark)
}

// evaluate starts the responder and the one command that everything is about.
func (o *options) evaluate(ctx context.Context) error {
	state := filepath.Join(o.out, "state")
	answering, err := startResponder(ctx, o)
	if err != nil {
		return err
	}
	defer answering.stop()
	e := program.Experiment{
		Name: "rehearsal", Paper: "CXReasonBench (arXiv 2505.18087), on phantoms and with simulated models", Models: models[:o.models], Snapshot: "%s of profile paper",
		Sampling: "[greedy, draws3]", Paths: "[path1, path2]", Bootstrap: 1000, Benchmark: o.benchmark, URL: answering.url, InFlight: o.inFlight, Tasks: o.tasks,
	}
	c, err := e.Command(ctx, o.bin, o.out, "--json")
	if err != nil {
		return err
	}
	fmt.Printf("%d CPUs, %s; %d models, greedy and three draws, all paths; %d in flight, %d tasks at a time, latency %s\n",
		runtime.NumCPU(), runtime.Version(), o.models, o.inFlight, o.tasks, o.latency)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	receipt, err := os.Create(filepath.Join(o.out, "receipt.json"))
	if err != nil {
		return err
	}
	defer receipt.Close()
	c.Stdout, c.Stderr = receipt, os.Stderr
	began := time.Now()
	watch := program.NewWatch("rehearsal", filepath.Join(o.out, "memory.csv"), 2*time.Second)
	err = c.Run()
	wall := time.Since(began)
	if err = errors.Join(err, watch.Stop()); err != nil {
		return err
	}
	counts, err := answering.counts()
	if err != nil {
		return err
	}
	fmt.Printf("one command: %s; %d requests, %d different, at most %d in flight", wall.Round(time.Second), counts.Requests, counts.Distinct, counts.Peak)
	if counts.Requests > 0 {
		fmt.Printf("; %.2f ms of wall time a request", 1000*wall.Seconds()/float64(counts.Requests))
	}
	fmt.Println()
	if o.latency > 0 && counts.Requests > 0 {
		fmt.Printf("throughput: %.3f of the ideal of %d in flight, beginning and end included\n", float64(counts.Requests)*o.latency.Seconds()/float64(o.inFlight)/wall.Seconds(), o.inFlight)
	}
	for _, p := range watch.Memory() {
		fmt.Println(p)
	}
	if err := printStore(filepath.Join(state, "store")); err != nil {
		return err
	}
	return printHistories(ctx, state)
}

// models are the names of profile paper, the judge left out, with their titles.
var models = [][2]string{
	{"gemini-2.5-pro", "Gemini-2.5-Pro"}, {"gemini-2.5-flash", "Gemini-2.5-Flash"}, {"gpt-4.1", "GPT-4.1"}, {"pixtral-large", "Pixtral-Large"},
	{"llama-3.2-90b-vision", "Llama-3.2-90B-Vision"}, {"qwen2.5-vl-72b", "Qwen2.5-VL-72B"}, {"pixtral-12b", "Pixtral-12B"}, {"qwen2.5-vl-7b", "Qwen2.5-VL-7B"},
	{"healthgpt-l14", "HealthGPT-L14"}, {"radvlm", "RadVLM"},
}
