package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// ReportInput is everything a report may read: the plan, the windows of the data set with
// their entries, and the rows of every task.
type ReportInput struct {
	Store   *artifacts.Repository
	Plan    *contract.ReportPlan
	Summary *contract.Summary
	// Windows is the number of windows; Window loads one.
	Windows int
	Window  func(ctx context.Context, i int) (ReportWindow, error)
	// Progress tells that something moved; call it between images.
	Progress func()
}

// ReportWindow is one window with its rows: Rows[task][k] belongs to Entries[k].
type ReportWindow struct {
	Entries []contract.Entry
	Rows    map[string][]contract.FindingRow
}

// Reporter makes files for people or other programs from a reproduction's results, such as
// a Parquet table or a review sheet. Files are artifacts; none of them enters the result
// digest. A reporter's Name ends up in the receipt.
type Reporter interface {
	Report(ctx context.Context, in ReportInput) ([]contract.Report, error)
}

// reports runs every reporter of the worker.
func (a *Activities) reports(p *pulse, pl *plan, data *dataset, windows []contract.Assessed, summary *contract.Summary) ([]contract.Report, error) {
	in := ReportInput{
		Store: a.opts.Store.ForClass(pl.class()), Summary: summary, Windows: len(windows), Progress: p.progress,
		Plan: &contract.ReportPlan{Spec: pl.Spec, DataUse: pl.class()},
		Window: func(ctx context.Context, i int) (ReportWindow, error) {
			entries, err := data.window(ctx, i)
			if err != nil {
				return ReportWindow{}, err
			}
			w := ReportWindow{Entries: entries, Rows: map[string][]contract.FindingRow{}}
			for _, task := range windows[i].Tasks {
				rows, err := getJSON[contract.Findings](ctx, a.opts.Store, task.Result)
				if err != nil {
					return ReportWindow{}, err
				}
				w.Rows[task.Task] = rows.Rows
			}
			p.progress()
			return w, nil
		},
	}
	var out []contract.Report
	for _, r := range a.opts.Reporters {
		made, err := r.Report(p.work, in)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		out = append(out, made...)
	}
	return out, nil
}
