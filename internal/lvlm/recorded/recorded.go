// Package recorded stands where a model endpoint would, and asks nothing.
//
// An evaluation whose every call is in the ledger runs through without a network: the ledger
// is read first. What it does not hold is a failure that a person must act on, never an answer.
package recorded

import (
	"context"

	"cxrepro/internal/lvlm"
)

// NotInLedger is the code of the failure.
const NotInLedger = "not_in_ledger"

// Asker refuses every call.
type Asker struct{}

var _ lvlm.Asker = Asker{}

// Prepare returns a *lvlm.CallError of class Configured.
func (Asker) Prepare(context.Context, lvlm.Request, lvlm.PictureFunc) (lvlm.Send, error) {
	return nil, &lvlm.CallError{
		Class:  lvlm.Configured,
		Code:   NotInLedger,
		Detail: "the call is not in the ledger, and this worker only replays",
	}
}
