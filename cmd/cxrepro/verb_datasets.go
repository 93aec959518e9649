package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
)

func newDatasetsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "datasets",
		Short: "What is known of data sets: images by digest, what ran over them, what was trained on them",
		Long: `datasets lists the data sets that reproductions ran over, and those that were recorded with their
images. A data set is named by its name or by 8 or more digits of its manifest or record.`,
	}
	c.AddCommand(newDatasetsLsCommand(a), newDatasetsShowCommand(a), newDatasetsAddCommand(a))
	return c
}

// shownDataset is a data set as these verbs show it. Record is zero for one that is only known
// by a reproduction's manifest.
type shownDataset struct {
	Name     string        `json:"name"`
	Version  string        `json:"version,omitempty"`
	DataUse  string        `json:"data_use"`
	Images   int           `json:"images"`
	Manifest artifacts.Ref `json:"manifest,omitzero"`
	Record   artifacts.Ref `json:"record,omitzero"`
	// Hashed names the perceptual hash of its images, Grouping the key of its groups.
	Hashed       string           `json:"perceptual,omitempty"`
	Grouping     string           `json:"grouping,omitempty"`
	Reproduction []string         `json:"reproductions"`
	Training     []shownTraining  `json:"training_sets"`
	Checkpoints  []checkpointName `json:"checkpoints"`
}

type checkpointName struct {
	Name    string           `json:"name"`
	Weights artifacts.Digest `json:"weights"`
}

func newDatasetsLsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List data sets",
		Long: `ls lists data sets.

With --json, one object a line: {"name","version","data_use","images","manifest":{...},"record":{...},
"perceptual","grouping","reproductions":[...],"training_sets":[...],"checkpoints":[{"name","weights"}]}.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			list, err := dataSets(c.Context(), store)
			if err != nil {
				return artifactsError(err)
			}
			l := &listing{a: a, store: store}
			for _, d := range list {
				if err := l.line(d, "%s  %-20s %-12s %8d images  %-12s %d reproductions, %d checkpoints", d.id().Short(), d.Name, d.Version, d.Images, d.DataUse, len(d.Reproduction), len(d.Checkpoints)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// id is what names a data set here.
func (d *shownDataset) id() artifacts.Digest {
	if d.Record.IsZero() {
		return d.Manifest.Digest
	}
	return d.Record.Digest
}

// dataSets lists recorded data sets and manifests of reproductions. A manifest that was
// recorded is one data set.
func dataSets(ctx context.Context, store *artifacts.Repository) ([]*shownDataset, error) {
	entries, err := checkpoint.Datasets(ctx, store)
	if err != nil {
		return nil, err
	}
	var out []*shownDataset
	for _, e := range entries {
		v := e.Value
		out = append(out, &shownDataset{Name: v.Name, Version: v.Version, DataUse: v.DataUse, Images: v.Images.Count, Manifest: v.Manifest, Record: e.Ref,
			Hashed: v.Images.Perceptual, Grouping: v.Images.Grouping, Reproduction: []string{}})
	}
	if out, err = runOver(ctx, store, out); err != nil {
		return nil, err
	}
	sets, err := checkpoint.TrainingSets(ctx, store)
	if err != nil {
		return nil, err
	}
	checkpoints, err := checkpoint.Checkpoints(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, d := range out {
		d.Training, d.Checkpoints = []shownTraining{}, []checkpointName{}
		for _, s := range sets {
			if !slices.ContainsFunc(s.Value.Datasets, func(r artifacts.Ref) bool { return r.Digest == d.Record.Digest }) {
				continue
			}
			d.Training = append(d.Training, shownTraining{Name: s.Value.Name, Record: s.Ref, Examples: s.Value.Count, Images: s.Value.Images.Count})
			for _, c := range checkpoints {
				if c.Value.Training.Digest == s.Ref.Digest {
					d.Checkpoints = append(d.Checkpoints, checkpointName{c.Value.Name, c.Value.Weights})
				}
			}
		}
	}
	return out, nil
}

// runOver adds which reproductions ran over which manifest.
func runOver(ctx context.Context, store *artifacts.Repository, out []*shownDataset) ([]*shownDataset, error) {
	list, err := reproductions(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.receipt == nil || r.receipt.Manifest.IsZero() {
			continue
		}
		m := r.receipt.Manifest
		found := false
		for _, d := range out {
			if d.Manifest.Digest == m.Digest {
				d.Reproduction, found = append(d.Reproduction, r.ID), true
			}
		}
		if found {
			continue
		}
		var plan experiments.Plan
		var doc contract.Dataset
		if err := readJSON(ctx, store, r.receipt.Plan, &plan); err != nil {
			return nil, err
		}
		if err := readJSON(ctx, store, m, &doc); err != nil {
			return nil, err
		}
		out = append(out, &shownDataset{Name: plan.Spec.Dataset.Name, DataUse: doc.DataUse, Images: doc.Images, Manifest: m, Reproduction: []string{r.ID}})
	}
	return out, nil
}

func newDatasetsShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME|DIGEST",
		Short: "Show a data set: what ran over it and what was trained on it",
		Long: `show prints a data set with the reproductions that ran over it, and the training sets and
checkpoints that come from it.

With --json: as one line of ` + "`datasets ls`" + `.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			list, err := dataSets(c.Context(), store)
			if err != nil {
				return artifactsError(err)
			}
			d, err := chooseDataset(list, args[0])
			if err != nil {
				return err
			}
			if a.JSON() {
				return a.printJSON(d)
			}
			return a.printDataset(d)
		},
	}
}

// chooseDataset finds a data set by name, or by the beginning of its record's or manifest's
// digest.
func chooseDataset(list []*shownDataset, which string) (*shownDataset, error) {
	hex := strings.TrimPrefix(which, "sha256:")
	var found []*shownDataset
	for _, d := range list {
		if d.Name == which || len(hex) >= 8 && (strings.HasPrefix(d.Record.Digest.Hex(), hex) || strings.HasPrefix(d.Manifest.Digest.Hex(), hex)) {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return nil, usageError("`cxrepro datasets ls` lists them", "no data set is called %q; there are %d", which, len(list))
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, d := range found {
		ids = append(ids, strings.TrimSpace(d.id().Short()+" "+d.Version))
	}
	return nil, usageError("give the beginning of the digest", "%q may mean %s", which, strings.Join(ids, ", "))
}

func (a *app) printDataset(d *shownDataset) error {
	fmt.Fprintf(a.out, "%s %s: %d images, %s\n", d.Name, d.Version, d.Images, d.DataUse)
	if d.Record.IsZero() {
		fmt.Fprintln(a.out, "  known by the manifest of a reproduction; `cxrepro datasets add RUN` records its images")
	} else {
		fmt.Fprintf(a.out, "  record    %s, hash %s, groups %s\n", d.Record.Digest, cmp.Or(d.Hashed, "-"), cmp.Or(d.Grouping, "-"))
	}
	if !d.Manifest.IsZero() {
		fmt.Fprintf(a.out, "  manifest  %s\n", d.Manifest.Digest)
	}
	for _, r := range d.Reproduction {
		fmt.Fprintf(a.out, "  ran       %s\n", r)
	}
	for _, t := range d.Training {
		fmt.Fprintf(a.out, "  examples  %s  %s: %d examples of %d images\n", t.Record.Digest.Short(), t.Name, t.Examples, t.Images)
	}
	for _, c := range d.Checkpoints {
		fmt.Fprintf(a.out, "  trained   %s  %s\n", c.Weights.Short(), c.Name)
	}
	return nil
}

func newDatasetsAddCommand(a *app) *cobra.Command {
	var f overlapFlags
	var version string
	c := &cobra.Command{
		Use:   "add RUN|ID",
		Short: "Record the images of a data set that a reproduction ran over",
		Long: `add records the data set of a finished reproduction: every image by digest, with its perceptual
hash where its pixels are at hand (--data), and with keyed digests of study and patient. No
identifier of the data set is kept. Other comparisons find images in it.

With --json: {"record":{...},"images","unread"}. Exit codes: 0 done; 2 usage; 3 done, some pictures
could not be read; 6 store unreachable.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.addDataset(c.Context(), args[0], version, f) },
	}
	f.register(c)
	c.Flags().StringVar(&version, "version", "", "the data set's version, as its publisher calls it")
	return c
}

func (a *app) addDataset(ctx context.Context, which, version string, f overlapFlags) error {
	d, err := a.describer(ctx, f)
	if err != nil {
		return err
	}
	list, err := reproductions(ctx, d.Store)
	if err != nil {
		return err
	}
	r, err := chooseReproduction(list, which, func(r *remembered) bool { return r.finished() })
	if err != nil {
		return err
	}
	if r.receipt == nil || r.receipt.Manifest.IsZero() {
		return usageError("`cxrepro status` lists what is here", "reproduction %s (%s) ran over no data set, or has not ended", r.ID, r.Name)
	}
	out, ref, err := d.Dataset(ctx, r.receipt, version)
	if err != nil {
		return artifactsError(err)
	}
	if a.JSON() {
		err = a.printJSON(map[string]any{"record": ref, "images": out.Images.Count, "unread": out.Unread})
	} else {
		_, err = fmt.Fprintf(a.out, "%s: %d images, %d of them without a perceptual hash\n", ref.Digest, out.Images.Count, out.Unread)
	}
	if err == nil && out.Unread > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("the pixels of %d images could not be read", out.Unread), Hint: "name their folder with --data NAME=PATH"}
	}
	return err
}
