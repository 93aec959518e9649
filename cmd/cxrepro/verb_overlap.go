package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
)

// overlapFlags are the flags of `overlap` and of `datasets add`.
type overlapFlags struct {
	data  []string
	key   string
	limit int
}

func (f *overlapFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.data, "data", nil, "NAME=PATH: where the pictures of a data set lie; only needed for pictures that were not hashed yet")
	c.Flags().StringVar(&f.key, "grouping-key", "", "file with the key under which studies and patients are hashed (default <state>/"+groupingFile+", made when missing)")
}

func newOverlapCommand(a *app) *cobra.Command {
	var f overlapFlags
	c := &cobra.Command{
		Use:   "overlap [RUN|ID]",
		Short: "Compare what models were trained on with the images they are judged on",
		Long: `overlap compares, for every model of an evaluation whose weights are a recorded checkpoint, the
images of its training lineage with the radiographs of the benchmark: the same file, a
near-duplicate picture (perceptual hash ` + overlap.PerceptualName + `, at most --limit of 256 bits apart), another
image of the same study or patient. The result is a record in the store; an overlap blocks the
claims about the model.

Pictures that have no recorded hash are read from --data. RUN and ID are as for ` + "`cxrepro report`" + `.

With --json: {"reproduction_id","images","unread","models":[{"model","weights","state","images":[{"name",
"n"}],"reports":[...],"detail"}]}; states are clear, overlap, undetermined, unchecked, unknown.

Exit codes: 0 no overlap; 1 an overlap; 2 usage; 3 something could not be compared, or nothing is
known of a model's training; 6 store unreachable.`,
		Example: `  cxrepro overlap --data mimic-cxr-jpg=/data/mimic-cxr-jpg-2.1.0
  cxrepro overlap cxreasonbench-demo --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			which := latest
			if len(args) > 0 {
				which = args[0]
			}
			return a.overlap(c.Context(), which, f)
		},
	}
	f.register(c)
	c.Flags().IntVar(&f.limit, "limit", overlap.Limit, "largest distance of a near-duplicate in bits; a smaller one clears nobody")
	return c
}

// withBenchmark fits a reproduction that is judged on images.
func withBenchmark(r *remembered) bool {
	return r.receipt != nil && !checkpoint.JudgedOn(r.receipt).IsZero()
}

// describer opens the store for writing and prepares what describes images.
func (a *app) describer(ctx context.Context, f overlapFlags) (*checkpoint.Describer, error) {
	roots, err := parseData(f.data)
	if err != nil {
		return nil, err
	}
	store, err := a.writeStore(ctx)
	if err != nil {
		return nil, err
	}
	d := &checkpoint.Describer{Recorder: a.recorder(store), Data: map[string]fs.FS{}, Progress: a.slowly("looked at %d images")}
	for _, r := range roots {
		d.Data[r.name] = os.DirFS(r.path)
	}
	d.Grouping, err = a.grouping(f.key)
	return d, err
}

func (a *app) overlap(ctx context.Context, which string, f overlapFlags) error {
	d, err := a.describer(ctx, f)
	if err != nil {
		return err
	}
	list, err := reproductions(ctx, d.Store)
	if err != nil {
		return err
	}
	r, err := chooseReproduction(list, which, withBenchmark)
	if err != nil {
		return err
	}
	if !withBenchmark(r) {
		return usageError("`cxrepro status` lists what is here", "reproduction %s (%s) judges no model, or did not come so far", r.ID, r.Name)
	}
	images, err := d.Judged(ctx, r.receipt)
	if err != nil {
		return artifactsError(err)
	}
	if err := a.compareModels(ctx, d.Recorder, r.receipt, images.Images, f.limit); err != nil {
		return artifactsError(err)
	}
	standings, err := checkpoint.Standings(ctx, d.Store, r.receipt)
	if err != nil {
		return artifactsError(err)
	}
	return a.showStandings(r, images, standings)
}

// compareModels compares every model of a plan whose weights are a recorded checkpoint.
func (a *app) compareModels(ctx context.Context, rec *checkpoint.Recorder, r *contract.Receipt, images contract.ImageList, limit int) error {
	var plan experiments.Plan
	if err := readJSON(ctx, rec.Store, r.Plan, &plan); err != nil {
		return err
	}
	known, err := checkpoint.Checkpoints(ctx, rec.Store)
	if err != nil {
		return err
	}
	recorded := map[artifacts.Digest]bool{}
	for _, c := range known {
		recorded[c.Value.Weights] = true
	}
	for i, m := range plan.Models {
		weights := checkpoint.AnsweredBy(&plan, r, i)
		if !recorded[weights] {
			continue
		}
		if _, _, err := rec.Check(ctx, weights, images, limit, plan.Spec.Dataset.DataUse); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

func (a *app) showStandings(r *remembered, images checkpoint.Described, list []checkpoint.Standing) error {
	var err error
	if a.JSON() {
		err = a.printJSON(map[string]any{"reproduction_id": r.ID, "images": images.Images.Count, "unread": images.Unread, "models": list})
	} else {
		fmt.Fprintf(a.out, "reproduction %s (%s): %d images\n", r.ID, r.Name, images.Images.Count)
		for _, s := range list {
			fmt.Fprintf(a.out, "  %-24s %-13s %s\n", s.Model, s.State, s.Detail)
		}
	}
	if err != nil {
		return err
	}
	if images.Unread > 0 {
		a.say(fmt.Sprintf("the pixels of %d images could not be read: name their folder with --data", images.Unread))
	}
	overlaps, open := 0, 0
	for _, s := range list {
		switch s.State {
		case checkpoint.Overlapping:
			overlaps++
		case checkpoint.Unchecked, checkpoint.Undetermined, checkpoint.Unknown:
			open++
		}
	}
	switch {
	case overlaps > 0:
		return &exitError{Code: exitFailed, Err: fmt.Errorf("%d of %d models were trained on what they are judged on", overlaps, len(list)), Hint: "claims about them are blocked"}
	case open > 0:
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("of %d of %d models nothing is known, or not everything could be compared", open, len(list))}
	}
	return nil
}
