package s3store

import (
	"bytes"
	"io"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storetest"
)

// TestCopyInParts makes every object above 5 MiB too large for one copy.
func TestCopyInParts(t *testing.T) {
	srv := storetest.StartS3(t, storetest.S3Options{})
	b, err := Open(t.Context(), srv.Config(t, "s3", "copy"))
	if err != nil {
		t.Fatal(err)
	}
	b.copyMax = 5 << 20
	want := make([]byte, 11<<20+5)
	for i := range want {
		want[i] = byte(i * i >> 7)
	}
	if _, err := b.Put(t.Context(), "tmp/from", bytes.NewReader(want), artifacts.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Copy(t.Context(), "tmp/from", "blobs/to"); err != nil {
		t.Fatal(err)
	}
	rc, _, err := b.Open(t.Context(), "blobs/to")
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	if got, err := io.ReadAll(rc); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
