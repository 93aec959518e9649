package dirstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
)

// BenchmarkStep is the store's share of one small step: look-up, claim, a blob of 4 KiB,
// a statement of 2 KiB, commit, release.
func BenchmarkStep(b *testing.B) {
	for _, d := range []struct {
		name string
		d    dirstore.Durability
	}{{"process", dirstore.DurabilityProcess}, {"power", dirstore.DurabilityPower}} {
		b.Run(d.name, func(b *testing.B) {
			r := repository(b, open(b, b.TempDir(), dirstore.Options{Durability: d.d}))
			owner := localhost.New().Owner(artifacts.Owner{Reproduction: "r", Worker: "w", Workflow: "wf", Activity: "1", Attempt: 1})
			blob, statement := make([]byte, 4096), make([]byte, 2048)
			b.ResetTimer()
			for i := range b.N {
				copy(blob, fmt.Sprintf("%016d", i))
				copy(statement, fmt.Sprintf("%016d", i))
				if err := step(b.Context(), r, owner, i, blob, statement); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func step(ctx context.Context, r *artifacts.Repository, owner artifacts.Owner, i int, blob, statement []byte) error {
	key, err := artifacts.KeyDoc{Step: "segment", Version: 1, Params: map[string]any{"model": "m", "i": i},
		Inputs: []artifacts.Material{{Name: "image", Digest: artifacts.Sum(blob)}}}.Key()
	if err != nil {
		return err
	}
	if _, err := r.Lookup(ctx, key); err == nil {
		return fmt.Errorf("%s is there already", key)
	}
	c, err := r.Claim(ctx, key, owner, time.Minute)
	if err != nil {
		return err
	}
	ref, err := r.Put(ctx, blob, "application/octet-stream")
	if err != nil {
		return err
	}
	st, err := r.PutStatement(ctx, statement)
	if err != nil {
		return err
	}
	if _, err := r.CommitClaimed(ctx, c, artifacts.Record{Key: key, Result: ref, Statement: st}); err != nil {
		return err
	}
	return r.Release(ctx, c)
}

// BenchmarkLookup is a hit.
func BenchmarkLookup(b *testing.B) {
	r := repository(b, open(b, b.TempDir(), dirstore.Options{}))
	blob, statement := make([]byte, 4096), make([]byte, 2048)
	if err := step(b.Context(), r, artifacts.Owner{}, 1, blob, statement); err != nil {
		b.Fatal(err)
	}
	key, _ := artifacts.KeyDoc{Step: "segment", Version: 1, Params: map[string]any{"model": "m", "i": 1},
		Inputs: []artifacts.Material{{Name: "image", Digest: artifacts.Sum(blob)}}}.Key()
	b.ResetTimer()
	for range b.N {
		if _, err := r.Lookup(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}
