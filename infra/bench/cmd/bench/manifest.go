package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cxrepro/infra/bench/program"
)

// runManifest builds the test that drives 243,334 images without pixels through the real
// workflows, runs it, and watches the memory of the process that holds the workers.
func runManifest(ctx context.Context, args []string) error {
	if err := flags("manifest", args, func(*flag.FlagSet) {}); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cxrepro-manifest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "worker.test")
	if err := child(ctx, program.Root(), os.Stderr, "test", "-c", "-o", binary, "./worker"); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, binary, "-test.run", "^TestHistoriesOfMIMIC$", "-test.v", "-test.count", "1", "-test.timeout", "20m")
	c.Dir, c.Stderr = filepath.Join(program.Root(), "worker"), os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	seen := make(chan []float64, 1)
	done := make(chan struct{})
	go func() { seen <- watchMemory(c.Process.Pid, done) }()
	var text strings.Builder
	var said string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "runs of workflows") {
			said = lines.Text()[strings.Index(lines.Text(), ": ")+2:]
		}
	}
	close(done)
	memory := <-seen
	if err := c.Wait(); err != nil {
		return fmt.Errorf("the simulation failed: %w\n%s", err, text.String())
	}
	return judgeManifest(said, memory, text.String())
}

// judgeManifest reads the test's line and compares early with late memory.
func judgeManifest(said string, memory []float64, text string) error {
	m := regexp.MustCompile(`(\d+) in the longest history, largest event (\d+) bytes`).FindStringSubmatch(said)
	if m == nil {
		return fmt.Errorf("the simulation printed nothing to read:\n%s", text)
	}
	longest, err1 := strconv.Atoi(m[1])
	largest, err2 := strconv.Atoi(m[2])
	if err1 != nil || err2 != nil {
		return fmt.Errorf("not numbers: %s", said)
	}
	fmt.Println("  " + said)
	n := len(memory)
	if n < 10 {
		return fmt.Errorf("only %d samples of memory; the simulation was too short to judge", n)
	}
	early, late := middle(memory[n/5:2*n/5]), middle(memory[4*n/5:])
	fmt.Printf("  memory of the workers %.0f MB in the second fifth of the time, %.0f MB in the last\n", early, late)
	if err := verdict(longest < 10_000, "10,000 events a history"); err != nil {
		return err
	}
	if err := verdict(largest <= 256<<10, "256 KiB a payload"); err != nil {
		return err
	}
	return verdict(late <= 1.25*early+32, "memory flat (a quarter and 32 MB above the second fifth)")
}

// watchMemory samples the resident size of a process, in MB, until done.
func watchMemory(pid int, done <-chan struct{}) []float64 {
	var out []float64
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return out
		case <-tick.C:
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				continue
			}
			for line := range strings.SplitSeq(string(text), "\n") {
				if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
					if kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
						out = append(out, kb/1024)
					}
				}
			}
		}
	}
}
