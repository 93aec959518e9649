package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
)

func newCheckpointsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "checkpoints",
		Short: "What is known of models' weights: lineage, examples, evaluations",
		Long: `checkpoints reads and writes the records of checkpoints in the store. A checkpoint is named by 8 or more
digits of its weights digest, the digest that model cards name, or by its name.`,
	}
	c.AddCommand(newCheckpointsAddCommand(a), newCheckpointsLsCommand(a), newCheckpointsShowCommand(a))
	return c
}

// checkpointLine is one line of `checkpoints ls`.
type checkpointLine struct {
	Name     string           `json:"name"`
	Weights  artifacts.Digest `json:"weights"`
	Base     string           `json:"base"`
	Parent   artifacts.Digest `json:"parent,omitzero"`
	Trainer  contract.Program `json:"trainer"`
	Step     int              `json:"step"`
	Training artifacts.Ref    `json:"training"`
	Record   artifacts.Ref    `json:"record"`
}

func newCheckpointsLsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the recorded checkpoints",
		Long: `ls lists the recorded checkpoints.

With --json, one object a line: {"name","weights","base","parent","trainer":{"name","version"},"step",
"training":{...},"record":{...}}.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			list, err := checkpoint.Checkpoints(c.Context(), store)
			if err != nil {
				return artifactsError(err)
			}
			l := &listing{a: a, store: store}
			for _, r := range list {
				v := r.Value
				parent := "from " + v.Base
				if !v.Parent.IsZero() {
					parent = "from " + v.Parent.Short()
				}
				if err := l.line(checkpointLine{v.Name, v.Weights, v.Base, v.Parent, v.Trainer, v.Step, v.Training, r.Ref},
					"%s  %-24s step %-6d %s, trained by %s %s", v.Weights.Short(), v.Name, v.Step, parent, v.Trainer.Name, v.Trainer.Version); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// shownCheckpoint is what `checkpoints show` says.
type shownCheckpoint struct {
	Name    string           `json:"name"`
	Weights artifacts.Digest `json:"weights"`
	// Chain is the checkpoint and its parents; Unknown the first parent without a record.
	Chain       []contract.Checkpoint `json:"chain"`
	Unknown     artifacts.Digest      `json:"unknown_parent,omitzero"`
	Training    []shownTraining       `json:"training"`
	Evaluations []shownEvaluation     `json:"evaluations"`
	Reports     []shownOverlap        `json:"overlaps"`
}

// shownTraining is a training set of a lineage. Descending is there with --image.
type shownTraining struct {
	Name       string           `json:"name"`
	Record     artifacts.Ref    `json:"record"`
	Examples   int              `json:"examples"`
	Images     int              `json:"images"`
	Descending []descendingLine `json:"descending,omitempty"`
}

type descendingLine struct {
	At      int              `json:"at"`
	Example artifacts.Digest `json:"example"`
}

// shownEvaluation is a reproduction that asked the checkpoint; Calls counts those it made
// itself, the others were there already.
type shownEvaluation struct {
	Reproduction string `json:"reproduction_id"`
	Name         string `json:"name,omitempty"`
	Calls        int64  `json:"calls"`
}

type shownOverlap struct {
	Record artifacts.Ref    `json:"record"`
	Images int              `json:"images"`
	Pairs  int              `json:"pairs"`
	Kinds  []contract.Count `json:"kinds"`
	Limit  int              `json:"limit"`
}

func newCheckpointsShowCommand(a *app) *cobra.Command {
	var image string
	c := &cobra.Command{
		Use:   "show WEIGHTS|NAME",
		Short: "Show where a checkpoint comes from and what used it",
		Long: `show prints the lineage of a checkpoint (its parents, by weights), the training sets of that
lineage, the evaluations that asked it, and what comparisons with evaluations found. With --image
it lists the training examples that descend from an image.

With --json: {"name","weights","chain":[...],"unknown_parent","training":[{"name","record","examples",
"images","descending":[{"at","example"}]}],"evaluations":[{"reproduction_id","name","calls"}],
"overlaps":[{"record","images","pairs","kinds":[...],"limit"}]}.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			store, err := a.readStore(c.Context())
			if err != nil {
				return err
			}
			s, err := a.lookAtCheckpoint(c.Context(), store, args[0], image)
			if err != nil {
				return artifactsError(err)
			}
			if a.JSON() {
				return a.printJSON(s)
			}
			return a.printCheckpoint(s, image != "")
		},
	}
	c.Flags().StringVar(&image, "image", "", "digest of an image (sha256:...): list the examples that descend from it")
	return c
}

// chooseCheckpoint finds a checkpoint by its name or the beginning of its weights digest. Of
// several records of one name or digest the weights must be the same.
func chooseCheckpoint(list []checkpoint.Recorded[contract.Checkpoint], which string) (artifacts.Digest, error) {
	hex := strings.TrimPrefix(which, "sha256:")
	var found artifacts.Digest
	for _, r := range list {
		v := r.Value
		if v.Name != which && (len(hex) < 8 || !strings.HasPrefix(v.Weights.Hex(), hex)) {
			continue
		}
		if !found.IsZero() && found != v.Weights {
			return found, usageError("give the beginning of the weights digest", "%q may mean %s or %s", which, found.Short(), v.Weights.Short())
		}
		found = v.Weights
	}
	if found.IsZero() {
		return found, usageError("`cxrepro checkpoints ls` lists them", "no checkpoint is called %q; there are %d", which, len(list))
	}
	return found, nil
}

func (a *app) lookAtCheckpoint(ctx context.Context, store *artifacts.Repository, which, image string) (*shownCheckpoint, error) {
	list, err := checkpoint.Checkpoints(ctx, store)
	if err != nil {
		return nil, err
	}
	weights, err := chooseCheckpoint(list, which)
	if err != nil {
		return nil, err
	}
	l, err := checkpoint.LineageOf(ctx, store, weights)
	if err != nil {
		return nil, err
	}
	out := &shownCheckpoint{Name: l.Chain[0].Value.Name, Weights: weights, Unknown: l.Unknown, Evaluations: []shownEvaluation{}, Reports: []shownOverlap{}}
	for _, c := range l.Chain {
		out.Chain = append(out.Chain, c.Value)
	}
	var of artifacts.Digest
	if image != "" {
		if of, err = artifacts.ParseDigest(image); err != nil {
			return nil, usageError("give the whole digest, sha256:<64 digits>", "--image: %v", err)
		}
	}
	for _, t := range l.Training {
		s := shownTraining{Name: t.Value.Name, Record: t.Ref, Examples: t.Value.Count, Images: t.Value.Images.Count}
		if image != "" {
			err := checkpoint.ExamplesOf(ctx, store, t.Value, of, func(at int, e contract.TrainingExample) error {
				s.Descending = append(s.Descending, descendingLine{at, e.Example})
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		out.Training = append(out.Training, s)
	}
	reports, err := checkpoint.Reports(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		if v := r.Value; v.Weights == weights {
			out.Reports = append(out.Reports, shownOverlap{r.Ref, v.Evaluation.Count, v.Pairs, v.Images, v.Limit})
		}
	}
	out.Evaluations, err = a.evaluationsOf(ctx, store, weights)
	return out, err
}

// evaluationsOf lists the reproductions whose plan names the weights, with the calls that each
// made itself, and others that only the catalog knows.
func (a *app) evaluationsOf(ctx context.Context, store *artifacts.Repository, weights artifacts.Digest) (out []shownEvaluation, err error) {
	x := a.index(store)
	defer func() { err = errors.Join(err, x.Close()) }()
	cat, err := x.catalog(ctx)
	if err != nil {
		return nil, err
	}
	uses, err := cat.UsesOf(ctx, weights, "model")
	if err != nil {
		return nil, err
	}
	list, err := reproductions(ctx, store)
	if err != nil {
		return nil, err
	}
	out = []shownEvaluation{}
	for _, r := range list {
		asks, err := a.asksModel(ctx, store, r, weights)
		if err != nil {
			return nil, err
		}
		calls := takeUse(&uses, r.ID)
		if asks || calls > 0 {
			out = append(out, shownEvaluation{r.ID, r.Name, calls})
		}
	}
	for _, u := range uses {
		out = append(out, shownEvaluation{Reproduction: u.Reproduction, Calls: u.Keys})
	}
	return out, nil
}

// takeUse removes a reproduction's use from the list and returns its keys.
func takeUse(uses *[]catalog.Use, id string) int64 {
	for i, u := range *uses {
		if u.Reproduction == id {
			*uses = append((*uses)[:i:i], (*uses)[i+1:]...)
			return u.Keys
		}
	}
	return 0
}

func (a *app) printCheckpoint(s *shownCheckpoint, image bool) error {
	fmt.Fprintf(a.out, "%s  %s\n", s.Weights, s.Name)
	for i, c := range s.Chain {
		word := "parent"
		if i == 0 {
			word = "trained"
		}
		fmt.Fprintf(a.out, "  %-8s %s  %s, step %d, by %s %s, %d files\n", word, c.Weights.Short(), c.Name, c.Step, c.Trainer.Name, c.Trainer.Version, len(c.Files))
	}
	if s.Unknown.IsZero() {
		fmt.Fprintf(a.out, "  base     %s (what it was trained on is not known here)\n", s.Chain[len(s.Chain)-1].Base)
	} else {
		fmt.Fprintf(a.out, "  parent   %s  without a record\n", s.Unknown.Short())
	}
	for _, t := range s.Training {
		fmt.Fprintf(a.out, "  examples %s  %s: %d examples of %d images\n", t.Record.Digest.Short(), t.Name, t.Examples, t.Images)
		if image && len(t.Descending) == 0 {
			fmt.Fprintf(a.out, "             none descends from the image\n")
		}
		for _, d := range t.Descending {
			fmt.Fprintf(a.out, "             example %d  %s\n", d.At, d.Example.Short())
		}
	}
	for _, e := range s.Evaluations {
		fmt.Fprintf(a.out, "  asked by %s  %s, %d calls of its own\n", e.Reproduction, e.Name, e.Calls)
	}
	for _, r := range s.Reports {
		said := "no overlap"
		if r.Pairs > 0 {
			var kinds []string
			for _, k := range r.Kinds {
				kinds = append(kinds, fmt.Sprintf("%d %s", k.N, k.Name))
			}
			said = "overlap: " + strings.Join(kinds, ", ")
		}
		fmt.Fprintf(a.out, "  compared %s  with %d images, limit %d bits: %s\n", r.Record.Digest.Short(), r.Images, r.Limit, said)
	}
	return nil
}

// asksModel reports whether a reproduction that ended asks the model with these weights.
func (a *app) asksModel(ctx context.Context, store *artifacts.Repository, r *remembered, weights artifacts.Digest) (bool, error) {
	if r.receipt == nil {
		return false, nil
	}
	var plan experiments.Plan
	if err := readJSON(ctx, store, r.receipt.Plan, &plan); err != nil {
		return false, err
	}
	return slices.ContainsFunc(plan.Models, func(m experiments.ModelCard) bool { return m.Identity.Weights == weights }), nil
}
