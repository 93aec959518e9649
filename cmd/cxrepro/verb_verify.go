package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/experiments"
	"cxrepro/internal/bundle"
	"cxrepro/internal/resolve"
	"cxrepro/internal/verify"
	"cxrepro/worker"
)

// verifyFlags are the flags of `verify`.
type verifyFlags struct {
	trust         string
	requireSigned bool
	level         int
	data          []string
	segment       bool
	cells         bool
}

// engineOf opens the model of a plan.
type engineOf = func(ctx context.Context, p *experiments.Plan) (*activities.Engine, error)

func newVerifyCommand(a *app) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify [RUN|ID|BUNDLE]",
		Short: "Say of every table how far it follows from what lies below it",
		Long: `verify reads a reproduction in the store, or a bundle that ` + "`export`" + ` wrote, and says for every
table and cell which level it reaches, and why not a higher one:

  L1  bytes are those of their digests, the ledger has its root, signatures hold
  L2  tables follow from outcome records
  L3  outcomes follow from transcripts: every dialogue is run again over the recorded answers
  L4  findings follow from masks and pictures, questions from both

It asks nobody and changes nothing. One changed byte is a fault that names the object.

Signatures: a wrong one is a fault. None, or one of a signer that neither --trust nor this state
folder knows, is a warning; with --require-signed it is an error.

Withheld bytes of a bundle are taken from the store of this state folder where it has them.
Pictures come from --data, or from where the last run here had them; --segment lets the
segmentation model run again as well. ` + "`artifacts verify`" + ` looks at the bytes of a whole store.

With --json: docs/schemas.md. With --cells every cell is listed.

Exit codes: 0 nothing is wrong; 1 something is, or --require-signed is not met; 2 usage; 6 store
unreachable.`,
		Example: `  cxrepro verify
  cxrepro verify run.cxbundle.zip --trust colleagues.txt --require-signed
  cxrepro verify run.cxbundle.zip --data mimic-cxr-jpg=/data/mimic-cxr-jpg --segment`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			which := latest
			if len(args) > 0 {
				which = args[0]
			}
			return a.verify(c.Context(), which, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.trust, "trust", "", "FILE: signers that you know, a line of `keys show` each")
	fl.BoolVar(&f.requireSigned, "require-signed", false, "fail unless a known signer signed")
	fl.IntVar(&f.level, "level", verify.Images, "highest level that is tried, 1 to 4")
	fl.StringArrayVar(&f.data, "data", nil, "NAME=FOLDER: where a data set lies, for pictures")
	fl.BoolVar(&f.segment, "segment", false, "make the masks again where pictures and model are at hand")
	fl.BoolVar(&f.cells, "cells", false, "list every cell")
	return c
}

func (a *app) verify(ctx context.Context, which string, f verifyFlags) (err error) {
	if f.level < verify.Bytes || f.level > verify.Images {
		return usageError("give 1, 2, 3 or 4", "--level %d", f.level)
	}
	trust, err := a.trusted(f.trust)
	if err != nil {
		return err
	}
	o := verify.Options{Trust: trust, Level: f.level, Segment: f.segment, Progress: a.verifyTalk()}
	closing, damage, err := a.verified(ctx, which, &o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	if damage != nil {
		return a.showVerified(damage, f)
	}
	if f.segment {
		engine, stop := a.engine(o.Store)
		defer func() { err = errors.Join(err, stop()) }()
		o.Activities, err = a.lookers(o.Store, f.data, engine)
	} else {
		o.Activities, err = a.lookers(o.Store, f.data, nil)
	}
	if err != nil {
		return err
	}
	r, err := verify.Run(ctx, o)
	if err != nil {
		return artifactsError(err)
	}
	return a.showVerified(r, f)
}

// verified finds what is to be verified. A bundle that says nothing of itself any more is a
// report of that.
func (a *app) verified(ctx context.Context, which string, o *verify.Options) (closing func() error, damage *verify.Report, err error) {
	closing = func() error { return nil }
	if info, err := os.Stat(which); err == nil && info.Mode().IsRegular() {
		b, err := bundle.Open(which)
		var broken *bundle.DamageError
		switch {
		case errors.As(err, &broken):
			return closing, &verify.Report{Source: which, Faults: []verify.Fault{{Level: verify.Bytes, Object: broken.Object, Detail: broken.Detail}}}, nil
		case errors.Is(err, bundle.ErrNotBundle):
			return nil, nil, usageError("name a file that `cxrepro export --format bundle` wrote, or a reproduction", "%v", err)
		case err != nil:
			return nil, nil, err
		}
		o.Bundle, o.Receipt, o.Source = b, b.Manifest.Receipt, which
		o.Store, err = a.bundleStore(ctx, b)
		return b.Close, nil, err
	}
	store, err := a.readStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	list, err := reproductions(ctx, store)
	if err != nil {
		return nil, nil, err
	}
	r, err := chooseReproduction(list, which, func(r *remembered) bool { return r.receipt != nil })
	if err != nil {
		return nil, nil, err
	}
	if r.receipt == nil {
		return nil, nil, usageError("the same `cxrepro run` goes on with it", "reproduction %s (%s) has no receipt yet", r.ID, r.Name)
	}
	o.Store, o.Receipt, o.Source = store, r.ref, store.URL()
	return closing, nil, nil
}

// bundleStore reads a bundle as a store, with the store of this state folder beneath it for
// what is withheld.
func (a *app) bundleStore(ctx context.Context, b *bundle.Opened) (*artifacts.Repository, error) {
	var under artifacts.Bucket
	if own, err := a.readStore(ctx); err == nil {
		under = own.Bucket()
	} else if !errors.Is(err, artifacts.ErrUnreachable) {
		return nil, err
	}
	return artifacts.New(bundle.NewBucket(b.File, b.Ledger, under), artifacts.Options{Host: localhost.New()})
}

// verifyTalk says what is being done when it takes long.
func (a *app) verifyTalk() func(string, int64) {
	talks := map[string]func(int64){}
	return func(what string, n int64) {
		if talks[what] == nil {
			talks[what] = a.slowly("checked %d " + map[string]string{"bytes": "objects", "tables": "evaluations", "dialogues": "dialogues", "images": "images"}[what])
		}
		talks[what](n)
	}
}

func (a *app) showVerified(r *verify.Report, f verifyFlags) error {
	if !f.cells {
		r.Cells = nil
	}
	if a.JSON() {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		printVerified(a.out, r)
	}
	a.warnSigned(r)
	switch {
	case len(r.Faults) > 0:
		return &exitError{Code: exitFailed, Err: fmt.Errorf("verification found %d faults", len(r.Faults)), Hint: "each names the object; a bundle that was whole when it was sent is fetched again, a store is mended by `cxrepro artifacts verify --drop-damaged` and the same run"}
	case f.requireSigned && !r.Signed():
		return &exitError{Code: exitFailed, Err: errors.New("no signer that is known here signed it"), Hint: "add the signer's line (`cxrepro keys show` there) to the file of --trust"}
	}
	return nil
}

// warnSigned says what is missing of a signature.
func (a *app) warnSigned(r *verify.Report) {
	if r.Signed() {
		return
	}
	for _, s := range r.Signatures {
		if s.State == verify.Unknown {
			a.say("warning: signed by a key that is not known here: " + s.KeyID + " (--trust FILE makes it known)")
			return
		}
	}
	if len(r.Signatures) == 0 {
		a.say("warning: nobody signed it: that it is whole does not say whose it is")
	}
}

func printVerified(w io.Writer, r *verify.Report) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, printable(fmt.Sprintf(format, args...)))
	}
	if r.Reproduction != "" {
		row("reproduction", "%s (%s) in %s", r.Reproduction, r.Name, r.Source)
		row("result", "%s", r.Result)
	}
	if r.Ledger.Leaves > 0 {
		row("ledger", "%d objects, %s, root %s", r.Ledger.Leaves, size(r.Bytes), r.Ledger.Root)
	}
	for _, s := range r.Signatures {
		row("signed", "%s", signatureWords(s))
	}
	for _, s := range r.Steps {
		open := ""
		if s.Open != "" {
			open = "; open: " + s.Open
		}
		row(fmt.Sprintf("L%d", s.Level), "%s%s", s.Done, open)
		if len(s.Only) > 0 {
			row(fmt.Sprintf("L%d only", s.Level), "of the receipt: %s", strings.Join(s.Only, ", "))
		}
	}
	t.Flush()
	if len(r.Tables) > 0 {
		fmt.Fprintln(w)
		t = tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		fmt.Fprintln(t, "table\tlevel\tcells\twhy not higher")
		for _, x := range r.Tables {
			fmt.Fprintf(t, "%d\tL%d\t%d\t%s\n", x.Table, x.Level, x.Cells, printable(x.Why))
		}
		t.Flush()
	}
	if len(r.Cells) > 0 {
		fmt.Fprintln(w)
		t = tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		for _, x := range r.Cells {
			fmt.Fprintf(t, "%s\tL%d\t%s\n", printable(x.Ref), x.Level, printable(x.Why))
		}
		t.Flush()
	}
	for _, f := range r.Faults {
		parts := []string{fmt.Sprintf("wrong at L%d", f.Level)}
		for _, p := range []string{f.What, f.Object, f.Detail} {
			if p != "" {
				parts = append(parts, printable(p))
			}
		}
		fmt.Fprintln(w, strings.Join(parts, ": "))
	}
}

func signatureWords(s verify.Signature) string {
	who := s.Signer
	if who == "" {
		who = "a stranger"
	}
	if s.State == verify.Wrong {
		return "WRONG, by " + who
	}
	return fmt.Sprintf("%s by %s, key %.16s, %s (%s)", s.Of, who, s.KeyID, s.Signed, s.State)
}

// engine opens models outside a worker.
func (a *app) engine(store *artifacts.Repository) (engineOf, func() error) {
	return worker.Engine(worker.Options{
		Store: store, Cache: filepath.Join(a.StateDir(), "cache"),
		Library: func(ctx context.Context) (string, error) {
			lib, err := resolve.ONNXRuntime(ctx, a.resolveOptions("onnxruntime"))
			return lib.Path, err
		},
	})
}
