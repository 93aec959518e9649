package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"cxrepro/infra/bench/program"
)

// child runs the go command in a folder, showing what it says.
func child(ctx context.Context, dir string, to io.Writer, args ...string) error {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stdout, c.Stderr = dir, to, os.Stderr
	return c.Run()
}

// runNative repeats the benchmark that lives beside the code it measures.
func runNative(ctx context.Context, args []string) error {
	var reps int
	if err := flags("native", args, func(fl *flag.FlagSet) { fl.IntVar(&reps, "reps", 5, "repetitions, each against the peer") }); err != nil {
		return err
	}
	fmt.Println("logits of 159 x 512 x 512 to runs at 2544 x 3056; the peer thresholds and enlarges plane by plane")
	c := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "LogitsToRuns", "-benchtime", "3x", "-count", strconv.Itoa(reps), "./internal/segment")
	c.Dir, c.Stderr = program.Root(), os.Stderr
	text, err := c.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	var ours, peer, ratio []float64
	line := regexp.MustCompile(`BenchmarkLogitsToRuns\S*\s+\d+\s+(\d+) ns/op\s+([\d.]+) peer-ms/op\s+([\d.]+) ratio`)
	for _, m := range line.FindAllSubmatch(text, -1) {
		for i, to := range []*[]float64{&ours, &peer, &ratio} {
			v, err := strconv.ParseFloat(string(m[i+1]), 64)
			if err != nil {
				return err
			}
			*to = append(*to, v)
		}
	}
	if len(ratio) == 0 {
		return fmt.Errorf("the benchmark printed nothing to read:\n%s", text)
	}
	fmt.Printf("  ours %.1f ms  peer %.0f ms  ratio %.0f (medians of %d)\n", middle(ours)/1e6, middle(peer), middle(ratio), len(ratio))
	return verdict(middle(ratio) >= 30, "30 times")
}

// runSegment and runRSS hand over to the command that holds the inference measurements.
func runSegment(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"--images", "30"}
	}
	return child(ctx, filepath.Join(program.Root(), "infra", "bench"), os.Stdout, append([]string{"run", "./segment", "path"}, args...)...)
}

func runRSS(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"--images", "500", "--model", filepath.Join(program.Root(), "experiments", "models", "phantomseg.yaml")}
	}
	return child(ctx, filepath.Join(program.Root(), "infra", "bench"), os.Stdout, append([]string{"run", "./segment", "memory"}, args...)...)
}
