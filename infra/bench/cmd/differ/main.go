// Command differ compares the run-length and the dense measurements on generated cases.
//
//	go run -C infra/bench ./cmd/differ --n 20000 [--seed 1] [--preset corrected]
//	go run -C infra/bench ./cmd/differ --from 1234 --n 1 --verbose [--write FOLDER]
//
// It prints every difference with the number of its case and a table of what was reached
// at the end; it exits with 1 if there was a difference.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cxrepro/infra/bench/dense"
	"cxrepro/infra/bench/differ"
	"cxrepro/internal/chexstruct"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "differ:", err)
		os.Exit(1)
	}
}

type settings struct {
	n, from, seed  uint64
	preset, golden string
	write          string
	show, workers  int
	verbose, soft  bool
	rows           bool
}

func run() error {
	var s settings
	flag.Uint64Var(&s.n, "n", 2000, "cases")
	flag.Uint64Var(&s.from, "from", 0, "number of the first case")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of all cases")
	flag.StringVar(&s.preset, "preset", "corrected", "as_published, as_released or corrected")
	flag.StringVar(&s.golden, "golden", "../../internal/chexstruct/testdata/golden", "folder of golden case files")
	flag.StringVar(&s.write, "write", "", "folder that takes every case as a file with its picture")
	flag.IntVar(&s.show, "show", 40, "differing cases to print")
	flag.IntVar(&s.workers, "workers", max(1, runtime.NumCPU()/2), "cases side by side")
	flag.BoolVar(&s.verbose, "verbose", false, "tell what each case is made of")
	flag.BoolVar(&s.rows, "rows", false, "replace rows of the threshold table too, mostly by values of the case itself")
	flag.BoolVar(&s.soft, "soft", false, "count what was taken before a task failed, too")
	flag.Parse()
	sw, ok := dense.Preset(s.preset)
	p, ok2 := chexstruct.ParsePreset(s.preset)
	if !ok || !ok2 {
		return fmt.Errorf("no preset is called %q: as_published, as_released, corrected", s.preset)
	}
	rules, err := chexstruct.NewRules(p, nil)
	if err != nil {
		return err
	}
	bases, err := differ.Golden(os.DirFS(s.golden))
	if err != nil {
		return err
	}
	phantoms, err := differ.Phantoms(3, 12, 400)
	if err != nil {
		return err
	}
	return s.loop(append(bases, phantoms...), sw, rules)
}

// loop runs all cases on a few goroutines and gathers what they reached.
func (s settings) loop(bases []*dense.Case, sw dense.Switches, rules *chexstruct.Rules) error {
	var next, bad atomic.Uint64
	var lock sync.Mutex // guards reached and the output
	reached := map[string]int{}
	start := time.Now()
	var wg sync.WaitGroup
	var failed error
	for range s.workers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= s.n {
					return
				}
				c, story := differ.Make(bases, s.seed, s.from+i, sw)
				if err := s.keep(c); err != nil {
					lock.Lock()
					failed = err
					lock.Unlock()
					return
				}
				own, with, err := sw, rules, error(nil)
				if s.rows {
					own, with, err = differ.Override(c, rules.Preset(), sw, s.seed, s.from+i)
					story = append(story, fmt.Sprintf("rows %v", own.Over))
				}
				var list []differ.Difference
				var res map[string]any
				if err == nil {
					list, res, err = differ.Compare(c, own, with)
				}
				lock.Lock()
				if err != nil {
					failed = fmt.Errorf("case %d: %w", s.from+i, err)
				}
				if s.report(s.from+i, story, list, int(bad.Load()) < s.show) {
					bad.Add(1)
				}
				count(reached, res)
				lock.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, k := range slices.Sorted(maps.Keys(reached)) {
		fmt.Printf("%7d %s\n", reached[k], k)
	}
	fmt.Printf("%d cases, %d differ, %.1f s\n", s.n, bad.Load(), time.Since(start).Seconds())
	if failed == nil && bad.Load() > 0 {
		failed = fmt.Errorf("%d cases differ", bad.Load())
	}
	return failed
}

// keep writes a case as a file, for the program's own command.
func (s settings) keep(c *dense.Case) error {
	if s.write == "" {
		return nil
	}
	file, picture, err := differ.Encode(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.write, c.Name+".png"), picture, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.write, c.Name+".json"), file, 0o644)
}

// report prints a case and tells whether it differs.
func (s settings) report(i uint64, story []string, list []differ.Difference, show bool) bool {
	list = slices.DeleteFunc(list, func(d differ.Difference) bool { return d.Soft && !s.soft })
	if s.verbose || len(list) > 0 && show {
		fmt.Printf("case %d\n", i)
		for _, l := range story {
			fmt.Printf("    %s\n", l)
		}
		for _, d := range list {
			fmt.Printf("  * %s\n", d)
		}
	}
	return len(list) > 0
}

// count notes statuses with their reasons, and failed rules.
func count(reached map[string]int, res map[string]any) {
	if res == nil {
		return
	}
	tasks := res["tasks"].(map[string]any)
	for _, task := range dense.Tasks {
		f := tasks[task].(map[string]any)
		key := fmt.Sprintf("%s %v", task, f["status"])
		if f["reason"] != nil {
			key += fmt.Sprintf(" %v", f["reason"])
		}
		if f["label"] != nil {
			key += fmt.Sprintf(" %v", f["label"])
		}
		reached[key]++
		for _, r := range f["failed"].([]any) {
			reached[fmt.Sprintf("%s fails %v", task, r)]++
		}
	}
	x := res["xragent"].(map[string]any)
	reached[fmt.Sprintf("xragent exposed %v %v", x["exposed"], x["reason"])]++
	for _, r := range res["global"].(map[string]any)["failed"].([]any) {
		reached[fmt.Sprintf("global fails %v", r)]++
	}
}
