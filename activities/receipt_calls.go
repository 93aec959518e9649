package activities

import (
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
)

// callsOf sums the accounts of calls over all pages, each key once: what several dialogues
// share was made, and paid for, once. Attempts of calls that have no record yet count too.
func (a *Activities) callsOf(p *pulse, lists []artifacts.Ref) (*contract.ReceiptCalls, *dialogue.Usage, []contract.Money, error) {
	out := &contract.ReceiptCalls{Failures: []contract.Count{}}
	kinds := map[string]*contract.CallCount{}
	seen := map[artifacts.Digest]bool{}
	money := map[string]int64{}
	usage := &dialogue.Usage{}
	sum := func(c contract.CallRecord) {
		k := kinds[c.Count.Kind]
		if k == nil {
			k = &contract.CallCount{Kind: c.Count.Kind}
			kinds[c.Count.Kind] = k
		}
		one := c.Count
		if seen[c.Key] {
			one = contract.CallCount{}
		}
		seen[c.Key] = true
		k.Add(one, c.Times)
		if one.Currency != "" {
			money[one.Currency] += one.Cost
		}
	}
	var open []contract.CallRecord
	for _, ref := range lists {
		err := eachPacked(p.work, a.opts.Store, ref, func(doc *contract.CallsDoc) error {
			for _, c := range doc.Calls {
				sum(c)
			}
			open = append(open, doc.Open...)
			p.progress()
			return nil
		})
		if err != nil {
			return nil, nil, nil, err
		}
	}
	// What was attempted and has no record yet may have one on another page.
	for _, c := range open {
		sum(c)
	}
	for _, kind := range ledger.Kinds() {
		k := kinds[kind]
		if k == nil {
			continue
		}
		out.ByKind = append(out.ByKind, *k)
		out.Needed += k.Needed
		out.Run += k.Run
		out.Reused += k.Reused
		out.Repeated += k.Repeated
		out.Attempts += k.Attempts
		out.MaybeBilled += k.MaybeBilled
		out.Unpriced += k.Unpriced
		out.Failures = contract.AddCounts(out.Failures, k.Failures)
		*usage = usage.Add(k.Usage)
	}
	return out, usage, amounts(money), nil
}

// amounts lists money by currency.
func amounts(money map[string]int64) []contract.Money {
	var names []contract.Count
	for currency := range money {
		names = contract.AddCount(names, currency, 1)
	}
	out := []contract.Money{}
	for _, n := range names {
		out = append(out, contract.Money{Currency: n.Name, Micro: money[n.Name]})
	}
	return out
}
