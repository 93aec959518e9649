package catalog_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
)

// BenchmarkReindex reads a folder: loose statements beside their entries with the documents
// that lead to them, and packed ones, which the entries carry (cxrepro.index/2), as those of
// calls are. It reports statements a second, and what a statement costs of a processor.
func BenchmarkReindex(b *testing.B) {
	for name, fill := range map[string]func(*world, int) int{
		"loose": func(w *world, i int) int { w.image(i, "r1"); return 4 },
		"packed": func(w *world, i int) int {
			for k := range 4 {
				w.step("call", "r1", fmt.Sprintf(`{"text":"answer %d of %d"}`, k, i), answerType, map[string]any{
					"draw": k, "model": map[string]any{"weights": weights}, "adapter": "openai/1", "pictures": "original/1", "decoding": map[string]any{"temperature": 0},
				}, material{"00.system", artifacts.Sum([]byte("system"))}, material{"01.user", artifacts.Sum(fmt.Appendf(nil, "q %d", i))},
					material{"01.user.picture.0", artifacts.Sum(fmt.Appendf(nil, "p %d", i))})
			}
			return 4
		},
	} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			bucket, err := dirstore.Open(b.TempDir(), dirstore.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if w.store, err = artifacts.New(bucket, artifacts.Options{Host: w.host}); err != nil {
				b.Fatal(err)
			}
			n := 0
			for i := range 2000 {
				n += fill(w, i)
			}
			c := w.open(b.TempDir())
			b.ResetTimer()
			busy := processor(b)
			for range b.N {
				if _, err := c.Reindex(b.Context(), w.store, options); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "statements/s")
			b.ReportMetric(float64((processor(b)-busy).Microseconds())/float64(b.N*n), "cpu-µs/statement")
		})
	}
}

// processor is the time that this process had of a processor.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDigest is the digest of a catalog of 4,000 steps.
func BenchmarkDigest(b *testing.B) {
	w := newWorld(b)
	for i := range 1000 {
		w.image(i, fmt.Sprintf("r%d", i%7))
	}
	c := w.open(b.TempDir())
	w.update(c)
	b.ResetTimer()
	for range b.N {
		w.digest(c)
	}
}

// BenchmarkUpdate is bringing a catalog up to date when nothing changed.
func BenchmarkUpdate(b *testing.B) {
	w := newWorld(b)
	for i := range 1000 {
		w.image(i, "r1")
	}
	c := w.open(b.TempDir())
	w.update(c)
	b.ResetTimer()
	for range b.N {
		w.update(c)
	}
}
