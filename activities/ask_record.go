package activities

import (
	"context"
	"errors"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
)

// answers reports whether a reply is an answer: text that did not run into the token limit, or
// that holds what was asked for all the same.
func (c *call) answers(a lvlm.Answer) bool {
	switch a.Outcome {
	case lvlm.Answered:
		return true
	case lvlm.Truncated:
		return c.Readable != nil && c.Readable(a.Text)
	}
	return false
}

// end records what came of the call: an answer, or an outcome without one. A reply that cannot
// be recorded is paid for all the same, so the claim keeps its attempt for the account.
func (c *call) end(reply lvlm.Reply) (ledger.Entry, error) {
	entry, err := c.record(reply)
	if err != nil {
		return entry, errors.Join(err, c.annotate())
	}
	return entry, nil
}

// keepReply is how long a reply in hand waits for a store that does not take it.
const keepReply = time.Minute

// insist does something with the store again and again while a reply is in hand: asking once
// more would be paid once more. It ends with a failure that trying again does not help, after
// some time, or when the worker stops.
func (c *call) insist(what string, do func() error) error {
	s, b := c.of, c.beat
	until := s.opts.Now().Add(s.keepReply)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := do()
		if err == nil || artifacts.ClassOf(err) != artifacts.Transient || s.opts.Now().Add(wait).After(until) {
			return err
		}
		s.opts.Log.Warn("the store does not take a reply; it is kept and tried again", "key", c.Ledger.Key.Short(), "doing", what, "in", wait, "err", err)
		// A kill from now on shall not lose the attempt, if the claim can be written.
		if note := c.annotate(); note != nil {
			s.opts.Log.Warn("attempts not noted in the claim", "key", c.Ledger.Key.Short(), "err", note)
		}
		switch ended := b.pause(wait); {
		case errors.Is(ended, errOutOfTime):
			return err // the store is why
		case ended != nil:
			return errors.Join(ended, err)
		}
	}
}

func (c *call) record(reply lvlm.Reply) (ledger.Entry, error) {
	s, b := c.of, c.beat
	reply.Answer.Format = lvlm.AnswerFormat
	text, err := artifacts.Canonical(reply.Answer)
	if err != nil {
		return ledger.Entry{}, err
	}
	var result artifacts.Ref
	err = c.insist("put", func() (err error) {
		result, err = s.opts.Store.ForClass(datause.StoreClass(c.ClassName)).Put(b.work, text, lvlm.AnswerMediaType)
		return err
	})
	if err != nil {
		return ledger.Entry{}, err
	}
	c.fault(FaultAfterAnswerPut)
	s.answers.Put(result.Digest, reply.Answer, result.Size+200)
	entry := ledger.Entry{Record: artifacts.Record{Key: c.Ledger.Key, Result: result}, Facts: ledger.Facts{
		Kind: c.Kind, Outcome: reply.Answer.Outcome, Card: c.Card.Name, Endpoint: c.endpoint.Name, Served: reply.Served, Attempts: c.attempts,
	}}
	if c.answers(reply.Answer) {
		return entry, c.commit(c.claim, c.Ledger.Doc, &entry)
	}
	return entry, c.outcome(&entry)
}

// commit writes a record with its statement and takes over the first where there is one.
func (c *call) commit(claim *artifacts.Claim, doc artifacts.KeyDoc, entry *ledger.Entry) error {
	s, b := c.of, c.beat
	entry.Invocation = provenance.InvocationOf(c.claim)
	entry.Invocation.Started, entry.Invocation.Finished = c.started.UTC(), s.opts.Now().UTC()
	text, err := ledger.Statement(doc, entry.Record.Result, entry.Facts, entry.Invocation, c.Materials, s.opts.Code, s.opts.Environment)
	if err != nil {
		return err
	}
	var rec artifacts.Record
	err = c.insist("commit", func() (err error) {
		rec, err = s.opts.Store.CommitInline(b.work, claim, entry.Record, text)
		return err
	})
	var conflict *artifacts.ConflictError
	if errors.As(err, &conflict) {
		s.opts.Log.Warn("a call was answered twice; the first answer stays", "key", entry.Record.Key.Short())
		rec, err = conflict.First, nil
	}
	if err != nil {
		return err
	}
	c.fault(FaultAfterCallCommit)
	if rec.Result.Digest == entry.Record.Result.Digest && string(rec.Inline) == string(text) {
		entry.Record = rec
		return nil
	}
	*entry, err = ledger.Open(b.work, s.opts.Store, rec)
	return err
}

// outcome records a call that gave no answer, under a claim of its own; the call's claim is held
// meanwhile. Its attempts are accounted for then, so the call's claim forgets them.
func (c *call) outcome(entry *ledger.Entry) error {
	s, b := c.of, c.beat
	doc := contract.CallOutcomeKey(c.Ledger.Doc, c.Retry.Round)
	key, err := c.Ledger.Outcome(c.Retry.Round)
	if err != nil {
		return err
	}
	if err := s.opts.Store.CheckClaim(b.work, c.claim); err != nil {
		return err
	}
	claim, err := s.opts.Store.Claim(b.work, key, c.owner(), claimTTL)
	var done *artifacts.CommittedError
	if errors.As(err, &done) {
		*entry, err = ledger.Open(b.work, s.opts.Store, done.Record)
		return err
	}
	if err != nil {
		return err
	}
	entry.Record.Key = key
	err = c.commit(claim, doc, entry)
	if err == nil {
		c.attempts = ledger.Attempts{}
		err = c.annotate()
	}
	return errors.Join(err, s.opts.Store.Release(context.WithoutCancel(b.ctx), claim))
}
