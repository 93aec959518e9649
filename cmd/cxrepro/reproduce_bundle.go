package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
)

// takenIn counts what came with a bundle: objects, and among them records of steps and of calls.
type takenIn struct {
	objects      int64
	steps, calls int
}

// takeIn puts the objects of a bundle, which from reads as a store, into a store, entries last.
// What marks the reproduction as finished stays behind, since here it is not; with afresh
// everything that was computed does.
func (a *app) takeIn(ctx context.Context, b *bundle.Opened, from, store *artifacts.Repository, afresh bool) (taken takenIn, err error) {
	var blobs, statements []bundle.Leaf
	var keys []artifacts.Key
	given, err := givenOf(ctx, from, b)
	if err != nil {
		return taken, err
	}
	for _, l := range b.Ledger.Leaves {
		if _, ok := b.Has(bundle.StorePrefix + l.Object); !ok {
			continue
		}
		blob, statement, key := artifacts.ObjectOf(l.Object)
		switch {
		case afresh && !given[blob]:
		case !blob.IsZero():
			blobs = append(blobs, l)
		case !statement.IsZero():
			statements = append(statements, l)
		case key.Step != contract.StepReproduction:
			keys = append(keys, key)
			if key.Step == contract.StepCall || key.Step == contract.StepCallOutcome {
				taken.calls++
			} else {
				taken.steps++
			}
		}
	}
	var n atomic.Int64
	talk := a.slowly("took in %d objects")
	each := func(count int, take func(ctx context.Context, i int) error) error {
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(8)
		for i := range count {
			g.Go(func() error {
				defer func() { talk(n.Add(1)) }()
				return take(gctx, i)
			})
		}
		return g.Wait()
	}
	err = each(len(blobs), func(ctx context.Context, i int) error { return takeBlob(ctx, b, store, blobs[i]) })
	if err == nil {
		err = each(len(statements), func(ctx context.Context, i int) error {
			data, err := b.Read(bundle.StorePrefix + statements[i].Object)
			if err == nil {
				_, err = store.PutStatement(ctx, data)
			}
			return err
		})
	}
	var conflicts atomic.Int64
	if err == nil {
		err = each(len(keys), func(ctx context.Context, i int) error {
			rec, err := from.Entry(ctx, keys[i])
			if err == nil {
				_, err = store.Commit(ctx, rec)
			}
			var conflict *artifacts.ConflictError
			if errors.As(err, &conflict) {
				conflicts.Add(1)
				return nil
			}
			return err
		})
	}
	if c := conflicts.Load(); c > 0 {
		a.say(fmt.Sprintf("of %d keys this store has another result already; its own stay (`cxrepro artifacts ls --conflicts`)", c))
	}
	taken.objects = n.Load()
	if err != nil {
		return taken, storeError(err)
	}
	return taken, nil
}

// takeBlob puts one blob into a store.
func takeBlob(ctx context.Context, b *bundle.Opened, store *artifacts.Repository, l bundle.Leaf) error {
	data, err := b.Read(bundle.StorePrefix + l.Object)
	if err != nil {
		return err
	}
	mediaType := "application/octet-stream"
	if len(data) > 0 && data[0] == '{' {
		mediaType = "application/json"
	}
	ref, err := store.ForClass(l.Class).Put(ctx, data, mediaType)
	if err == nil && ref.Digest != l.Digest {
		err = fmt.Errorf("%s: %w", l.Object, artifacts.ErrDigestMismatch)
	}
	return err
}

// givenOf are the blobs that a plan names: what was there before anything was computed.
func givenOf(ctx context.Context, from *artifacts.Repository, b *bundle.Opened) (map[artifacts.Digest]bool, error) {
	var r contract.Receipt
	if err := readJSON(ctx, from, b.Manifest.Receipt, &r); err != nil {
		return nil, err
	}
	data, err := from.Get(ctx, r.Plan)
	if err != nil {
		return nil, storeError(err)
	}
	refs, err := artifacts.RefsIn(data)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", r.Plan, err)
	}
	given := map[artifacts.Digest]bool{r.Plan.Digest: true, b.Manifest.Receipt.Digest: true}
	for _, ref := range refs {
		given[ref.Digest] = true
	}
	return given, nil
}

// plannedOf is the plan of a bundle, in the store.
//
// Errors: one with a text that no terminal should get: its names stand in tables and reports.
func plannedOf(ctx context.Context, store *artifacts.Repository, b *bundle.Opened) (*planned, error) {
	var r contract.Receipt
	if err := readJSON(ctx, store, b.Manifest.Receipt, &r); err != nil {
		return nil, err
	}
	var texts any
	if err := readJSON(ctx, store, r.Plan, &texts); err != nil {
		return nil, err
	}
	if text, found := untamedIn(texts); found {
		return nil, &exitError{Code: exitFailed, Err: fmt.Errorf("the plan of bundle %s holds %q: no plan of this program has control characters", b.Path(), text), Hint: "nothing was taken in"}
	}
	p := &planned{plan: r.Plan, id: contract.SpecID(r.Plan.Digest)}
	if err := readJSON(ctx, store, r.Plan, &p.doc); err != nil {
		return nil, err
	}
	p.spec = &p.doc.Spec
	return p, nil
}

// overManifest is the input of a reproduction over data that were read where the bundle comes
// from.
func overManifest(ctx context.Context, store *artifacts.Repository, b *bundle.Opened, p *planned, f runFlags) (*contract.ReproductionInput, error) {
	var r contract.Receipt
	if err := readJSON(ctx, store, b.Manifest.Receipt, &r); err != nil {
		return nil, err
	}
	id := contract.ReproductionID(r.Plan.Digest, r.Manifest.Digest)
	in := &contract.ReproductionInput{
		Common: commonOf(p, f.worker.queue, f.tuning), Reproduction: id, Launched: time.Now(),
		Ingest: contract.IngestResult{Manifest: contract.ManifestResult{Manifest: r.Manifest, Reproduction: id}},
	}
	withheld := func(err error) error {
		if errors.Is(err, artifacts.ErrNotFound) {
			return usageError("add --data NAME=FOLDER with your own copy", "the bundle does not hold what was read of data set %q (class %s)", p.spec.Dataset.Name, b.Manifest.DataUse)
		}
		return err
	}
	if bench := p.spec.Benchmark; bench != nil && bench.Source == experiments.SourceRelease {
		var doc contract.Benchmark
		if err := readJSON(ctx, store, r.Benchmark, &doc); err != nil {
			return nil, withheld(err)
		}
		in.Benchmark = &contract.BenchmarkResult{
			Benchmark: r.Benchmark, Reproduction: id, Cases: len(doc.Cases), Tasks: contract.TasksOf(doc.Cases), Pairs: doc.Tally.Pairs(),
		}
		return in, nil
	}
	var data contract.Dataset
	if err := readJSON(ctx, store, r.Manifest, &data); err != nil {
		return nil, withheld(err)
	}
	windows, err := manifest.Open(ctx, store, data.Windows)
	if err != nil {
		return nil, withheld(err)
	}
	m := &in.Ingest.Manifest
	m.Windows, m.Images, m.In, m.Filtered, m.Quarantined = len(windows.Chunks()), data.Images, data.In, data.Filtered, data.Quarantined
	return in, nil
}
