package program

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Watch samples memory and processor time of a process and of every one below it, as far as
// /proc tells of them.
type Watch struct {
	done chan struct{}
	end  chan error
	by   map[string][]sample
	// machine is what all processors did.
	machine []sample
}

// sample is what one process, or all of a name, had at a time.
type sample struct {
	at time.Time
	mb float64
	// cpu is the processor time since the process began; of the machine, since it booted.
	cpu time.Duration
}

// NewWatch begins to sample this process, called self, and everything below it. csv is a file for
// the samples of memory; none for "".
func NewWatch(self, csv string, every time.Duration) *Watch {
	w := &Watch{done: make(chan struct{}), end: make(chan error, 1), by: map[string][]sample{}}
	go func() { w.end <- w.run(self, csv, every) }()
	return w
}

func (w *Watch) run(self, csv string, every time.Duration) (err error) {
	out := os.Stdout
	if csv != "" {
		if out, err = os.Create(csv); err != nil {
			return err
		}
		defer out.Close()
		if _, err = fmt.Fprintln(out, "seconds,process,resident_mb"); err != nil {
			return err
		}
	}
	began := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-w.done:
			return nil
		case <-tick.C:
		}
		now := time.Now()
		w.machine = append(w.machine, sample{at: now, cpu: busy()})
		for _, p := range family(os.Getpid(), self) {
			w.by[p.name] = append(w.by[p.name], sample{now, p.mb, p.cpu})
			if csv == "" {
				continue
			}
			if _, err := fmt.Fprintf(out, "%.0f,%s,%.1f\n", now.Sub(began).Seconds(), p.name, p.mb); err != nil {
				return err
			}
		}
	}
}

// Stop ends the sampling.
func (w *Watch) Stop() error {
	close(w.done)
	return <-w.end
}

// Memory returns a line per process.
func (w *Watch) Memory() []string {
	var out []string
	for name, list := range w.by {
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
	return out
}

// Used is processor time by process between two moments.
type Used struct {
	By map[string]time.Duration
	// Machine is what everything on the machine used, Idle what nobody did.
	Machine, Idle time.Duration
}

// Total is what the processes used together.
func (u Used) Total() (sum time.Duration) {
	for _, d := range u.By {
		sum += d
	}
	return sum
}

// Used returns the processor time between two moments, in parts where they lie between samples.
func (w *Watch) Used(from, to time.Time) Used {
	u := Used{By: map[string]time.Duration{}}
	for name, list := range w.by {
		if d := at(list, to) - at(list, from); d > 0 {
			u.By[name] = d
		}
	}
	u.Machine = at(w.machine, to) - at(w.machine, from)
	u.Idle = max(0, to.Sub(from)*time.Duration(runtime.NumCPU())-u.Machine)
	return u
}

// at is the processor time at a moment.
func at(list []sample, t time.Time) time.Duration {
	i := slices.IndexFunc(list, func(s sample) bool { return !s.at.Before(t) })
	switch {
	case len(list) == 0:
		return 0
	case i < 0:
		return list[len(list)-1].cpu
	case i == 0:
		return list[0].cpu
	}
	a, b := list[i-1], list[i]
	part := float64(t.Sub(a.at)) / float64(b.at.Sub(a.at))
	return a.cpu + time.Duration(part*float64(b.cpu-a.cpu))
}
