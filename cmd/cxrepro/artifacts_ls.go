package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
)

// listing prints one kind of thing, as lines for people or as one JSON object a line.
type listing struct {
	a     *app
	store *artifacts.Repository
	step  string
	limit int
	shown int
}

// errEnough ends a listing at its limit.
var errEnough = errors.New("enough")

func (l *listing) line(v any, format string, args ...any) error {
	if l.limit > 0 && l.shown >= l.limit {
		return errEnough
	}
	l.shown++
	if l.a.JSON() {
		return l.a.printJSON(v)
	}
	_, err := fmt.Fprintf(l.a.out, format+"\n", args...)
	return err
}

var kindsOfLists = []string{"entries", "steps", "blobs", "statements", "pins", "conflicts", "tombstones"}

func newArtifactsLsCommand(a *app) *cobra.Command {
	l := &listing{a: a}
	c := &cobra.Command{
		Use:   "ls [" + strings.Join(kindsOfLists, "|") + "]",
		Short: "List what the store holds",
		Long: `ls lists entries (the default), or steps with their counts, blobs, statements, pins,
recorded conflicts, or tombstones of what garbage collection removed.

With --json, one object a line:
  entries     {"key","result":{"digest","size","media_type"},"statement":{...},"modified"}
  steps       {"step","entries"}
  blobs, statements  {"digest","size","modified"}
  pins        {"name","open","roots":[...],"keys":[...],"note","created"}
  conflicts   {"key","first":{"key","result","statement"},"second":{...},"noticed"}
  tombstones  {"key","result","statement","reason","removed"}`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: kindsOfLists,
		RunE: func(c *cobra.Command, args []string) (err error) {
			kind := "entries"
			if len(args) == 1 {
				kind = args[0]
			}
			if l.step != "" && !slices.Contains([]string{"entries", "conflicts", "tombstones"}, kind) {
				return usageError("leave --step out", "%s belong to no step", kind)
			}
			if l.store, err = a.readStore(c.Context()); err != nil {
				return err
			}
			l.shown = 0
			err = l.run(c.Context(), kind)
			if errors.Is(err, errEnough) {
				a.say(fmt.Sprintf("there are more than %d; --limit 0 lists all", l.limit))
				err = nil
			}
			return artifactsError(err)
		},
	}
	c.Flags().StringVar(&l.step, "step", "", "only this step")
	c.Flags().IntVar(&l.limit, "limit", 1000, "at most so many lines; 0 for all")
	return c
}

func (l *listing) run(ctx context.Context, kind string) error {
	switch kind {
	case "entries":
		return l.entries(ctx)
	case "steps":
		return l.steps(ctx)
	case "blobs":
		return l.store.Blobs(ctx, l.object)
	case "statements":
		return l.store.Statements(ctx, l.object)
	case "pins":
		return l.pins(ctx)
	case "conflicts":
		return l.store.Conflicts(ctx, l.step, func(c artifacts.Conflict) error {
			return l.line(c, "%s\tfirst %s\tsecond %s\t%s", c.Key, c.First.Result.Digest.Short(), c.Second.Result.Digest.Short(), stamp(c.Noticed))
		})
	}
	return l.store.Tombstones(ctx, l.step, func(t artifacts.Tombstone) error {
		return l.line(t, "%s\t%s\t%s\t%s", t.Key, t.Result.Digest.Short(), stamp(t.Removed), t.Reason)
	})
}

func (l *listing) object(d artifacts.Digest, info artifacts.Info) error {
	v := struct {
		Digest   artifacts.Digest `json:"digest"`
		Size     int64            `json:"size"`
		Modified time.Time        `json:"modified"`
	}{d, info.Size, info.Modified.UTC()}
	return l.line(v, "%s\t%d\t%s", d, info.Size, stamp(info.Modified))
}

func (l *listing) entries(ctx context.Context) error {
	return l.store.Keys(ctx, l.step, func(key artifacts.Key, info artifacts.Info) error {
		rec, err := l.store.Entry(ctx, key)
		var miss *artifacts.MissError
		if errors.As(err, &miss) {
			if miss.Reason == artifacts.MissNoEntry {
				return nil
			}
			l.a.say(fmt.Sprintf("%s: %s", key, miss.Reason))
			return nil
		}
		if err != nil {
			return err
		}
		rec.Inline = nil // `cat --statement` shows it
		v := struct {
			artifacts.Record
			Modified time.Time `json:"modified"`
		}{rec, info.Modified.UTC()}
		return l.line(v, "%s\t%s\t%d\t%s\t%s", key, rec.Result.Digest.Short(), rec.Result.Size, rec.Result.MediaType, stamp(info.Modified))
	})
}

func (l *listing) steps(ctx context.Context) error {
	counts := map[string]int64{}
	var names []string
	err := l.store.Keys(ctx, "", func(key artifacts.Key, _ artifacts.Info) error {
		if counts[key.Step]++; counts[key.Step] == 1 {
			names = append(names, key.Step)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		v := struct {
			Step    string `json:"step"`
			Entries int64  `json:"entries"`
		}{n, counts[n]}
		if err := l.line(v, "%-24s %d", n, counts[n]); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) pins(ctx context.Context) error {
	pins, err := l.store.Pins(ctx)
	if err != nil {
		return err
	}
	for _, p := range pins {
		state := "pinned"
		if p.Open {
			state = "under way"
		}
		if err := l.line(p, "%s\t%s\t%d roots\t%d keys\t%s\t%s", p.Name, state, len(p.Roots), len(p.Keys), stamp(p.Created), p.Note); err != nil {
			return err
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
