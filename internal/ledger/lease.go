package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/ledger/limit"
)

// LeaseHeldError says that another process uses the endpoint.
type LeaseHeldError struct {
	Name    string
	Holder  artifacts.Owner
	Expires time.Time
}

func (e *LeaseHeldError) Error() string {
	return fmt.Sprintf("%s is served by %s until %s", e.Name, e.Holder, e.Expires.UTC().Format(time.RFC3339))
}

// LostError says that another process took the lease over.
type LostError struct {
	Name         string
	Ours, Theirs int
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the lease of %s was taken over: fence %d, ours is %d", e.Name, e.Theirs, e.Ours)
}

// Leases takes leases for one process.
type Leases struct {
	Store *artifacts.Repository
	// Owner names this process.
	Owner artifacts.Owner
	Now   func() time.Time
	// Dead reports whether a holder's process certainly no longer runs; nil knows nothing.
	Dead func(artifacts.Owner) bool
	// TTL is how long a lease outlives its last renewal. Clocks may differ by less than that.
	TTL time.Duration
}

// Lease is the right to send to an endpoint with a credential. It serves one goroutine.
type Lease struct {
	// NotBefore is when the endpoint wants the next request at the earliest, as the last
	// holder knew it.
	NotBefore time.Time

	of   *Leases
	cell artifacts.Cell
	doc  leaseDoc
	// until is by our own clock, from before the store was asked.
	until time.Time
}

// leaseDoc is the body of the cell. Fence counts the holders.
type leaseDoc struct {
	Format    string          `json:"format"`
	Fence     int             `json:"fence"`
	Holder    artifacts.Owner `json:"holder"`
	Released  bool            `json:"released"`
	Expires   time.Time       `json:"expires"`
	NotBefore time.Time       `json:"not_before,omitzero"`
}

const (
	leaseFormat = "cxrepro-lease-1"
	areaLeases  = "leases"
)

// Take takes the lease of an endpoint, named as its card names the pair of endpoint and
// credential: when nobody holds it, it ran out, or its holder's process is dead.
//
// Errors: *LeaseHeldError; the store's.
func (l *Leases) Take(ctx context.Context, name string) (*Lease, error) {
	now := l.Now()
	cell, err := l.Store.Cell(ctx, areaLeases, name)
	if err != nil && !errors.Is(err, artifacts.ErrNotFound) {
		return nil, err
	}
	var cur leaseDoc
	if err == nil {
		if err := json.Unmarshal(cell.Body, &cur); err != nil || cur.Format != leaseFormat {
			return nil, fmt.Errorf("lease %s: the cell cannot be read; remove %s/%s to begin it anew", name, areaLeases, name)
		}
		free := cur.Released || !now.Before(cur.Expires) || l.Dead != nil && l.Dead(cur.Holder)
		if !free {
			return nil, &LeaseHeldError{Name: name, Holder: cur.Holder, Expires: cur.Expires}
		}
	}
	cur.NotBefore = bounded(cur.NotBefore, now)
	out := &Lease{of: l, cell: cell, NotBefore: cur.NotBefore}
	out.doc = leaseDoc{Format: leaseFormat, Fence: cur.Fence + 1, Holder: l.Owner, NotBefore: cur.NotBefore}
	err = out.write(ctx, now)
	if errors.Is(err, artifacts.ErrPrecondition) {
		return nil, &LeaseHeldError{Name: name, Holder: artifacts.Owner{Worker: "another process"}, Expires: now.Add(l.TTL)}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// bounded keeps a pause within what an endpoint is granted, also one that was stored before.
func bounded(notBefore, now time.Time) time.Time {
	if most := now.Add(limit.MaxPause).UTC(); notBefore.After(most) {
		return most
	}
	return notBefore
}

func (l *Lease) write(ctx context.Context, now time.Time) error {
	doc := l.doc
	doc.Expires = now.Add(l.of.TTL).UTC()
	body, err := artifacts.Canonical(doc)
	if err != nil {
		return err
	}
	cell, err := l.of.Store.SwapCell(ctx, l.cell, body)
	if err != nil {
		return err
	}
	l.cell, l.doc = cell, doc
	l.until = now.Add(l.of.TTL)
	return nil
}

// Fence counts the holders of the lease up to this one.
func (l *Lease) Fence() int { return l.doc.Fence }

// Until is when the lease ends unless it is renewed. A holder stops a little before: the next
// one may begin at that time.
func (l *Lease) Until() time.Time { return l.until }

// Renew extends the lease and leaves word of when the endpoint wants the next request.
//
// Errors: *LostError when another process holds it now; the store's, after which the lease may
// still be renewed.
func (l *Lease) Renew(ctx context.Context, notBefore time.Time) error {
	now := l.of.Now()
	if notBefore.After(now) {
		l.doc.NotBefore = bounded(notBefore, now).UTC()
	} else {
		l.doc.NotBefore = time.Time{}
	}
	err := l.write(ctx, now)
	if errors.Is(err, artifacts.ErrPrecondition) {
		return l.lost(ctx)
	}
	return err
}

func (l *Lease) lost(ctx context.Context) error {
	e := &LostError{Name: l.cell.Name, Ours: l.doc.Fence}
	if cell, err := l.of.Store.Cell(ctx, areaLeases, l.cell.Name); err == nil {
		var cur leaseDoc
		if json.Unmarshal(cell.Body, &cur) == nil {
			e.Theirs = cur.Fence
		}
	}
	return e
}

// Release gives the lease back. One that was taken over stays with its new holder.
func (l *Lease) Release(ctx context.Context) error {
	l.doc.Released = true
	err := l.write(ctx, l.of.Now())
	if errors.Is(err, artifacts.ErrPrecondition) {
		return nil
	}
	return err
}
