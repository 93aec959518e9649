package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/onnx"
	"cxrepro/internal/segment"
)

// Bars.
const (
	barResident = 1_500_000_000 // bytes
	barGrowth   = 1.05          // last tenth over second tenth
	barPath     = 0.95
)

// memoryResult is the last line of `memory`.
type memoryResult struct {
	Images    int          `json:"images"`
	PerSecond float64      `json:"images_per_second"`
	PeakMB    float64      `json:"peak_mb"`  // highest resident size, as the system counts it
	EarlyMB   float64      `json:"early_mb"` // after the first tenth
	LateMB    float64      `json:"late_mb"`  // at the end
	Runtime   onnx.Runtime `json:"runtime"`
}

func measureMemory(ctx context.Context, s settings, card *segment.Card, o segment.Options, files [][]byte) (any, error) {
	p, err := segment.NewPool(card, o, s.sessions)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	r := memoryResult{Images: s.images, Runtime: p.Runtime()}
	start := time.Now()
	tenth := max(1, s.images/10)
	for done := 0; done < s.images; {
		n := min(tenth, s.images-done)
		var g errgroup.Group
		g.SetLimit(s.sessions)
		var failed atomic.Bool
		for i := range n {
			g.Go(func() error {
				if failed.Load() {
					return nil
				}
				err := one(ctx, p, files[(done+i)%len(files)])
				failed.Store(failed.Load() || err != nil)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		done += n
		debug.FreeOSMemory()
		r.LateMB = float64(status("VmRSS")) / 1e6
		if r.EarlyMB == 0 {
			r.EarlyMB = r.LateMB
		}
		fmt.Fprintf(os.Stderr, "%5d pictures, %6.1f s, resident %.0f MB\n", done, time.Since(start).Seconds(), r.LateMB)
	}
	r.PerSecond = float64(s.images) / time.Since(start).Seconds()
	peak := status("VmHWM")
	r.PeakMB = float64(peak) / 1e6
	if peak > barResident {
		return r, fmt.Errorf("peak of %.0f MB is above %.0f MB", r.PeakMB, barResident/1e6)
	}
	if r.LateMB > r.EarlyMB*barGrowth+16 {
		return r, fmt.Errorf("resident memory grew from %.0f to %.0f MB", r.EarlyMB, r.LateMB)
	}
	return r, nil
}

func one(ctx context.Context, p *segment.Pool, file []byte) error {
	m, err := cxr.Decode(file, cxr.Limits{})
	if err != nil {
		return err
	}
	_, err = p.Segment(ctx, m)
	return err
}

// status reads one line of the system's account of this process, in bytes.
func status(field string) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// pathResult is the last line of `path`.
type pathResult struct {
	Images int     `json:"images"`
	BareMS float64 `json:"bare_ms"`
	FullMS float64 `json:"full_ms"`
	Ratio  float64 `json:"bare_over_full"`
	// The same in processor time, which a busy neighbour changes less.
	BareCPU  float64 `json:"bare_cpu_ms"`
	FullCPU  float64 `json:"full_cpu_ms"`
	CPURatio float64 `json:"bare_over_full_cpu"`
}

// measurePath takes the bare and the full way in turns, so that a busy neighbour slows
// both alike.
func measurePath(ctx context.Context, s settings, card *segment.Card, o segment.Options, files [][]byte) (any, error) {
	full, err := segment.New(card, o)
	if err != nil {
		return nil, err
	}
	defer full.Close()
	bare, err := newBare(card, o)
	if err != nil {
		return nil, err
	}
	defer bare.session.Close()
	var bareTime, fullTime, bareCPU, fullCPU time.Duration
	for i := range s.images + 2 {
		file := files[i%len(files)]
		t0, c0 := time.Now(), cpu()
		if err := bare.run(ctx, file); err != nil {
			return nil, err
		}
		t1, c1 := time.Now(), cpu()
		m, err := cxr.Decode(file, cxr.Limits{})
		if err != nil {
			return nil, err
		}
		if _, err := full.Segment(ctx, m); err != nil {
			return nil, err
		}
		if i >= 2 { // the first two warm up
			bareTime += t1.Sub(t0)
			fullTime += time.Since(t1)
			bareCPU += c1 - c0
			fullCPU += cpu() - c1
		}
	}
	n := float64(s.images)
	r := pathResult{Images: s.images, BareMS: bareTime.Seconds() * 1000 / n, FullMS: fullTime.Seconds() * 1000 / n, Ratio: float64(bareTime) / float64(fullTime),
		BareCPU: bareCPU.Seconds() * 1000 / n, FullCPU: fullCPU.Seconds() * 1000 / n, CPURatio: float64(bareCPU) / float64(fullCPU)}
	if r.Ratio < barPath {
		return r, fmt.Errorf("bare over full is %.3f, below %.2f", r.Ratio, barPath)
	}
	return r, nil
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareLoop decodes, prepares and runs; it looks at no output.
type bareLoop struct {
	card    *segment.Card
	session *onnx.Session
}

func newBare(card *segment.Card, o segment.Options) (*bareLoop, error) {
	model, err := card.Model()
	if err != nil {
		return nil, err
	}
	in := onnx.Tensor{Name: card.Input.Name, Element: onnx.Float32, Shape: []int64{1, int64(card.Input.Channels), int64(card.Input.Height), int64(card.Input.Width)}}
	out := onnx.Tensor{Name: card.Output.Name, Element: onnx.Float32, Shape: []int64{1, int64(len(card.Channels)), int64(card.Output.Height), int64(card.Output.Width)}}
	if card.Output.Kind == segment.KindMasks {
		out.Element = onnx.Uint8
	}
	s, err := onnx.Open(onnx.Config{Library: o.Library, Model: model, Provider: onnx.CPU, Input: in, Output: out})
	return &bareLoop{card: card, session: s}, err
}

func (b *bareLoop) run(ctx context.Context, file []byte) error {
	m, err := cxr.Decode(file, cxr.Limits{})
	if err != nil {
		return err
	}
	c := b.card.Input
	cols, rows := mask.NearestIndex(m.Width, c.Width), mask.NearestIndex(m.Height, c.Height)
	dst := b.session.Input()
	for k := range c.Channels {
		mean, std, divisor := float32(c.Mean[k]), float32(c.Std[k]), float32(c.Divisor)
		for y, sy := range rows {
			row := m.Row(int(sy))
			for x, sx := range cols {
				dst[(k*c.Height+y)*c.Width+x] = (float32(row[sx])/divisor - mean) / std
			}
		}
	}
	return b.session.Run(ctx)
}
