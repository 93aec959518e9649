package activities

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/internal/contract"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
)

// draws returns inputs that ask the same question with different draws: as many calls.
func (l *askLab) draws(n int) []contract.AskInput {
	in := make([]contract.AskInput, n)
	for i := range in {
		in[i] = l.input(i % len(l.cases))
		in[i].Evaluation, in[i].Call.Draw = 1, i
	}
	return in
}

// counted counts what is made ready.
type counted struct {
	lvlm.Asker
	n *atomic.Int64
}

func (c counted) Prepare(ctx context.Context, r lvlm.Request, picture lvlm.PictureFunc) (lvlm.Send, error) {
	c.n.Add(1)
	return c.Asker.Prepare(ctx, r, picture)
}

// TestPlaceIsFreeBeforeTheRecord: once a reply is read its place at the endpoint goes to the next
// call, however long the store takes to write the reply down.
func TestPlaceIsFreeBeforeTheRecord(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	blocked, free := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	e := l.endpoint(s.URL, place{limits: limit.Limits{Concurrency: 1}})
	a := l.worker("one", e, func(o *Options) {
		o.Fault = func(name string) {
			if name == FaultAfterAnswerPut && first.CompareAndSwap(false, true) {
				close(blocked)
				<-free
			}
		}
	})
	inputs := l.draws(2)
	done := make(chan error, 1)
	go func() {
		_, err := ask(a, inputs[0])
		done <- err
	}()
	<-blocked
	l.mustAsk(a, inputs[1])
	if n := len(objects(t, l.store, "index/"+contract.StepCall+"/")); n != 1 || s.requests() != 2 {
		t.Errorf("%d records after %d requests, while one record is being written", n, s.requests())
	}
	close(free)
	if err := <-done; err != nil || s.requests() != 2 || e.Gate.InFlight() != 0 {
		t.Errorf("%v after %d requests, %d in flight", err, s.requests(), e.Gate.InFlight())
	}
}

// TestReadyIsNotInFlight: calls that wait for a place are made ready, and hold no claim: a process
// that dies leaves no more requests behind whose end nobody saw than were in flight.
func TestReadyIsNotInFlight(t *testing.T) {
	l := newAskLab(t)
	const atOnce = 2
	var now, most atomic.Int64
	begun, free := make(chan struct{}, 64), make(chan struct{})
	s := serve(t, func(int, *http.Request, string) reply {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		begun <- struct{}{}
		<-free
		return reply{text: "(a)"}
	})
	e := l.endpoint(s.URL, place{limits: limit.Limits{Concurrency: atOnce}})
	var prepared atomic.Int64
	e.Asker = counted{e.Asker, &prepared}
	a := l.worker("one", e)
	inputs := l.draws(12)
	var wg sync.WaitGroup
	for _, in := range inputs {
		wg.Go(func() {
			if _, err := ask(a, in); err != nil {
				t.Error(err)
			}
		})
	}
	for range atOnce {
		<-begun
	}
	time.Sleep(300 * time.Millisecond) // for everybody else to stand in line
	if n := len(objects(t, l.store, "claims/")); n != atOnce || s.requests() != atOnce || e.Gate.InFlight() != atOnce {
		t.Errorf("%d claims, %d requests, %d in flight where %d are allowed", n, s.requests(), e.Gate.InFlight(), atOnce)
	}
	if n := prepared.Load(); n != atOnce+1 {
		t.Errorf("%d requests are ready or in flight, want one more than %d", n, atOnce)
	}
	close(free)
	wg.Wait()
	if most.Load() != atOnce || s.requests() != len(inputs) {
		t.Errorf("%d requests, %d at a time", s.requests(), most.Load())
	}
}
