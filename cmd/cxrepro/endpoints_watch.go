package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/ledger"
	"cxrepro/worker"
)

const (
	// leasePatience is how long a lease may take before it is worth a word.
	leasePatience = 5 * time.Second
	leaseEvery    = time.Minute
	leaseLook     = time.Second
)

// watchEndpoints tells, once a minute, which endpoints of the plan this process cannot ask, why,
// and the way out, and when it can again. It returns what ends it.
func (a *app) watchEndpoints(ctx context.Context, s *session, d display, p *planned, queue string) (stop func()) {
	var needed []string
	for _, card := range modelCards(p.doc) {
		needed = append(needed, card.Name)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(leaseLook)
		defer tick.Stop()
		w := waits{said: map[string]time.Time{}}
		for len(needed) > 0 {
			for _, e := range s.work.Endpoints() {
				if !slices.ContainsFunc(e.Models, func(m string) bool { return slices.Contains(needed, m) }) {
					continue
				}
				served := func() bool { return servedElsewhere(ctx, s, queue, e) }
				if line := w.line(e, s.store.URL(), time.Now(), served); line != "" {
					d.note(line)
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// servedElsewhere reports whether the worker that holds the lease takes calls from our server of
// workflows: then it asks for us, and nothing stands still.
func servedElsewhere(ctx context.Context, s *session, queue string, e worker.EndpointState) bool {
	var held *ledger.LeaseHeldError
	if !errors.As(e.Err, &held) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	for _, model := range e.Models {
		q, err := s.conn.Client.DescribeTaskQueue(ctx, contract.QueueAsk(queue, model), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		if err != nil {
			return false
		}
		for _, p := range q.GetPollers() {
			if p.GetIdentity() == held.Holder.Worker {
				return true
			}
		}
	}
	return false
}

// waits remembers when it was said of a lease that it is waited for.
type waits struct{ said map[string]time.Time }

// line is what is to be said of an endpoint now, "" for nothing.
func (w waits) line(e worker.EndpointState, store string, now time.Time, served func() bool) string {
	name := "endpoint " + strings.Join(e.Cards, ", ")
	last, waiting := w.said[e.Lease]
	switch {
	case e.Held && waiting:
		delete(w.said, e.Lease)
		return name + " can be asked again"
	case e.Held, e.Err == nil, now.Sub(e.Since) < leasePatience, waiting && now.Sub(last) < leaseEvery, served():
		return ""
	}
	w.said[e.Lease] = now
	return fmt.Sprintf("%s is not asked for %s: %s", name, now.Sub(e.Since).Round(time.Second), leaseTrouble(e, store))
}

// leaseTrouble says why a lease is not had, and the way out.
func leaseTrouble(e worker.EndpointState, store string) string {
	var held *ledger.LeaseHeldError
	if errors.As(e.Err, &held) {
		return fmt.Sprintf("%s has its lease (%s in %s) until %s, or longer if it renews it; this run goes on by itself when that process ends or gives it back",
			held.Holder, e.Lease, store, held.Expires.Local().Format(time.TimeOnly))
	}
	if artifacts.ClassOf(e.Err) == artifacts.Transient {
		return fmt.Sprintf("%v; this run goes on by itself when the store answers", e.Err)
	}
	if errors.Is(e.Err, artifacts.ErrDenied) {
		return fmt.Sprintf("%v; correct the credentials of the store, or its rights on %s", e.Err, e.Lease)
	}
	return fmt.Sprintf("%v; move %s out of the store %s: the lease is begun anew, and this run goes on by itself", e.Err, e.Lease, store)
}
