package activities

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// pulse sends heartbeats while an activity makes progress, and renews the claims it holds.
// Work that hangs stops the heartbeat, so that the server gives the attempt up.
type pulse struct {
	ctx   context.Context
	work  context.Context
	stop  context.CancelCauseFunc
	a     *Activities
	total int
	// stall is how long work may make no progress; detail is what a heartbeat carries, nil for a
	// contract.Beat.
	stall  time.Duration
	detail func() any
	// serves says that ctx is an activity's; otherwise nobody hears heartbeats, and drain, which
	// closes when the worker stops, stays nil.
	serves bool
	drain  <-chan struct{}

	done atomic.Int64
	last atomic.Int64 // time of the last progress, Unix nanoseconds
	end  chan struct{}
	wg   sync.WaitGroup

	mu     sync.Mutex // guards claims
	claims map[*artifacts.Claim]struct{}
}

// claimTTL is how long a claim outlives its last renewal. Clocks of workers may differ by
// less than that.
const claimTTL = 2 * time.Minute

// maxBeat is the longest time between heartbeats.
const maxBeat = 5 * time.Second

// beat starts the pulse of an activity of total items, or of the same work outside of one. The
// caller defers close.
func (a *Activities) beat(ctx context.Context, total int) *pulse {
	return a.beatFor(ctx, total, a.opts.Stall, nil)
}

// beatFor is beat with a stall limit and details of its own.
func (a *Activities) beatFor(ctx context.Context, total int, stall time.Duration, detail func() any) *pulse {
	p := &pulse{ctx: ctx, a: a, total: total, stall: stall, detail: detail, end: make(chan struct{}), claims: map[*artifacts.Claim]struct{}{}, serves: activity.IsActivity(ctx)}
	if p.serves {
		p.drain = activity.GetWorkerStopChannel(ctx)
	}
	// An item in hand is finished although the activity is cancelled.
	p.work, p.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	p.progress()
	interval := a.opts.Beat
	if interval <= 0 && p.serves {
		interval = activity.GetInfo(ctx).HeartbeatTimeout / 4
	}
	if interval <= 0 || interval > maxBeat {
		interval = maxBeat
	}
	p.wg.Add(1)
	go p.run(interval)
	return p
}

func (p *pulse) run(interval time.Duration) {
	defer p.wg.Done()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	renewed := p.a.opts.Now()
	for {
		select {
		case <-p.end:
			return
		case <-tick.C:
		}
		now := p.a.opts.Now()
		if now.UnixNano()-p.last.Load() > int64(p.stall) {
			continue
		}
		if p.a.opts.Fault != nil {
			p.a.opts.Fault(FaultInHeartbeat)
		}
		if p.serves {
			activity.RecordHeartbeat(p.ctx, p.details())
		}
		if now.Sub(renewed) > claimTTL/4 {
			renewed = now
			p.renew()
		}
	}
}

func (p *pulse) details() any {
	if p.detail != nil {
		return p.detail()
	}
	return contract.Beat{Done: int(p.done.Load()), Total: p.total}
}

// renew extends the claims; one that was taken over stops the work under it.
func (p *pulse) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.claims {
		err := p.a.opts.Store.Renew(p.work, c, claimTTL)
		var stale *artifacts.StaleClaimError
		if errors.As(err, &stale) {
			p.stop(err)
			return
		}
	}
}

// close ends the pulse and waits for its goroutine.
func (p *pulse) close() {
	close(p.end)
	p.wg.Wait()
	p.stop(nil)
}

// progress says that something moved without an item being done.
func (p *pulse) progress() { p.last.Store(p.a.opts.Now().UnixNano()) }

// step says that n items are done.
func (p *pulse) step(n int) {
	p.done.Add(int64(n))
	p.progress()
}

// hold and drop keep the list of claims to renew.
func (p *pulse) hold(c *artifacts.Claim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims[c] = struct{}{}
}

func (p *pulse) drop(c *artifacts.Claim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.claims, c)
}

// next reports whether another item may begin: nil, the cancellation, or errDraining.
func (p *pulse) next() error {
	select {
	case <-p.ctx.Done():
		return p.ctx.Err()
	case <-p.drain:
		return errDraining
	default:
		return nil
	}
}
