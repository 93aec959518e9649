package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
)

// BenchmarkStep is a store's share of one small step: look-up, claim, a blob of 4 KiB, a
// statement of 2 KiB, commit, release; on as many goroutines as b.SetParallelism asks for.
func BenchmarkStep(b *testing.B, r *artifacts.Repository) {
	owner := localhost.New().Owner(artifacts.Owner{Reproduction: "r", Worker: "w", Workflow: "wf", Activity: "1", Attempt: 1})
	var serial atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		blob, statement := make([]byte, 4096), make([]byte, 2048)
		for pb.Next() {
			i := serial.Add(1)
			copy(blob, fmt.Sprintf("%016d", i))
			copy(statement, fmt.Sprintf("%016d", i))
			if err := benchStep(b.Context(), r, owner, i, blob, statement); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func benchStep(ctx context.Context, r *artifacts.Repository, owner artifacts.Owner, i int64, blob, statement []byte) error {
	key, err := BenchKey(i, blob)
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

// BenchKey is the key of BenchmarkStep's i-th step.
func BenchKey(i int64, blob []byte) (artifacts.Key, error) {
	return artifacts.KeyDoc{Step: "segment", Version: 1, Params: map[string]any{"model": "m", "i": i},
		Inputs: []artifacts.Material{{Name: "image", Digest: artifacts.Sum(blob)}}}.Key()
}

// BenchmarkCall is a store's share of one model call: look-up that misses, claim, a blob of
// 600 bytes, an entry with a statement of 3 kB inline, release.
func BenchmarkCall(b *testing.B, r *artifacts.Repository) {
	owner := localhost.New().Owner(artifacts.Owner{Reproduction: "r", Worker: "w", Workflow: "wf", Activity: "1", Attempt: 1})
	run := time.Now().UnixNano() // b.Run calls this several times on one store
	var serial atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := serial.Add(1)
			if err := benchCall(b.Context(), r, owner, fmt.Sprintf("%d.%d", run, i)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func benchCall(ctx context.Context, r *artifacts.Repository, owner artifacts.Owner, id string) error {
	key, err := artifacts.KeyDoc{Step: "call", Version: 1, Params: map[string]any{"model": "m", "i": id}}.Key()
	if err != nil {
		return err
	}
	statement, err := artifacts.Canonical(map[string]any{"key": key, "environment": strings.Repeat("x", 2800)})
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
	ref, err := r.Put(ctx, fmt.Appendf(nil, "%600s", id), "application/json")
	if err != nil {
		return err
	}
	if _, err := r.CommitInline(ctx, c, artifacts.Record{Key: key, Result: ref}, statement); err != nil {
		return err
	}
	return r.Release(ctx, c)
}
