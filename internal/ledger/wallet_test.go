package ledger

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/artifacts/memstore"
)

// TestBudgetHolds: many workers in several processes spend until nothing is left. What they
// spend in all never exceeds the budget while reservations cover what calls cost, also when one
// process dies with a portion.
func TestBudgetHolds(t *testing.T) {
	store := memstore.Open()
	const limit, most = 1_000_000, 5_000
	var spent, calls atomic.Int64
	run := func(w *Wallet, stop int64) {
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for {
					r, err := w.Reserve(context.Background(), limit, most)
					var over *BudgetError
					if errors.As(err, &over) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					cost := rand.Int64N(most + 1)
					spent.Add(cost)
					n := calls.Add(1)
					if n%7 == 0 {
						time.Sleep(time.Microsecond)
					}
					r.Settle(cost)
					if stop > 0 && n > stop {
						return // as if killed: nothing is given back
					}
				}
			})
		}
		wg.Wait()
	}
	run(NewWallet(store, "r", "USD"), 50)
	lost := spent.Load()
	var wg sync.WaitGroup
	wallets := []*Wallet{NewWallet(store, "r", "USD"), NewWallet(store, "r", "USD"), NewWallet(store, "r", "USD")}
	for _, w := range wallets {
		wg.Go(func() { run(w, 0) })
	}
	wg.Wait()
	for _, w := range wallets {
		if err := w.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if got := spent.Load(); got > limit || got < limit*9/10 {
		t.Errorf("spent %d of %d in %d calls, %d before the kill", got, limit, calls.Load(), lost)
	}
	// A larger budget goes on where this one ended, another reproduction has its own.
	w := NewWallet(store, "r", "USD")
	if _, err := w.Reserve(context.Background(), 2*limit, most); err != nil {
		t.Error(err)
	}
	if _, err := NewWallet(store, "other", "USD").Reserve(context.Background(), limit, limit); err != nil {
		t.Error(err)
	}
	if _, err := NewWallet(store, "r", "EUR").Reserve(context.Background(), limit, limit); err != nil {
		t.Error(err)
	}
}

// TestOvershootIsOneCallEach: where calls cost more than was set aside, the budget is exceeded
// by no more than the calls in flight.
func TestOvershootIsOneCallEach(t *testing.T) {
	w := NewWallet(memstore.Open(), "r", "USD")
	const limit, guess, cost, workers = 100_000, 100, 900, 8
	var spent atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				r, err := w.Reserve(context.Background(), limit, guess)
				if err != nil {
					return
				}
				spent.Add(cost)
				r.Settle(cost)
			}
		})
	}
	wg.Wait()
	if got := spent.Load(); got > limit+workers*cost {
		t.Errorf("spent %d of %d with %d calls in flight", got, limit, workers)
	}
}

// TestReserveWaits for what other calls give back, and names the budget when nothing comes.
func TestReserveWaits(t *testing.T) {
	w := NewWallet(memstore.Open(), "r", "USD")
	ctx := context.Background()
	first, err := w.Reserve(ctx, 1000, 900)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := w.Reserve(ctx, 1000, 500)
		second <- err
	}()
	time.Sleep(20 * time.Millisecond)
	first.Settle(100)
	if err := <-second; err != nil {
		t.Error(err)
	}
	var over *BudgetError
	ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := w.Reserve(ctx, 1000, 901); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while a call is in flight: %v", err)
	}
	if _, err := NewWallet(w.store, "r", "USD").Reserve(context.Background(), 1000, 901); !errors.As(err, &over) || over.Limit != 1000 {
		t.Errorf("got %v", err)
	}
}
