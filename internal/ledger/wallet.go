package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"cxrepro/artifacts"
)

// BudgetError says that a reproduction may not spend what the next call could cost.
type BudgetError struct {
	Currency string
	// Limit, Taken and Need are in millionths of the currency. Taken holds everything that
	// was handed out to processes, also what a killed one lost.
	Limit, Taken, Need int64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the budget of %s is used up: %s are taken, and the next call could cost %s",
		money(e.Limit, e.Currency), money(e.Taken, e.Currency), money(e.Need, e.Currency))
}

func money(micro int64, currency string) string {
	return fmt.Sprintf("%.4f %s", float64(micro)/1e6, currency)
}

// Wallet holds what one process may still spend for one reproduction in one currency. It takes
// portions out of a durable cell before they are spent, so that a kill can lose the rest of a
// portion and never spends it twice. It serves several goroutines.
type Wallet struct {
	store        *artifacts.Repository
	reproduction string
	currency     string

	mu       sync.Mutex // guards what follows; also held while the cell is swapped
	left     int64      // taken out and not reserved
	reserved int64
	freed    chan struct{} // closed and replaced when a reservation ends
}

// portions is how many portions a budget is cut into, unless one call needs more.
const portions = 100

// budget is the body of the cell.
type budget struct {
	Format       string `json:"format"`
	Reproduction string `json:"reproduction"`
	Currency     string `json:"currency"`
	// Taken is the sum of all portions, less what was given back.
	Taken int64 `json:"taken"`
}

const (
	budgetFormat = "cxrepro-budget-1"
	areaBudgets  = "budgets"
)

// NewWallet returns the empty wallet of a reproduction.
func NewWallet(store *artifacts.Repository, reproduction, currency string) *Wallet {
	return &Wallet{store: store, reproduction: reproduction, currency: currency, freed: make(chan struct{})}
}

// Reservation is money set aside for one call.
type Reservation struct {
	wallet *Wallet
	amount int64
}

// Reserve sets amount aside, of at most limit in all. While other calls of this process may
// still give something back, it waits for them.
//
// Errors: *BudgetError; the store's.
func (w *Wallet) Reserve(ctx context.Context, limit, amount int64) (*Reservation, error) {
	for {
		w.mu.Lock()
		var err error
		if w.left < amount {
			err = w.fetch(ctx, limit, amount)
		}
		if err == nil {
			w.left -= amount
			w.reserved += amount
			w.mu.Unlock()
			return &Reservation{wallet: w, amount: amount}, nil
		}
		freed, others := w.freed, w.reserved > 0
		w.mu.Unlock()
		var spent *BudgetError
		if !errors.As(err, &spent) || !others {
			return nil, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fetch takes a portion out of the cell, so that left is at least amount. The caller holds mu.
func (w *Wallet) fetch(ctx context.Context, limit, amount int64) error {
	return w.swap(ctx, func(b *budget) error {
		least := amount - w.left
		if b.Taken+least > limit {
			return &BudgetError{Currency: w.currency, Limit: limit, Taken: b.Taken, Need: amount}
		}
		portion := min(max(least, limit/portions), limit-b.Taken)
		b.Taken += portion
		return nil
	})
}

// swap changes the cell and moves the difference into the wallet. The caller holds mu.
func (w *Wallet) swap(ctx context.Context, change func(*budget) error) error {
	name := w.reproduction + "-" + strings.ToLower(w.currency)
	for {
		cell, err := w.store.Cell(ctx, areaBudgets, name)
		if err != nil && !errors.Is(err, artifacts.ErrNotFound) {
			return err
		}
		b := budget{Format: budgetFormat, Reproduction: w.reproduction, Currency: w.currency}
		if err == nil {
			if err := json.Unmarshal(cell.Body, &b); err != nil || b.Format != budgetFormat {
				return fmt.Errorf("budget %s: the cell cannot be read; remove %s/%s to begin it anew", name, areaBudgets, name)
			}
		}
		before := b.Taken
		if err := change(&b); err != nil {
			return err
		}
		body, err := artifacts.Canonical(b)
		if err != nil {
			return err
		}
		if _, err = w.store.SwapCell(ctx, cell, body); err == nil {
			w.left += b.Taken - before
			return nil
		}
		if !errors.Is(err, artifacts.ErrPrecondition) {
			return err
		}
	}
}

// Settle ends a reservation with what the call really cost. What it cost beyond the reservation
// is taken from the next portions.
func (r *Reservation) Settle(cost int64) {
	w := r.wallet
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reserved -= r.amount
	w.left += r.amount - cost
	close(w.freed)
	w.freed = make(chan struct{})
}

// Keep ends a reservation of a call that may have been billed: all of it counts as spent.
func (r *Reservation) Keep() { r.Settle(r.amount) }

// Close gives back what was taken out and not spent.
func (w *Wallet) Close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 {
		return nil
	}
	return w.swap(ctx, func(b *budget) error {
		b.Taken -= w.left
		return nil
	})
}
