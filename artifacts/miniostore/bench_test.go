package miniostore_test

import (
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/miniostore"
	"cxrepro/artifacts/storetest"
)

// BenchmarkStep is 16 goroutines against the S3 server on this machine.
func BenchmarkStep(b *testing.B) {
	c := storetest.StartS3(b, storetest.S3Options{}).Config(b, "minio", "bench")
	bucket, err := miniostore.Open(c)
	if err != nil {
		b.Fatal(err)
	}
	sem := bucket.Semantics()
	sem.ConditionalCreate, sem.ConditionalSwap, sem.VerifiedPut = true, true, true
	r, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New(), Remote: true, Semantics: &sem})
	if err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(8)
	storetest.BenchmarkStep(b, r)
}
