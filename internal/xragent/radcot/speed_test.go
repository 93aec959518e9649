package radcot_test

import (
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/internal/xragent/radcot"
	"cxrepro/internal/xragent/radcot/fixture"
)

// BenchmarkFilters judges rationales with every rule, on as many cores as -cpu says; one
// iteration is one candidate.
func BenchmarkFilters(b *testing.B) {
	findings, replies := fixture.Reports(1, 2000)
	rules := radcot.DefaultSpec().Rules
	var next, accepted atomic.Int64
	began := time.Now()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(next.Add(1)) % len(findings)
			if v, _ := rules.Rationale(&radcot.Candidate{Part: radcot.Report, Findings: findings[i]}, replies[i]); v.Accepted {
				accepted.Add(1)
			}
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "candidates/s")
	b.ReportMetric(float64(accepted.Load())/float64(b.N), "accepted")
}
