package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/provenance"
)

// explanation is what explain prints with --json.
type explanation struct {
	Query     string                 `json:"query"`
	Kind      string                 `json:"kind"`
	Key       artifacts.Key          `json:"key"`
	Result    artifacts.Ref          `json:"result"`
	Statement artifacts.Ref          `json:"statement"`
	Computed  *provenance.Invocation `json:"computed"`
	Nearest   *nearest               `json:"nearest"`
	Earlier   int                    `json:"earlier_keys"`
	Reused    *bool                  `json:"reused,omitempty"`
	Conflicts int                    `json:"conflicts"`
	Removed   *time.Time             `json:"removed,omitempty"`
	PartOf    []artifacts.Digest     `json:"part_of,omitempty"`
	Summary   string                 `json:"summary"`
}

// nearest is the earlier key that is most like the explained one.
type nearest struct {
	Key          string                  `json:"key"`
	Reproduction string                  `json:"reproduction"`
	Finished     time.Time               `json:"finished"`
	Equal        int                     `json:"equal_fields"`
	Differs      []provenance.Difference `json:"differs"`
}

func newExplainCommand(a *app) *cobra.Command {
	var reproduction string
	var all bool
	c := &cobra.Command{
		Use:   "explain KEY|DIGEST|PREFIX|REPRODUCTION",
		Short: "Say why something was computed, or who computed what is reused",
		Long: `explain loads the key document of a key, a result or a statement, looks among the keys of the
same step that other reproductions computed earlier for the one most like it (most equal
fields, then a changed parameter before a changed input, then the latest), and names the first
field that differs, with both values. It names the reproduction that computed the result; any
other one that needs the key reuses it.

A PREFIX is 8 or more hexadecimal digits, perhaps behind "<step>/". The id of a
REPRODUCTION, at least six digits of its beginning, its experiment's name or latest explains what
it ran: the reasons of its steps and calls, with an example key of each. Of each step the first
20 keys are looked at, with --all every one; each is compared with up to 1,000 earlier ones.

With --json: {"query","kind","key","result","statement","computed":{"reproduction","worker",
"attempt","fence","takeover","started","finished",...},"nearest":{"key","reproduction",
"finished","equal_fields","differs":[{"field","ours","other"}]},"earlier_keys","reused",
"conflicts","removed","part_of":[...],"summary"}. kind is entry, statement, tombstone, blob or
removed-blob; nearest is null when there is no earlier key; reused is there with
--reproduction; field values are JSON texts. Of a reproduction: {"kind":"reproduction",
"reproduction","result_digest","steps":{...},"reasons":[{"step","field","ours","other","keys",
"example"}],"run":[{"step","run","explained"}],"unexplained"}.

Exit codes: 0 explained; 1 nothing of that name; 2 ambiguous or no name; 6 store unreachable.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			x := a.index(store)
			defer func() { err = errors.Join(err, x.Close()) }()
			most := mostExplained
			if all {
				most = math.MaxInt32
			}
			if e, ok, err := a.explainReproduction(c.Context(), x, args[0], most); err != nil {
				return artifactsError(err)
			} else if ok && a.JSON() {
				return a.printJSON(e)
			} else if ok {
				return a.showReproduction(e)
			}
			e, err := a.explain(c.Context(), x, args[0], reproduction)
			if err != nil {
				return artifactsError(err)
			}
			if a.JSON() {
				return a.printJSON(e)
			}
			return a.showExplanation(e)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "of a reproduction: give the reasons of every key, not of the first 20 of each step")
	c.Flags().StringVar(&reproduction, "reproduction", "", "say whether this reproduction computed or reused it")
	return c
}

func (a *app) explain(ctx context.Context, x *shelfIndex, query, reproduction string) (*explanation, error) {
	t, err := a.find(ctx, x, query)
	if err != nil {
		return nil, err
	}
	e := &explanation{Query: query, Kind: t.kind, Key: t.record.Key, Result: t.record.Result, Statement: t.record.Statement}
	if !t.tomb.Removed.IsZero() {
		e.Removed = &t.tomb.Removed
	}
	switch t.kind {
	case targetBlob:
		e.Result = t.ref
		e.PartOf, err = partOf(ctx, x.store, t.ref.Digest)
		e.Summary = "a part of other results: no step has it as its own result"
		return e, err
	case targetRemoved:
		e.Result = t.ref
		e.Summary = "garbage collection removed this blob"
		return e, nil
	}
	return e, a.explainRecord(ctx, x, e, t.record, reproduction)
}

// explainRecord fills in what the statement and the other keys of the step say.
func (a *app) explainRecord(ctx context.Context, x *shelfIndex, e *explanation, rec artifacts.Record, reproduction string) error {
	data, err := x.store.StatementOf(ctx, rec)
	if errors.Is(err, artifacts.ErrNotFound) {
		e.Summary = "its statement is gone: how it was computed is not known"
		return nil
	}
	if err != nil {
		return err
	}
	st, err := provenance.Decode(data)
	if err != nil {
		return err
	}
	key, err := st.Key()
	if err != nil {
		return err
	}
	if key != e.Key {
		return fmt.Errorf("explain %s: its statement %s is about %s", e.Key, e.Statement.Digest.Short(), key)
	}
	e.Computed = &st.Predicate.Invocation
	if reproduction != "" {
		reused := reproduction != e.Computed.Reproduction
		e.Reused = &reused
	}
	err = x.store.Conflicts(ctx, e.Key.Step, func(c artifacts.Conflict) error {
		if c.Key == e.Key {
			e.Conflicts++
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = x.nearestEarlier(ctx, e, st)
	e.Summary = summary(e, reproduction)
	return err
}

// mostCompared is with how many earlier keys of a step one is compared. A step that has more is
// represented by those that share most materials, and by the latest.
const mostCompared = 1000

// nearestEarlier looks among the keys of the step that were finished before ours began.
// What the same reproduction computed for its other items is no reason, except where the
// step's version is all that changed.
func (x *shelfIndex) nearestEarlier(ctx context.Context, e *explanation, st provenance.Statement) error {
	cat, err := x.catalog(ctx)
	if err != nil {
		return err
	}
	ours := catalog.Step{Key: e.Key, Reproduction: e.Computed.Reproduction, Started: e.Computed.Started}
	found, total, err := cat.Earlier(ctx, ours, mostCompared)
	if err != nil {
		return err
	}
	e.Earlier = total
	search := provenance.NewNearest(st.Predicate.KeyDocument)
	who := map[string]string{}
	for _, s := range found {
		doc, err := x.keyDocument(ctx, s.Key)
		if err != nil {
			return err
		}
		if doc == nil || s.Reproduction == ours.Reproduction && !onlyVersion(st.Predicate.KeyDocument, doc) {
			continue
		}
		if s.Reproduction == ours.Reproduction {
			e.Earlier++
		}
		name := s.Key.String()
		who[name] = s.Reproduction
		search.Offer(provenance.Earlier{Name: name, Document: doc, Finished: s.Finished})
	}
	if best, how, ok := search.Best(); ok {
		e.Nearest = &nearest{Key: best.Name, Reproduction: who[best.Name], Finished: best.Finished, Equal: how.Equal, Differs: how.Differs}
	}
	return nil
}

func onlyVersion(ours, other []byte) bool {
	c, err := provenance.Compare(ours, other)
	return err == nil && len(c.Differs) == 1 && c.Differs[0].Field == "version"
}

// summary is the answer in one sentence.
func summary(e *explanation, reproduction string) string {
	var why string
	if e.Nearest == nil {
		why = "no other reproduction had computed step " + e.Key.Step + " before"
	} else {
		why = differenceInWords(e.Nearest.Differs[0])
	}
	who := e.Computed.Reproduction
	switch {
	case reproduction == "":
		return "computed by " + who + ", because " + why
	case reproduction == who:
		return "computed by this reproduction, because " + why
	}
	return "reused: computed by " + who + ", because " + why
}

// messageField is the name of an input of a model call: a message by its place and side, or a
// picture of it.
var messageField = regexp.MustCompile(`^inputs\.([0-9]{2,})\.([a-z]+)(?:\.picture\.([0-9]+))?$`)

// differenceInWords says how a key differs from the nearest earlier one.
func differenceInWords(d provenance.Difference) string {
	m := messageField.FindStringSubmatch(d.Field)
	if m == nil {
		return fmt.Sprintf("%s is %s; in the nearest earlier key it is %s", d.Field, d.Ours, d.Other)
	}
	place, _ := strconv.Atoi(m[1]) // digits
	what := fmt.Sprintf("message %d (%s)", place, m[2])
	if m[3] != "" {
		picture, _ := strconv.Atoi(m[3])
		what = fmt.Sprintf("picture %d of message %d", picture+1, place)
	}
	switch provenance.Absent {
	case d.Ours:
		return what + " of the nearest earlier key is not there"
	case d.Other:
		return what + " is not there in the nearest earlier key"
	}
	return what + " differs from the nearest earlier key's"
}

// partOf returns the chain of blobs from a pinned root down to d, or nothing.
func partOf(ctx context.Context, store *artifacts.Repository, d artifacts.Digest) ([]artifacts.Digest, error) {
	pins, err := store.Pins(ctx)
	if err != nil {
		return nil, err
	}
	var roots []artifacts.Ref
	for _, p := range pins {
		roots = append(roots, p.Roots...)
	}
	from := map[artifacts.Digest]artifacts.Digest{}
	found := errors.New("found")
	err = store.Walk(ctx, roots, func(ref artifacts.Ref, parent artifacts.Digest, _ bool) error {
		from[ref.Digest] = parent
		if ref.Digest == d {
			return found
		}
		return nil
	})
	if !errors.Is(err, found) {
		return nil, err
	}
	var chain []artifacts.Digest
	for at := from[d]; !at.IsZero(); at = from[at] {
		chain = append([]artifacts.Digest{at}, chain...)
	}
	return chain, nil
}

func (a *app) showExplanation(e *explanation) error {
	w := a.out
	if !e.Key.IsZero() {
		fmt.Fprintf(w, "key        %s\n", e.Key)
	}
	fmt.Fprintf(w, "result     %s\n", e.Result.Digest)
	if e.Removed != nil {
		fmt.Fprintf(w, "removed    %s by garbage collection\n", stamp(*e.Removed))
	}
	if c := e.Computed; c != nil {
		fmt.Fprintf(w, "computed   by reproduction %s on %s, %s, in %s\n", c.Reproduction, c.Worker, stamp(c.Started), c.Finished.Sub(c.Started).Round(time.Millisecond))
		if c.Fence > 1 {
			fmt.Fprintf(w, "executions %d (last cause: %s)\n", c.Fence, c.Takeover)
		}
	}
	if e.Reused != nil && *e.Reused {
		fmt.Fprintln(w, "reused     yes")
	}
	if n := e.Nearest; n != nil {
		fmt.Fprintf(w, "nearest    %s, computed by %s %s: %d fields equal, %d differ\n", n.Key, n.Reproduction, stamp(n.Finished), n.Equal, len(n.Differs))
		for i, d := range n.Differs {
			if i == 10 {
				fmt.Fprintf(w, "           and %d more fields\n", len(n.Differs)-i)
				break
			}
			fmt.Fprintf(w, "           %s: %s, there %s\n", d.Field, short(d.Ours), short(d.Other))
		}
	}
	if e.Conflicts > 0 {
		fmt.Fprintf(w, "conflicts  %d other results were computed for this key; see `cxrepro artifacts ls conflicts`\n", e.Conflicts)
	}
	for i, d := range e.PartOf {
		fmt.Fprintf(w, "part of    %s%s\n", strings.Repeat("  ", i), d)
	}
	_, err := fmt.Fprintf(w, "%s\n", e.Summary)
	return err
}

// short keeps long field values to one line.
func short(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:117]) + "..."
	}
	return s
}
