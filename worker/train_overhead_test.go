package worker

import (
	"os"
	"testing"
	"time"
)

// roundLatency is the latency of the policy in TestRoundOverhead, such as 1s.
const roundLatency = "CXREPRO_ROUND_LATENCY"

// TestRoundOverhead measures a training's rounds of 16 x 4 against what the latency of their two
// turns alone takes with all 64 in flight. Policy and trainer are stand-ins: answers take the
// latency, updates nearly nothing, and what an update takes counts as ours.
func TestRoundOverhead(t *testing.T) {
	latency, err := time.ParseDuration(os.Getenv(roundLatency))
	if err != nil {
		t.Skip("set " + roundLatency + " to the latency of the policy, such as 1s")
	}
	const rounds = 20
	bar := 1.25
	if latency >= 5*time.Second {
		bar = 1.05
	}
	l := newTrainLabOf(t, server(t), "overhead", rounds, trainSize{items: 64, batch: 16, group: 4, open: 64})
	l.o.Concurrency, l.o.Latency, l.o.Poll = 64, latency, 50*time.Millisecond
	began := time.Now()
	if out := l.run(); out.Rollouts != 64*rounds || l.requests() != 2*out.Rollouts {
		t.Fatalf("%+v after %d requests", out, l.requests())
	}
	took, ideal := time.Since(began), rounds*2*latency
	ratio := float64(took) / float64(ideal)
	load, _ := os.ReadFile("/proc/loadavg") // for people
	t.Logf("%d rounds of 16 x 4, two turns at %v: ideal %v, ours %v, %.2f of it (bar %.2f); load %.5s", rounds, latency, ideal, took.Round(time.Millisecond), ratio, bar, load)
	if ratio > bar {
		t.Errorf("%.2f of the ideal, bar %.2f", ratio, bar)
	}
}
