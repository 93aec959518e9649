package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"cxrepro/internal/review"
)

// exportTablesFlags are the flags of `chexstruct export`.
type exportTablesFlags struct {
	reproduction, out string
	points            bool
}

func newChexstructExportCommand(a *app) *cobra.Command {
	var f exportTablesFlags
	c := &cobra.Command{
		Use:   "export --out DIR [--reproduction ID]",
		Short: "Write a reproduction as CSV files in the released tables' columns",
		Long: `export writes one CSV file per task in the columns of the released CheXStruct tables, and
three for the global filter, to compare with those. As there, a task's file has a line per
image with a label. The column image_file holds the data set's own picture names: these
files belong where the data set belongs.

--points measures again from the stored masks for the few points that rows do not hold.

With --json one object: reproduction_id, out, files[], data_use.

Exit codes: 0 done; 1 failed; 2 usage or no such reproduction; 6 store unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.exportTables(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.reproduction, "reproduction", latest, "id of a finished reproduction, or latest")
	fl.StringVar(&f.out, "out", "", "folder to write into")
	fl.BoolVar(&f.points, "points", false, "measure again for points that rows do not hold (loads every mask)")
	return c
}

func (a *app) exportTables(ctx context.Context, f exportTablesFlags) error {
	if f.out == "" {
		return usageError("name a folder with --out DIR", "chexstruct export: no output folder")
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	r, err := a.finishedReceipt(ctx, store, f.reproduction)
	if err != nil {
		return err
	}
	in, err := a.openResults(ctx, store, r, nil)
	if err != nil {
		return err
	}
	names, err := review.ExportOfficial(ctx, in, f.out, f.points)
	if err != nil {
		return err
	}
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(map[string]any{"reproduction_id": r.Reproduction, "out": f.out, "files": names, "data_use": in.Plan.DataUse})
	}
	fmt.Fprintf(a.out, "%d files in %s (data use class %s)\n", len(names), f.out, in.Plan.DataUse)
	return nil
}
