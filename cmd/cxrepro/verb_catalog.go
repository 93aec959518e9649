package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm"
)

func newCatalogCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "catalog",
		Short: "The index over what the store's statements say",
		Long: `The catalog is a database: steps, model calls, artifacts, and what each depends on, read from the
provenance statements of a store. It is a file in <state>/cache, or, with --catalog or
CXREPRO_CATALOG, a schema of a PostgreSQL database, which several machines share; what it says is
the same. It can be deleted at any time; ` + "`cxrepro artifacts reindex`" + ` makes it anew.`,
	}
	c.AddCommand(newCatalogDigestCommand(a), newCatalogLsCommand(a))
	return c
}

func newCatalogDigestCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "digest",
		Short: "Bring the catalog up to date and print the digest of what it says",
		Long: `digest prints one digest over every row of the catalog in a fixed order. It depends on what the
store holds and on nothing else: a catalog that was deleted and made anew has the same.

With --json: {"digest","steps","removed_steps","calls","parameters","artifacts","links","read","forgotten"}.

Exit codes: 0 ok; 6 store unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withCatalog(c.Context(), (*catalog.Catalog).Update, func(cat *catalog.Catalog, n catalog.Counts) error {
				d, err := cat.Digest(c.Context())
				if err != nil {
					return err
				}
				if a.JSON() {
					return a.printJSON(struct {
						Digest artifacts.Digest `json:"digest"`
						catalog.Counts
					}{d, n})
				}
				_, err = fmt.Fprintln(a.out, d)
				return err
			})
		},
	}
}

func newCatalogLsCommand(a *app) *cobra.Command {
	var name string
	var limit int
	c := &cobra.Command{
		Use:   "ls reproductions|calls|materials",
		Short: "List reproductions, sums of model calls, or what was used under a name",
		Long: `ls lists what the statements in the store name: the reproductions with what each computed itself;
sums of model calls by model, kind and outcome; or the materials that steps used under a name,
such as checkpoints (--name model), data sets (--name manifest) or images (--name image).

With --json, one object a line:
  reproductions  {"reproduction","steps","calls","started","ended"}
  calls          {"model","kind","outcome","calls","requests","prompt_tokens","completion_tokens",
                 "cost_micros","currency"}
  materials      {"digest","name","keys"}`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"reproductions", "calls", "materials"},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if (args[0] == "materials") != (name != "") {
				return usageError("for example `cxrepro catalog ls materials --name model`", "--name goes with materials, and materials need it")
			}
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			x := a.index(store)
			defer func() { err = errors.Join(err, x.Close()) }()
			cat, err := x.catalog(c.Context())
			if err != nil {
				return err
			}
			l := &listing{a: a, store: store}
			switch args[0] {
			case "reproductions":
				return l.reproductions(c.Context(), cat)
			case "calls":
				return l.calls(c.Context(), cat)
			}
			return l.materials(c.Context(), cat, name, limit)
		},
	}
	c.Flags().StringVar(&name, "name", "", "the name under which steps used a material")
	c.Flags().IntVar(&limit, "limit", 1000, "at most so many materials")
	return c
}

func (l *listing) reproductions(ctx context.Context, cat *catalog.Catalog) error {
	list, err := cat.Reproductions(ctx)
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := l.line(r, "%-18s %8d steps %8d calls  %s to %s", r.Name, r.Steps, r.Calls, stamp(r.Started), stamp(r.Ended)); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) calls(ctx context.Context, cat *catalog.Catalog) error {
	list, err := cat.Calls(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		cost := ""
		if s.Currency != "" {
			cost = fmt.Sprintf("  %.6f %s", float64(s.Cost)/1e6, s.Currency)
		}
		if err := l.line(s, "%-28s %-6s %-16s %8d calls %8d requests %10d + %d tokens%s", s.Model, s.Kind, s.Outcome, s.Calls, s.Sent, s.Prompt, s.Completion, cost); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) materials(ctx context.Context, cat *catalog.Catalog, name string, limit int) error {
	list, err := cat.Materials(ctx, name, limit)
	if err != nil {
		return err
	}
	for _, u := range list {
		if err := l.line(u, "%s  used by %d keys", u.Digest, u.Keys); err != nil {
			return err
		}
	}
	return nil
}

// openCatalog opens the catalog of a store: in the PostgreSQL database that was named, else in
// a file.
func (a *app) openCatalog(ctx context.Context, store *artifacts.Repository) (*catalog.Catalog, error) {
	address := a.settings.GetString("catalog")
	if address == "" {
		return catalog.Open(ctx, a.catalogFolder(), store.URL())
	}
	name := store.URL()
	if strings.HasPrefix(name, "file:") {
		// A folder's path names another store on another machine.
		host, err := os.Hostname()
		if err != nil {
			return nil, err
		}
		name += "@" + host
	}
	c, err := catalog.OpenPostgres(ctx, address, name)
	switch {
	case errors.Is(err, catalog.ErrAddress):
		return nil, usageError("for example --catalog postgres://cxrepro@db.example/catalog, with the password in PGPASSWORD", "%v", err)
	case err != nil && ctx.Err() == nil:
		return nil, &exitError{Code: exitUnreachable, Err: err, Hint: "start the database, correct --catalog or CXREPRO_CATALOG, or leave it out: the catalog is then a file"}
	}
	return c, err
}

// filler brings a catalog up to date, or makes it anew.
type filler func(*catalog.Catalog, context.Context, *artifacts.Repository, catalog.Options) (catalog.Counts, error)

// filledCatalog opens the store's catalog and fills it. A file that was damaged is made anew.
func (a *app) filledCatalog(ctx context.Context, store *artifacts.Repository, fill filler) (*catalog.Catalog, catalog.Counts, error) {
	cat, err := a.openCatalog(ctx, store)
	if err != nil {
		return nil, catalog.Counts{}, err
	}
	n, err := fill(cat, ctx, store, a.catalogOptions())
	if catalog.Damaged(err) {
		a.say("the catalog was damaged; it is made anew")
		if err := errors.Join(cat.Close(), catalog.Discard(a.catalogFolder(), store.URL())); err != nil {
			return nil, n, err
		}
		if cat, err = a.openCatalog(ctx, store); err != nil {
			return nil, n, err
		}
		n, err = cat.Reindex(ctx, store, a.catalogOptions())
	}
	if err != nil {
		return nil, n, errors.Join(artifactsError(err), cat.Close())
	}
	return cat, n, nil
}

// withCatalog hands the store's filled catalog and what it counts to use.
func (a *app) withCatalog(ctx context.Context, fill filler, use func(*catalog.Catalog, catalog.Counts) error) (err error) {
	store, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	cat, n, err := a.filledCatalog(ctx, store, fill)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cat.Close()) }()
	if err = use(cat, n); catalog.Damaged(err) {
		return &exitError{Code: exitFailed, Err: err, Hint: "`cxrepro artifacts reindex` makes the catalog anew"}
	}
	return err
}

// catalogFolder is where catalogs lie that are files.
func (a *app) catalogFolder() string { return filepath.Join(a.StateDir(), "cache") }

// catalogOptions: answers of models are texts, they refer to nothing; results list what belongs
// to them by digest alone.
func (a *app) catalogOptions() catalog.Options {
	return catalog.Options{
		Leaves: []string{lvlm.AnswerMediaType}, Lists: []string{contract.ResultsMediaType, contract.EvaluationResultsMediaType},
		Progress: a.slowly("reading the index: %d entries"),
	}
}
