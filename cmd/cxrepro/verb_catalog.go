package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/lvlm"
)

func newCatalogCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "catalog",
		Short: "The local index over what the store's statements say",
		Long: `The catalog is a database in <state>/cache: steps, model calls, artifacts, and what each depends
on, read from the provenance statements of a store. It can be deleted at any time; ` + "`cxrepro artifacts\nreindex`" + ` makes it anew.`,
	}
	c.AddCommand(newCatalogDigestCommand(a))
	return c
}

func newCatalogDigestCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "digest",
		Short: "Bring the catalog up to date and print the digest of what it says",
		Long: `digest prints one digest over every row of the catalog in a fixed order. It depends on what the
store holds and on nothing else: a catalog that was deleted and made anew has the same.

With --json: {"digest","steps","removed_steps","calls","artifacts","links","read","forgotten"}.

Exit codes: 0 ok; 6 store unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			cat, err := a.openCatalog(c.Context(), store)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, cat.Close()) }()
			n, err := cat.Update(c.Context(), store, a.catalogOptions())
			if err != nil {
				return artifactsError(err)
			}
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
		},
	}
}

func (a *app) openCatalog(ctx context.Context, store *artifacts.Repository) (*catalog.Catalog, error) {
	return catalog.Open(ctx, filepath.Join(a.StateDir(), "cache"), store.URL())
}

// catalogOptions: answers of models are texts, they refer to nothing.
func (a *app) catalogOptions() catalog.Options {
	return catalog.Options{Leaves: []string{lvlm.AnswerMediaType}, Progress: a.slowly("reading the index: %d entries")}
}
