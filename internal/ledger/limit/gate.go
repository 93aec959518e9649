package limit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Limits of an endpoint; 0 means none.
type Limits struct {
	// Requests and Tokens are per minute, Concurrency at a time.
	Requests, Tokens, Concurrency int
}

// Options configure a gate. Now is required.
type Options struct {
	Limits
	Now func() time.Time
	// Patience is the longest wait inside Admit and Start. Default 20 s.
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
	closed                  time.Time // nothing is sent before
	strikes                 int       // refusals in a row, bursts counted once
	epoch                   int       // counts closings
	refused                 map[string]*refusal
	leased                  bool
	lease                   time.Time
	changed                 chan struct{} // closed and replaced when a waiter should look again
	closings                chan struct{} // holds a token after the endpoint asked to wait
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
		opts: o, allowed: o.Concurrency, refused: map[string]*refusal{}, changed: make(chan struct{}), closings: make(chan struct{}, 1),
		requests: newBucket(o.Requests, now), tokens: newBucket(o.Tokens, now),
	}
}

// Hold says that the lease lasts until t; a time that has passed shuts the gate. A gate on
// which Hold was never called needs no lease.
func (g *Gate) Hold(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leased, g.lease = true, t
	g.wake()
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

// InFlight returns how many permits are out.
func (g *Gate) InFlight() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inFlight
}

// wake makes waiters look again. The caller holds mu.
func (g *Gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// Permit is the right to send one request. Exactly one of Cancel, Done, Throttled and Refused
// ends it.
type Permit struct {
	gate   *Gate
	tokens float64
	epoch  int
	scope  string
	asked  time.Time
}

// Want is what a request asks of a gate.
type Want struct {
	// Tokens are about how many it takes.
	Tokens int
	// Scope names what else of the endpoint it uses, such as a model.
	Scope string
	// Asked is when it was asked for; zero means now.
	Asked time.Time
}

// Admit waits until a request may be sent. Errors: *WaitError when that would take longer than
// Options.Patience; *RefusedError; ErrNotHeld; the context's.
func (g *Gate) Admit(ctx context.Context, w Want) (*Permit, error) {
	p := &Permit{gate: g, tokens: float64(w.Tokens), scope: w.Scope, asked: w.Asked}
	if p.asked.IsZero() {
		p.asked = g.opts.Now()
	}
	err := g.wait(ctx, p, func(now time.Time) (time.Duration, bool) {
		if g.probed(p) {
			return 0, false
		}
		if d := max(g.closed.Sub(now), g.requests.delay(1, now), g.tokens.delay(p.tokens, now)); d > 0 {
			return d, false
		}
		if g.inFlight >= g.allowed {
			return 0, false
		}
		g.inFlight++
		g.requests.take(1)
		g.tokens.take(p.tokens)
		p.epoch = g.epoch
		g.probe(p)
		return 0, true
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Start is called right before the request is sent: the gate may have closed since Admit.
// Errors are those of Admit; the permit is still to be ended.
func (p *Permit) Start(ctx context.Context) error {
	g := p.gate
	return g.wait(ctx, p, func(now time.Time) (time.Duration, bool) {
		if d := g.closed.Sub(now); d > 0 {
			return d, false
		}
		p.epoch = g.epoch
		return 0, true
	})
}

// wait calls try until it says yes. try runs under mu and returns how long to wait before the
// next look, 0 for until something changes.
func (g *Gate) wait(ctx context.Context, p *Permit, try func(now time.Time) (time.Duration, bool)) error {
	patience := g.opts.Patience
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.mu.Lock()
		now := g.opts.Now()
		if g.leased && !now.Before(g.lease) {
			g.mu.Unlock()
			return ErrNotHeld
		}
		if err := g.refuses(p); err != nil {
			g.mu.Unlock()
			return err
		}
		d, ok := try(now)
		changed := g.changed
		g.mu.Unlock()
		switch {
		case ok:
			return nil
		case d > patience:
			return &WaitError{Delay: d, Until: now.Add(d)}
		case d == 0:
			d = time.Minute
		}
		timer := time.NewTimer(d)
		began := time.Now()
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
		// A crowd that waits for its turn comes back later instead of waiting for ever.
		patience = max(patience-time.Since(began), 10*time.Millisecond)
	}
}

// Cancel gives a permit back that was not used.
func (p *Permit) Cancel() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests.take(-1)
	g.tokens.take(-p.tokens)
	g.leave(p)
}

// Done ends a permit after a reply, or a failure that says nothing about the endpoint's
// limits. tokens is what the endpoint counted, negative when it did not say.
func (p *Permit) Done(tokens int, good bool) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if tokens >= 0 {
		g.tokens.take(float64(tokens) - p.tokens)
	}
	if good {
		g.accepted(p)
	}
	if good && p.epoch == g.epoch {
		g.strikes = 0
		if g.good++; g.good >= g.allowed && g.allowed < g.opts.Concurrency {
			g.allowed, g.good = g.allowed+1, 0
		}
	}
	g.leave(p)
}

// Throttled ends a permit after the endpoint refused it and asked to wait for after; 0 when it
// named no time, and never longer than MaxPause. It returns when the gate opens again.
func (p *Permit) Throttled(after time.Duration) time.Time {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opts.Now()
	fresh := p.epoch == g.epoch
	if fresh {
		g.epoch++
		g.strikes++
		g.good = 0
		g.allowed = max(1, min(g.allowed, max(g.inFlight, 1))/2)
	}
	if after <= 0 && (fresh || !g.closed.After(now)) {
		after = g.backoff()
	}
	if t := now.Add(min(after, MaxPause)); t.After(g.closed) {
		g.closed = t
		select {
		case g.closings <- struct{}{}:
		default:
		}
	}
	g.leave(p)
	return g.closed
}

// backoff doubles with every refusal in a row, with up to a quarter of chance on top.
func (g *Gate) backoff() time.Duration {
	d := g.opts.Backoff << min(max(g.strikes-1, 0), 20)
	if d <= 0 || d > g.opts.BackoffMax {
		d = g.opts.BackoffMax
	}
	return d + rand.N(d/4+1)
}

// leave takes one request out of flight. The caller holds mu.
func (g *Gate) leave(p *Permit) {
	g.inFlight--
	for _, r := range g.refused {
		if r.probe == p {
			r.probe = nil
		}
	}
	g.wake()
}
