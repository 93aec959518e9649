package responder

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
)

// TestBodyIsNotKept: requests that wait for their replies hold no body, so that one buffer serves
// all that come one after another; and a picture is decoded once.
func TestBodyIsNotKept(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	s, err := New(Options{Benchmark: m.bench, Latency: time.Hour, Profile: &Profile{Models: []Model{{Name: "oracle", Behaviour: Oracle}}}})
	if err != nil {
		t.Fatal(err)
	}
	body := (&client{t: t, m: m}).first(chexstruct.Rotation, "oracle").body(t)
	ctx, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	const requests = 5
	for i := range int64(requests) {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
		waiting.Go(func() { s.ServeHTTP(httptest.NewRecorder(), r) })
		for s.Counts().Kinds["model"] <= i {
			time.Sleep(time.Millisecond)
		}
	}
	if n := s.Counts(); n.InFlight != requests || len(s.buffers) != 1 || n.Distinct != 1 {
		t.Errorf("%d buffers beside %d requests that wait, %d distinct", len(s.buffers), n.InFlight, n.Distinct)
	}
	if n := len(m.bench.looks.read); n != 1 {
		t.Errorf("%d pictures decoded", n)
	}
	stop()
	waiting.Wait()
}
