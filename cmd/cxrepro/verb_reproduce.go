package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"cxrepro/artifacts"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
	tables "cxrepro/internal/report"
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
reproduction_id, equal, result_digest, bundle_result_digest, imported (objects), imported_steps,
imported_calls: records that came with the bundle, which the receipt counts as run.

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
	if afresh && len(f.worker.data) == 0 {
		return usageError("add --data NAME=FOLDER", "--afresh reads the data set anew, and no folder was given for it")
	}
	b, err := bundle.Open(file)
	var damage *bundle.DamageError
	switch {
	case errors.Is(err, bundle.ErrNotBundle), errors.Is(err, fs.ErrNotExist):
		return usageError("name a file that `cxrepro export --format bundle` wrote", "%v", err)
	case errors.As(err, &damage):
		return damagedBundle(file, bundle.Fault{Object: damage.Object, Detail: damage.Detail}, 1)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := a.soundBundle(ctx, b); err != nil {
		return err
	}
	from, err := a.bundleStore(ctx, b)
	if err != nil {
		return err
	}
	p, err := plannedOf(ctx, from, b)
	if err != nil {
		return err
	}
	if len(f.worker.data) == 0 {
		p.over, err = overManifest(ctx, from, b, p, f)
	} else {
		err = needData(p, f.worker.data)
	}
	if err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	taken, err := a.takeIn(ctx, b, from, store, afresh)
	if err != nil {
		return err
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
	return damagedBundle(b.Path(), faults[0], len(faults))
}

// damagedBundle refuses a bundle with n faults, of which it names the first.
func damagedBundle(path string, first bundle.Fault, n int) error {
	return &exitError{
		Code: exitFailed, Err: fmt.Errorf("%s: %s (%d such)", printable(first.Object), printable(first.Detail), n),
		Hint: "`cxrepro verify " + path + "` names all of them; nothing was taken in",
	}
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
func (a *app) compareBundle(ctx context.Context, b *bundle.Opened, o *outcome, taken takenIn) error {
	want, got := b.Manifest.Result, o.receipt.ResultDigest
	equal := want == got && o.receipt.Reproduction == b.Manifest.Reproduction
	if a.JSON() {
		line := map[string]any{
			"bundle": b.Path(), "reproduction_id": o.receipt.Reproduction, "equal": equal, "result_digest": got, "bundle_result_digest": want, "imported": taken.objects,
			"imported_steps": taken.steps, "imported_calls": taken.calls,
		}
		if err := json.NewEncoder(a.out).Encode(line); err != nil {
			return err
		}
	}
	err := a.printOutcome(ctx, o.store, o.receipt, o.summary)
	if !a.JSON() {
		words := "the same result as the bundle's: " + want.String()
		if !equal {
			words = strings.Join([]string{"NOT the bundle's result: here", got.String(), "of", o.receipt.Reproduction + ", there", want.String(), "of", printable(b.Manifest.Reproduction)}, " ")
		}
		fmt.Fprintln(a.out, "\n"+words)
		if taken.steps+taken.calls > 0 {
			fmt.Fprintf(a.out, "%s steps and %s calls came with the bundle; the receipt counts them as run, since the same reproduction made them\n", tables.Number(taken.steps), tables.Number(taken.calls))
		}
	}
	if err == nil && !equal {
		err = &exitError{Code: exitFailed, Err: errors.New("the result is another one than the bundle's"), Hint: "another id: other data or another plan; the same id: models answered otherwise"}
	}
	return err
}
