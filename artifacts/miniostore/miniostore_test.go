package miniostore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/miniostore"
	"cxrepro/artifacts/s3config"
	"cxrepro/artifacts/storetest"
)

var serial atomic.Int64

// bucketMaker returns a maker of empty buckets on one server, each under its own prefix.
func bucketMaker(s *storetest.S3) func(t *testing.T) artifacts.Bucket {
	return func(t *testing.T) artifacts.Bucket {
		b, err := miniostore.Open(s.Config(t, "minio", fmt.Sprintf("p%d", serial.Add(1))))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Options{Remote: true}, bucketMaker(storetest.StartS3(t, storetest.S3Options{})))
}

func TestRemote(t *testing.T) {
	storetest.RunS3(t, "minio", func(t *testing.T, c s3config.Config) (storetest.S3Bucket, error) { return miniostore.Open(c) })
}

// TestEndpoint runs the suite against the store that the environment names.
func TestEndpoint(t *testing.T) {
	run := time.Now().UnixNano()
	storetest.EnvEndpoint(t, "minio", "x")
	storetest.Run(t, storetest.Options{Remote: true}, func(t *testing.T) artifacts.Bucket {
		c := storetest.EnvEndpoint(t, "minio", fmt.Sprintf("conformance-%d/p%d", run, serial.Add(1)))
		b, err := miniostore.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}
