package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/recorded"
)

// call is a call on its way.
type call struct {
	*derive.Call
	of       *asks
	beat     *askBeat
	endpoint *AskEndpoint
	// send is the request, ready to be sent.
	send     lvlm.Send
	claim    *artifacts.Claim
	attempts ledger.Attempts
	started  time.Time
	worker   string
}

// call makes the call, and commits what comes of it.
//
// Errors: *artifacts.HeldError while another process makes it; failures of the endpoint, which
// leave their attempts in the claim.
func (s *asks) call(b *askBeat, q *derive.Call) (ledger.Entry, error) {
	c := &call{Call: q, of: s, beat: b, worker: s.opts.Owner.Worker}
	if err := c.admit(); err != nil {
		return ledger.Entry{}, err
	}
	permit, err := c.acquire()
	if err != nil {
		return ledger.Entry{}, err
	}
	// The claim comes last: who dies with it in hand had a request under way, or nearly so.
	entry, err := c.claimed(permit)
	var done *artifacts.CommittedError
	if errors.As(err, &done) {
		return ledger.Open(b.work, s.opts.Store, done.Record)
	}
	return entry, err
}

// admit finds the endpoint and compares what it vouches for with the class of the data, before
// anything is encoded for it.
func (c *call) admit() error {
	name := c.Card.Name
	if c.of.opts.Endpoint == nil {
		return fail(contract.ErrTypeEndpoint, "this worker has no endpoint for model card %s; name one in the file of --endpoints", name)
	}
	e, err := c.of.opts.Endpoint(name)
	if err != nil {
		return err
	}
	c.endpoint = e
	if e.Recorded {
		_, err := recorded.Asker{}.Prepare(c.beat.work, c.Request, nil)
		return &endpointError{name: e.Name, err: err}
	}
	if err := datause.AllowEndpoint(c.Class, e.Attestation, c.of.opts.Now()); err != nil {
		c.of.opts.Log.Error("call refused: the endpoint may not receive these data", "endpoint", e.Name, "card", name, "class", c.ClassName,
			"reproduction", c.Reproduction, "call", c.About, "err", err)
		return fail(contract.ErrTypeRefused, "endpoint %s, model card %s: %w; nothing was sent", e.Name, name, err)
	}
	return nil
}

// claimed claims the key and makes the call under it. It ends the permit.
func (c *call) claimed(permit *limit.Permit) (entry ledger.Entry, err error) {
	s, b := c.of, c.beat
	claim, err := s.opts.Store.Claim(b.work, c.Ledger.Key, c.owner(), claimTTL)
	if err != nil {
		permit.Cancel()
		return entry, err
	}
	c.claim, c.started = claim, s.opts.Now()
	b.hold(claim)
	defer func() {
		b.hold(nil)
		// A claim that cannot be released expires by itself.
		if rerr := s.opts.Store.Release(context.WithoutCancel(b.ctx), claim); rerr != nil {
			s.opts.Log.Warn("claim not released", "key", c.Ledger.Key.Short(), "err", rerr)
		}
	}()
	// An outcome may have been recorded since the look-up; claims only see answers.
	if entry, err = ledger.FindOutcome(b.work, s.opts.Store, c.Ledger, c.Retry); !errors.Is(err, artifacts.ErrNotFound) {
		permit.Cancel()
		return entry, err
	}
	if err = c.inherit(); err == nil {
		if n := len(c.Request.Transcript.Images()); c.Card.MaxPictures > 0 && n > c.Card.MaxPictures {
			permit.Cancel()
			return c.end(lvlm.Reply{Answer: lvlm.Answer{Outcome: lvlm.Invalid, Detail: fmt.Sprintf("%d pictures; model card %s allows %d", n, c.Card.Name, c.Card.MaxPictures)}})
		}
	}
	if err != nil {
		permit.Cancel()
		return entry, err
	}
	return c.ask(permit)
}

func (c *call) owner() artifacts.Owner {
	return ownerOf(c.beat.ctx, c.of.opts.Owner, c.Reproduction)
}

// inherit takes over the attempts of earlier holders of the claim. A request whose end nobody
// saw is written down at once, so that it is not forgotten when this process dies too.
func (c *call) inherit() (err error) {
	if c.attempts, err = ledger.Inherit(c.claim); err != nil {
		c.of.opts.Log.Warn("attempts of earlier holders are lost", "err", err)
	}
	switch c.claim.Takeover {
	case artifacts.TakeoverNone, artifacts.TakeoverReleased:
		return nil
	}
	c.of.opts.Log.Warn("a call is repeated: nobody saw the end of the last request", "key", c.Ledger.Key.Short(), "cause", c.claim.Takeover.String(), "worker", c.claim.Previous.Worker)
	return c.annotate()
}

func (c *call) annotate() error {
	text, err := c.attempts.Note()
	if err != nil {
		return err
	}
	return c.of.opts.Store.Annotate(c.beat.work, c.claim, text)
}

// ask sends the request, again where the reply holds no answer and the card allows it.
func (c *call) ask(permit *limit.Permit) (ledger.Entry, error) {
	for {
		reply, err := c.sent(permit)
		if err != nil {
			return ledger.Entry{}, err
		}
		if c.answers(reply.Answer) || !again(reply.Answer.Outcome) || c.unanswered() > c.Card.Retries {
			return c.end(reply)
		}
		if err := c.annotate(); err != nil {
			return ledger.Entry{}, err
		}
		if permit, err = c.acquire(); err != nil {
			return ledger.Entry{}, err
		}
	}
}

// again reports whether the same request may be answered another time.
func again(o lvlm.Outcome) bool { return o == lvlm.Refusal || o == lvlm.Empty || o == lvlm.Truncated }

// unanswered counts the replies so far that may be asked for again, also those of earlier
// holders of the claim.
func (c *call) unanswered() (n int) {
	for _, e := range c.attempts.Ends {
		if again(lvlm.Outcome(e.Name)) {
			n += e.N
		}
	}
	return n
}

// sent sends the request once and counts it. It ends the permit, as soon as the reply is read.
func (c *call) sent(permit *limit.Permit) (reply lvlm.Reply, err error) {
	money, err := c.reserve()
	if err != nil {
		permit.Cancel()
		return reply, err
	}
	c.beat.alive(c.patience())
	if err := c.waited(permit.Start(c.beat.wait)); err != nil {
		permit.Cancel()
		money.Settle(0)
		return reply, err
	}
	c.fault(FaultBeforeRequest)
	began := c.of.opts.Now()
	reply, err = c.exchange(began)
	c.fault(FaultAfterReply)
	if err != nil {
		return reply, c.failed(permit, money, began, err)
	}
	reply.Mend()
	usage := reply.Served.Usage
	cost := c.attempts.Reply(began, c.worker, reply, c.endpoint.Price)
	switch {
	case usage.Unreported > 0:
		permit.Done(-1, true)
		money.Keep()
	default:
		permit.Done(int(usage.Total()), true)
		money.Settle(cost)
	}
	return reply, nil
}

// overtime is how much longer than its time a request may take before it is cut off.
const overtime = 10 * time.Second

// exchange puts the request to the endpoint and waits for the reply, within its time. began is
// when it was sent.
func (c *call) exchange(began time.Time) (lvlm.Reply, error) {
	ctx := c.beat.work
	if c.endpoint.Timeout > 0 {
		var cancel context.CancelFunc
		// The adapter ends it by itself; this is for one that does not.
		ctx, cancel = context.WithTimeout(ctx, c.endpoint.Timeout+c.of.overtime)
		defer cancel()
	}
	reply, err := c.send(ctx)
	if errors.Is(err, artifacts.ErrDigestMismatch) {
		reply, err = c.send(ctx) // no whole request was sent; a damaged read is tried once more
	}
	var known *lvlm.CallError
	if err != nil && ctx.Err() != nil && !errors.As(err, &known) {
		// It may have been sent, and billed.
		err = &lvlm.CallError{Class: lvlm.Transient, Sent: true, Cause: ctx.Err(), Detail: fmt.Sprintf("no reply within %s, or interrupted", c.endpoint.Timeout+c.of.overtime)}
	}
	if err == nil && reply.Served.Latency == 0 {
		reply.Served.Latency = c.of.opts.Now().Sub(began)
	}
	if name := c.Request.Serve; err == nil && name != "" && reply.Served.Model != name {
		return reply, &lvlm.CallError{Class: lvlm.Configured, Status: 200, Code: StaleModel, Sent: true,
			Detail: fmt.Sprintf("model %.80q answered where %s was asked for; serve that checkpoint under its digest", lvlm.Valid(reply.Served.Model), name)}
	}
	return reply, err
}

// StaleModel is the code of a reply by another checkpoint than the one that was asked.
const StaleModel = "stale_model"

// failed counts a request that was not answered, tells the gate, and leaves the attempts in the
// claim for whoever tries next.
func (c *call) failed(permit *limit.Permit, money *reserved, began time.Time, err error) error {
	var e *lvlm.CallError
	if !errors.As(err, &e) {
		// Not the endpoint: a picture could not be read, so nothing was sent.
		permit.Cancel()
		money.Settle(0)
		return err
	}
	e.Detail, e.Code = lvlm.Valid(e.Detail), lvlm.Valid(e.Code)
	ended := c.of.opts.Now()
	out := &endpointError{name: c.endpoint.Name, err: e, attempt: attemptNumber(c.beat.ctx)}
	switch {
	case e.Class == lvlm.Throttled:
		until := permit.Throttled(e.RetryAfter)
		out.delay = until.Sub(ended)
		if out.delay > limit.LongPause {
			out.err = fmt.Errorf("%w; it asks to wait %s", e, limit.Long(until))
		}
	case e.Pauses():
		// A wrong setting may be that of one model; credentials and quota are everybody's.
		permit.Refused(e.Class != lvlm.Configured, e)
	default:
		permit.Done(-1, false)
	}
	if ledger.MaybeBilled(e) {
		money.Keep()
	} else {
		money.Settle(0)
	}
	c.attempts.Failure(began, ended, c.worker, e)
	return errors.Join(out, c.annotate())
}

func (c *call) fault(name string) {
	if c.of.opts.Fault != nil {
		c.of.opts.Fault(name)
	}
}
