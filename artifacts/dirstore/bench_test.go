package dirstore_test

import (
	"fmt"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/storetest"
)

func BenchmarkStep(b *testing.B) {
	for name, d := range map[string]dirstore.Durability{"process": dirstore.DurabilityProcess, "power": dirstore.DurabilityPower} {
		b.Run(name, func(b *testing.B) {
			storetest.BenchmarkStep(b, repository(b, open(b, b.TempDir(), dirstore.Options{Durability: d})))
		})
	}
}

// BenchmarkLookup is a hit.
func BenchmarkLookup(b *testing.B) {
	r := repository(b, open(b, b.TempDir(), dirstore.Options{}))
	blob := fmt.Append(nil, "blob")
	key, err := storetest.BenchKey(1, blob)
	if err != nil {
		b.Fatal(err)
	}
	ref, err := r.Put(b.Context(), blob, "text/plain")
	if err != nil {
		b.Fatal(err)
	}
	st, err := r.PutStatement(b.Context(), blob)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Commit(b.Context(), artifacts.Record{Key: key, Result: ref, Statement: st}); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if _, err := r.Lookup(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	for name, d := range map[string]dirstore.Durability{"process": dirstore.DurabilityProcess, "power": dirstore.DurabilityPower} {
		b.Run(name, func(b *testing.B) {
			storetest.BenchmarkCall(b, repository(b, open(b, b.TempDir(), dirstore.Options{Durability: d})))
		})
	}
}
