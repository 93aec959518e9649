package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"go.temporal.io/sdk/client"

	"cxrepro/internal/contract"
)

// budgetValue is a flag with an amount of money, held in micro-units.
type budgetValue struct{ micro *int64 }

func (v budgetValue) String() string {
	if v.micro == nil || *v.micro == 0 {
		return "0"
	}
	return strconv.FormatFloat(float64(*v.micro)/1e6, 'f', -1, 64)
}

func (v budgetValue) Set(text string) error {
	amount, err := strconv.ParseFloat(text, 64)
	if err != nil || amount < 0 || amount > 1e9 || math.IsNaN(amount) {
		return fmt.Errorf("%q is no amount; write a number such as 12.50, or 0 for no limit", text)
	}
	*v.micro = int64(math.Round(amount * 1e6))
	return nil
}

func (v budgetValue) Type() string { return "amount" }

// setBudget tells a reproduction under way what it may spend from now on.
func setBudget(ctx context.Context, c client.Client, reproduction string, micro int64) error {
	h, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: contract.ReproductionWorkflowID(reproduction), UpdateName: contract.UpdateBudget, Args: []any{micro},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &exitError{Code: exitUnreachable, Err: errors.New("no worker answered"), Hint: "start one with `cxrepro up` or `cxrepro worker`"}
	}
	return err
}
