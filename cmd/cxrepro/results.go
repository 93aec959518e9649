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

// eachWindow calls fn for every window of a finished reproduction, in order.
func eachWindow(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, fn func(windowRows) error) error {
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
			w, err := oneWindow(ctx, store, windows, item)
			if err != nil {
				return err
			}
			if err := fn(w); err != nil {
				return err
			}
		}
	}
	return nil
}

func oneWindow(ctx context.Context, store *artifacts.Repository, windows *manifest.Manifest, item contract.PackItem) (windowRows, error) {
	w := windowRows{Rows: map[string][]contract.FindingRow{}}
	var assessed contract.Assessed
	if err := readJSON(ctx, store, item.Ref, &assessed); err != nil {
		return w, err
	}
	items, err := windows.Chunk(ctx, item.Index)
	if err != nil {
		return w, err
	}
	w.Entries = make([]contract.Entry, len(items))
	for i, raw := range items {
		if err := json.Unmarshal(raw, &w.Entries[i]); err != nil {
			return w, fmt.Errorf("window %d entry %d: %w", item.Index, i, err)
		}
	}
	for _, task := range assessed.Tasks {
		var rows contract.Findings
		if err := readJSON(ctx, store, task.Result, &rows); err != nil {
			return w, err
		}
		if len(rows.Rows) != len(w.Entries) {
			return w, fmt.Errorf("window %d: %d rows of %s for %d images", item.Index, len(rows.Rows), task.Task, len(w.Entries))
		}
		w.Rows[task.Task] = rows.Rows
	}
	return w, nil
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
