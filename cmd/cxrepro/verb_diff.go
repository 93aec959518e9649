package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cxrepro/internal/compare"
)

func newDiffCommand(a *app) *cobra.Command {
	var o compare.Options
	var transcripts bool
	c := &cobra.Command{
		Use:   "diff RUN_A RUN_B",
		Short: "Say what is different between two reproductions, and where they part",
		Long: `diff lays two reproductions that have come to their end side by side: the spec after --set,
images and cases, code, environment, every figure with its k and n and a test over the same cases,
the cases whose outcome differs with both transcripts, and the first step of the pipeline in
which the two part, with the first field of its key that differs. It makes no call to a model,
and changes nothing that is stored. The first line is the answer.

A and B are named as for every verb: an id, six or more digits of its beginning, the name of an
experiment, or latest. Values are printed as "A | B".

Tests are paired over the cases that both have: exact McNemar for shares, sign test for depths,
bootstrap of the difference for means of tasks. Transcripts hold replies to the data: of
credentialed data they are for this machine.

With --json: the object of docs/schemas.md: equal, identical, verdict, spec, inputs, code,
environment, parted, steps, cells, compared_cells, unpaired, flips, flips_all.

Exit codes: 0 no figure and no outcome differs; 1 some differ; 2 usage; 3 none differs, but
cases are undetermined on a side; 6 store unreachable.`,
		Example: `  cxrepro diff 1f6c2a 90b4e1
  cxrepro diff latest 1f6c2a --flips -1 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.diff(c.Context(), args[0], args[1], o, transcripts)
		},
	}
	c.Flags().IntVar(&o.Flips, "flips", 5, "most outcomes that are listed with both transcripts (-1: all)")
	c.Flags().BoolVar(&transcripts, "transcripts", false, "print every reply of the listed outcomes in full, not only where they part")
	c.Flags().IntVar(&o.Draws, "bootstrap", 2000, "resamples behind the interval of a difference of means")
	c.Flags().Uint64Var(&o.Seed, "seed", 1, "names the streams of the bootstrap")
	return c
}

func (a *app) diff(ctx context.Context, one, other string, o compare.Options, transcripts bool) (err error) {
	if o.Draws < 1 {
		return usageError("give --bootstrap 1 or more", "--bootstrap %d", o.Draws)
	}
	store, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	s, err := a.openArchive(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var sides [2]*compare.Side
	for i, which := range []string{one, other} {
		r, err := s.ended(which)
		if err != nil {
			return err
		}
		if sides[i], err = s.side(ctx, r); err != nil {
			return err
		}
	}
	d, err := compare.Compare(ctx, sides[0], sides[1], o)
	if err != nil {
		return artifactsError(err)
	}
	if a.JSON() {
		err = a.printJSON(d)
	} else {
		err = d.WriteText(a.out, transcripts)
	}
	switch {
	case err != nil:
		return err
	case !d.Equal:
		return &exitError{Code: exitFailed}
	case !d.A.Complete || !d.B.Complete:
		return &exitError{Code: exitQuarantined}
	}
	return nil
}
