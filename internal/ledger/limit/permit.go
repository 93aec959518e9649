package limit

import (
	"context"
	"math/rand/v2"
	"time"
)

// Permit is the right to make one request ready and then, once it entered, to send it. Exactly
// one of Cancel, Done, Throttled and Refused ends it.
type Permit struct {
	gate    *Gate
	tokens  float64
	epoch   int
	scope   string
	asked   time.Time
	entered bool
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

// Admit waits until a request may be made ready: it will be in flight at once, or when one of
// those that are ends. The rates count it from here on. Errors: *WaitError when that would take
// longer than Options.Patience; *RefusedError; ErrNotHeld; the context's.
func (g *Gate) Admit(ctx context.Context, w Want) (*Permit, error) {
	p := &Permit{gate: g, tokens: float64(w.Tokens), scope: w.Scope, asked: w.Asked}
	if p.asked.IsZero() {
		p.asked = g.opts.Now()
	}
	err := g.wait(ctx, p, &g.turns, func(now time.Time) (time.Duration, verdict) {
		if g.probed(p) {
			return 0, notYet
		}
		if d := max(g.closed.Sub(now), g.requests.delay(1, now), g.tokens.delay(p.tokens, now)); d > 0 {
			return d, notYet
		}
		if g.admitted >= g.allowed+g.ready {
			return 0, full
		}
		g.admitted++
		g.requests.take(1)
		g.tokens.take(p.tokens)
		p.epoch = g.epoch
		g.probe(p)
		return 0, yes
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Enter waits until the request may be in flight. Errors are those of Admit; the permit is
// still to be ended.
func (p *Permit) Enter(ctx context.Context) error {
	g := p.gate
	return g.wait(ctx, p, &g.places, func(now time.Time) (time.Duration, verdict) {
		if d := g.closed.Sub(now); d > 0 {
			return d, notYet
		}
		if g.inFlight >= g.allowed {
			return 0, full
		}
		g.inFlight++
		p.entered = true
		return 0, yes
	})
}

// Start is called right before the request is sent: the gate may have closed since Enter.
// Errors are those of Admit; the permit is still to be ended.
func (p *Permit) Start(ctx context.Context) error {
	g := p.gate
	return g.wait(ctx, p, &g.starts, func(now time.Time) (time.Duration, verdict) {
		if d := g.closed.Sub(now); d > 0 {
			return d, notYet
		}
		p.epoch = g.epoch
		return 0, yes
	})
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

// leave takes a permit back. The caller holds mu.
func (g *Gate) leave(p *Permit) {
	g.admitted--
	if p.entered {
		g.inFlight--
	}
	for _, r := range g.refused {
		if r.probe == p {
			r.probe = nil
		}
	}
	g.starts.wake()
	g.places.wake()
	g.turns.wake()
}
