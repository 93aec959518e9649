package catalog_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storetest"
	"cxrepro/artifacts/storeurl"
)

// BenchmarkReindexS3 reads a store on a real S3 server, and the same objects in a bare loop of
// as many readers; it reports statements a second, and the share of the loop's speed.
func BenchmarkReindexS3(b *testing.B) {
	const images = 400
	server := storetest.StartS3(b, storetest.S3Options{})
	b.Setenv("AWS_ACCESS_KEY_ID", server.AccessKey)
	b.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretKey.Reveal())
	b.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	w := newWorld(b)
	var err error
	if w.store, err = storeurl.Open(b.Context(), server.Address("s3", "reindex"), storeurl.Options{}); err != nil {
		b.Fatal(err)
	}
	for i := range images {
		w.image(i, "r1")
	}
	opts := options
	opts.Readers = 16
	c := w.open(b.TempDir())
	var bare, ours time.Duration
	b.ResetTimer()
	for range b.N {
		begun := time.Now()
		if err := getAll(b.Context(), w.store.Bucket(), opts.Readers); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(begun)
		begun = time.Now()
		n, err := c.Reindex(b.Context(), w.store, opts)
		if err != nil || n.Steps != 4*images {
			b.Fatalf("%+v, %v", n, err)
		}
		ours += time.Since(begun)
	}
	b.ReportMetric(float64(b.N*images*4)/ours.Seconds(), "statements/s")
	b.ReportMetric(bare.Seconds()/ours.Seconds(), "of-a-bare-loop")
}

// getAll lists and reads entries, statements and documents, as a reindex does: answers, which
// refer to nothing, are the quarter of the blobs that it leaves out.
func getAll(ctx context.Context, bucket artifacts.Bucket, readers int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for _, area := range []string{"index/", "statements/", "blobs/"} {
		n := 0
		err := bucket.List(ctx, area, "", func(info artifacts.Info) error {
			if n++; area == "blobs/" && n%4 == 0 {
				return nil
			}
			g.Go(func() error {
				_, _, err := bucket.Read(ctx, info.Name)
				return err
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return g.Wait()
}
