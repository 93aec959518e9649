package why

import (
	"cxrepro/internal/contract"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
)

// Price is what a factor that needs calls would cost, from what the calls of the same kind took
// in the reproduction at hand.
type Price struct {
	Factor string `json:"factor"`
	// Known is false where nothing can be said: the factor cannot be had, or no account is
	// there.
	Known bool `json:"known"`
	// AtLeast counts calls that are known to be missing, each dialogue that waits for one;
	// AtMost are all calls of the kinds that the factor changes.
	AtLeast int `json:"calls_at_least"`
	AtMost  int `json:"calls_at_most"`
	// Usage and Cost are those of AtMost calls; Cost in micro-units of Currency. Unpriced
	// counts calls without a price.
	Usage    dialogue.Usage `json:"usage"`
	Cost     int64          `json:"cost"`
	Currency string         `json:"currency,omitempty"`
	Unpriced int            `json:"unpriced,omitempty"`
	// Other says that the questions change too: the number of calls is that of ours.
	Other bool `json:"other_questions,omitempty"`
}

// PriceOf prices a factor by the account of the evaluation at hand, by kind of call.
func PriceOf(n Needing, account map[string]contract.CallCount) Price {
	p := Price{Factor: n.Factor.Name, Other: n.Factor.Needs == NeedsBenchmark}
	kinds := []string{ledger.KindJudge}
	if n.Factor.Needs > NeedsJudge {
		kinds = append(kinds, ledger.KindModel)
	}
	var sum contract.CallCount
	for _, kind := range kinds {
		if one, ok := account[kind]; ok {
			sum.Add(one, one.Needed)
		}
	}
	if sum.Needed == 0 || n.Factor.Unavailable != "" || n.Recorded {
		return p
	}
	p.Known, p.AtLeast, p.AtMost = true, n.Open.Model+n.Open.Judge, sum.Needed
	p.Usage, p.Cost, p.Currency, p.Unpriced = sum.Usage, sum.Cost, sum.Currency, sum.Unpriced
	return p
}
