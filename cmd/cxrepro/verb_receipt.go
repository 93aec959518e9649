package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	forecast "cxrepro/internal/plan"
)

func newReceiptCommand(a *app) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "receipt RUN [--plan FILE]",
		Short: "Print the receipt of a reproduction, or compare it with the plan that was made before",
		Long: `receipt prints what ` + "`cxrepro run`" + ` prints at the end of a reproduction: tables and receipt. RUN is its id or
at least six digits of its beginning, its experiment's name, or latest.

--plan compares it with a plan that ` + "`cxrepro plan --out FILE`" + ` wrote before the run. Of every figure it
says: equal to an exact one; in the range; off; or was unknown. It names the branch that control
flow took: how the dialogues of every evaluation ended. Tokens, money and time rest on what was
recorded before; where they come out beyond that, it is said and is no error.

With --json: the receipt (docs/schemas.md); with --plan: {"format","reproduction","plan",
"verdicts":[{"figure","predicted","actual","verdict"}],"branches":[{"evaluation","path",
"dialogues","ends"}],"equal","in_the_range","off","was_unknown","beyond"}.

Exit codes: 0 ok, and with --plan nothing is off; 2 usage; 3 a figure is off, or, without --plan,
the reproduction has undetermined cases or quarantined images; 6 store unreachable.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.showReceipt(c.Context(), args[0], file) },
	}
	c.Flags().StringVar(&file, "plan", "", "FILE: the plan to compare with")
	return c
}

func (a *app) showReceipt(ctx context.Context, which, file string) error {
	store, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	list, err := reproductions(ctx, store)
	if err != nil {
		return err
	}
	chosen, err := chooseReproduction(list, which, withReceipt)
	if err != nil {
		return err
	}
	if !withReceipt(chosen) {
		return usageError("`cxrepro status "+chosen.ID+"` shows how far it is", "reproduction %s (%s) has not come to its end, so its receipt is not written yet", chosen.ID, chosen.Name)
	}
	if file != "" {
		return a.checkForecast(ctx, store, chosen, file)
	}
	summary, err := loadFindings(ctx, store, chosen.receipt)
	if err != nil {
		return err
	}
	return a.printOutcome(ctx, store, chosen.receipt, summary)
}

// checkForecast compares a receipt with a plan.
func (a *app) checkForecast(ctx context.Context, store *artifacts.Repository, chosen *remembered, file string) error {
	made, err := readForecast(file)
	if err != nil {
		return err
	}
	check, err := forecast.Compare(ctx, store, made, chosen.receipt)
	if err != nil {
		return usageError("name the reproduction that the plan is about, and the plan that was made before it", "%v", err)
	}
	if a.JSON() {
		err = a.printJSON(check)
	} else {
		err = forecast.WriteCheck(a.out, check)
	}
	if err == nil && check.Off > 0 {
		err = &exitError{Code: exitQuarantined, Err: fmt.Errorf("%d figures are off", check.Off), Hint: "what was recorded between plan and run changes both; make the plan right before the run"}
	}
	return err
}
