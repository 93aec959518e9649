//go:build unix

package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
)

// BenchmarkVerify compares verification of bytes with a bare loop that reads the same files and
// hashes them, in the same run: ratio is the loop's time over ours, once for a loop of one
// reader and once for one of as many readers as verification has. The objects have the sizes of
// an evaluation's: entries of 3 KB, answers of 400 B, and some pictures.
//
//	go test -run - -bench Verify ./internal/bundle
func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	store, err := dirstore.Open(filepath.Join(dir, "store"), dirstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	var items []Item
	put := func(name string, data []byte) {
		if _, err := store.Put(ctx, name, bytes.NewReader(data), artifacts.PutOptions{}); err != nil {
			b.Fatal(err)
		}
		items = append(items, Item{Object: name})
	}
	fill := func(n int) []byte {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(r.UintN(256))
		}
		return data
	}
	for i := range 6000 {
		n := 400
		if i%40 == 0 {
			n = 200_000
		}
		data := fill(n)
		put(artifacts.BlobObject(artifacts.Sum(data)), data)
		put(artifacts.EntryObject(artifacts.Key{Step: "call", Digest: artifacts.Sum(fill(8))}), fill(3000))
	}
	sortItems(items)
	ledger, faults, err := Survey(ctx, store, items, nil)
	if err != nil || len(faults) > 0 {
		b.Fatal(err, faults)
	}
	path := filepath.Join(dir, "b.zip")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Write(ctx, f, Contents{Ledger: ledger, From: store, Ship: func(Leaf) bool { return true }}); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	read := func(name string) error {
		data, err := os.ReadFile(filepath.Join(dir, "store", filepath.FromSlash(name)))
		if err == nil {
			_ = sha256.Sum256(data)
		}
		return err
	}
	b.Run("store", func(b *testing.B) {
		compareWith(b, func() error {
			faults, missing, err := ledger.Check(ctx, store, nil)
			if len(faults)+len(missing) > 0 {
				b.Fatal(faults, missing)
			}
			return err
		}, func(readers int) error {
			var g errgroup.Group
			for k := range readers {
				g.Go(func() error {
					for i := k; i < len(items); i += readers {
						if err := read(items[i].Object); err != nil {
							return err
						}
					}
					return nil
				})
			}
			return g.Wait()
		})
	})
	o, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	places := o.entries
	if err := o.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("bundle", func(b *testing.B) {
		compareWith(b, func() error {
			o, err := Open(path)
			if err != nil {
				return err
			}
			defer o.Close()
			faults, withheld, err := o.Bytes(func(each func(Scanned) error) error { return o.Scan(ctx, nil, each) })
			if len(faults)+len(withheld) > 0 {
				b.Fatal(faults, withheld)
			}
			return err
		}, func(readers int) error {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			var g errgroup.Group
			for k := range readers {
				g.Go(func() error {
					for i := k; i < len(places); i += readers {
						data := make([]byte, places[i].size)
						if _, err := f.ReadAt(data, places[i].data()); err != nil {
							return err
						}
						sum := sha256.Sum256(data)
						if k == 0 {
							sink = sum
						}
					}
					return nil
				})
			}
			return g.Wait()
		})
	})
}

var sink artifacts.Digest

func sortItems(items []Item) {
	for gap := len(items) / 2; gap > 0; gap /= 2 { // enough for a test
		for i := gap; i < len(items); i++ {
			for k := i; k >= gap && items[k].Object < items[k-gap].Object; k -= gap {
				items[k], items[k-gap] = items[k-gap], items[k]
			}
		}
	}
}

// compareWith times ours and the bare loop in turn and reports the best of each.
func compareWith(b *testing.B, ours func() error, bare func(readers int) error) {
	best, busy := map[string]time.Duration{}, map[string]time.Duration{}
	timed := func(name string, do func() error) {
		began, before := time.Now(), processor(b)
		if err := do(); err != nil {
			b.Fatal(err)
		}
		if t := time.Since(began); best[name] == 0 || t < best[name] {
			best[name] = t
		}
		if t := processor(b) - before; busy[name] == 0 || t < busy[name] {
			busy[name] = t
		}
	}
	for b.Loop() {
		timed("ours", ours)
		timed("bare", func() error { return bare(1) })
		timed("side", func() error { return bare(2) })
	}
	b.ReportMetric(best["bare"].Seconds()/best["ours"].Seconds(), "ratio")
	b.ReportMetric(best["side"].Seconds()/best["ours"].Seconds(), "ratio-2-readers")
	// On a machine that is busy with other things only this one says something.
	b.ReportMetric(busy["bare"].Seconds()/busy["ours"].Seconds(), "ratio-processor")
	b.Logf("ours %s, bare loop %s, bare loop of two readers %s; processor: ours %s, bare loop %s", best["ours"], best["bare"], best["side"], busy["ours"], busy["bare"])
}

// processor is the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
