package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/derive"
	"cxrepro/internal/geom"
)

// AssessWindow measures one window: all tasks of the plan, one record per task. Tasks that
// have a record are not measured again.
func (a *Activities) AssessWindow(ctx context.Context, in contract.WindowInput) (contract.ChunkResult, error) {
	out, missing, err := a.assessWindow(ctx, in)
	if err == nil && missing > 0 {
		err = fail(contract.ErrTypeInputChanged, "window %d: %d of %d images have no masks; run again to make them", in.Window, missing, out.Totals.Items)
	}
	if err != nil {
		return contract.ChunkResult{}, err
	}
	return out, nil
}

// assessWindow assesses a window, unless images of it have no masks: then it says how many.
func (a *Activities) assessWindow(ctx context.Context, in contract.WindowInput) (result contract.ChunkResult, missing int, err error) {
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return result, 0, err
	}
	data, err := a.dataset(ctx, in.Manifest)
	if err != nil {
		return result, 0, err
	}
	entries, err := data.Window(ctx, in.Window)
	if err != nil {
		return result, 0, err
	}
	p := a.beat(ctx, len(entries))
	defer p.close()
	t := &tally{effort: effort{reproduction: in.Reproduction, ingest: in.Ingest, id: in.Reproduction}}
	t.totals.Items = len(entries)
	w, missing, err := a.openWindow(p, pl, entries)
	if err != nil || missing > 0 {
		return contract.ChunkResult{Totals: t.totals}, missing, err
	}
	records, err := w.records(p, t)
	if err != nil {
		return result, 0, err
	}
	out := contract.Assessed{Window: in.Window, Inputs: w.ref}
	for i, task := range pl.Tasks {
		out.Tasks = append(out.Tasks, contract.AssessedTask{Task: task.String(), Key: records[i].Key, Result: records[i].Result})
	}
	ref, err := putJSON(p.work, a.opts.Store, out, contract.AssessedMediaType)
	t.totals.Workers = contract.AddCount(nil, a.opts.Owner.Worker, 1)
	return contract.ChunkResult{Output: ref, Totals: t.totals}, 0, err
}

// window is one window with the references of everything its tasks read.
type window struct {
	a       *Activities
	plan    *derive.Plan
	entries []contract.Entry
	masks   []artifacts.Ref
	ref     artifacts.Ref // of the inputs document
}

// openWindow finds the masks of every entry and stores the inputs document. missing counts
// entries without masks; the window is of no use then.
func (a *Activities) openWindow(p *pulse, pl *derive.Plan, entries []contract.Entry) (w *window, missing int, err error) {
	w = &window{a: a, plan: pl, entries: entries, masks: make([]artifacts.Ref, len(entries))}
	for i, e := range entries {
		key, err := pl.MasksKey(e).Key()
		if err != nil {
			return nil, 0, err
		}
		rec, err := a.opts.Store.Lookup(p.work, key)
		p.progress()
		if errors.Is(err, artifacts.ErrNotFound) {
			missing++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		w.masks[i] = rec.Result
	}
	if missing > 0 {
		return w, missing, nil
	}
	w.ref, err = putJSON(p.work, a.opts.Store.ForClass(pl.Class()), derive.WindowIn(entries, w.masks), contract.WindowInMediaType)
	return w, 0, err
}

// key is the key of one task over the window.
func (w *window) key(task chexstruct.Task) artifacts.KeyDoc {
	return w.plan.AssessKey(w.ref.Digest, task)
}

// records returns the record of every task, measuring the tasks that have none together:
// what tasks share is computed once per image.
func (w *window) records(p *pulse, t *tally) ([]artifacts.Record, error) {
	tasks := w.plan.Tasks
	records := make([]artifacts.Record, len(tasks))
	jobs := make([]*job, len(tasks))
	defer func() {
		for _, j := range jobs {
			if j != nil {
				w.a.steps.abandon(p, j)
			}
		}
	}()
	var todo []chexstruct.Task
	var held error
	for i, task := range tasks {
		key, err := w.key(task).Key()
		if err != nil {
			return nil, err
		}
		var ok bool
		if records[i], ok, err = w.a.steps.find(p.work, key, t); err != nil {
			return nil, err
		}
		if ok {
			continue
		}
		j, err := w.a.steps.begin(p, w.key(task), t.effort)
		var busy *artifacts.HeldError
		var done *artifacts.CommittedError
		switch {
		case errors.As(err, &busy):
			held = err
			continue
		case errors.As(err, &done):
			records[i] = done.Record
			if err := w.a.steps.count(p.work, done.Record, t); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		}
		jobs[i] = j
		todo = append(todo, task)
	}
	rows, err := w.measure(p, todo)
	if err != nil {
		return nil, err
	}
	// The first task carries the time of measuring them all; the others only their own.
	began := w.a.opts.Now()
	for i, task := range tasks {
		if jobs[i] == nil {
			continue
		}
		j := jobs[i]
		jobs[i] = nil
		if task != todo[0] {
			j.started = began
		}
		began = w.a.opts.Now()
		data, err := artifacts.Canonical(rows[task])
		if err != nil {
			w.a.steps.abandon(p, j)
			return nil, err
		}
		if records[i], err = w.a.steps.finish(p, j, product{data: data, mediaType: contract.FindingsMediaType}, t, w.plan.Class()); err != nil {
			return nil, err
		}
	}
	return records, held
}

// measure assesses the given tasks on every image of the window.
func (w *window) measure(p *pulse, tasks []chexstruct.Task) (map[chexstruct.Task]*contract.Findings, error) {
	rows := map[chexstruct.Task]*contract.Findings{}
	for _, task := range tasks {
		rows[task] = &contract.Findings{Task: task.String(), Rows: make([]contract.FindingRow, 0, len(w.entries))}
	}
	for i, e := range w.entries {
		if len(tasks) > 0 {
			in, err := w.input(p.work, i)
			if err != nil {
				return nil, err
			}
			result, err := chexstruct.Assess(in, w.plan.Rules, tasks)
			if err != nil {
				return nil, fail(contract.ErrTypeDataset, "assess image %s: %w", e.Image.Short(), err)
			}
			parts, err := sections(result)
			if err != nil {
				return nil, err
			}
			for _, task := range tasks {
				rows[task].Rows = append(rows[task].Rows, contract.FindingRow{Image: e.Image, Finding: parts[task]})
			}
		}
		p.step(1)
	}
	return rows, nil
}

// input loads what the tasks read of image i, at native size.
func (w *window) input(ctx context.Context, i int) (chexstruct.Input, error) {
	return loadInput(ctx, w.a.opts.Store, w.entries[i], w.masks[i])
}

// loadInput loads what the tasks read of an entry, at native size.
func loadInput(ctx context.Context, store *artifacts.Repository, e contract.Entry, masks artifacts.Ref) (chexstruct.Input, error) {
	data, err := store.Get(ctx, masks)
	if err != nil {
		return chexstruct.Input{}, fmt.Errorf("masks of image %s: %w", e.Image.Short(), err)
	}
	grid, err := anatomy.Decode(data)
	if err != nil {
		return chexstruct.Input{}, err
	}
	native, err := grid.Native()
	if err != nil {
		return chexstruct.Input{}, err
	}
	if data, err = store.Get(ctx, e.Facts); err != nil {
		return chexstruct.Input{}, fmt.Errorf("facts of image %s: %w", e.Image.Short(), err)
	}
	facts, err := chexstruct.DecodeFacts(data)
	if err != nil {
		return chexstruct.Input{}, err
	}
	in := chexstruct.Input{Masks: native, Facts: &facts, NativeWidth: e.Width, Boxes: map[string]geom.Box{}}
	if view, ok := cxr.ParseView(e.View); ok {
		in.View = view
	}
	for name, b := range e.Boxes {
		in.Boxes[name] = geom.Box{X0: b[0], Y0: b[1], X1: b[2], Y1: b[3]}
	}
	if !e.Lung.IsZero() {
		if data, err = store.Get(ctx, e.Lung); err != nil {
			return chexstruct.Input{}, fmt.Errorf("second lung of image %s: %w", e.Image.Short(), err)
		}
		second, err := anatomy.Decode(data)
		if err != nil {
			return chexstruct.Input{}, err
		}
		m := second.Mask(anatomy.RightLung)
		in.CheXmaskRightLung = &m
	}
	return in, nil
}

// sections encodes a result and cuts it by section.
func sections(r *chexstruct.Result) (map[chexstruct.Task]json.RawMessage, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var parts struct {
		Global  json.RawMessage                     `json:"global"`
		Tasks   map[chexstruct.Task]json.RawMessage `json:"tasks"`
		XRagent json.RawMessage                     `json:"xragent"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, err
	}
	out := parts.Tasks
	if out == nil {
		out = map[chexstruct.Task]json.RawMessage{}
	}
	out[chexstruct.Global], out[chexstruct.XRagent] = parts.Global, parts.XRagent
	return out, nil
}
