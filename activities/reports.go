package activities

import (
	"context"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/derive"
)

// ReportInput is everything a report may read: the plan, the windows of the data set with
// their entries, the rows of every task, and what single images consist of.
type ReportInput struct {
	Store   *artifacts.Repository
	Plan    *contract.ReportPlan
	Summary *contract.Summary
	// Rules are the thresholds under which the rows were made.
	Rules *chexstruct.Rules
	// Windows is the number of windows; Window loads one. Entries come in the order of
	// their image digests, within windows and across them.
	Windows int
	Window  func(ctx context.Context, i int) (ReportWindow, error)
	// Picture reads an entry's pixels from the data set, upright as they were measured.
	// Errors: *PictureError when it is not there any more or has other bytes now.
	Picture func(ctx context.Context, e contract.Entry) (*cxr.Image, error)
	// Input loads what the tasks read of an entry: masks at native size, facts, boxes.
	Input func(ctx context.Context, e contract.Entry) (chexstruct.Input, error)
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

// PictureError says why a picture cannot be shown, in words that name no file.
type PictureError struct {
	Why string
	Err error
}

func (e *PictureError) Error() string { return e.Why }
func (e *PictureError) Unwrap() error { return e.Err }

// reports runs every reporter of the worker.
func (a *Activities) reports(p *pulse, pl *derive.Plan, data *derive.Dataset, windows []contract.Assessed, summary *contract.Summary) ([]contract.Report, error) {
	in := a.reportInput(p, pl, data, windows, summary)
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

// OpenReport returns what reporters read of a finished reproduction. It needs no server;
// pictures need the data set's folder in Options.Data.
func (a *Activities) OpenReport(ctx context.Context, r *contract.Receipt) (ReportInput, error) {
	p := &pulse{ctx: ctx, work: ctx, a: a}
	pl, err := a.plan(ctx, r.Plan)
	if err != nil {
		return ReportInput{}, err
	}
	data, err := a.dataset(ctx, r.Manifest)
	if err != nil {
		return ReportInput{}, err
	}
	windows, err := a.assessed(p, r.Assessed, len(data.Manifest.Chunks()))
	if err != nil {
		return ReportInput{}, err
	}
	summary, err := getJSON[contract.Summary](ctx, a.opts.Store, r.Summary)
	if err != nil {
		return ReportInput{}, err
	}
	return a.reportInput(p, pl, data, windows, &summary), nil
}

func (a *Activities) reportInput(p *pulse, pl *derive.Plan, data *derive.Dataset, windows []contract.Assessed, summary *contract.Summary) ReportInput {
	return ReportInput{
		Store: a.opts.Store.ForClass(pl.Class()), Summary: summary, Windows: len(windows), Progress: p.progress, Rules: pl.Rules,
		Plan: &contract.ReportPlan{Spec: pl.Spec, DataUse: pl.Spec.Dataset.DataUse},
		Window: func(ctx context.Context, i int) (ReportWindow, error) {
			entries, err := data.Window(ctx, i)
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
		Picture: func(ctx context.Context, e contract.Entry) (*cxr.Image, error) {
			defer p.progress()
			img, err := a.pixels(ctx, pl, e)
			if err != nil {
				return nil, pictureError(err)
			}
			return img, nil
		},
		Input: func(ctx context.Context, e contract.Entry) (chexstruct.Input, error) {
			defer p.progress()
			key, err := pl.MasksKey(e).Key()
			if err != nil {
				return chexstruct.Input{}, err
			}
			rec, err := a.opts.Store.Lookup(ctx, key)
			if err != nil {
				return chexstruct.Input{}, fmt.Errorf("masks of image %s: %w", e.Image.Short(), err)
			}
			return loadInput(ctx, a.opts.Store, e, rec.Result)
		},
	}
}

// pictureError keeps paths, which identify patients, out of what people are shown.
func pictureError(err error) error {
	e := &PictureError{Why: "the file could not be read", Err: err}
	var known *contract.Failure
	if errors.As(err, &known) {
		switch known.Type {
		case contract.ErrTypeDataset:
			e.Why = "this process was not given the data set's folder"
		case contract.ErrTypeInputChanged:
			e.Why = "the file is gone or has other bytes than those that were measured"
		}
	}
	return e
}
