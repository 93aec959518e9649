// Command bench measures what this project promises about speed and size, against a peer
// where there is one, and prints figures, ratio and bar. docs/benchmarks.md tells how to
// read them.
//
//	go run -C infra/bench ./cmd/bench tasks      twelve tasks on runs against full bitmaps
//	go run -C infra/bench ./cmd/bench gradient   exact 5x5 gradient against the plain one
//	go run -C infra/bench ./cmd/bench native     logits to native runs against plane by plane
//	go run -C infra/bench ./cmd/bench segment    file to masks against a bare loop
//	go run -C infra/bench ./cmd/bench rss        memory over many inferences
//	go run -C infra/bench ./cmd/bench overhead   workflows around a slow model against a loop
//	go run -C infra/bench ./cmd/bench manifest   histories and memory at 243,334 images
//	go run -C infra/bench ./cmd/bench filters    Rad-CoT's filters against Python's difflib
//	go run -C infra/bench ./cmd/bench rewards    rewards of trajectories against the same rules in Python
//	go run -C infra/bench ./cmd/bench all        everything, short
//
// It exits with 1 if a bar is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"cxrepro/internal/devserver"
)

// measurements in the order of `all`.
var measurements = []struct {
	name string
	run  func(ctx context.Context, args []string) error
}{
	{"tasks", runTasks}, {"gradient", runGradient}, {"native", runNative}, {"segment", runSegment},
	{"rss", runRSS}, {"overhead", runOverhead}, {"manifest", runManifest}, {"filters", runFilters},
	{"rewards", runRewards},
}

// errMissed says that a bar was missed; the line above it says which.
var errMissed = errors.New("a bar was missed")

func main() {
	devserver.Trampoline() // overhead starts an embedded server
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var names []string
	for _, m := range measurements {
		names = append(names, m.name)
	}
	if len(args) == 0 {
		return fmt.Errorf("say what to measure: %s or all", strings.Join(names, ", "))
	}
	fmt.Println(machine())
	if args[0] != "all" {
		i := slices.Index(names, args[0])
		if i < 0 {
			return fmt.Errorf("nothing is called %q: %s or all", args[0], strings.Join(names, ", "))
		}
		return measurements[i].run(ctx, args[1:])
	}
	var errs []error
	for _, m := range measurements {
		fmt.Printf("\n%s\n", m.name)
		if err := m.run(ctx, nil); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.name, err))
		}
	}
	return errors.Join(errs...)
}

// machine is one line about where this runs and how busy it is.
func machine() string {
	model, load := "unknown processor", "unknown"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(text), "\n") {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				model = strings.TrimSpace(v)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Fields(string(text))[0]
	}
	return fmt.Sprintf("%s, %d cores, load %s, %s, %s/%s", model, runtime.NumCPU(), load, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// sample is one repetition.
type sample struct{ wall, cpu time.Duration }

// timed runs f and tells its wall time and the processor time of the whole process.
func timed(f func()) sample {
	runtime.GC()
	t, c := time.Now(), processor()
	f()
	return sample{time.Since(t), processor() - c}
}

func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// median of both times, each on its own, in milliseconds.
func median(list []sample) (wall, cpu float64) {
	var w, c []float64
	for _, s := range list {
		w, c = append(w, s.wall.Seconds()*1000), append(c, s.cpu.Seconds()*1000)
	}
	return middle(w), middle(c)
}

func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	if n == 0 {
		return 0
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

// verdict prints whether a bar is met.
func verdict(ok bool, format string, args ...any) error {
	word := "met"
	if !ok {
		word = "MISSED"
	}
	fmt.Printf("  bar %s: %s\n", fmt.Sprintf(format, args...), word)
	if !ok {
		return errMissed
	}
	return nil
}

// flags parses the arguments of one measurement.
func flags(name string, args []string, define func(*flag.FlagSet)) error {
	fl := flag.NewFlagSet(name, flag.ContinueOnError)
	define(fl)
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() > 0 {
		return fmt.Errorf("%s takes no argument %q", name, fl.Arg(0))
	}
	return nil
}
