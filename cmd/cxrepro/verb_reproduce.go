package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
)

func newReproduceCommand(a *app) *cobra.Command {
	var f runFlags
	var afresh bool
	c := &cobra.Command{
		Use:   "reproduce BUNDLE [--data NAME=FOLDER]... [--endpoints FILE]",
		Short: "Start the reproduction that a bundle is of, here",
		Long: `reproduce takes what a bundle holds into this state folder and runs the same plan: the same
reproduction, under the same id, and at its end compares the result digest with the bundle's.

Without --data it goes on from the bundle's manifest and needs every step that a picture would
be read for to be in the bundle. With --data the data set is read anew, from your own copy; that
is the way when bytes are withheld, and gives them back to ` + "`verify`" + `.

Without --endpoints every answer comes from the bundle, as with ` + "`run --recorded`" + `: nobody is
asked. --afresh takes plan, prompts and model only, and makes everything else anew.

With --json the receipt is the last line, as of run; the line before it compares: bundle,
reproduction_id, equal, result_digest, bundle_result_digest, imported.

Exit codes: as of run; 1 also when the result is another one than the bundle's.`,
		Example: `  cxrepro reproduce run.cxbundle.zip
  cxrepro reproduce run.cxbundle.zip --data mimic-cxr-jpg=/data/mimic-cxr-jpg --endpoints endpoints.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.budgetGiven = c.Flags().Changed("budget")
			return a.reproduceBundle(c.Context(), args[0], f, afresh)
		},
	}
	fl := c.Flags()
	f.worker.add(fl)
	fl.BoolVar(&f.worker.onlyRecorded, "recorded", false, "answer every call to a model from what is recorded (the default without --endpoints)")
	fl.BoolVar(&afresh, "afresh", false, "take plan, prompts and model only; needs --data, and --endpoints where models are asked")
	addTuningFlags(fl, &f.tuning)
	return c
}

func (a *app) reproduceBundle(ctx context.Context, file string, f runFlags, afresh bool) (err error) {
	b, err := bundle.Open(file)
	switch {
	case errors.Is(err, bundle.ErrNotBundle):
		return usageError("name a file that `cxrepro export --format bundle` wrote", "%v", err)
	case err != nil:
		return &exitError{Code: exitFailed, Err: err, Hint: "`cxrepro verify " + file + "` says what is wrong"}
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := a.soundBundle(ctx, b); err != nil {
		return err
	}
	if afresh && len(f.worker.data) == 0 {
		return usageError("add --data NAME=FOLDER", "--afresh reads the data set anew, and no folder was given for it")
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	taken, err := a.takeIn(ctx, b, store, afresh)
	if err != nil {
		return err
	}
	p, err := plannedOf(ctx, store, b)
	if err != nil {
		return err
	}
	if len(f.worker.data) == 0 {
		if p.over, err = overManifest(ctx, store, b, p, f); err != nil {
			return err
		}
	}
	if f.worker.endpoints == "" && !afresh {
		f.worker.onlyRecorded = true
	}
	o, err := a.runPlanned(ctx, store, p, f)
	if err != nil {
		return err
	}
	return a.compareBundle(ctx, b, o, taken)
}

// soundBundle refuses a bundle in which a byte is not what it was.
func (a *app) soundBundle(ctx context.Context, b *bundle.Opened) error {
	talk := a.slowly("checked %d objects")
	var n int64
	faults, _, err := b.Bytes(func(each func(bundle.Scanned) error) error {
		return b.Scan(ctx, nil, func(s bundle.Scanned) error { n++; talk(n); return each(s) })
	})
	var damage *bundle.DamageError
	if errors.As(err, &damage) {
		faults, err = append(faults, bundle.Fault{Object: damage.Object, Detail: damage.Detail}), nil
	}
	if err != nil || len(faults) == 0 {
		return err
	}
	return &exitError{Code: exitFailed, Err: fmt.Errorf("%s: %s (%d such)", faults[0].Object, faults[0].Detail, len(faults)), Hint: "`cxrepro verify " + b.Path() + "` names all of them; nothing was taken in"}
}

// takeIn puts the objects of a bundle into a store, entries last. What marks the reproduction as
// finished stays behind, since here it is not; with afresh everything that was computed does.
func (a *app) takeIn(ctx context.Context, b *bundle.Opened, store *artifacts.Repository, afresh bool) (taken int64, err error) {
	from, err := a.bundleStore(ctx, b)
	if err != nil {
		return 0, err
	}
	var blobs, statements []bundle.Leaf
	var keys []artifacts.Key
	given, err := givenOf(ctx, from, b)
	if err != nil {
		return 0, err
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
	if err != nil {
		return n.Load(), storeError(err)
	}
	return n.Load(), nil
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
func plannedOf(ctx context.Context, store *artifacts.Repository, b *bundle.Opened) (*planned, error) {
	var r contract.Receipt
	if err := readJSON(ctx, store, b.Manifest.Receipt, &r); err != nil {
		return nil, err
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

// reproduceOver starts a reproduction over what was read before, unless it is finished or runs
// already, and follows it to its receipt.
func (a *app) reproduceOver(ctx context.Context, s *session, d display, p *planned, f runFlags) (artifacts.Ref, error) {
	id, of := p.over.Reproduction, p.over.Ingest.Manifest.Manifest
	key, err := contract.ReproductionKey(p.plan.Digest, of.Digest).Key()
	if err != nil {
		return artifacts.Ref{}, err
	}
	rec, err := s.store.Lookup(ctx, key)
	if err == nil {
		d.note(fmt.Sprintf("reproduction %s is finished; this is its receipt", id))
		return rec.Result, nil
	}
	if !errors.Is(err, artifacts.ErrNotFound) {
		return artifacts.Ref{}, storeError(err)
	}
	pin := artifacts.Pin{Name: contract.PinPrefix + id, Roots: []artifacts.Ref{p.plan, of}, Open: true, Note: "reproduction under way"}
	if err := s.store.SetPin(ctx, pin); err != nil {
		return artifacts.Ref{}, storeError(err)
	}
	attrs := temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyKeyword(contract.AttrPaper).ValueSet(p.spec.Paper),
		temporal.NewSearchAttributeKeyKeyword(contract.AttrDataUse).ValueSet(p.spec.Dataset.DataUse),
		temporal.NewSearchAttributeKeyKeyword(contract.AttrReproduction).ValueSet(id),
	)
	_, err = s.conn.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: contract.ReproductionWorkflowID(id), TaskQueue: contract.QueueCPU(f.worker.queue),
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    attrs,
	}, contract.Reproduction.Name, *p.over)
	if err != nil {
		return artifacts.Ref{}, serverError(err)
	}
	d.note("reproduction " + id)
	if err := takeUp(ctx, s.conn.Client, d, id, f); err != nil {
		return artifacts.Ref{}, err
	}
	return follow(ctx, s.conn.Client, d, id)
}

// compareBundle prints the outcome and says whether it is the bundle's.
func (a *app) compareBundle(ctx context.Context, b *bundle.Opened, o *outcome, taken int64) error {
	want, got := b.Manifest.Result, o.receipt.ResultDigest
	equal := want == got && o.receipt.Reproduction == b.Manifest.Reproduction
	if a.JSON() {
		line := map[string]any{
			"bundle": b.Path(), "reproduction_id": o.receipt.Reproduction, "equal": equal, "result_digest": got, "bundle_result_digest": want, "imported": taken,
		}
		if err := json.NewEncoder(a.out).Encode(line); err != nil {
			return err
		}
	}
	err := a.printOutcome(ctx, o.store, o.receipt, o.summary)
	if !a.JSON() {
		words := "the same result as the bundle's: " + want.String()
		if !equal {
			words = strings.Join([]string{"NOT the bundle's result: here", got.String(), "of", o.receipt.Reproduction + ", there", want.String(), "of", b.Manifest.Reproduction}, " ")
		}
		fmt.Fprintln(a.out, "\n"+words)
	}
	if err == nil && !equal {
		err = &exitError{Code: exitFailed, Err: errors.New("the result is another one than the bundle's"), Hint: "another id: other data or another plan; the same id: models answered otherwise"}
	}
	return err
}
