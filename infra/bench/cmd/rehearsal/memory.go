package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// memory samples the resident size of every descendant of a process.
type memory struct {
	done chan struct{}
	end  chan error
	by   map[string][]sample
}

type sample struct {
	at time.Duration
	mb float64
}

// every is the time between two samples.
const every = 2 * time.Second

func watchMemory(parent int, csv string) *memory {
	m := &memory{done: make(chan struct{}), end: make(chan error, 1), by: map[string][]sample{}}
	go func() { m.end <- m.run(parent, csv) }()
	return m
}

func (m *memory) run(parent int, csv string) error {
	f, err := os.Create(csv)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, "seconds,process,resident_mb")
	began := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for err == nil {
		select {
		case <-m.done:
			return f.Close()
		case <-tick.C:
		}
		at := time.Since(began)
		for _, p := range descendants(parent) {
			m.by[p.name] = append(m.by[p.name], sample{at, p.mb})
			if _, e := fmt.Fprintf(f, "%.0f,%s,%.1f\n", at.Seconds(), p.name, p.mb); e != nil {
				err = e
			}
		}
	}
	return err
}

// stop ends the sampling and returns a line per process.
func (m *memory) stop() ([]string, error) {
	close(m.done)
	if err := <-m.end; err != nil {
		return nil, err
	}
	var out []string
	for name, list := range m.by {
		// Flat: the median of each quarter of the time says more than a peak.
		var quarters [4]string
		peak := 0.0
		for q := range quarters {
			part := list[len(list)*q/4 : len(list)*(q+1)/4]
			var mb []float64
			for _, s := range part {
				mb = append(mb, s.mb)
				peak = max(peak, s.mb)
			}
			slices.Sort(mb)
			if quarters[q] = "-"; len(mb) > 0 {
				quarters[q] = fmt.Sprintf("%.0f", mb[len(mb)/2])
			}
		}
		out = append(out, fmt.Sprintf("memory: %-22s peak %5.0f MB, medians of the four quarters %s MB", name, peak, strings.Join(quarters[:], ", ")))
	}
	slices.Sort(out)
	return out, nil
}

type process struct {
	name string
	mb   float64
}

// descendants reads the processes below a parent from /proc, named by program and first
// argument.
func descendants(parent int) []process {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	below := map[int]int{}
	for _, s := range stats {
		data, err := os.ReadFile(s)
		if err != nil {
			continue // it has ended
		}
		rest := string(data[strings.LastIndexByte(string(data), ')')+1:])
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(strings.Split(s, "/")[2])
		if err != nil || len(fields) < 2 {
			continue
		}
		if ppid, err := strconv.Atoi(fields[1]); err == nil {
			below[pid] = ppid
		}
	}
	var out []process
	for pid := range below {
		up := below[pid]
		for up > 1 && up != parent {
			up = below[up]
		}
		if up != parent {
			continue
		}
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		status, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || err2 != nil {
			continue
		}
		args := strings.Split(string(command), "\x00")
		name := filepath.Base(args[0])
		if len(args) > 1 && args[1] != "" {
			name += " " + filepath.Base(args[1])
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				out = append(out, process{name, kb / 1024})
			}
		}
	}
	return out
}
