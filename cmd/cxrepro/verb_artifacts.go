package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/catalog"
)

func newArtifactsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "artifacts",
		Short: "List, read, check, pin and clean what the store holds",
		Long: `artifacts looks into the artifact store (--store, default <state>/store).

Things are named by key (segment/sha256:...), by digest (sha256:...), or by 8 or more of a
digest's hexadecimal digits. With --json every command prints what its help says.

Exit codes: 0 done; 1 failed or something is wrong in the store; 2 usage; 6 store unreachable.`,
		Args: cobra.NoArgs,
	}
	c.AddCommand(newArtifactsLsCommand(a), newArtifactsCatCommand(a), newArtifactsVerifyCommand(a), newArtifactsGCCommand(a),
		newArtifactsReindexCommand(a), newArtifactsPinCommand(a), newArtifactsUnpinCommand(a), newArtifactsProbeCommand(a))
	return c
}

// readStore opens the store for looking: a missing one is not made.
func (a *app) readStore(ctx context.Context) (*artifacts.Repository, error) {
	r, err := storeurl.Open(ctx, a.storeAddress(), storeurl.Options{ReadOnly: true})
	if err != nil {
		return nil, artifactsError(err)
	}
	return r, nil
}

// writeStore opens the store for changes. A missing one is not made either.
func (a *app) writeStore(ctx context.Context) (*artifacts.Repository, error) {
	if _, err := a.readStore(ctx); err != nil {
		return nil, err
	}
	return a.openStore(ctx)
}

// artifactsError gives an error of the store its exit code and hint.
func artifactsError(err error) error {
	var ee *exitError
	if err == nil || errors.As(err, &ee) {
		return err
	}
	code := exitFailed
	var address *storeurl.AddressError
	switch {
	case errors.As(err, &address):
		code = exitUsage
	case errors.Is(err, artifacts.ErrUnreachable), errors.Is(err, artifacts.ErrDenied):
		code = exitUnreachable
	case errors.Is(err, context.Canceled):
		code = exitCancelled
	}
	return &exitError{Code: code, Err: err, Hint: artifacts.HintOf(err)}
}

// slowly returns a progress function that talks only when the work takes long.
func (a *app) slowly(format string) func(int64) {
	next := time.Now().Add(2 * time.Second)
	return func(n int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(5 * time.Second)
			a.say(fmt.Sprintf(format, n))
		}
	}
}

func (a *app) printJSON(v any) error { return json.NewEncoder(a.out).Encode(v) }

func newArtifactsCatCommand(a *app) *cobra.Command {
	var statement bool
	c := &cobra.Command{
		Use:   "cat KEY|DIGEST|PREFIX",
		Short: "Write a blob, a result or a statement to standard output",
		Long: `cat writes the bytes of a blob, of a key's result, or with --statement of the provenance
statement behind it, after checking them against their digest. Blobs above 8 MiB are checked
while they are written: exit code 1 says that what was written is wrong.

With --json, one line instead of the bytes: {"digest","size","media_type"}.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			return artifactsError(a.cat(c.Context(), store, args[0], statement))
		},
	}
	c.Flags().BoolVar(&statement, "statement", false, "the provenance statement instead of the result")
	return c
}

func (a *app) cat(ctx context.Context, store *artifacts.Repository, name string, statement bool) error {
	x := a.index(store)
	t, err := a.find(ctx, x, name)
	if err := errors.Join(err, x.Close()); err != nil {
		return err
	}
	ref, isStatement := t.ref, t.kind == targetStatement
	if statement && !isStatement {
		if t.record.Statement.IsZero() {
			return usageError("name a key or a result", "%s has no statement of its own", name)
		}
		ref, isStatement = t.record.Statement, true
	}
	if a.JSON() {
		return a.printJSON(ref)
	}
	if isStatement {
		data, err := store.StatementOf(ctx, t.record)
		if err != nil {
			return err
		}
		_, err = a.out.Write(data)
		return err
	}
	rc, err := store.Open(ctx, ref)
	if err != nil {
		return err
	}
	_, err = io.Copy(a.out, rc)
	return errors.Join(err, rc.Close())
}

func newArtifactsVerifyCommand(a *app) *cobra.Command {
	var drop bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Read everything and compare it with its digests",
		Long: `verify reads every blob and every statement, compares the bytes with the digest in their
name, checks that what index entries refer to is there, and that pins, conflicts, tombstones,
leases and budgets can be read. What is wrong is listed.

--drop-damaged removes blobs and statements whose bytes are wrong, entries that cannot be read
and entries without their statement; the next run that needs them computes them again. It does
not touch what it cannot replace: damaged pins and the like, and files that are not the store's.

With --json: {"store","blobs":{"count","bytes"},"statements":{...},"entries","conflicts",
"faults":[{"kind","object","detail","dropped"}]}; kinds are damaged-blob, damaged-statement,
damaged-entry, entry-without-blob, entry-without-statement, damaged-record, foreign-object.

Exit codes: 0 all is right, or with --drop-damaged: what was wrong is removed; 1 something is
wrong that waits for you; 6 store unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			open := a.readStore
			if drop {
				open = a.writeStore
			}
			store, err := open(c.Context())
			if err != nil {
				return err
			}
			talk := a.slowly("checked %d objects")
			report, err := store.Verify(c.Context(), artifacts.VerifyOptions{DropDamaged: drop, Progress: func(n, _ int64) { talk(n) }})
			if err != nil {
				return artifactsError(err)
			}
			return a.showVerify(report, drop)
		},
	}
	c.Flags().BoolVar(&drop, "drop-damaged", false, "remove what is damaged, so that it is computed again")
	return c
}

func (a *app) showVerify(r artifacts.VerifyReport, drop bool) error {
	if a.JSON() {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Faults {
			done := ""
			if f.Dropped {
				done = " (dropped)"
			}
			fmt.Fprintf(a.out, "%s\t%s\t%s%s\n", f.Kind, f.Object, f.Detail, done)
		}
		fmt.Fprintf(a.out, "%d blobs (%s), %d statements (%s), %d entries, %d recorded conflicts: %d faults\n",
			r.Blobs.Count, size(r.Blobs.Bytes), r.Statements.Count, size(r.Statements.Bytes), r.Entries, r.Conflicts, len(r.Faults))
	}
	open := r.Open()
	if len(r.Faults) == 0 || drop && len(open) == 0 {
		return nil
	}
	return &exitError{Code: exitFailed, Err: fmt.Errorf("store %s: %d faults", r.Store, len(r.Faults)), Hint: faultHint(open)}
}

// faultHint says what helps against the faults that are left.
func faultHint(open []artifacts.Fault) string {
	droppable := 0
	for _, f := range open {
		switch f.Kind {
		case artifacts.FaultForeignObject, artifacts.FaultDamagedRecord:
		default:
			droppable++
		}
	}
	switch {
	case len(open) == 0:
		return "entries without their blob are looked up as misses: the next run that needs them computes them again"
	case droppable == 0:
		return "--drop-damaged does not touch these: each line says what the object is; move it out of the store"
	}
	return "`cxrepro artifacts verify --drop-damaged` removes what is damaged; the next run computes it again"
}

func newArtifactsReindexCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the local catalog of the store",
		Long: `reindex throws the catalog (<state>/cache) away and rebuilds it from the store alone: entries,
statements, model calls, lineage. It only makes questions quick; nothing is lost with it, and
` + "`cxrepro catalog digest`" + ` is the same before and after.

With --json: {"steps","removed_steps","calls","artifacts","links","read","forgotten"}.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withCatalog(c.Context(), (*catalog.Catalog).Reindex, func(_ *catalog.Catalog, n catalog.Counts) error {
				if a.JSON() {
					return a.printJSON(n)
				}
				_, err := fmt.Fprintf(a.out, "%d entries, %d removed ones, %d model calls, %d artifacts, %d lineage links\n", n.Steps, n.Removed, n.Calls, n.Artifacts, n.Links)
				return err
			})
		},
	}
}

func newArtifactsProbeCommand(a *app) *cobra.Command {
	var quick bool
	c := &cobra.Command{
		Use:   "probe",
		Short: "Measure which promises the store keeps",
		Long: `probe tries, on objects of its own under tmp/, what a safe store must keep to: bytes and
lists as written, conditional creation (also in a race), conditional replacement (also of a
missing object), refusal of a wrong SHA-256, server copy, multipart uploads.

A broken promise is replaced by a fallback, which is named, or the store is refused.

With --json: {"store","settings":{},"checks":[{"name","verdict","detail","millis"}],
"semantics":{...},"fallbacks":[],"refused","millis"}; verdicts are kept, broken, skipped.

Exit codes: 0 usable; 1 refused; 6 store unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			report, err := storeurl.Probe(c.Context(), a.storeAddress(), storeurl.Options{ReadOnly: true}, artifacts.ProbeOptions{Thorough: !quick})
			if serr := a.showProbe(report); serr != nil {
				return serr
			}
			return artifactsError(err)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "one small part instead of 5 MiB for the multipart checks, as at every start")
	return c
}

func (a *app) showProbe(r artifacts.Report) error {
	if r.Store == "" {
		return nil
	}
	if a.JSON() {
		return a.printJSON(r)
	}
	fmt.Fprintln(a.out, r.Store)
	var settings []string
	for _, name := range []string{"client", "endpoint", "region", "path_style", "tls", "ca", "sse", "attest"} {
		if v := r.Settings[name]; v != "" {
			settings = append(settings, name+"="+v)
		}
	}
	if len(settings) > 0 {
		fmt.Fprintln(a.out, "  "+strings.Join(settings, " "))
	}
	for _, c := range r.Checks {
		fmt.Fprintf(a.out, "  %-34s %-8s %7.1f ms  %s\n", c.Name, c.Verdict, c.Millis, c.Detail)
	}
	for _, f := range r.Fallbacks {
		fmt.Fprintln(a.out, "  fallback: "+f)
	}
	return nil
}

// durability reads the flag --durability.
func (a *app) durability() (dirstore.Durability, error) {
	d, err := dirstore.ParseDurability(a.settings.GetString("durability"))
	if err != nil {
		return 0, usageError("--durability process survives the death of any process, power also a power cut", "%v", err)
	}
	return d, nil
}
