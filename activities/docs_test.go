package activities

import (
	"context"
	"errors"
	"testing"

	"cxrepro/artifacts"
)

// TestDocsDecodeOnce: a document that is read in two ways is decoded once for each, and one
// that cannot be read is tried again.
func TestDocsDecodeOnce(t *testing.T) {
	d, ref, decoded := newDocs(), artifacts.Ref{Digest: artifacts.Sum([]byte("doc"))}, 0
	for range 3 {
		text, err := load(context.Background(), d, ref, func(context.Context, artifacts.Ref) (string, error) { decoded++; return "doc", nil })
		if err != nil || text != "doc" {
			t.Fatal(text, err)
		}
		number, err := load(context.Background(), d, ref, func(context.Context, artifacts.Ref) (int, error) { decoded++; return 3, nil })
		if err != nil || number != 3 {
			t.Fatal(number, err)
		}
	}
	if decoded != 2 {
		t.Errorf("decoded %d times, want once for each way", decoded)
	}
	other := artifacts.Ref{Digest: artifacts.Sum([]byte("other"))}
	fault := errors.New("the store is away")
	for range 2 {
		if _, err := load(context.Background(), d, other, func(context.Context, artifacts.Ref) (string, error) { decoded++; return "half", fault }); !errors.Is(err, fault) {
			t.Error(err)
		}
	}
	if decoded != 4 {
		t.Error("a document that could not be read was kept")
	}
}
