package catalog_test

import (
	"fmt"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/storetest"
)

// BenchmarkReindex reads a folder of calls and what leads to them; it reports statements a
// second.
func BenchmarkReindex(b *testing.B) {
	const images = 1000
	w := newWorld(b)
	bucket, err := dirstore.Open(b.TempDir(), dirstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	w.host = storetest.NewHost()
	if w.store, err = artifacts.New(bucket, artifacts.Options{Host: w.host}); err != nil {
		b.Fatal(err)
	}
	for i := range images {
		w.image(i, "r1")
	}
	c := w.open(b.TempDir())
	b.ResetTimer()
	for range b.N {
		if _, err := c.Reindex(b.Context(), w.store, options); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*images*4)/b.Elapsed().Seconds(), "statements/s")
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
