package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm"
)

// Call is a call by its key. It remembers the keys of its outcomes, and serves one goroutine.
type Call struct {
	Doc artifacts.KeyDoc
	Key artifacts.Key

	outcomes []artifacts.Key
}

// NewCall returns the call of a key document.
func NewCall(doc artifacts.KeyDoc) (*Call, error) {
	key, err := doc.Key()
	return &Call{Doc: doc, Key: key}, err
}

// Outcome is the key of the call's terminal outcome in a round.
func (c *Call) Outcome(round int) (artifacts.Key, error) {
	for r := len(c.outcomes); r <= round; r++ {
		key, err := contract.CallOutcomeKey(c.Doc, r).Key()
		if err != nil {
			return artifacts.Key{}, err
		}
		c.outcomes = append(c.outcomes, key)
	}
	return c.outcomes[round], nil
}

// Retry makes terminal outcomes of some classes invisible that were recorded before a round.
// The zero value hides nothing: it is round 0.
type Retry struct {
	Outcomes []lvlm.Outcome
	Round    int
}

func (r Retry) hides(o lvlm.Outcome) bool { return slices.Contains(r.Outcomes, o) }

// Find returns the record that ends a call: its answer, or a terminal outcome of the latest
// round, unless a later round asks again.
//
// Errors: an error that matches artifacts.ErrNotFound when the call is still to be made.
func Find(ctx context.Context, store *artifacts.Repository, call *Call, r Retry) (Entry, error) {
	return FindBy(call, r, reader(ctx, store))
}

// FindBy is Find by what read says of a key.
func FindBy(call *Call, r Retry, read func(artifacts.Key) (Entry, error)) (Entry, error) {
	e, err := read(call.Key)
	if !errors.Is(err, artifacts.ErrNotFound) {
		return e, err
	}
	return findOutcome(call, r, read)
}

// FindOutcome is Find for terminal outcomes alone.
func FindOutcome(ctx context.Context, store *artifacts.Repository, call *Call, r Retry) (Entry, error) {
	return findOutcome(call, r, reader(ctx, store))
}

func findOutcome(call *Call, r Retry, read func(artifacts.Key) (Entry, error)) (Entry, error) {
	for round := r.Round; ; round-- {
		key, err := call.Outcome(round)
		if err != nil {
			return Entry{}, err
		}
		e, err := read(key)
		switch {
		case err == nil && round < r.Round && r.hides(e.Facts.Outcome):
			return Entry{}, fmt.Errorf("outcome %s of round %d is asked again: %w", e.Facts.Outcome, round, artifacts.ErrNotFound)
		case err == nil || !errors.Is(err, artifacts.ErrNotFound) || round <= 0:
			return e, err
		}
	}
}

// reader reads records of calls with their statements.
func reader(ctx context.Context, store *artifacts.Repository) func(artifacts.Key) (Entry, error) {
	return func(key artifacts.Key) (Entry, error) {
		rec, err := store.Lookup(ctx, key)
		if err != nil {
			return Entry{}, err
		}
		return Open(ctx, store, rec)
	}
}

// Open reads the statement of a record of a call.
func Open(ctx context.Context, store *artifacts.Repository, rec artifacts.Record) (Entry, error) {
	text, err := store.StatementOf(ctx, rec)
	if err != nil {
		return Entry{}, err
	}
	return ReadEntry(rec, text)
}
