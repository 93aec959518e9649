package storetest

import (
	"context"
	"sync"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
)

// Host is a machine with a clock that tests move and processes that tests kill.
type Host struct {
	*localhost.Host

	mu    sync.Mutex // guards ahead and dead
	ahead time.Duration
	dead  map[int]bool
}

var _ artifacts.Host = (*Host)(nil)

// NewHost returns a host whose clock shows the real time.
func NewHost() *Host { return &Host{Host: localhost.New(), dead: map[int]bool{}} }

// Now returns the moved time.
func (h *Host) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Host.Now().Add(h.ahead)
}

// Advance moves the clock.
func (h *Host) Advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead += d
}

// Sleep waits a hundredth of d, so that elections stay quick and still overlap.
func (h *Host) Sleep(ctx context.Context, d time.Duration) error {
	return h.Host.Sleep(ctx, d/100)
}

// Kill declares the process number dead.
func (h *Host) Kill(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dead[pid] = true
}

// Dead reports whether the owner's process number was killed.
func (h *Host) Dead(o artifacts.Owner) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dead[o.PID]
}
