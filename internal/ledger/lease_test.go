package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/ledger/limit"
)

// clock is a settable time.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func leases(store *artifacts.Repository, c *clock, name string) *Leases {
	return &Leases{Store: store, Owner: artifacts.Owner{Worker: name}, Now: c.now, TTL: 15 * time.Second}
}

// TestLease: one holder at a time; the next one comes when it ran out, was given back or its
// process died, learns what the endpoint asked for, and the old one learns that it lost.
func TestLease(t *testing.T) {
	store, c, ctx := memstore.Open(), &clock{t: time.Unix(1e9, 0)}, context.Background()
	a, b := leases(store, c, "a"), leases(store, c, "b")
	la, err := a.Take(ctx, "endpoint-1")
	if err != nil || la.Fence() != 1 || !la.Until().Equal(c.now().Add(15*time.Second)) {
		t.Fatal(la, err)
	}
	var held *LeaseHeldError
	if _, err := b.Take(ctx, "endpoint-1"); !errors.As(err, &held) || held.Holder.Worker != "a" {
		t.Errorf("two holders: %v", err)
	}
	if _, err := b.Take(ctx, "endpoint-2"); err != nil {
		t.Errorf("another endpoint: %v", err)
	}
	c.add(10 * time.Second)
	wait := c.now().Add(time.Hour)
	if err := la.Renew(ctx, wait); err != nil {
		t.Fatal(err)
	}
	c.add(10 * time.Second)
	if _, err := b.Take(ctx, "endpoint-1"); !errors.As(err, &held) {
		t.Errorf("a renewed lease was taken: %v", err)
	}
	c.add(6 * time.Second)
	lb, err := b.Take(ctx, "endpoint-1")
	if err != nil || lb.Fence() != 2 || !lb.NotBefore.Equal(wait) {
		t.Fatalf("after it ran out: %+v %v", lb, err)
	}
	var lost *LostError
	if err := la.Renew(ctx, time.Time{}); !errors.As(err, &lost) || lost.Theirs != 2 {
		t.Errorf("the old holder: %v", err)
	}
	if err := la.Release(ctx); err != nil {
		t.Error(err)
	}
	if _, err := a.Take(ctx, "endpoint-1"); !errors.As(err, &held) {
		t.Errorf("the old holder's release freed the new one's lease: %v", err)
	}
	if err := lb.Release(ctx); err != nil {
		t.Fatal(err)
	}
	la, err = a.Take(ctx, "endpoint-1")
	if err != nil || la.Fence() != 3 {
		t.Errorf("after the release: %v", err)
	}
	b.Dead = func(o artifacts.Owner) bool { return o.Worker == "a" }
	if lb, err = b.Take(ctx, "endpoint-1"); err != nil || lb.Fence() != 4 {
		t.Errorf("after the holder died: %v", err)
	}
}

// TestLeaseHasOneWinner also where many take it at the same time.
func TestLeaseHasOneWinner(t *testing.T) {
	bucket, err := dirstore.Open(t.TempDir(), dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		c := &clock{t: time.Unix(1e9+int64(round)*100, 0)}
		won := make(chan string, 16)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				name := fmt.Sprint("worker-", i)
				_, err := leases(store, c, name).Take(context.Background(), "endpoint-1")
				var held *LeaseHeldError
				switch {
				case err == nil:
					won <- name
				case !errors.As(err, &held):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Errorf("round %d: %d winners", round, len(won))
		}
	}
}

// TestLeaseBoundsThePause: neither what a cell holds from before nor what a holder leaves word
// of keeps an endpoint closed for more than a day.
func TestLeaseBoundsThePause(t *testing.T) {
	store, c, ctx := memstore.Open(), &clock{t: time.Unix(1e9, 0)}, context.Background()
	cell, err := store.Cell(ctx, areaLeases, "endpoint-1")
	if !errors.Is(err, artifacts.ErrNotFound) {
		t.Fatal(err)
	}
	body, err := artifacts.Canonical(leaseDoc{Format: leaseFormat, Fence: 4, Released: true, NotBefore: c.now().Add(200 * 365 * 24 * time.Hour).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.SwapCell(ctx, cell, body); err != nil {
		t.Fatal(err)
	}
	l, err := leases(store, c, "a").Take(ctx, "endpoint-1")
	most := c.now().Add(limit.MaxPause)
	if err != nil || !l.NotBefore.Equal(most) || l.Fence() != 5 {
		t.Fatalf("%+v, %v", l, err)
	}
	if err := errors.Join(l.Renew(ctx, c.now().Add(1<<62)), l.Release(ctx)); err != nil {
		t.Fatal(err)
	}
	next, err := leases(store, c, "b").Take(ctx, "endpoint-1")
	if err != nil || !next.NotBefore.Equal(most) {
		t.Errorf("%+v, %v", next, err)
	}
}
