package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
)

// Summarise turns the assessed windows into tables and says what the result is: the
// digest over the rows of every task and window, the tables and the account.
func (a *Activities) Summarise(ctx context.Context, in contract.SummariseInput) (contract.SummariseResult, error) {
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return contract.SummariseResult{}, err
	}
	data, err := a.dataset(ctx, in.Manifest)
	if err != nil {
		return contract.SummariseResult{}, err
	}
	windows := len(data.Manifest.Chunks())
	p := a.beat(ctx, windows)
	defer p.close()
	assessed, err := a.assessed(p, in.Outputs, windows)
	if err != nil {
		return contract.SummariseResult{}, err
	}
	results := resultList(data, assessed)
	rows, err := putJSON(p.work, a.opts.Store, results, contract.ResultsMediaType)
	if err != nil {
		return contract.SummariseResult{}, err
	}
	doc, err := pl.SummariseKey(rows.Digest)
	if err != nil {
		return contract.SummariseResult{}, err
	}
	t := &tally{effort: effort{reproduction: in.Reproduction, ingest: in.Ingest, id: in.Reproduction}}
	rec, err := a.steps.once(p, doc, t, "", func(ctx context.Context) (product, error) {
		s, err := a.tables(p, pl, data, assessed)
		if err != nil {
			return product{}, err
		}
		text, err := artifacts.Canonical(s)
		return product{data: text, mediaType: contract.SummaryMediaType}, err
	})
	if err != nil {
		return contract.SummariseResult{}, err
	}
	results.Tables = rec.Result.Digest
	out := contract.SummariseResult{Summary: rec.Result, Totals: t.totals}
	if out.Results, err = putJSON(p.work, a.opts.Store, results, contract.ResultsMediaType); err != nil {
		return contract.SummariseResult{}, err
	}
	out.ResultDigest = out.Results.Digest
	summary, err := getJSON[contract.Summary](p.work, a.opts.Store, rec.Result)
	if err != nil {
		return contract.SummariseResult{}, err
	}
	out.Kept, out.Removed = summary.Global.Kept, summary.Global.Removed
	out.Totals.Items = 1
	out.Reports, err = a.reports(p, pl, data, assessed, &summary)
	return out, err
}

// resultList lists the rows of every task and window, without the tables.
func resultList(data *derive.Dataset, assessed []contract.Assessed) contract.Results {
	return derive.Results(data.Dataset, data.Sizes(), assessed)
}

// assessed loads every window's output, in window order.
func (a *Activities) assessed(p *pulse, outputs []artifacts.Ref, windows int) ([]contract.Assessed, error) {
	var list []contract.Assessed
	for _, ref := range outputs {
		err := eachPacked(p.work, a.opts.Store, ref, func(w *contract.Assessed) error {
			if w.Window != len(list) {
				return fmt.Errorf("assessed window %d stands at place %d", w.Window, len(list))
			}
			list = append(list, *w)
			p.progress()
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(list) != windows {
		return nil, fmt.Errorf("%d assessed windows, the manifest has %d", len(list), windows)
	}
	return list, nil
}

// tables counts every row of every window.
func (a *Activities) tables(p *pulse, pl *derive.Plan, data *derive.Dataset, windows []contract.Assessed) (*contract.Summary, error) {
	b := newTables(pl, data)
	for _, w := range windows {
		var keep []bool
		for i, task := range pl.Tasks {
			rows, err := getJSON[contract.Findings](p.work, a.opts.Store, w.Tasks[i].Result)
			if err != nil {
				return nil, err
			}
			if rows.Task != task.String() {
				return nil, fmt.Errorf("window %d: rows of task %q stand at the place of %s", w.Window, rows.Task, task)
			}
			if task == chexstruct.Global {
				if keep, err = b.global(rows); err != nil {
					return nil, err
				}
				continue
			}
			if err := b.task(task, rows, keep); err != nil {
				return nil, fmt.Errorf("window %d: %w", w.Window, err)
			}
			p.progress()
		}
		p.step(1)
	}
	return b.summary(), nil
}

// resultLists names the two forms of the result list: that which the tables are keyed by, and
// that which holds them.
func resultLists(data *derive.Dataset, assessed []contract.Assessed, tables artifacts.Digest) (rows, full artifacts.Ref, err error) {
	list := resultList(data, assessed)
	if rows, err = refOfJSON(list, contract.ResultsMediaType); err != nil {
		return rows, full, err
	}
	list.Tables = tables
	full, err = refOfJSON(list, contract.ResultsMediaType)
	return rows, full, err
}
