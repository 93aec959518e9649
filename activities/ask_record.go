package activities

import (
	"context"
	"errors"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
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
		return c.question.readable(a.Text)
	}
	return false
}

// end records what came of the call: an answer, or an outcome without one.
func (c *call) end(reply lvlm.Reply) (ledger.Entry, error) {
	s, b := c.of, c.beat
	reply.Answer.Format = lvlm.AnswerFormat
	text, err := artifacts.Canonical(reply.Answer)
	if err != nil {
		return ledger.Entry{}, err
	}
	result, err := s.opts.Store.ForClass(c.storeClass()).Put(b.work, text, lvlm.AnswerMediaType)
	if err != nil {
		return ledger.Entry{}, err
	}
	c.fault(FaultAfterAnswerPut)
	s.answers.put(result.Digest, reply.Answer, result.Size+200)
	entry := ledger.Entry{Record: artifacts.Record{Key: c.ledger.Key, Result: result}, Facts: ledger.Facts{
		Kind: c.kind, Outcome: reply.Answer.Outcome, Card: c.card.Name, Endpoint: c.endpoint.Name, Served: reply.Served, Attempts: c.attempts,
	}}
	if c.answers(reply.Answer) {
		return entry, c.commit(c.claim, c.ledger.Doc, &entry)
	}
	return entry, c.outcome(&entry)
}

// commit writes a record with its statement and takes over the first where there is one.
func (c *call) commit(claim *artifacts.Claim, doc artifacts.KeyDoc, entry *ledger.Entry) error {
	s, b := c.of, c.beat
	entry.Invocation = provenance.InvocationOf(c.claim)
	entry.Invocation.Started, entry.Invocation.Finished = c.started.UTC(), s.opts.Now().UTC()
	text, err := ledger.Statement(doc, entry.Record.Result, entry.Facts, entry.Invocation, c.materials, s.opts.Code, s.opts.Environment)
	if err != nil {
		return err
	}
	rec, err := s.opts.Store.CommitInline(b.work, claim, entry.Record, text)
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
	doc := contract.CallOutcomeKey(c.ledger.Doc, c.retry.Round)
	key, err := c.ledger.Outcome(c.retry.Round)
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
