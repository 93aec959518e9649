package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
)

// walker runs dialogues over the ledger alone.
type walker struct {
	*derive.Walker
	a *Activities
	// recorded looks calls up.
	recorded derive.Recorded
}

func (a *Activities) walk(ctx context.Context, r contract.DialogueRange) (*walker, error) {
	p, err := a.asks.plan(ctx, r.Plan)
	if err != nil {
		return nil, err
	}
	bench, err := a.asks.benchmark(ctx, r.Benchmark)
	if err != nil {
		return nil, err
	}
	var population *contract.PopulationDoc
	if r.Path != cxreasonbench.Path1 {
		if population, err = getJSON[*contract.PopulationDoc](ctx, a.opts.Store, r.Population); err != nil {
			return nil, fmt.Errorf("load population: %w", err)
		}
	}
	w, err := p.Walk(r, bench, askDocuments{a.asks, a}, population)
	return &walker{w, a, a.recorded}, err
}

// store takes documents of the benchmark's class: what it is not attested for does not enter it.
func (w *walker) store() *artifacts.Repository {
	return w.a.opts.Store.ForClass(datause.StoreClass(w.Bench.DataUse))
}

// run feeds a session with what is recorded, as far as that goes. It returns the calls that
// have no record.
func (w *walker) run(ctx context.Context, s *cxreasonbench.Session, see derive.Visit) (missing []cxreasonbench.Call, err error) {
	return w.Run(ctx, s, w.recorded, see)
}
