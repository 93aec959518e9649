package artifacts_test

import "testing"

// BenchmarkKey is one key of a document with a few parameters and two inputs.
func BenchmarkKey(b *testing.B) {
	doc := full()
	for range b.N {
		if _, err := doc.Key(); err != nil {
			b.Fatal(err)
		}
	}
}
