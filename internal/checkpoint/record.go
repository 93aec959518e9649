package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/datause"
	"cxrepro/internal/provenance"
)

// Recorder writes entries. Every field but Environment is required; Owner says who writes.
type Recorder struct {
	Store       *artifacts.Repository
	Owner       artifacts.Owner
	Code        provenance.Code
	Environment provenance.Environment
	Now         func() time.Time
}

// claimTTL is how long a killed writer keeps others from writing the same entry.
const claimTTL = time.Minute

// entry is one record on its way into the store.
type entry struct {
	key       artifacts.KeyDoc
	value     any
	mediaType string
	dataUse   string
	// materials, where they are set, replace the key's inputs in the statement.
	materials []provenance.Descriptor
	// pin names the pin that keeps the entry; empty for none.
	pin, note string
}

// record writes an entry, unless its key has one, and returns the result's ref.
func (r *Recorder) record(ctx context.Context, e entry) (artifacts.Ref, error) {
	rec, err := r.once(ctx, e)
	if err != nil {
		return artifacts.Ref{}, fmt.Errorf("record %s: %w", e.key.Step, err)
	}
	if e.pin == "" {
		return rec.Result, nil
	}
	p := artifacts.Pin{Name: e.pin + "-" + rec.Key.Digest.Short(), Keys: []artifacts.Key{rec.Key}, Roots: []artifacts.Ref{rec.Result}, Note: e.note}
	if _, err := r.Store.Pin(ctx, p.Name); err == nil {
		return rec.Result, nil
	}
	return rec.Result, r.Store.SetPin(ctx, p)
}

func (r *Recorder) once(ctx context.Context, e entry) (artifacts.Record, error) {
	key, err := e.key.Key()
	if err != nil {
		return artifacts.Record{}, err
	}
	rec, err := r.Store.Lookup(ctx, key)
	if !errors.Is(err, artifacts.ErrNotFound) {
		return rec, err
	}
	claim, err := r.Store.Claim(ctx, key, r.Owner, claimTTL)
	var done *artifacts.CommittedError
	if errors.As(err, &done) {
		return done.Record, nil
	}
	if err != nil {
		return rec, err
	}
	started := r.Now()
	rec, err = r.commit(ctx, claim, e, started)
	return rec, errors.Join(err, r.Store.Release(context.WithoutCancel(ctx), claim))
}

func (r *Recorder) commit(ctx context.Context, claim *artifacts.Claim, e entry, started time.Time) (artifacts.Record, error) {
	text, err := artifacts.Canonical(e.value)
	if err != nil {
		return artifacts.Record{}, err
	}
	result, err := r.Store.ForClass(datause.StoreClass(e.dataUse)).Put(ctx, text, e.mediaType)
	if err != nil {
		return artifacts.Record{}, err
	}
	inv := provenance.InvocationOf(claim)
	inv.Started, inv.Finished = started, r.Now()
	st, err := provenance.New(provenance.Facts{
		Key: e.key, Subject: []provenance.Descriptor{provenance.Describe(e.key.Step, result)}, Builder: "cxrepro",
		Invocation: inv, Materials: e.materials, Code: r.Code, Environment: r.Environment,
	})
	if err != nil {
		return artifacts.Record{}, err
	}
	statement, err := st.Encode()
	if err != nil {
		return artifacts.Record{}, err
	}
	return r.Store.CommitInline(ctx, claim, artifacts.Record{Key: claim.Key, Result: result}, statement)
}

// each calls fn with the record of every entry of a step, in the order of the keys. An entry
// whose record is gone is passed over.
func each[T any](ctx context.Context, store *artifacts.Repository, step string, fn func(artifacts.Ref, T) error) error {
	return store.Keys(ctx, step, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := store.Lookup(ctx, key)
		if errors.Is(err, artifacts.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		v, err := read[T](ctx, store, rec.Result)
		if err != nil {
			return err
		}
		return fn(rec.Result, v)
	})
}

// read reads a JSON document.
func read[T any](ctx context.Context, store *artifacts.Repository, ref artifacts.Ref) (v T, err error) {
	data, err := store.Get(ctx, ref)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("%s: %w", ref.Digest.Short(), err)
	}
	return v, nil
}
