package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
)

func newArtifactsGCCommand(a *app) *cobra.Command {
	var opts artifacts.GCOptions
	var list bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove what no pin reaches (only says so without --apply)",
		Long: `gc keeps what pins reach: their blobs, everything that the JSON among those refers to by
{"digest","size","media_type"}, and the records of pinned keys. Finished reproductions are
pinned. Everything younger than --grace is kept too.

The rest goes: index entries first, each leaving a tombstone with its statement, so that
` + "`cxrepro explain`" + ` still answers; then blobs, statements that nothing names, left-overs of
killed processes, run-out claims, and unfinished multipart uploads. Pins and entries are looked
at again before each part goes.

While a reproduction is under way every record is kept, since it may reuse any, and everything
written since it began: only what earlier efforts left behind without a record goes. gc stops
by itself when a reproduction begins meanwhile. Without --apply nothing is changed.

With --json: {"store","dry_run","grace_ns","pins","open_pins":[],"since","stopped","kept_blobs":{"count",
"bytes"},"kept_entries","missing":[],"entries":{...},"blobs":{...},"statements":{...},"temporary":{...},
"claims":{...},"uploads":{...},"freed_bytes"}; since is there while something is under way.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if opts.Grace <= 0 {
				return usageError("the least is 1s; the default is 24h", "--grace %s protects nothing that is being made now", opts.Grace)
			}
			open := a.readStore
			if opts.Apply {
				open = a.writeStore
			}
			store, err := open(c.Context())
			if err != nil {
				return err
			}
			if list && !a.JSON() {
				opts.Each = func(kind, name string, bytes int64) { fmt.Fprintf(a.out, "%s\t%s\t%d\n", kind, name, bytes) }
			}
			report, err := store.GC(c.Context(), opts)
			if err != nil {
				return artifactsError(err)
			}
			return a.showGC(report)
		},
	}
	c.Flags().BoolVar(&opts.Apply, "apply", false, "really remove")
	c.Flags().DurationVar(&opts.Grace, "grace", 24*time.Hour, "keep everything younger than this")
	c.Flags().BoolVar(&opts.IgnoreOpen, "ignore-open", false, "as if no reproduction were under way: those that are may have to compute again")
	c.Flags().BoolVar(&list, "list", false, "name every object")
	return c
}

func (a *app) showGC(r artifacts.GCReport) error {
	if a.JSON() {
		return a.printJSON(r)
	}
	verb := "removed"
	if r.DryRun {
		verb = "would remove"
	}
	fmt.Fprintf(a.out, "%s: %d pins keep %d blobs (%s) and %d entries\n", r.Store, r.Pins, r.Kept.Count, size(r.Kept.Bytes), r.KeptIndex)
	for _, p := range []struct {
		name string
		pile artifacts.Pile
	}{{"index entries", r.Entries}, {"blobs", r.Blobs}, {"statements", r.Statements}, {"left-overs", r.Temporary}, {"claims", r.Claims}, {"unfinished uploads", r.Uploads}} {
		if p.pile.Count > 0 {
			fmt.Fprintf(a.out, "  %s %d %s (%s)\n", verb, p.pile.Count, p.name, size(p.pile.Bytes))
		}
	}
	for _, name := range r.OpenPins {
		fmt.Fprintf(a.out, "  under way: %s\n", name)
	}
	if !r.Since.IsZero() {
		fmt.Fprintf(a.out, "  every record and what was written since %s is kept for it; one that will not go on: `cxrepro artifacts unpin NAME`\n", stamp(r.Since))
	}
	if r.Stopped {
		fmt.Fprintln(a.out, "  stopped: a reproduction began meanwhile")
	}
	for _, d := range r.Missing {
		fmt.Fprintf(a.out, "  pinned but missing: %s\n", d)
	}
	fmt.Fprintf(a.out, "%s %s; what is younger than %s stays\n", verb, size(r.Freed), r.Grace)
	if r.DryRun && r.Freed > 0 {
		a.say("nothing was changed; --apply removes it")
	}
	return nil
}

func newArtifactsPinCommand(a *app) *cobra.Command {
	var remove bool
	var note string
	c := &cobra.Command{
		Use:   "pin NAME KEY|DIGEST|PREFIX...",
		Short: "Keep things from garbage collection",
		Long: `pin keeps the records of keys, or blobs with everything their JSON refers to, from gc, under
a name. A pin of that name that is there is replaced. --remove NAME takes a pin away.
` + "`cxrepro artifacts ls pins`" + ` lists them; finished reproductions pin themselves.

With --json: the pin, {"name","roots":[...],"keys":[...],"note","created"}.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := artifacts.CheckPinName(args[0]); err != nil {
				return usageError("", "%v", err)
			}
			if remove && (len(args) > 1 || note != "") || !remove && len(args) == 1 {
				return usageError("`pin NAME KEY...` sets a pin, `pin --remove NAME` takes it away", "pin %s: what shall it keep?", args[0])
			}
			store, err := a.writeStore(c.Context())
			if err != nil {
				return err
			}
			if remove {
				return unpin(c.Context(), store, args[0])
			}
			return a.pin(c.Context(), store, args[0], args[1:], note)
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "take the pin away")
	c.Flags().StringVar(&note, "note", "", "why it is kept")
	return c
}

func newArtifactsUnpinCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "unpin NAME",
		Short: "Take a pin away",
		Long: `unpin takes a pin away; what nothing else reaches goes with a later gc. ` + "`cxrepro artifacts ls pins`" + `
lists them. The pin of a reproduction under way is set again when it goes on.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := artifacts.CheckPinName(args[0]); err != nil {
				return usageError("", "%v", err)
			}
			store, err := a.writeStore(c.Context())
			if err != nil {
				return err
			}
			return unpin(c.Context(), store, args[0])
		},
	}
}

func unpin(ctx context.Context, store *artifacts.Repository, name string) error {
	err := store.RemovePin(ctx, name)
	if errors.Is(err, artifacts.ErrNotFound) {
		return &exitError{Code: exitFailed, Err: fmt.Errorf("there is no pin %q", name), Hint: "see `cxrepro artifacts ls pins`"}
	}
	return artifactsError(err)
}

func (a *app) pin(ctx context.Context, store *artifacts.Repository, name string, things []string, note string) (err error) {
	p := artifacts.Pin{Name: name, Note: note}
	x := a.index(store)
	defer func() { err = errors.Join(err, x.Close()) }()
	for _, thing := range things {
		t, err := a.find(ctx, x, thing)
		if err != nil {
			return artifactsError(err)
		}
		switch t.kind {
		case targetEntry:
			p.Keys = append(p.Keys, t.record.Key)
			p.Roots = append(p.Roots, t.ref)
		case targetBlob:
			if t.ref.Size <= artifacts.MaxScan {
				data, err := store.Get(ctx, t.ref)
				if err != nil {
					return artifactsError(err)
				}
				t.ref.MediaType = mediaTypeOf(data)
			}
			p.Roots = append(p.Roots, t.ref)
		default:
			return usageError("pin a key or a blob", "%s is a %s", thing, t.kind)
		}
	}
	if err := store.SetPin(ctx, p); err != nil {
		return artifactsError(err)
	}
	got, err := store.Pin(ctx, name)
	if err != nil {
		return artifactsError(err)
	}
	if a.JSON() {
		return a.printJSON(got)
	}
	_, err = fmt.Fprintf(a.out, "pin %s keeps %d roots and %d keys\n", got.Name, len(got.Roots), len(got.Keys))
	return err
}
