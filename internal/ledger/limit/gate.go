package limit

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits of an endpoint; 0 means none.
type Limits struct {
	// Requests and Tokens are per minute, Concurrency at a time.
	Requests, Tokens, Concurrency int
}

// aheadPart is the part of the concurrency that is admitted beside what is in flight.
const aheadPart = 8

// ahead is how many requests may be made ready while as many as allowed are in flight.
func (l Limits) ahead() int { return max(1, l.Concurrency/aheadPart) }

// Options configure a gate. Now is required.
type Options struct {
	Limits
	Now func() time.Time
	// Patience is the longest wait inside Admit, Enter and Start. Default 20 s.
	Patience time.Duration
	// Backoff is the first pause after a refusal that names none, BackoffMax the longest.
	// Defaults 5 s and 5 min.
	Backoff, BackoffMax time.Duration
}

// ErrNotHeld: the lease of the endpoint is not ours any more, so nothing may be sent.
var ErrNotHeld = errors.New("the lease of the endpoint has ended")

// MaxPause is the longest pause that an endpoint is granted, whatever it asks for. It can ask
// again afterwards. LongPause is what a person should hear of.
const (
	MaxPause  = 24 * time.Hour
	LongPause = time.Hour
)

// WaitError says that nothing may be sent for some time, longer than Admit waits.
type WaitError struct {
	Delay time.Duration
	// Until is the end of that time.
	Until time.Time
}

func (e *WaitError) Error() string {
	s := fmt.Sprintf("the endpoint's limits ask to wait for %s", e.Delay.Round(time.Millisecond))
	if e.Delay > LongPause {
		s += ", " + Long(e.Until)
	}
	return s
}

// Long says until when a long pause lasts.
func Long(until time.Time) string {
	return fmt.Sprintf("until %s; nothing is sent there before", until.UTC().Format(time.RFC3339))
}

// Gate lets requests through. It serves several goroutines.
type Gate struct {
	opts Options

	mu               sync.Mutex // guards what follows
	requests, tokens bucket
	// allowed is how many may be in flight now; it is halved by a refusal and grows by one
	// after as many good replies.
	allowed, inFlight, good int
	// admitted counts every permit that is out, ready counts on so many of them beyond allowed.
	admitted, ready       int
	closed                time.Time // nothing is sent before
	strikes               int       // refusals in a row, bursts counted once
	epoch                 int       // counts closings
	refused               map[string]*refusal
	leased                bool
	lease                 time.Time
	turns, places, starts line          // those who wait in Admit, Enter and Start
	closings              chan struct{} // holds a token after the endpoint asked to wait
}

// New returns an open gate.
func New(o Options) *Gate {
	if o.Patience <= 0 {
		o.Patience = 20 * time.Second
	}
	if o.Backoff <= 0 {
		o.Backoff = 5 * time.Second
	}
	if o.BackoffMax <= 0 {
		o.BackoffMax = 5 * time.Minute
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 1 << 20
	}
	now := o.Now()
	return &Gate{
		opts: o, allowed: o.Concurrency, ready: o.ahead(), refused: map[string]*refusal{}, closings: make(chan struct{}, 1),
		requests: newBucket(o.Requests, now), tokens: newBucket(o.Tokens, now),
	}
}

// Hold says that the lease lasts until t; a time that has passed shuts the gate. A gate on
// which Hold was never called needs no lease.
func (g *Gate) Hold(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leased, g.lease = true, t
	g.wakeAll()
}

// Close lets nothing through before t, unless it is closed for longer already. A time further
// off than MaxPause counts as MaxPause.
func (g *Gate) Close(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if most := g.opts.Now().Add(MaxPause); t.After(most) {
		t = most
	}
	if t.After(g.closed) {
		g.closed = t
	}
}

// Closed returns until when nothing is sent; a time that has passed means open.
func (g *Gate) Closed() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Closings receives after the endpoint asked to wait, for whoever passes that on.
func (g *Gate) Closings() <-chan struct{} { return g.closings }

// InFlight returns how many requests are in flight: entered, and not ended.
func (g *Gate) InFlight() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inFlight
}
