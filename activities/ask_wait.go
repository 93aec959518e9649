package activities

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"

	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
)

// acquire waits for the endpoint's limits. The request is made ready meanwhile, with pictures that
// come from another machine, so that it can be sent as soon as another one's reply was read.
func (c *call) acquire() (*limit.Permit, error) {
	c.beat.alive(c.patience())
	for _, ref := range c.Request.Transcript.Images() {
		c.of.opts.Store.Soon(c.beat.work, ref) // the disk reads while the call waits
	}
	p, err := c.endpoint.Gate.Admit(c.beat.wait, limit.Want{Tokens: c.tokens(), Scope: c.Card.Name, Asked: activity.GetInfo(c.beat.ctx).ScheduledTime})
	if err != nil {
		return nil, c.waited(err)
	}
	c.prepare()
	c.beat.alive(c.patience())
	if err := c.waited(p.Enter(c.beat.wait)); err != nil {
		p.Cancel()
		return nil, err
	}
	return p, nil
}

// prepare makes the request ready. One that cannot be sent fails where it would be sent.
func (c *call) prepare() {
	if c.send != nil {
		return
	}
	var send lvlm.Send
	pictures, err := c.of.pictures(c.beat.work, c.Request)
	if err == nil {
		send, err = c.endpoint.Asker.Prepare(c.beat.work, c.Request, pictures)
	}
	if err != nil {
		send = func(context.Context) (lvlm.Reply, error) { return lvlm.Reply{}, err }
	}
	c.send = send
}

// waited says why a wait ended early: cancelled, draining, or too long a wait.
func (c *call) waited(err error) error {
	if err == nil {
		return nil
	}
	if ended := c.beat.ended(); ended != nil {
		return c.outOfTime(ended)
	}
	var wait *limit.WaitError
	if errors.As(err, &wait) {
		// Those who wait together come back one by one.
		return &endpointError{name: c.endpoint.Name, err: err, delay: wait.Delay + rand.N(min(wait.Delay, limit.LongPause)/8+time.Millisecond)}
	}
	var refused *limit.RefusedError
	if errors.As(err, &refused) {
		return &endpointError{name: c.endpoint.Name, err: refused.Err}
	}
	if errors.Is(err, limit.ErrNotHeld) {
		return fmt.Errorf("endpoint %s: %w: %w", c.endpoint.Name, err, errDraining)
	}
	return err
}

// outOfTime names what a call waited for whose time is up: it is the endpoint's doing, and not
// an error that nobody knows.
func (c *call) outOfTime(ended error) error {
	if !errors.Is(ended, errOutOfTime) && !errors.Is(ended, context.DeadlineExceeded) {
		return ended
	}
	e := &lvlm.CallError{Class: lvlm.Transient, Detail: "the time of the attempt was up while it waited for its turn; nothing was sent", Cause: ended}
	if until := c.endpoint.Gate.Closed(); until.After(c.of.opts.Now()) {
		e.Class = lvlm.Throttled
		e.Detail = "the time of the attempt was up while the endpoint asked to wait, " + limit.Long(until)
	}
	return &endpointError{name: c.endpoint.Name, err: e, attempt: attemptNumber(c.beat.ctx)}
}

// patience is how long a call may go without moving: the longest wait at the gate, or one
// request, and some more.
func (c *call) patience() time.Duration {
	return c.of.opts.Stall + max(c.endpoint.Timeout, time.Minute)
}
