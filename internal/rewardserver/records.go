package rewardserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/lru"
	"cxrepro/internal/provenance"
)

// pinFor is how long the records of a run are kept after the service last began to serve it.
const pinFor = 30 * 24 * time.Hour

// Records writes rewards into a store. Store, Owner and Now are required.
type Records struct {
	Store *artifacts.Repository
	// Class is the data class of the question set; empty for data that may go anywhere.
	Class       string
	Owner       artifacts.Owner
	Code        provenance.Code
	Environment provenance.Environment
	Now         func() time.Time

	mu     sync.Mutex
	pinned map[string]bool // runs; guarded by mu

	// listing lets one question about groups read pages at a time; known holds what they say,
	// since pages do not change.
	listing sync.Mutex
	known   *lru.Cache[artifacts.Digest, knownPage]
}

// knownPage is what groups need of a page.
type knownPage struct {
	run     string
	samples []sampleNote
}

// knownBytes bounds what is remembered of pages: some 300,000 samples.
const knownBytes = 32 << 20

// put records a page. A page that is there already stays as it is.
func (r *Records) put(ctx context.Context, page *contract.RewardPage) error {
	if err := r.pin(ctx, page.RunID); err != nil {
		return err
	}
	started := r.Now()
	body, err := marshal(page)
	if err != nil {
		return err
	}
	keyDoc := contract.RewardKey(page, artifacts.Sum(body))
	key, err := keyDoc.Key()
	if err != nil {
		return err
	}
	store := r.Store.ForClass(r.Class)
	result, err := store.Put(ctx, body, contract.RewardMediaType)
	if err != nil {
		return err
	}
	st, err := provenance.New(provenance.Facts{
		Key: keyDoc, Subject: []provenance.Descriptor{provenance.Describe(contract.StepReward, result)}, Builder: "cxrepro", Code: r.Code, Environment: r.Environment,
		Invocation: provenance.Invocation{Worker: r.Owner.Worker, Host: r.Owner.Host, PID: r.Owner.PID, Fence: 1, Started: started, Finished: r.Now()},
	})
	if err != nil {
		return err
	}
	statement, err := st.Encode()
	if err != nil {
		return err
	}
	ref := artifacts.Ref{Digest: artifacts.Sum(statement), Size: int64(len(statement)), MediaType: artifacts.StatementMediaType}
	_, err = store.Commit(ctx, artifacts.Record{Key: key, Result: result, Statement: ref, Inline: statement})
	return err
}

// pin keeps the records of a run from garbage collection.
func (r *Records) pin(ctx context.Context, run string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pinned[run] {
		return nil
	}
	now := r.Now()
	p := artifacts.Pin{Name: "rewards-" + artifacts.Sum([]byte(run)).Short(), Open: true, Created: now, Until: now.Add(pinFor), Note: "rewards of a run in training"}
	if before, err := r.Store.Pin(ctx, p.Name); err == nil {
		p.Created = before.Created
	}
	if err := r.Store.SetPin(ctx, p); err != nil {
		return err
	}
	if r.pinned == nil {
		r.pinned = map[string]bool{}
	}
	r.pinned[run] = true
	return nil
}

// Recorded returns the samples of a run, each once, in the order of step, group, draw and
// sample, however they were spread over requests. A sample that was generated anew stands as
// often as its trajectory differed.
func Recorded(ctx context.Context, store *artifacts.Repository, run string) ([]contract.RewardedSample, error) {
	type found struct {
		contract.RewardedSample
		text []byte
	}
	var list []found
	err := store.Keys(ctx, contract.StepReward, func(key artifacts.Key, _ artifacts.Info) error {
		page, err := readPage(ctx, store, key)
		if err != nil || page == nil || page.RunID != run {
			return err
		}
		for _, d := range page.Samples {
			text, err := marshal(d)
			if err != nil {
				return err
			}
			list = append(list, found{d, text})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Group, b.Group), cmp.Compare(drawOf(a.Draw), drawOf(b.Draw)),
			cmp.Compare(a.Sample, b.Sample), bytes.Compare(a.text, b.text))
	})
	list = slices.CompactFunc(list, func(a, b found) bool { return bytes.Equal(a.text, b.text) })
	out := make([]contract.RewardedSample, len(list))
	for i := range list {
		out[i] = list[i].RewardedSample
	}
	return out, err
}

// notes returns what groups need of the samples of a run, in the order of [Recorded]; of one
// step where step is not negative. Pages that were read before are not read again.
func (r *Records) notes(ctx context.Context, run string, step int) ([]sampleNote, error) {
	r.listing.Lock()
	defer r.listing.Unlock()
	if r.known == nil {
		r.known = lru.New[artifacts.Digest, knownPage](knownBytes)
	}
	var list []sampleNote
	err := r.Store.Keys(ctx, contract.StepReward, func(key artifacts.Key, _ artifacts.Info) error {
		page, err := r.known.Load(key.Digest, func() (knownPage, int64, error) { return r.read(ctx, key) })
		if err != nil || page.run != run {
			return err
		}
		for _, d := range page.samples {
			if step < 0 || d.step == step {
				list = append(list, d)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b sampleNote) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.group, b.group), cmp.Compare(a.draw, b.draw),
			cmp.Compare(a.sample, b.sample), bytes.Compare(a.text[:], b.text[:]))
	})
	return slices.Compact(list), nil
}

// read returns what groups need of a page, and about how many bytes it takes.
func (r *Records) read(ctx context.Context, key artifacts.Key) (knownPage, int64, error) {
	page, err := readPage(ctx, r.Store, key)
	if err != nil || page == nil {
		return knownPage{}, knownBytes + 1, err // what is gone is not remembered
	}
	out, weight := knownPage{run: page.RunID}, int64(64+len(page.RunID))
	for i := range page.Samples {
		text, err := marshal(&page.Samples[i])
		if err != nil {
			return out, weight, err
		}
		d := noteOf(&page.Samples[i])
		d.text = artifacts.Sum(text)
		out.samples = append(out.samples, d)
		weight += int64(96 + len(d.group) + len(d.sample))
	}
	return out, weight, nil
}

// readPage returns the page of a record; nil where the record is gone.
func readPage(ctx context.Context, store *artifacts.Repository, key artifacts.Key) (*contract.RewardPage, error) {
	rec, err := store.Lookup(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := store.Get(ctx, rec.Result)
	if err != nil {
		return nil, err
	}
	var p contract.RewardPage
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("rewards %s: %w", key.Short(), err)
	}
	if p.Format != contract.RewardFormat {
		return nil, fmt.Errorf("rewards %s: format %q, want %q", key.Short(), p.Format, contract.RewardFormat)
	}
	return &p, nil
}
