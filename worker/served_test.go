package worker

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/ledger"
)

// TestEndpointStates holds that a worker tells whether it has the lease of its endpoint, and
// what stands in the way: another worker, or a cell that cannot be read.
func TestEndpointStates(t *testing.T) {
	a := newAsking(t)
	state := func(w *Worker, want string, good func(EndpointState) bool) EndpointState {
		t.Helper()
		for range 500 {
			s := w.Endpoints()
			if len(s) != 1 || s[0].Since.IsZero() && s[0].Held || strings.Join(s[0].Cards, " ") != "here" || strings.Join(s[0].Models, " ") != "model-a" {
				t.Fatalf("states %+v", s)
			}
			if good(s[0]) {
				return s[0]
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatalf("never %s: %+v", want, w.Endpoints())
		return EndpointState{}
	}
	held := func(s EndpointState) bool { return s.Held && s.Err == nil }
	first := a.worker("first", func(*Options) {})
	lease := state(first, "held", held).Lease
	second := a.worker("second", func(*Options) {})
	defer a.stop(second)
	state(second, "standing by", func(s EndpointState) bool {
		var other *ledger.LeaseHeldError
		return !s.Held && errors.As(s.Err, &other) && other.Holder.Worker == "first"
	})
	a.stop(first)
	state(second, "held", held)

	if _, err := a.store.Bucket().Put(a.ctx, lease, bytes.NewReader([]byte("{")), artifacts.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	state(second, "damaged", func(s EndpointState) bool { return !s.Held && s.Err != nil && strings.Contains(s.Err.Error(), lease) })
	if err := a.store.Bucket().Delete(a.ctx, lease); err != nil {
		t.Fatal(err)
	}
	state(second, "held again", held)
}
