package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
)

// flips judges recorded findings anew under the plan's limits, and counts what changes.
type flips struct {
	p *planner
	// changes are the rows that differ, and byTask what follows, by task.
	changes map[chexstruct.Task][]chexstruct.Change
	byTask  map[chexstruct.Task]*Flip
}

func newFlips(p *planner) *flips {
	return &flips{p: p, changes: map[chexstruct.Task][]chexstruct.Change{}, byTask: map[chexstruct.Task]*Flip{}}
}

func (f *flips) list() []Flip {
	out := []Flip{}
	for _, task := range f.p.pl.Tasks {
		if one := f.byTask[task]; one != nil {
			out = append(out, *one)
		}
	}
	return out
}

// of is the entry of a task, with the rows that differ.
func (f *flips) of(task chexstruct.Task, changes []chexstruct.Change) *Flip {
	one := f.byTask[task]
	if one == nil {
		one = &Flip{Task: task.String(), Exact: true}
		for _, c := range changes {
			one.Rows = append(one.Rows, fmt.Sprintf("%s: %v -> %v", c.Row, c.Was, c.Now))
		}
		f.byTask[task] = one
	}
	return one
}

// judge returns the findings that assessing a window under the plan's limits will give, judged
// out of those that the base recorded over the same inputs; zero where masks are needed.
func (f *flips) judge(ctx context.Context, task chexstruct.Task, entries []contract.Entry, old *contract.Assessed) (artifacts.Ref, error) {
	changes, known := f.changes[task]
	if !known {
		changes = chexstruct.Changes(task, f.p.base.pl.Rules, f.p.pl.Rules)
		f.changes[task] = changes
	}
	at := slices.IndexFunc(old.Tasks, func(t contract.AssessedTask) bool { return t.Task == task.String() })
	if at < 0 || len(changes) == 0 {
		return artifacts.Ref{}, nil // a task that was not assessed, or whose record is gone
	}
	one := f.of(task, changes)
	if slices.ContainsFunc(changes, func(c chexstruct.Change) bool { return !c.Stored }) {
		return f.blind(one, entries)
	}
	rows, err := get[contract.Findings](ctx, f.p.docs, old.Tasks[at].Result)
	if err != nil {
		return artifacts.Ref{}, err
	}
	if len(rows.Rows) != len(entries) {
		return f.blind(one, entries)
	}
	tried := one.clone() // rows of a window that turns out to need masks are not counted
	for i := range rows.Rows {
		row := &rows.Rows[i]
		next, ok, err := f.row(tried, task, changes, entries[i], row.Finding)
		if err != nil {
			return artifacts.Ref{}, fmt.Errorf("%s of image %s: %w", task, row.Image.Short(), err)
		}
		if !ok {
			return f.blind(one, entries)
		}
		row.Finding = next
	}
	*one = *tried
	return f.p.docs.put(ctx, rows, contract.FindingsMediaType)
}

func (f *Flip) clone() *Flip {
	c := *f
	c.Labels, c.Statuses, c.Checks = slices.Clone(f.Labels), slices.Clone(f.Statuses), slices.Clone(f.Checks)
	return &c
}

// blind counts every image of a window: which of them change needs masks.
func (f *flips) blind(one *Flip, entries []contract.Entry) (artifacts.Ref, error) {
	one.Exact = false
	one.Images += len(entries)
	return artifacts.Ref{}, nil
}

// row judges one image anew.
func (f *flips) row(one *Flip, task chexstruct.Task, changes []chexstruct.Change, e contract.Entry, stored json.RawMessage) (next json.RawMessage, ok bool, err error) {
	now := f.p.pl.Rules
	if task == chexstruct.Global {
		var d chexstruct.FilterDecision
		if err := json.Unmarshal(stored, &d); err != nil {
			return nil, false, err
		}
		g, ok := chexstruct.RejudgeFilter(d, changes, now)
		if !ok {
			return nil, false, nil
		}
		if one.checks(d.Checks, g.Checks) {
			one.Images++
		}
		next, err = json.Marshal(g)
		return next, true, err
	}
	before := chexstruct.Finding{Task: task}
	if err := json.Unmarshal(stored, &before); err != nil {
		return nil, false, err
	}
	view, _ := cxr.ParseView(e.View)
	after, ok := chexstruct.Rejudge(before, view, changes, now)
	if !ok {
		return nil, false, nil
	}
	changed := one.checks(before.Checks, after.Checks)
	if before.Status != after.Status {
		one.Statuses = shift(one.Statuses, before.Status.String(), after.Status.String())
		changed = true
	}
	if before.Label != after.Label {
		one.Labels = shift(one.Labels, orNone(string(before.Label)), orNone(string(after.Label)))
		changed = true
	}
	if changed {
		one.Images++
	}
	next, err = json.Marshal(after)
	return next, true, err
}

func orNone(label string) string {
	if label == "" {
		return "none"
	}
	return label
}

// checks counts rules that pass now and did not, or the other way.
func (f *Flip) checks(before, after []chexstruct.Check) (changed bool) {
	word := func(c chexstruct.Check) string {
		if c.Pass {
			return c.Rule.String() + " passed"
		}
		return c.Rule.String() + " failed"
	}
	for i := range before {
		if before[i].Pass != after[i].Pass {
			f.Checks = shift(f.Checks, word(before[i]), word(after[i]))
			changed = true
		}
	}
	return changed
}

func shift(list []Shift, from, to string) []Shift {
	for i := range list {
		if list[i].From == from && list[i].To == to {
			list[i].N++
			return list
		}
	}
	return append(list, Shift{From: from, To: to, N: 1})
}
