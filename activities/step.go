package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"cxrepro/artifacts"
	"cxrepro/internal/provenance"
)

// steps runs keyed computations: look up, claim, compute, put, state, commit, release.
type steps struct{ opts Options }

// product is what a computation gives.
type product struct {
	data      []byte
	mediaType string
	// materials, if set, replace the key's inputs in the statement.
	materials []provenance.Descriptor
	// subjects are stated beside the result: other bytes that the computation gave.
	subjects []provenance.Descriptor
	// environment names runtime and provider of an inference.
	runtime, provider string
}

// find returns the record of a key and counts it. ok is false when there is none.
func (s *steps) find(ctx context.Context, key artifacts.Key, t *tally) (rec artifacts.Record, ok bool, err error) {
	rec, err = s.opts.Store.Lookup(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return rec, false, nil
	}
	if err != nil {
		return rec, false, err
	}
	return rec, true, s.count(ctx, rec, t)
}

// count reads how rec came to be and counts it. A record whose statement is gone counts as
// made elsewhere.
func (s *steps) count(ctx context.Context, rec artifacts.Record, t *tally) error {
	data, err := s.opts.Store.StatementOf(ctx, rec)
	if errors.Is(err, artifacts.ErrNotFound) {
		t.add(rec, provenance.Invocation{})
		return nil
	}
	if err != nil {
		return err
	}
	st, err := provenance.Decode(data)
	if err != nil {
		return fmt.Errorf("statement of %s: %w", rec.Key.Short(), err)
	}
	t.add(rec, st.Predicate.Invocation)
	return nil
}

// job is a key that this attempt has the right to compute.
type job struct {
	doc     artifacts.KeyDoc
	key     artifacts.Key
	claim   *artifacts.Claim
	started time.Time
}

// begin claims a key that has no record. Errors: *HeldError while somebody else computes
// it; *CommittedError when the record has just appeared.
func (s *steps) begin(p *pulse, doc artifacts.KeyDoc, e effort) (*job, error) {
	key, err := doc.Key()
	if err != nil {
		return nil, err
	}
	claim, err := s.opts.Store.Claim(p.work, key, ownerOf(p.ctx, s.opts.Owner, e.id), claimTTL)
	if err != nil {
		return nil, err
	}
	p.hold(claim)
	return &job{doc: doc, key: key, claim: claim, started: s.opts.Now()}, nil
}

// identity names an activity in claims and statements, whatever its attempt; both are empty
// outside of one.
func identity(ctx context.Context) (workflow, name string) {
	if !activity.IsActivity(ctx) {
		return "", ""
	}
	info := activity.GetInfo(ctx)
	return info.WorkflowExecution.ID, info.WorkflowExecution.RunID + "/" + info.ActivityID
}

// ownerOf is a worker as an activity of a reproduction claims with it.
func ownerOf(ctx context.Context, worker artifacts.Owner, reproduction string) artifacts.Owner {
	worker.Reproduction = reproduction
	if activity.IsActivity(ctx) {
		worker.Attempt = int(activity.GetInfo(ctx).Attempt)
	}
	worker.Workflow, worker.Activity = identity(ctx)
	return worker
}

// abandon gives a claim back without a record.
func (s *steps) abandon(p *pulse, j *job) {
	p.drop(j.claim)
	// A claim that cannot be released expires by itself.
	if err := s.opts.Store.Release(context.WithoutCancel(p.ctx), j.claim); err != nil {
		s.opts.Log.Warn("claim not released", "key", j.key.Short(), "err", err)
	}
}

// finish stores a product with its statement and commits the record. A differing earlier
// result stays: the pair is recorded as a conflict, and the first is returned.
func (s *steps) finish(p *pulse, j *job, out product, t *tally, class string) (artifacts.Record, error) {
	ctx, store := p.work, s.opts.Store.ForClass(class)
	result, err := store.Put(ctx, out.data, out.mediaType)
	if err != nil {
		s.abandon(p, j)
		return artifacts.Record{}, err
	}
	inv := provenance.InvocationOf(j.claim)
	inv.Started, inv.Finished = j.started, s.opts.Now()
	env := s.opts.Environment
	env.ONNXRuntime, env.Provider = out.runtime, out.provider
	statement, err := provenance.New(provenance.Facts{
		Key: j.doc, Subject: append([]provenance.Descriptor{provenance.Describe(j.key.Step, result)}, out.subjects...), Builder: "cxrepro",
		Invocation: inv, Materials: out.materials, Code: s.opts.Code, Environment: env,
	})
	if err != nil {
		s.abandon(p, j)
		return artifacts.Record{}, err
	}
	text, err := statement.Encode()
	if err != nil {
		s.abandon(p, j)
		return artifacts.Record{}, err
	}
	ref, err := store.PutStatement(ctx, text)
	if err != nil {
		s.abandon(p, j)
		return artifacts.Record{}, err
	}
	rec, err := store.CommitClaimed(ctx, j.claim, artifacts.Record{Key: j.key, Result: result, Statement: ref})
	var conflict *artifacts.ConflictError
	switch {
	case errors.As(err, &conflict):
		s.opts.Log.Error("two results for one key; the first stays", "key", j.key.String(), "first", conflict.First.Result.Digest.Short(), "second", result.Digest.Short())
		s.abandon(p, j)
		t.conflict()
		return conflict.First, s.count(ctx, conflict.First, t)
	case err != nil:
		s.abandon(p, j)
		return artifacts.Record{}, err
	}
	s.abandon(p, j)
	if rec.Statement.Digest == ref.Digest {
		t.add(rec, inv)
		return rec, nil
	}
	return rec, s.count(ctx, rec, t)
}

// holdWait bounds how long an item waits for somebody else's result before the attempt
// ends and another one begins.
const holdWait = 5 * time.Minute

// once returns the record of a key, computing it if nobody did.
func (s *steps) once(p *pulse, doc artifacts.KeyDoc, t *tally, class string, compute func(ctx context.Context) (product, error)) (artifacts.Record, error) {
	key, err := doc.Key()
	if err != nil {
		return artifacts.Record{}, err
	}
	until := s.opts.Now().Add(holdWait)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		rec, ok, err := s.find(p.work, key, t)
		if ok || err != nil {
			return rec, err
		}
		j, err := s.begin(p, doc, t.effort)
		var held *artifacts.HeldError
		var done *artifacts.CommittedError
		switch {
		case err == nil:
			out, err := compute(p.work)
			if err != nil {
				s.abandon(p, j)
				return artifacts.Record{}, err
			}
			return s.finish(p, j, out, t, class)
		case errors.As(err, &done):
			return done.Record, s.count(p.work, done.Record, t)
		case !errors.As(err, &held) || s.opts.Now().After(until):
			return artifacts.Record{}, err
		}
		if err := p.pause(wait); err != nil {
			return artifacts.Record{}, err
		}
	}
}

// pause waits a little, unless the attempt shall end.
func (p *pulse) pause(d time.Duration) error {
	if err := p.next(); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		p.progress()
	case <-p.ctx.Done():
	case <-p.drain:
	}
	return p.next()
}
