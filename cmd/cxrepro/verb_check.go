package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	tables "cxrepro/internal/report"
)

// checkFlags are the flags of `check`.
type checkFlags struct {
	format, claims, results, repeat string
	paper, all                      bool
}

func newCheckCommand(a *app) *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check [RUN|ID] [--paper] [--all] [--format text|md|csv]",
		Short: "Hold the papers' published figures against a reproduction",
		Long: `check holds every published figure that a reproduction has something to say of against ours, and
says of each: reproduced (equal as printed), within noise (inside our 95 % bootstrap interval over
cases), off, not computable with the reason, or undetermined while cases behind it have no outcome.
It is the comparison of ` + "`cxrepro report --compare paper`" + `. It makes no call to a model.

First the verdicts are counted by table, each claim once in the last row. Then every claim that is
off or undetermined is listed: published, ours with k/n, the interval, flips (the share of pairs of
replies to one and the same question that have different scores, which makes the interval wider; not
measured where every question was answered once), the reason, and every whole number k of n that the
published figure can be made of. --all lists every claim. --repeat measures flips of questions that
were answered once by the replies of another reproduction.

--paper adds what this reproduction has nothing to say of, with the reason: other models, the other
paper, and the orders and sums that the papers state; with --all or --json every such claim.

RUN and ID are as for ` + "`cxrepro report`" + `; a reproduction of CheXStruct is held against Table 6, one of an
agent on X-Ragent's benchmarks against that paper's figures and orders.

With --json one object: reproduction_id, result_digest, simulated, complete, verdicts, claims[{id,
paper, source, cells, printed, formula, refined_formula, population, rounding, tolerance, ours, k, n,
interval, refined_interval, flips, verdict, why, behind}], others (the same, with --paper),
outside[{paper, claims, why}], relations[{id, text, relations, state, why}], blocked[{model, weights, state, images, reports, detail}].

A model that was trained on images it is judged on (` + "`cxrepro overlap`" + `) is named first, and claims about
it have no verdict but "not computable", with the overlap as the reason.

Exit codes: 0 none is off; 1 some are off, or an order that was computed fails; 2 usage; 3 none is
off and some are undetermined or blocked; 6 store unreachable.`,
		Example: `  cxrepro check
  cxrepro check cxreasonbench --all --format csv
  cxrepro check --paper --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			which := latest
			if len(args) > 0 {
				which = args[0]
			}
			return a.check(c.Context(), which, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.format, "format", "text", "text, md or csv")
	fl.BoolVar(&f.paper, "paper", false, "also what this reproduction has nothing to say of, and orders and sums")
	fl.BoolVar(&f.all, "all", false, "list every claim, not only those off or undetermined")
	fl.StringVar(&f.claims, "claims", "", "JSON file of published figures that stand in no table (docs/report.md)")
	fl.StringVar(&f.repeat, "repeat", "", "another reproduction that asked the same questions with another seed in its model cards: measures decoding noise")
	fl.StringVar(&f.results, "results", "", "JSON file of results of X-Ragent by the ids of its figures (docs/claims.md)")
	return c
}

func (f *checkFlags) stated() (s stated, err error) {
	if f.format != "text" && f.format != "md" && f.format != "csv" {
		return s, usageError("the formats are text, md, csv", "no format is called %q", f.format)
	}
	if f.claims != "" {
		if s.text, err = readStated(f.claims); err != nil {
			return s, err
		}
	}
	if f.results != "" {
		data, err := os.ReadFile(f.results)
		if err == nil {
			s.agent, err = claims.ParseAgentResults(data)
		}
		if err != nil {
			return s, usageError("see docs/claims.md", "--results %s: %v", f.results, err)
		}
	}
	return s, nil
}

// readStated reads a file of figures that stand in no table.
func readStated(file string) (*claims.Stated, error) {
	data, err := os.ReadFile(file)
	var s *claims.Stated
	if err == nil {
		s, err = claims.ParseStated(data)
	}
	if err != nil {
		return nil, usageError("see docs/report.md", "--claims %s: %v", file, err)
	}
	return s, nil
}

func (a *app) check(ctx context.Context, which string, f checkFlags) error {
	st, err := f.stated()
	if err != nil {
		return err
	}
	r, e, s, err := a.openChecked(ctx, which, &st)
	if err != nil {
		return err
	}
	if f.repeat != "" {
		if err := a.repeatOf(ctx, e, f.repeat); err != nil {
			return err
		}
	}
	c, err := checked(ctx, e, s, st)
	if err != nil {
		return err
	}
	switch {
	case a.JSON():
		err = a.printCheckedJSON(r, e, st.rollouts, c, f)
	case f.format == "csv":
		list := c.Results
		if f.paper {
			list = append(slices.Clone(list), c.Others...)
		}
		err = claims.WriteCSV(a.out, list)
	default:
		err = a.printChecked(r, e, st.rollouts, c, f)
	}
	if err != nil {
		return err
	}
	if err := checkVerdict(c, f); err != nil {
		return err
	}
	if n := len(blockedModels(e, st.rollouts)); n > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("check: claims about %s are blocked", plural(n, "model", "models")), Hint: "they were trained on what they are judged on: `cxrepro overlap`"}
	}
	return nil
}

// openChecked opens what claims can be held against: a reproduction with tables of an evaluation,
// of findings, or both, or one of an agent, which is added to st.
func (a *app) openChecked(ctx context.Context, which string, st *stated) (*contract.Receipt, *evaluated, *contract.Summary, error) {
	store, list, err := a.remembers(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	fits := func(r *remembered) bool {
		return hasTables(r) || hasAgentTables(r) || r.receipt != nil && !r.receipt.Summary.IsZero()
	}
	r, err := chooseReproduction(list, which, fits)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case !fits(r) && which == latest:
		return nil, nil, nil, usageError("run an experiment, for example `cxrepro demo`", "no reproduction here has tables")
	case !fits(r):
		return nil, nil, nil, usageError("the same `cxrepro run` goes on with it; `cxrepro status "+r.ID+"` shows how far it is", "reproduction %s (%s) has no tables yet", r.ID, r.Name)
	}
	if hasAgentTables(r) {
		st.rollouts, err = openAgentRun(ctx, store, r.receipt)
		return r.receipt, nil, nil, err
	}
	var e *evaluated
	if hasTables(r) {
		if e, err = loadEvaluation(ctx, store, r.receipt); err != nil {
			return nil, nil, nil, err
		}
	}
	s, err := loadFindings(ctx, store, r.receipt)
	return r.receipt, e, s, err
}

// checkVerdict is the exit code: off goes before undetermined.
func checkVerdict(c *claims.Checked, f checkFlags) error {
	n := c.Tally()
	off, fails := n[tables.Off], 0
	for _, r := range c.Relations {
		if r.State == claims.Fails {
			fails++
		}
	}
	switch {
	case off+fails > 0:
		words := plural(off, "claim is off", "claims are off")
		if fails > 0 {
			words += " and " + plural(fails, "stated order fails", "stated orders fail")
		}
		hint := "they are listed above; `cxrepro report --compare paper` shows them in their tables"
		if fails > 0 && !f.paper {
			hint = "--paper lists the orders"
		}
		return &exitError{Code: exitFailed, Err: fmt.Errorf("check: %s", words), Hint: hint}
	case n[tables.Undetermined] > 0:
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("check: %s", plural(n[tables.Undetermined], "claim is undetermined", "claims are undetermined")),
			Hint: "cases behind them have no outcome; the same `cxrepro run` asks what is missing"}
	}
	return nil
}
