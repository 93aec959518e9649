package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// claimDoc is the stored form of a claim. Nonce makes two claims of one owner differ.
type claimDoc struct {
	Format   string    `json:"format"`
	Key      Key       `json:"key"`
	Fence    int       `json:"fence"`
	Nonce    string    `json:"nonce"`
	Released bool      `json:"released"`
	Note     []byte    `json:"note,omitempty"`
	Owner    Owner     `json:"owner"`
	Acquired time.Time `json:"acquired"`
	Expires  time.Time `json:"expires"`
}

const claimFormat = "cxrepro.claim/1"

// Takeover says why a claim followed an earlier one of the same key. It is the cause of
// a repeated execution. The zero value means that there was none.
type Takeover uint8

// Causes of a take-over.
const (
	TakeoverNone       Takeover = iota // the first claim of the key
	TakeoverReleased                   // the earlier attempt gave up without a record
	TakeoverExpired                    // the earlier claim ran out
	TakeoverDead                       // the earlier owner's process is dead
	TakeoverSuperseded                 // a later attempt of the same activity
	TakeoverDamaged                    // the earlier claim could not be read
)

// String returns the cause as text; "" for none.
func (t Takeover) String() string {
	switch t {
	case TakeoverReleased:
		return "released"
	case TakeoverExpired:
		return "expired"
	case TakeoverDead:
		return "owner dead"
	case TakeoverSuperseded:
		return "superseded"
	case TakeoverDamaged:
		return "damaged"
	}
	return ""
}

// Claim is the right to compute Key. Fence counts the executions of the key that were
// begun: 1 for the first, one more for every take-over.
type Claim struct {
	Key      Key
	Owner    Owner
	Fence    int
	Takeover Takeover
	Previous Owner // whose claim was taken over; zero for none
	// Inherited is the note of the claim that was taken over. It stays the note of this
	// claim until Annotate replaces it.
	Inherited []byte

	nonce string // set once, before the claim is handed out

	mu        sync.Mutex // guards what follows: a heartbeat renews while the work commits
	doc       claimDoc
	at        Info
	committed bool
	// dangling is the version of the entry that was of no use when the claim was taken.
	dangling string
}

// Expires returns when the claim runs out unless it is renewed.
func (c *Claim) Expires() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.doc.Expires
}

// String names the owner for messages.
func (o Owner) String() string {
	s := o.Worker
	if o.Workflow != "" {
		s += " workflow " + o.Workflow
	}
	if o.Activity != "" {
		s += fmt.Sprintf(" activity %s attempt %d", o.Activity, o.Attempt)
	}
	if o.PID != 0 {
		s += fmt.Sprintf(" process %d", o.PID)
	}
	if s == "" {
		return "an unnamed owner"
	}
	return s
}

// Claim takes the right to compute key for ttl. Clocks of the machines that share a
// store may differ by less than ttl.
//
// An earlier claim is taken over, with the next fence, when it was released or has
// expired, when its process certainly is dead (same process table), or when it belongs
// to an earlier attempt of the same workflow and activity.
//
// Errors: *HeldError (transient) while somebody else works on the key;
// *CommittedError when the record appeared since the caller's look-up.
func (r *Repository) Claim(ctx context.Context, key Key, owner Owner, ttl time.Duration) (*Claim, error) {
	const tries = 8
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if key.IsZero() || ttl <= 0 {
		return nil, fmt.Errorf("claim %s: key and a positive ttl are needed, ttl is %s", key, ttl)
	}
	name := claimName(key)
	c := &Claim{Key: key, Owner: owner, Fence: 1}
	for try := 0; try < tries; try++ {
		err := r.writeClaim(ctx, name, c, ttl)
		if err == nil {
			return r.recheck(ctx, c)
		}
		if !errors.Is(err, ErrPrecondition) {
			return nil, fmt.Errorf("claim %s: %w", key.Short(), err)
		}
		data, info, err := r.bucket.Read(ctx, name)
		if errors.Is(err, ErrNotFound) {
			*c = Claim{Key: key, Owner: owner, Fence: 1}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", key.Short(), err)
		}
		var cur claimDoc
		cause := TakeoverDamaged
		if json.Unmarshal(data, &cur) == nil && cur.Format == claimFormat && cur.Key == key {
			cause = r.takeover(cur, owner)
		} else {
			cur.Note = nil
		}
		if cause == TakeoverNone {
			return nil, &HeldError{Key: key, Owner: cur.Owner, Fence: cur.Fence, Expires: cur.Expires}
		}
		*c = Claim{Key: key, Owner: owner, Fence: max(cur.Fence, 1) + 1, Takeover: cause, Previous: cur.Owner, Inherited: cur.Note, at: info}
	}
	return nil, &BucketError{Op: "claim", Bucket: r.bucket.URL(), Object: name, Class: Transient,
		Err: fmt.Errorf("the claim changed hands %d times meanwhile", tries)}
}

// ClaimNote returns the note of a key's claim without taking it; nil where there is none.
func (r *Repository) ClaimNote(ctx context.Context, key Key) ([]byte, error) {
	data, _, err := r.bucket.Read(ctx, claimName(key))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", key.Short(), err)
	}
	var doc claimDoc
	if json.Unmarshal(data, &doc) != nil || doc.Format != claimFormat || doc.Key != key {
		return nil, nil // damaged: the next claimant takes it over
	}
	return doc.Note, nil
}

// writeClaim creates the claim, or swaps it for the one that c.at describes.
func (r *Repository) writeClaim(ctx context.Context, name string, c *Claim, ttl time.Duration) error {
	now := r.host.Now().UTC()
	doc := claimDoc{Format: claimFormat, Key: c.Key, Fence: c.Fence, Nonce: r.host.Nonce(),
		Note: c.Inherited, Owner: c.Owner, Acquired: now, Expires: now.Add(ttl)}
	body, err := Canonical(doc)
	if err != nil {
		return err
	}
	var info Info
	if c.at.Version == "" {
		info, err = r.createCell(ctx, name, body)
	} else {
		info, err = r.swapCell(ctx, name, c.at, body)
	}
	if err != nil {
		return err
	}
	c.doc, c.at, c.nonce = doc, info, doc.Nonce
	return nil
}

// recheck looks for a record that was committed between the caller's look-up and the
// claim: without this a finished step could be computed again.
func (r *Repository) recheck(ctx context.Context, c *Claim) (*Claim, error) {
	rec, info, err := r.lookup(ctx, c.Key)
	if errors.Is(err, ErrNotFound) {
		c.dangling = info.Version
		return c, nil
	}
	if err != nil {
		return nil, errors.Join(err, r.Release(context.WithoutCancel(ctx), c))
	}
	c.committed = true
	if err := r.Release(ctx, c); err != nil {
		return nil, err
	}
	return nil, &CommittedError{Record: rec}
}

// takeover says why owner may take cur over, or TakeoverNone.
func (r *Repository) takeover(cur claimDoc, owner Owner) Takeover {
	switch {
	case cur.Released:
		return TakeoverReleased
	case !r.host.Now().Before(cur.Expires):
		return TakeoverExpired
	case owner.Activity != "" && cur.Owner.Workflow == owner.Workflow &&
		cur.Owner.Activity == owner.Activity && cur.Owner.Attempt < owner.Attempt:
		return TakeoverSuperseded
	case r.host.Dead(cur.Owner):
		return TakeoverDead
	}
	return TakeoverNone
}

// Renew extends the claim to ttl from now; long work does so with its heartbeats.
// Errors: *StaleClaimError when the claim was taken over.
func (r *Repository) Renew(ctx context.Context, c *Claim, ttl time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	doc := c.doc
	doc.Expires = r.host.Now().UTC().Add(ttl)
	return r.rewrite(ctx, c, doc)
}

// Annotate makes note the claim's note, durably: whoever takes the claim over inherits it.
// Use it for what must not be lost with the holder, such as attempts that cost money.
// Errors: *StaleClaimError when the claim was taken over.
func (r *Repository) Annotate(ctx context.Context, c *Claim, note []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	doc := c.doc
	doc.Note = bytes.Clone(note)
	return r.rewrite(ctx, c, doc)
}

// rewrite swaps the stored claim for doc. The caller holds c.mu.
func (r *Repository) rewrite(ctx context.Context, c *Claim, doc claimDoc) error {
	body, err := Canonical(doc)
	if err != nil {
		return err
	}
	info, err := r.swapCell(ctx, claimName(c.Key), c.at, body)
	if errors.Is(err, ErrPrecondition) || errors.Is(err, ErrNotFound) {
		return &StaleClaimError{Key: c.Key, Fence: c.Fence, Now: r.fenceNow(ctx, c.Key)}
	}
	if err != nil {
		return fmt.Errorf("claim %s: %w", c.Key.Short(), err)
	}
	c.doc, c.at = doc, info
	return nil
}

// fenceNow returns the fence that the store has for key, or 0.
func (r *Repository) fenceNow(ctx context.Context, key Key) int {
	data, _, err := r.bucket.Read(ctx, claimName(key))
	var cur claimDoc
	if err != nil || json.Unmarshal(data, &cur) != nil {
		return 0
	}
	return cur.Fence
}

// CheckClaim reports whether c still is the current claim of its key. Errors:
// *StaleClaimError.
func (r *Repository) CheckClaim(ctx context.Context, c *Claim) error {
	data, _, err := r.bucket.Read(ctx, claimName(c.Key))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("claim %s: %w", c.Key.Short(), err)
	}
	var cur claimDoc
	if err == nil && json.Unmarshal(data, &cur) == nil && cur.Nonce == c.nonce {
		return nil
	}
	return &StaleClaimError{Key: c.Key, Fence: c.Fence, Now: cur.Fence}
}

// CommitClaimed commits rec for a holder whose claim is still current; a holder who was
// taken over is refused with *StaleClaimError and writes nothing. An entry that was of no
// use when the claim was taken is replaced also when the result is the same, so that the
// record tells who computed it again.
func (r *Repository) CommitClaimed(ctx context.Context, c *Claim, rec Record) (Record, error) {
	if rec.Key != c.Key {
		return Record{}, fmt.Errorf("commit %s: the claim is for %s", rec.Key.Short(), c.Key.Short())
	}
	if err := r.CheckClaim(ctx, c); err != nil {
		return Record{}, err
	}
	got, err := r.commitOver(ctx, rec, c.dangling)
	if err == nil {
		c.mu.Lock()
		c.committed = true
		c.mu.Unlock()
	}
	return got, err
}

// CommitInline is CommitClaimed for a record whose statement, canonical JSON, travels in
// the index entry: one object less. It fills in rec's Statement and Inline.
func (r *Repository) CommitInline(ctx context.Context, c *Claim, rec Record, statement []byte) (Record, error) {
	if len(statement) == 0 {
		return Record{}, fmt.Errorf("commit %s: no statement", rec.Key.Short())
	}
	rec.Statement, rec.Inline = statementRef(statement), statement
	return r.CommitClaimed(ctx, c, rec)
}

// Release gives the claim back. When the key has its record the claim is removed.
// Otherwise it stays as released, so that the next attempt takes it over with the next
// fence and repeated executions stay countable. Releasing a claim that was taken over
// changes nothing and is no error.
func (r *Repository) Release(ctx context.Context, c *Claim) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.committed {
		_, err := r.bucket.Stat(ctx, indexName(c.Key))
		if err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("release %s: %w", c.Key.Short(), err)
		}
		c.committed = err == nil
	}
	if c.committed {
		// A taker who slips in before this finds the record and gives up by itself.
		if err := r.bucket.Delete(ctx, claimName(c.Key)); err != nil {
			return fmt.Errorf("release %s: %w", c.Key.Short(), err)
		}
		return nil
	}
	doc := c.doc
	doc.Released = true
	err := r.rewrite(ctx, c, doc)
	var stale *StaleClaimError
	if errors.As(err, &stale) {
		return nil
	}
	return err
}
