package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	tables "cxrepro/internal/report"
	"cxrepro/internal/why"
)

// whyFlags are the flags of `why`.
type whyFlags struct {
	cell, against string
	published     bool
	tries         []string
	allowCalls    bool
	factors       []string
	run           runFlags
}

func newWhyCommand(a *app) *cobra.Command {
	var f whyFlags
	c := &cobra.Command{
		Use:   "why RUN --cell REF [--against RUN_B | --published] [--allow-calls]",
		Short: "Say why a figure differs from the paper's, or from another reproduction's",
		Long: `why divides the difference between two figures among the settings that differ. REF names the
figure: t3/path-1.gpt-4.1/completion, with :refined behind it for the one in parentheses
("cxrepro report --cells" lists them). The other side is RUN_B, or with --published, the default,
the paper as experiments/cxreasonbench describes it.

Factors of scoring (judge or parser, the judge whose verdicts count, every switch of judge and
scores, the cases that both count) are set as on the other side in every combination, up to six
factors, by holding the recorded dialogues again: no call is made. Shares are Shapley values of
the printed figures and add up to the difference exactly; the rest is what they leave. --try
NAME=VALUE looks at a switch that is equal on both sides, as if the other side had it so.

Factors that need calls (prompts, model, decoding, pictures, questions) are listed with their
price, taken from the accounts of RUN, or with their effect where somebody has made the calls.
With --allow-calls the missing ones are made: for each such factor, or those of --factor, RUN's
experiment runs with that factor, and the factors of scoring, set as on the other side. That is a
reproduction of its own, and takes the flags of "cxrepro run".

With --json: the object of docs/schemas.md.

Exit codes: 0 said; 2 usage, no such cell, or nothing to compare with; 3 said, but dialogues are
open or undetermined; 6 store unreachable; with --allow-calls those of run too.`,
		Example: `  cxrepro why latest --cell t3/path-1.gpt-4.1/completion
  cxrepro why 1f6c2a --cell t11/overall.gpt-4.1/stage3:refined --against 90b4e1
  cxrepro why 1f6c2a --cell t4/overall.gpt-4.1/depth --try score.mean=cases`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.run.budgetGiven = c.Flags().Changed("budget")
			return a.why(c.Context(), args[0], f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.cell, "cell", "", "REF: the figure, such as t3/path-1.gpt-4.1/completion")
	fl.StringVar(&f.against, "against", "", "RUN_B: the reproduction on the other side")
	fl.BoolVar(&f.published, "published", false, "the paper is on the other side (the default)")
	fl.StringArrayVar(&f.tries, "try", nil, "NAME=VALUE: a switch of scoring, or evaluation.scoring, as if the other side had it so")
	fl.BoolVar(&f.allowCalls, "allow-calls", false, "make the calls that factors need: runs variants of RUN's experiment")
	fl.StringArrayVar(&f.factors, "factor", nil, "NAME: with --allow-calls, only this factor")
	f.run.worker.add(fl)
	addTuningFlags(fl, &f.run.tuning)
	return c
}

func (a *app) why(ctx context.Context, which string, f whyFlags) (err error) {
	switch {
	case f.cell == "":
		return usageError("`cxrepro report --cells` lists the cells", "--cell is missing")
	case f.against != "" && f.published:
		return usageError("give one of them", "--against and --published do not go together")
	case len(f.factors) > 0 && !f.allowCalls:
		return usageError("add --allow-calls", "--factor says which calls to make")
	}
	if err := evaluationsOnly(f.cell); err != nil {
		return err
	}
	open := a.readStore
	if f.allowCalls {
		open = a.openStore
	}
	store, err := open(ctx)
	if err != nil {
		return err
	}
	q, err := a.ask(ctx, store, which, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.archive.Close()) }()
	out, err := q.answer(ctx)
	if err != nil {
		return err
	}
	if f.allowCalls {
		made, err := a.makeCalls(ctx, store, q, out, f)
		if err != nil {
			return err
		}
		q.eval.forget() // what is recorded has changed
		if out, err = q.answer(ctx); err != nil {
			return err
		}
		out.Calls = made
	}
	if a.JSON() {
		err = a.printJSON(out)
	} else {
		err = out.writeText(a.out)
	}
	if err == nil && (out.OpenIn > 0 || q.e.receipt.Incomplete()) {
		return &exitError{Code: exitQuarantined}
	}
	return err
}

// whyQuestion is a cell with both sides' settings.
type whyQuestion struct {
	archive      *archive
	e            *evaluated
	ref          cxreasonbench.CellRef
	ours, theirs why.Setting
	target       why.Value
	against      string
	eval         *cellEvaluator
}

// ask finds the cell and the other side.
func (a *app) ask(ctx context.Context, store *artifacts.Repository, which string, f whyFlags) (q *whyQuestion, err error) {
	s, err := a.openArchive(ctx, store)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	q = &whyQuestion{archive: s, against: f.against}
	if err := q.cell(ctx, which, f.cell); err != nil {
		return nil, err
	}
	if f.against != "" {
		err = q.other(ctx, f.against)
	} else {
		err = q.paper()
	}
	if err != nil {
		return nil, err
	}
	for _, try := range f.tries {
		if err := q.try(try); err != nil {
			return nil, err
		}
	}
	q.eval, err = newCellEvaluator(s, q.e, q.ref, q.ours)
	return q, err
}

// cell opens the reproduction and finds the figure in it.
func (q *whyQuestion) cell(ctx context.Context, which, text string) (err error) {
	if q.e, err = q.archive.asked(ctx, which); err != nil {
		return err
	}
	if q.ref, err = cxreasonbench.FindCell(text, q.e.scored()); err != nil {
		return usageError("`cxrepro report "+q.e.receipt.Reproduction+" --cells` lists the cells", "%v", err)
	}
	q.ours, err = q.archive.setting(ctx, q.e, q.ref.Evaluation)
	return err
}

// try makes the other side have a setting that it has not.
func (q *whyQuestion) try(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return usageError("for example --try score.mean=cases", "--try %q is not NAME=VALUE", text)
	}
	theirs, err := q.theirs.Try(name, value)
	if err != nil {
		return usageError("docs/cxreasonbench-scores.md lists the switches", "--try %s: %v", text, err)
	}
	q.theirs = theirs
	return nil
}

// answer attributes the difference, and prices what needs calls.
func (q *whyQuestion) answer(ctx context.Context) (*whyAnswer, error) {
	factors, err := why.Factors(q.ours, q.theirs)
	if err != nil {
		return nil, err
	}
	at, err := why.Attribute(ctx, q.ours, q.target, factors, q.eval.figure)
	if err != nil {
		return nil, artifactsError(err)
	}
	out := &whyAnswer{
		Format: whyFormat, Reproduction: q.e.receipt.Reproduction, Name: q.e.receipt.Name, Cell: q.ref.Ref.String(), Against: q.against,
		Model: q.ref.Model, Sampling: q.ref.Sampling.String(), Path: q.ref.Path.String(), Row: q.ref.Row(), Column: q.ref.Column.String(),
		Attribution: at, Same: why.Same(factors), Prices: []why.Price{},
	}
	if q.against == "" {
		out.Against = published
	}
	if len(at.Needing) == 0 {
		return out, nil
	}
	account, err := q.account(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range at.Needing {
		out.Prices = append(out.Prices, why.PriceOf(n, account))
	}
	return out, nil
}

// account sums the calls of the evaluation by kind, each once.
func (q *whyQuestion) account(ctx context.Context) (map[string]contract.CallCount, error) {
	out := map[string]contract.CallCount{}
	err := q.e.eachCall(ctx, q.ref.Evaluation, func(_ *contract.CallsDoc, c *contract.CallRecord) {
		sum := out[c.Count.Kind]
		sum.Add(c.Count, 1)
		out[c.Count.Kind] = sum
	})
	return out, err
}

// evaluationsOnly refuses the table of labels: it comes of images, and nobody is asked for it.
func evaluationsOnly(cell string) error {
	if ref, err := tables.ParseRef(cell); err == nil && ref.Table == contract.LabelTable {
		return usageError("`cxrepro diff` compares findings, `cxrepro lineage "+cell+"` shows what the figure is made of",
			"why knows figures of evaluations only; %s is one of findings", cell)
	}
	return nil
}
