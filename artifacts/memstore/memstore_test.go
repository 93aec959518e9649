package memstore_test

import (
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Options{}, func(*testing.T) artifacts.Bucket { return memstore.New("test") })
}

// BenchmarkCall is what a call costs above the bucket.
func BenchmarkCall(b *testing.B) { storetest.BenchmarkCall(b, memstore.Open()) }
