package faultstore_test

import (
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/faultstore"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/storetest"
)

// TestRequestsOfAStep counts what one step asks of a remote store: each is a round trip.
func TestRequestsOfAStep(t *testing.T) {
	b := faultstore.New(memstore.New("counted"), faultstore.Lies{})
	r, err := artifacts.New(b, artifacts.Options{Host: storetest.NewHost(), Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := step(t.Context(), r, 1); err != nil {
		t.Fatal(err)
	}
	for m, want := range map[faultstore.Method]int{
		faultstore.Read:   3, // look up, look up again under the claim, check the claim
		faultstore.Put:    4, // claim, blob, statement, entry
		faultstore.Delete: 1, // claim
		faultstore.Stat:   0, faultstore.Open: 0, faultstore.Copy: 0, faultstore.List: 0,
	} {
		if got := b.Calls(m); got != want {
			t.Errorf("method %d: %d calls, want %d", m, got, want)
		}
	}
	if err := step(t.Context(), r, 2); err != nil {
		t.Fatal(err)
	}
	if reads, stats := b.Calls(faultstore.Read), b.Calls(faultstore.Stat); reads != 4 || stats != 1 {
		t.Errorf("a hit took %d reads and %d stats, want 1 and 1", reads-3, stats)
	}
}
