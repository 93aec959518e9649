package plan

import (
	"context"
	"maps"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
)

// finish turns what was counted into rows and sums.
func (p *planner) finish(ctx context.Context) error {
	if err := p.finishSteps(ctx); err != nil {
		return err
	}
	return p.finishCalls(ctx)
}

// minutes is a figure of seconds in minutes.
func minutes(seconds amount) Figure { return seconds.times(1.0/60, 1.0/60, 1.0/60).figure() }

func (p *planner) finishSteps(ctx context.Context) error {
	times, err := p.o.Catalog.Durations(ctx)
	if err != nil {
		return err
	}
	p.out.Steps = []StepRow{}
	var all tally
	var gpu, cpu amount
	for _, name := range stepOrder {
		row := p.steps[name]
		if row == nil {
			continue
		}
		if err := p.explainOpen(ctx, &row.why); err != nil {
			return err
		}
		stale, err := p.stale(ctx, name, row)
		if err != nil {
			return err
		}
		seconds := spent(row.run, times[name].Seconds, times[name].Keys > 0)
		if name == contract.StepSegment {
			gpu = gpu.plus(seconds)
		} else {
			cpu = cpu.plus(seconds)
		}
		all.add(row.tally)
		p.out.Steps = append(p.out.Steps, StepRow{
			Step: name, Needed: row.needed.figure(), Reused: row.reused.figure(), Done: row.done.figure(), Run: row.run.figure(),
			Stale: stale.figure(), Seconds: seconds.figure(), Why: sorted(row.why.list),
		})
	}
	t := &p.out.Totals
	t.Steps, t.GPU, t.CPU = all.sum(), minutes(gpu), minutes(cpu)
	return nil
}

func (p *planner) finishCalls(ctx context.Context) error {
	costs, err := p.o.Catalog.CallCosts(ctx)
	if err != nil {
		return err
	}
	p.out.Calls = []CallRow{}
	var all tally
	var prompt, completion, seconds amount
	money := map[string]amount{}
	for _, row := range p.calls {
		if err := p.explainOpen(ctx, &row.why); err != nil {
			return err
		}
		all.add(row.tally)
		c := p.priced(row, costs)
		prompt, completion, seconds = prompt.plus(c.prompt), completion.plus(c.completion), seconds.plus(c.seconds)
		if !c.cost.zero() {
			money[c.currency] = money[c.currency].plus(c.cost)
		}
		p.out.Calls = append(p.out.Calls, CallRow{
			Kind: row.kind, Card: row.card, Sampling: row.sampling, Needed: row.needed.figure(), Reused: row.reused.figure(),
			Done: row.done.figure(), Run: row.run.figure(), Prompt: c.prompt.figure(), Completion: c.completion.figure(),
			Cost: c.cost.figure(), Currency: c.currency, Seconds: c.seconds.figure(), Why: sorted(row.why.list),
		})
	}
	t := &p.out.Totals
	t.Calls, t.Prompt, t.Completion, t.Endpoint = all.sum(), prompt.figure(), completion.figure(), minutes(seconds)
	t.Cost = []Money{}
	for _, currency := range slices.Sorted(maps.Keys(money)) {
		t.Cost = append(t.Cost, Money{Currency: currency, Amount: money[currency].figure()})
	}
	return nil
}

func (t *tally) add(o tally) {
	t.needed, t.reused, t.done, t.run = t.needed.plus(o.needed), t.reused.plus(o.reused), t.done.plus(o.done), t.run.plus(o.run)
}

func (t *tally) sum() Sum {
	return Sum{Needed: t.needed.figure(), Reused: t.reused.figure(), Done: t.done.figure(), Run: t.run.figure()}
}

// spent is what keys to run take, by what was recorded; unknown where nothing was. What is seen
// once, or always the same, is no bound: then it is between nothing and twice as much.
func spent(run amount, s catalog.Spread, recorded bool) amount {
	switch {
	case run.zero():
		return amount{}
	case !recorded:
		return dark()
	case s.Low == s.High:
		return run.times(0, s.Mean, 2*s.High)
	}
	return run.times(s.Low, s.Mean, s.High)
}

// sorted puts the most frequent reason first.
func sorted(list []Reason) []Reason {
	slices.SortStableFunc(list, func(a, b Reason) int { return b.Keys - a.Keys })
	return list
}

// priced is what the calls of a row take.
type priced struct {
	prompt, completion, cost, seconds amount
	currency                          string
}

func (p *planner) priced(row *callRow, costs []catalog.CallCost) priced {
	var out priced
	if row.run.zero() {
		return out
	}
	c, own := costOf(costs, row.kind, row.card)
	if c.Calls == 0 {
		return priced{prompt: dark(), completion: dark(), cost: dark(), seconds: dark()}
	}
	if !own {
		p.note("no call of %s is recorded: its tokens and times are those of other models", row.card)
	}
	out.prompt, out.completion = spent(row.run, c.Prompt, true), spent(row.run, c.Completion, true)
	out.seconds = spent(row.run, c.Second, true)
	var price ledger.Price
	if p.o.Price != nil {
		price = p.o.Price(row.card)
	}
	switch {
	case price != nil:
		at := func(prompt, completion float64) float64 {
			return float64(price.Cost(dialogue.Usage{Calls: 1, Prompt: int64(prompt), Completion: int64(completion)})) / 1e6
		}
		out.currency = price.Unit()
		out.cost = spent(row.run, catalog.Spread{Low: at(c.Prompt.Low, c.Completion.Low), Mean: at(c.Prompt.Mean, c.Completion.Mean), High: at(c.Prompt.High, c.Completion.High)}, true)
	case own && c.Currency != "":
		out.currency = c.Currency
		out.cost = spent(row.run, catalog.Spread{Low: c.Cost.Low / 1e6, Mean: c.Cost.Mean / 1e6, High: c.Cost.High / 1e6}, true)
	default:
		out.cost = dark()
		p.note("no price of %s is known: name its endpoint with --endpoints", row.card)
	}
	return out
}

// costOf is what recorded calls of a card took, else those of every card of the kind; own says
// which.
func costOf(costs []catalog.CallCost, kind, card string) (sum catalog.CallCost, own bool) {
	for _, c := range costs {
		if c.Kind == kind && c.Model == card && c.Calls > sum.Calls {
			sum, own = c, true
		}
	}
	if own {
		return sum, true
	}
	for _, c := range costs {
		if c.Kind != kind {
			continue
		}
		n := float64(c.Calls) / float64(sum.Calls+c.Calls)
		merge := func(a *catalog.Spread, b catalog.Spread) {
			if sum.Calls == 0 {
				*a = b
				return
			}
			a.Low, a.High, a.Mean = min(a.Low, b.Low), max(a.High, b.High), a.Mean+(b.Mean-a.Mean)*n
		}
		merge(&sum.Prompt, c.Prompt)
		merge(&sum.Completion, c.Completion)
		merge(&sum.Second, c.Second)
		sum.Calls += c.Calls
	}
	return sum, false
}

// stale counts the base's keys of a step that are not needed any more.
func (p *planner) stale(ctx context.Context, step string, row *stepRow) (amount, error) {
	switch {
	case p.base == nil:
		return amount{}, nil
	case p.base.agent != nil:
		return p.staleAgent(ctx, step, row)
	case !slices.Contains(staleByKey, step):
		return p.staleImages(step), nil
	}
	keys, err := p.base.keysOf(step)
	if err != nil {
		return amount{}, err
	}
	return p.gone(step, row, keys), nil
}

// gone counts keys that are not needed any more.
func (p *planner) gone(step string, row *stepRow, keys []artifacts.Key) amount {
	gone := 0.0
	for _, key := range keys {
		if !p.keys[key] {
			gone++
		}
	}
	if unknown := row.needed.high - float64(p.known[step]); unknown > 0 && gone > 0 {
		return span(max(0, gone-unknown), gone) // what is not known yet may be among them
	}
	return sure(gone)
}

// staleByKey are the steps of which the base's keys are looked at one by one.
var staleByKey = []string{contract.StepAssess, contract.StepSummarise, contract.StepDrawCases, contract.StepBuildCase, contract.StepTabulate}

// keysOf are the base's keys of one of staleByKey.
func (b *base) keysOf(step string) (keys []artifacts.Key, err error) {
	switch step {
	case contract.StepAssess:
		for _, w := range b.assessed {
			for _, t := range w.Tasks {
				keys = append(keys, t.Key)
			}
		}
	case contract.StepSummarise:
		return keyOf(b.summariseKey())
	case contract.StepTabulate:
		return keyOf(b.tabulateKey())
	case contract.StepDrawCases:
		if b.drawn != nil {
			return keyOf(&b.drawKey, nil)
		}
	case contract.StepBuildCase:
		if b.drawn != nil {
			for i := range b.drawn.Cases {
				key, err := b.caseKey(i).Key()
				if err != nil {
					return nil, err
				}
				keys = append(keys, key)
			}
		}
	}
	return keys, nil
}

// keyOf is the key of a document that may be none.
func keyOf(doc *artifacts.KeyDoc, err error) ([]artifacts.Key, error) {
	if doc == nil || err != nil {
		return nil, err
	}
	key, err := doc.Key()
	return []artifacts.Key{key}, err
}

// staleImages is about records of images: where data set and model are the same all are needed.
func (p *planner) staleImages(step string) amount {
	b := p.base
	if b.data == nil || p.data == nil {
		return amount{}
	}
	same := b.pl.Inference() == p.pl.Inference() && sameJSON(b.pl.Spec.Masks.Import, p.pl.Spec.Masks.Import)
	if step == contract.StepPixelFacts {
		same = b.pl.Decoding == p.pl.Decoding
	}
	switch {
	case !same:
		return sure(float64(b.data.Images))
	case b.data.Ref.Digest == p.data.Ref.Digest:
		return amount{}
	}
	return span(0, float64(b.data.Images))
}
