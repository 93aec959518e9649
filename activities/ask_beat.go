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

// askBeats sends the heartbeats of all calls of a worker from one goroutine, which lives while
// there are calls. A call that is over within a second sends none.
//
// It is not pulse, which belongs to one long activity: calls are many and short, so that a
// goroutine and a timer for each would be most of their cost; and where pulse counts items, a
// call mostly waits, which ends when the worker stops, the activity is cancelled or its time is
// nearly up, while a request in hand goes on.
type askBeats struct {
	opts Options

	mu      sync.Mutex // guards what follows
	live    map[*askBeat]struct{}
	running bool
}

const (
	// askBeatEvery is the time between heartbeats, beatTick how often the goroutine looks.
	askBeatEvery = time.Second
	beatTick     = 200 * time.Millisecond
	// beatSenders bounds how many heartbeats and renewals are under way at a time.
	beatSenders = 16
	// beatIdle is how many looks without a call end the goroutine.
	beatIdle = 25
)

// askBeat is the pulse of one call.
type askBeat struct {
	of *askBeats
	// ctx is the activity's. wait ends with it and when the worker stops: nothing is begun
	// then. work goes on: a request in hand is finished.
	ctx, wait, work context.Context
	// serves says that ctx is an activity's: others have no server to tell.
	serves   bool
	stopWait context.CancelCauseFunc
	stopWork context.CancelCauseFunc

	// until is when the call counts as stuck, Unix nanoseconds.
	until atomic.Int64
	// last is when a heartbeat was begun; it belongs to the goroutine of askBeats. renewed is
	// when the claim was renewed; it belongs to who made busy true, to send.
	last, renewed time.Time
	busy          atomic.Bool

	mu    sync.Mutex // guards claim
	claim *artifacts.Claim
}

func (s *askBeats) begin(ctx context.Context) *askBeat {
	b := &askBeat{of: s, ctx: ctx, serves: activity.IsActivity(ctx), last: s.opts.Now(), renewed: s.opts.Now()}
	b.wait, b.stopWait = context.WithCancelCause(ctx)
	if end, ok := ctx.Deadline(); ok {
		// A little before the server gives up, so that it still hears why.
		left := end.Sub(s.opts.Now())
		timer := time.AfterFunc(left-min(left/10, 5*time.Second), func() { b.stopWait(errOutOfTime) })
		context.AfterFunc(b.wait, func() { timer.Stop() })
	}
	b.work, b.stopWork = context.WithCancelCause(context.WithoutCancel(ctx))
	b.alive(s.opts.Stall)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[b] = struct{}{}
	if !s.running {
		s.running = true
		go s.run()
	}
	return b
}

func (b *askBeat) end() {
	b.of.mu.Lock()
	delete(b.of.live, b)
	b.of.mu.Unlock()
	b.stopWait(nil)
	b.stopWork(nil)
}

func (s *askBeats) run() {
	tick := time.NewTicker(s.interval())
	defer tick.Stop()
	senders := make(chan struct{}, beatSenders)
	var due []*askBeat
	for idle := 0; ; {
		<-tick.C
		now := s.opts.Now()
		s.mu.Lock()
		if idle++; len(s.live) > 0 {
			idle = 0
		}
		if idle > beatIdle {
			s.running = false
			s.mu.Unlock()
			return
		}
		due = due[:0]
		for b := range s.live {
			if b.due(now) {
				due = append(due, b)
			}
		}
		s.mu.Unlock()
		for _, b := range due {
			senders <- struct{}{}
			go func() {
				defer func() { <-senders }()
				b.send(now)
			}()
		}
	}
}

// interval is a fifth of the time between heartbeats.
func (s *askBeats) interval() time.Duration {
	if s.opts.Beat > 0 {
		return max(s.opts.Beat/5, time.Millisecond)
	}
	return beatTick
}

// due decides whether b shall send now, and ends its waiting when the worker stops.
func (b *askBeat) due(now time.Time) bool {
	if b.serves {
		select {
		case <-activity.GetWorkerStopChannel(b.ctx):
			b.stopWait(errDraining)
		default:
		}
	}
	every := askBeatEvery
	if b.of.opts.Beat > 0 {
		every = b.of.opts.Beat
	}
	if now.Sub(b.last) < every || now.UnixNano() >= b.until.Load() || !b.busy.CompareAndSwap(false, true) {
		return false
	}
	b.last = now
	return true
}

// send sends one heartbeat and renews the claim when it is time.
func (b *askBeat) send(now time.Time) {
	defer b.busy.Store(false)
	if b.of.opts.Fault != nil {
		b.of.opts.Fault(FaultInHeartbeat)
	}
	if b.serves {
		activity.RecordHeartbeat(b.ctx, contract.Beat{Total: 1})
	}
	if now.Sub(b.renewed) <= claimTTL/4 {
		return
	}
	b.renewed = now
	b.mu.Lock()
	claim := b.claim
	b.mu.Unlock()
	if claim == nil {
		return
	}
	var stale *artifacts.StaleClaimError
	if err := b.of.opts.Store.Renew(b.work, claim, claimTTL); errors.As(err, &stale) {
		b.stopWork(err)
	}
}

// alive says that the call is stuck only when nothing moves for d.
func (b *askBeat) alive(d time.Duration) { b.until.Store(b.of.opts.Now().Add(d).UnixNano()) }

// hold makes c the claim that is renewed; nil for none.
func (b *askBeat) hold(c *artifacts.Claim) {
	b.mu.Lock()
	b.claim = c
	b.mu.Unlock()
}

// errOutOfTime ends the waiting of an attempt whose time is up.
var errOutOfTime = errors.New("the time of the attempt is up")

// ended returns why nothing new may begin, or nil.
func (b *askBeat) ended() error {
	if b.wait.Err() == nil {
		return nil
	}
	return context.Cause(b.wait)
}

// await waits for ch to be closed, however long that takes: what it waits for has a pulse of
// its own.
func (b *askBeat) await(ch <-chan struct{}) error {
	for {
		b.alive(b.of.opts.Stall)
		timer := time.NewTimer(b.of.opts.Stall / 2)
		select {
		case <-ch:
			timer.Stop()
			return b.ended()
		case <-b.wait.Done():
			timer.Stop()
			return b.ended()
		case <-timer.C:
		}
	}
}

// pause waits a little.
func (b *askBeat) pause(d time.Duration) error {
	b.alive(d + b.of.opts.Stall)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.wait.Done():
	}
	return b.ended()
}
