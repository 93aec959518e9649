package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/internal/lineage"
)

// lineageFlags are the flags of `lineage`.
type lineageFlags struct {
	up, down, all bool
	depth         int
	format, out   string
}

// lineageFormats are the forms of a lineage.
var lineageFormats = []string{"text", "dot", "svg", "json"}

func newLineageCommand(a *app) *cobra.Command {
	var f lineageFlags
	c := &cobra.Command{
		Use:   "lineage REF [RUN]",
		Short: "What a figure, a case or an artifact was made from, and what depends on it",
		Long: `lineage walks from a cell of a table down to dialogues, calls, pictures, findings, thresholds,
masks and images, and from an image, a threshold row, a prompt, a checkpoint or a model card up to
every cell that depends on it. Of an artifact that holds many rows only the row is followed: an
image leads to its own findings, questions, calls and cells.

REF is one of
  t3/<row>/<column>     a cell of a table; ` + "`cxrepro report --cells`" + ` lists them
  12                    a case by its number in the benchmark
  1a2b3c4d...           8 or more digits of a digest or key: an image, masks, weights, an answer
  cardiomegaly.label.PA_min[=0.5]   a threshold row, a switch or another parameter, perhaps of one value
  gpt-4.1               a model card by its name
  RUN                   a reproduction: what its receipt names

RUN is the name of an experiment or a reproduction's id or at least six digits of it; without it
cells and cases are those of the reproduction that ended last, and other walks go through all
reproductions of the store.

Weights of a recorded checkpoint lead down to the checkpoints before them, and of each to its
training set: rollouts with their calls, examples of SFT, pictures. A training picture leads up to the
examples that show it, and to every checkpoint that was trained on one or on such a checkpoint's weights.

Without --up or --down cells, cases, checkpoints and reproductions are walked down, everything else up, or down
where nothing depends on it. What was removed from the store answers as far as its statement goes.

text prints counts by kind and some of each; --all goes on with every node, a line each, while they
are found. dot and svg put equal nodes together. json (or --json) prints {"ref","way","start",
"left_out","counts","more","nodes":[{"id","kind","title","digest","key","reproduction","removed",
"depth"}],"edges":[{"from","to","name"}]}, up to 10,000 nodes, with --all a line for each as it is
found: {"node":...}, {"edge":...} and at last {"ref","way","start","left_out","counts","more"}. An
edge goes from what depends to what it depends on.

Which images became cases follows from every row of findings. Down from cells and cases this draw
is left out, and the first line and "left_out" say so; up from a threshold row it is followed.

Exit codes: 0 ok; 1 nothing of that name; 2 usage, or a name that is no reference or ambiguous;
6 store unreachable.`,
		Example: `  cxrepro lineage t3/path-1.gpt-4.1/completion
  cxrepro lineage t13/rotation.gpt-4.1/stage3 --format svg --out cell.svg
  cxrepro lineage cardiomegaly.label.PA_min --up
  cxrepro lineage 7 cxreasonbench-demo --up`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			run := ""
			if len(args) > 1 {
				run = args[1]
			}
			return a.lineage(c.Context(), args[0], run, f)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.up, "up", false, "what depends on it")
	fl.BoolVar(&f.down, "down", false, "what it depends on")
	fl.IntVar(&f.depth, "depth", 0, "at most so many steps (default: any number)")
	fl.StringVar(&f.format, "format", "text", "text, dot, svg or json")
	fl.BoolVar(&f.all, "all", false, "text, json: every node, as it is found")
	fl.StringVar(&f.out, "out", "", "file to write instead of standard output")
	return c
}

func (f *lineageFlags) check(a *app) error {
	if a.JSON() {
		f.format = "json"
	}
	switch {
	case !slices.Contains(lineageFormats, f.format):
		return usageError("the formats are "+strings.Join(lineageFormats, ", "), "no format is called %q", f.format)
	case f.up && f.down:
		return usageError("ask one after the other", "--up and --down exclude each other")
	case f.depth < 0:
		return usageError("give a number above 0, or leave it out", "--depth %d", f.depth)
	case f.all && (f.format == "dot" || f.format == "svg"):
		return usageError("leave --all out", "a picture puts equal nodes together")
	}
	return nil
}

func (a *app) lineage(ctx context.Context, ref, run string, f lineageFlags) (err error) {
	if err := f.check(a); err != nil {
		return err
	}
	store, list, err := a.remembers(ctx)
	if err != nil {
		return err
	}
	index := a.index(store)
	defer func() { err = errors.Join(err, index.Close()) }()
	cat, err := index.catalog(ctx)
	if err != nil {
		return err
	}
	s := &lineageSearch{cat: cat, list: list}
	if err := s.choose(ref, run); err != nil {
		return err
	}
	s.x = lineage.New(cat, store, s.runs)
	trained, err := trainedIn(ctx, store)
	if err != nil {
		return artifactsError(err)
	}
	s.x.Trains(trained)
	starts, err := s.find(ctx, ref)
	if err != nil {
		return lineageError(err)
	}
	w := &lineageWalk{x: s.x, ref: ref, starts: starts, flags: f}
	if err := w.direct(ctx); err != nil {
		return artifactsError(err)
	}
	out, done, err := a.lineageOut(f.out)
	if err != nil {
		return err
	}
	return errors.Join(artifactsError(w.show(ctx, out)), done())
}

// drawOfCases is what a walk down from figures leaves out: which images became cases.
const drawOfCases = "draw of cases"

func (w *lineageWalk) withoutDraw() bool {
	return w.way == lineage.Down && w.starts[0].WithoutDraw()
}

// words says what was walked from and which way.
func (w *lineageWalk) words() string {
	name := w.starts[0].Title
	if d := w.starts[0].Digest; !d.IsZero() && w.starts[0].Kind != lineage.KindParameter {
		name += " " + d.Short()
	}
	if len(w.starts) > 1 {
		name = fmt.Sprintf("%s and %d more", name, len(w.starts)-1)
	}
	if w.way == lineage.Up {
		return "What depends on " + name
	}
	name = "What " + name + " depends on"
	if w.withoutDraw() {
		name += ", without the " + drawOfCases
	}
	return name
}
