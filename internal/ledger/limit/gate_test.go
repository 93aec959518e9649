package limit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func acquire(t *testing.T, g *Gate, tokens int) *Permit {
	t.Helper()
	p, err := enter(g, Want{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// enter takes both steps.
func enter(g *Gate, w Want) (*Permit, error) {
	p, err := g.Admit(context.Background(), w)
	if err != nil {
		return nil, err
	}
	if err := p.Enter(context.Background()); err != nil {
		p.Cancel()
		return nil, err
	}
	return p, nil
}

// TestRates: in any minute no more requests and tokens than allowed, beyond the first second.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Limits: Limits{Requests: 120, Tokens: 6000}, Now: time.Now, Patience: time.Hour})
		begin := time.Now()
		for range 60 {
			acquire(t, g, 10).Done(10, true)
		}
		if d := time.Since(begin); d < 28*time.Second || d > 31*time.Second {
			t.Errorf("60 requests at 120 a minute took %s, want about 29 s", d)
		}
		begin = time.Now()
		for range 10 {
			acquire(t, g, 100).Done(1000, true) // ten times what was guessed
		}
		if d := time.Since(begin); d < 85*time.Second || d > 100*time.Second {
			t.Errorf("10,000 tokens at 6,000 a minute took %s, want about 90 s", d)
		}
	})
}

// TestMoreTokensThanTheBucketHolds: such a request goes when the bucket is full, and is paid
// for afterwards.
func TestMoreTokensThanTheBucketHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Limits: Limits{Tokens: 600}, Now: time.Now, Patience: time.Hour})
		acquire(t, g, 5000).Done(5000, true)
		begin := time.Now()
		acquire(t, g, 1)
		if d := time.Since(begin); d < 8*time.Minute || d > 9*time.Minute {
			t.Errorf("5,000 tokens at 600 a minute were paid for in %s", d)
		}
	})
}

// TestConcurrency: never more in flight than allowed, and a permit that is given back counts.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Limits: Limits{Concurrency: 3}, Now: time.Now, Patience: time.Hour})
		var wg sync.WaitGroup
		most := 0
		var mu sync.Mutex
		for range 20 {
			wg.Go(func() {
				p := acquire(t, g, 1)
				mu.Lock()
				most = max(most, g.InFlight())
				mu.Unlock()
				time.Sleep(time.Second)
				p.Done(1, true)
			})
		}
		wg.Wait()
		if most != 3 || g.InFlight() != 0 {
			t.Errorf("%d in flight at most, %d at the end", most, g.InFlight())
		}
		p := acquire(t, g, 1)
		p.Cancel()
		if g.InFlight() != 0 {
			t.Error("a cancelled permit stays in flight")
		}
	})
}

// TestAhead: one more than may be in flight is made ready and takes the place of the first that ends
// at once, before anybody else; a permit that never entered is no request in flight.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Limits: Limits{Concurrency: 16}, Now: time.Now, Patience: time.Hour})
		var out []*Permit
		for range 16 {
			out = append(out, acquire(t, g, 1))
		}
		var ready []*Permit
		for range 2 {
			p, err := g.Admit(context.Background(), Want{Tokens: 1})
			if err != nil {
				t.Fatal(err)
			}
			ready = append(ready, p)
		}
		var entered, admitted time.Time
		go func() {
			if err := ready[0].Enter(context.Background()); err != nil {
				t.Error(err)
			}
			entered = time.Now()
		}()
		go func() {
			if _, err := g.Admit(context.Background(), Want{Tokens: 1}); err != nil {
				t.Error(err)
			}
			admitted = time.Now()
		}()
		time.Sleep(time.Second)
		if begin := time.Now(); out[0].Start(context.Background()) != nil || time.Since(begin) > 0 {
			t.Error("who is in flight waits behind those who are not")
		}
		if !entered.IsZero() || !admitted.IsZero() || g.InFlight() != 16 {
			t.Errorf("entered %s, admitted %s with 16 of 16 in flight and 2 ready", entered, admitted)
		}
		end := time.Now()
		out[0].Done(1, true)
		synctest.Wait()
		if !entered.Equal(end) || !admitted.Equal(end) || g.InFlight() != 16 {
			t.Errorf("a reply was read at %s: the next entered at %s, another was admitted at %s, %d in flight", end, entered, admitted, g.InFlight())
		}
		ready[1].Cancel()
		if g.InFlight() != 16 {
			t.Errorf("%d in flight after one gave up that never was", g.InFlight())
		}
	})
}

// TestFirstCome: places go to those who wait longest, and one who gives up stops nobody behind.
func TestFirstCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Limits: Limits{Concurrency: 1}, Now: time.Now, Patience: time.Hour})
		first := acquire(t, g, 1)
		var mu sync.Mutex
		var order []int
		for i := range 20 {
			go func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if i%5 == 4 {
					ctx, cancel = context.WithTimeout(ctx, 500*time.Millisecond)
					defer cancel()
				}
				p, err := g.Admit(ctx, Want{Tokens: 1})
				if err == nil {
					err = p.Enter(ctx)
				}
				if err != nil {
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				p.Done(1, true)
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		first.Done(1, true)
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(order) != 16 || !slices.IsSorted(order) {
			t.Errorf("%v went in this order", order)
		}
	})
}

// TestRetryAfter: a refusal holds everybody back for as long as it says, also those who hold a
// permit already; fewer go on then, and all of them later.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Limits: Limits{Concurrency: 8}, Now: time.Now, Patience: time.Hour})
		var held []*Permit
		for range 8 {
			p := acquire(t, g, 1)
			if err := p.Start(context.Background()); err != nil {
				t.Fatal(err)
			}
			held = append(held, p)
		}
		begin := time.Now()
		held[0].Throttled(30 * time.Second)
		for _, p := range held[1:7] {
			p.Throttled(30 * time.Second) // the rest of the burst
		}
		late := held[7]
		if err := late.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < 30*time.Second {
			t.Errorf("a held permit went on after %s", d)
		}
		late.Done(1, true)
		if g.allowed != 4 || g.strikes != 0 {
			t.Errorf("%d allowed after one burst of 8, want 4; %d strikes", g.allowed, g.strikes)
		}
		for range 200 {
			acquire(t, g, 1).Done(1, true)
		}
		if g.allowed != 8 {
			t.Errorf("%d allowed after 200 good replies, want 8", g.allowed)
		}
	})
}

// TestBackoff: without a time named the pauses double, up to the longest, and a burst counts
// once.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Now: time.Now, Patience: time.Hour, Backoff: time.Second, BackoffMax: 8 * time.Second})
		for i, want := range []time.Duration{1, 2, 4, 8, 8} {
			a, b := acquire(t, g, 1), acquire(t, g, 1)
			if err := errors.Join(a.Start(context.Background()), b.Start(context.Background())); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			a.Throttled(0)
			open := b.Throttled(0)
			if d := open.Sub(begin); d < want*time.Second || d > want*time.Second*5/4+time.Millisecond {
				t.Errorf("refusal %d closed for %s, want %d s and a quarter at most", i, d, want)
			}
			// With one allowed at a time the second permit of the next round would wait.
			g.mu.Lock()
			g.allowed = 2
			g.mu.Unlock()
		}
	})
}

// TestImpatient: a long wait is reported instead of waited for.
func TestImpatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Now: time.Now, Limits: Limits{Requests: 60}, Patience: 5 * time.Second})
		p := acquire(t, g, 1)
		p.Throttled(time.Hour)
		var wait *WaitError
		if _, err := g.Admit(context.Background(), Want{Tokens: 1}); !errors.As(err, &wait) || wait.Delay < 59*time.Minute {
			t.Errorf("got %v, want a wait of an hour", err)
		}
		// Many who wait for a slow gate come back later, and nobody waits much longer than
		// the patience.
		slow := New(Options{Now: time.Now, Limits: Limits{Requests: 60}, Patience: 5 * time.Second})
		var wg sync.WaitGroup
		var mu sync.Mutex
		sent, late := 0, 0
		for range 30 {
			wg.Go(func() {
				begin := time.Now()
				p, err := slow.Admit(context.Background(), Want{Tokens: 1})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					p.Done(1, true)
					sent++
				case errors.As(err, &wait):
					late++
				}
				if d := time.Since(begin); d > 7*time.Second {
					t.Errorf("waited %s", d)
				}
			})
		}
		wg.Wait()
		if sent < 4 || sent+late != 30 {
			t.Errorf("%d sent, %d come back later", sent, late)
		}
	})
}

// TestLease: beyond the lease nothing passes, also nobody who waits.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Now: time.Now, Limits: Limits{Concurrency: 1}, Patience: time.Hour})
		g.Hold(time.Now().Add(10 * time.Second))
		p := acquire(t, g, 1)
		waiting := make(chan error, 1)
		go func() {
			_, err := enter(g, Want{Tokens: 1})
			waiting <- err
		}()
		time.Sleep(11 * time.Second)
		if err := p.Start(context.Background()); !errors.Is(err, ErrNotHeld) {
			t.Errorf("a permit of a lost lease: %v", err)
		}
		p.Cancel()
		if err := <-waiting; !errors.Is(err, ErrNotHeld) {
			t.Errorf("a waiter after the lease: %v", err)
		}
		g.Hold(time.Now().Add(10 * time.Second))
		acquire(t, g, 1)
	})
}

// TestContext ends a wait.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Now: time.Now, Patience: time.Hour})
		g.Close(time.Now().Add(30 * time.Minute))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := g.Admit(ctx, Want{Tokens: 1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestPausesAreBounded: an absurd pause is granted for a day at most, and a long one says until
// when.
func TestPausesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{9e9 * time.Second, 1<<63 - 1, 48 * time.Hour} {
			g := New(Options{Now: time.Now})
			until := acquire(t, g, 1).Throttled(after)
			if d := time.Until(until); d != MaxPause || !g.Closed().Equal(until) {
				t.Errorf("closed for %s", d)
			}
			var wait *WaitError
			if _, err := g.Admit(context.Background(), Want{Tokens: 1}); !errors.As(err, &wait) || !strings.Contains(err.Error(), until.UTC().Format(time.RFC3339)) {
				t.Errorf("got %v", err)
			}
			time.Sleep(MaxPause)
			acquire(t, g, 1)
		}
		g := New(Options{Now: time.Now})
		g.Close(time.Now().Add(200 * 365 * 24 * time.Hour))
		if d := time.Until(g.Closed()); d != MaxPause {
			t.Errorf("closed for %s by what was stored", d)
		}
	})
}
