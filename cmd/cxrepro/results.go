package main

import (
	"context"
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/contract"
)

// windowRows are the images of one window with the rows of every task: Rows[task][k]
// belongs to Entries[k].
type windowRows struct {
	Entries []contract.Entry
	Rows    map[string][]contract.FindingRow
}

// eachAssessed calls fn for every window of a finished reproduction, in order, with its images
// and where the rows of its tasks are.
func eachAssessed(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, fn func([]contract.Entry, *contract.Assessed) error) error {
	var doc contract.Dataset
	if err := readJSON(ctx, store, r.Manifest, &doc); err != nil {
		return err
	}
	windows, err := manifest.Open(ctx, store, doc.Windows)
	if err != nil {
		return err
	}
	for _, ref := range r.Assessed {
		var packed contract.Packed
		if err := readJSON(ctx, store, ref, &packed); err != nil {
			return err
		}
		for _, item := range packed.Items {
			var assessed contract.Assessed
			if err := readJSON(ctx, store, item.Ref, &assessed); err != nil {
				return err
			}
			items, err := windows.Chunk(ctx, item.Index)
			if err != nil {
				return err
			}
			entries := make([]contract.Entry, len(items))
			for i, raw := range items {
				if err := json.Unmarshal(raw, &entries[i]); err != nil {
					return fmt.Errorf("window %d entry %d: %w", item.Index, i, err)
				}
			}
			if err := fn(entries, &assessed); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachWindow calls fn for every window of a finished reproduction, in order, with all its rows.
func eachWindow(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, fn func(windowRows) error) error {
	return eachAssessed(ctx, store, r, func(entries []contract.Entry, assessed *contract.Assessed) error {
		w := windowRows{Entries: entries, Rows: map[string][]contract.FindingRow{}}
		for i, task := range assessed.Tasks {
			rows, err := rowsOf(ctx, store, entries, assessed, i)
			if err != nil {
				return err
			}
			w.Rows[task.Task] = rows
		}
		return fn(w)
	})
}

// rowsOf reads the rows of the task at a place of a window.
func rowsOf(ctx context.Context, store *artifacts.Repository, entries []contract.Entry, assessed *contract.Assessed, task int) ([]contract.FindingRow, error) {
	var rows contract.Findings
	if err := readJSON(ctx, store, assessed.Tasks[task].Result, &rows); err != nil {
		return nil, err
	}
	if len(rows.Rows) != len(entries) {
		return nil, fmt.Errorf("window %d: %d rows of %s for %d images", assessed.Window, len(rows.Rows), rows.Task, len(entries))
	}
	return rows.Rows, nil
}

func readJSON(ctx context.Context, store *artifacts.Repository, ref artifacts.Ref, v any) error {
	data, err := store.Get(ctx, ref)
	if err != nil {
		return storeError(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	return nil
}
