package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
	"cxrepro/internal/xragent/radcot/fixture"
)

// filtersBar is how many candidates two cores judge in a second.
const filtersBar = 2000

// runFilters judges rationales of Rad-CoT with every rule on two cores, and the same ones in
// Python with difflib on one.
func runFilters(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("filters", flag.ContinueOnError)
	n := f.Int("n", 2000, "candidates")
	python := f.String("python", "python3", "interpreter of the peer")
	script := f.String("peer", "radcot/peer.py", "the peer, from infra/bench")
	if err := f.Parse(args); err != nil {
		return err
	}
	findings, replies := fixture.Reports(1, *n)
	file, err := writeReplies(findings, replies)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(file))
	verdicts, took := judgeAll(findings, replies)
	rate := float64(*n) / took.Seconds()
	fmt.Printf("filters: %d rationales on %d cores: %.0f candidates/s (bar %d)\n", *n, min(2, runtime.NumCPU()), rate, filtersBar)

	out, err := exec.CommandContext(ctx, *python, *script, file).Output()
	if err != nil {
		return fmt.Errorf("peer %s %s: %w; name an interpreter with --python", *python, *script, err)
	}
	var peer struct {
		Seconds  float64
		Accepted []bool
		Ratio    []float64
	}
	if err := json.Unmarshal(out, &peer); err != nil || len(peer.Accepted) != *n {
		return fmt.Errorf("peer: reply of %d bytes is not one verdict each: %v", len(out), err)
	}
	apart := 0
	for i, v := range verdicts {
		leaks := func(c radcot.Code) bool { return strings.HasPrefix(string(c), "leak_") }
		if len(v.Stripped) > 0 || slices.ContainsFunc(v.Codes, leaks) {
			continue // the peer does not look for phrases
		}
		if v.Accepted != peer.Accepted[i] || v.Accepted && math.Abs(v.Similarity.Ratio-peer.Ratio[i]) > 1e-9 {
			apart++
		}
	}
	theirs := float64(*n) / peer.Seconds
	fmt.Printf("filters: Python with difflib on one core, without phrases: %.0f candidates/s; ratio %.0f, per core %.0f; verdicts apart: %d\n", theirs, rate/theirs, rate/theirs/float64(min(2, runtime.NumCPU())), apart)
	if rate < filtersBar || apart > 0 {
		return errMissed
	}
	return nil
}

func writeReplies(findings []string, replies []xragent.Turn) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range findings {
		if err := enc.Encode(map[string]string{"findings": findings[i], "text": replies[i].Text, "finish": replies[i].FinishReason}); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp("", "cxrepro-filters-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "replies.jsonl")
	return file, os.WriteFile(file, b.Bytes(), 0o600)
}

// judgeAll judges all replies on two cores.
func judgeAll(findings []string, replies []xragent.Turn) ([]radcot.Verdict, time.Duration) {
	rules := radcot.DefaultSpec().Rules
	verdicts := make([]radcot.Verdict, len(findings))
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range min(2, runtime.NumCPU()) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(findings); i = int(next.Add(1)) - 1 {
				verdicts[i], _ = rules.Rationale(&radcot.Candidate{Part: radcot.Report, Findings: findings[i]}, replies[i])
			}
		})
	}
	wg.Wait()
	return verdicts, time.Since(began)
}
