package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"cxrepro/activities"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
)

// seriesKey names a series: a rule of a task (Global for the filter), and which of a
// pair's figures. The zero rule stands for the task's own index.
type seriesKey struct {
	task chexstruct.Task
	rule chexstruct.Rule
	part int
}

// scan is what one pass over all rows collects. Images have ordinals, their places in the
// order of the image digests.
type scan struct {
	images, kept int
	// first is the ordinal of each window's first image.
	first []int
	tasks []chexstruct.Task
	// strata are the kept images of each task, by outcome; filter all images of each step.
	strata map[chexstruct.Task]map[string][]int32
	filter map[chexstruct.Rule]map[string][]int32
	series map[seriesKey]*series
}

// imageRows is everything one image's rows say.
type imageRows struct {
	Entry    contract.Entry
	Global   chexstruct.FilterDecision
	Findings []chexstruct.Finding
	// Raw are the findings' rows as stored, in the same order.
	Raw []json.RawMessage
}

// rowReader is called with every image in order, for tables that are written on the way.
type rowReader func(*imageRows) error

// readAll passes once over every row.
func readAll(ctx context.Context, in activities.ReportInput, readers ...rowReader) (*scan, error) {
	s := &scan{strata: map[chexstruct.Task]map[string][]int32{}, filter: map[chexstruct.Rule]map[string][]int32{}, series: map[seriesKey]*series{}}
	for _, name := range in.Plan.Spec.Tasks {
		if t, ok := chexstruct.ParseTask(name); ok && t.Diagnostic() {
			s.tasks = append(s.tasks, t)
			s.strata[t] = map[string][]int32{}
		}
	}
	slices.Sort(s.tasks)
	for _, r := range filterRules {
		s.filter[r] = map[string][]int32{}
	}
	for i := range in.Windows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w, err := in.Window(ctx, i)
		if err != nil {
			return nil, err
		}
		s.first = append(s.first, s.images)
		for k := range w.Entries {
			row, err := decodeRows(w, s.tasks, k)
			if err != nil {
				return nil, fmt.Errorf("window %d: %w", i, err)
			}
			s.add(row)
			for _, r := range readers {
				if err := r(row); err != nil {
					return nil, err
				}
			}
		}
		in.Progress()
	}
	return s, nil
}

// decodeRows reads the rows of one image of a window.
func decodeRows(w activities.ReportWindow, tasks []chexstruct.Task, k int) (*imageRows, error) {
	row := &imageRows{Entry: w.Entries[k]}
	read := func(task chexstruct.Task, to any) (json.RawMessage, error) {
		rows := w.Rows[task.String()]
		if len(rows) != len(w.Entries) || rows[k].Image != row.Entry.Image {
			return nil, fmt.Errorf("image %s has no row of %s at its place", row.Entry.Image.Short(), task)
		}
		if err := json.Unmarshal(rows[k].Finding, to); err != nil {
			return nil, fmt.Errorf("%s of image %s: %w", task, row.Entry.Image.Short(), err)
		}
		return rows[k].Finding, nil
	}
	if _, err := read(chexstruct.Global, &row.Global); err != nil {
		return nil, err
	}
	for _, t := range tasks {
		f := chexstruct.Finding{Task: t}
		raw, err := read(t, &f)
		if err != nil {
			return nil, err
		}
		row.Findings, row.Raw = append(row.Findings, f), append(row.Raw, raw)
	}
	return row, nil
}

func (s *scan) add(row *imageRows) {
	at := s.images
	s.images++
	for _, c := range row.Global.Checks {
		outcome := strataPassed
		if !c.Pass {
			outcome = strataFailed
		}
		s.filter[c.Rule][outcome] = append(s.filter[c.Rule][outcome], int32(at))
		s.values(at, chexstruct.Global, c)
	}
	if !row.Global.Keep() {
		return
	}
	s.kept++
	for i := range row.Findings {
		f := &row.Findings[i]
		group := stratumOf(f)
		s.strata[f.Task][group] = append(s.strata[f.Task][group], int32(at))
		for _, c := range f.Checks {
			s.values(at, f.Task, c)
		}
		index := f.Rounded
		if index.Kind() == chexstruct.KindNone {
			index = f.Index
		}
		s.values(at, f.Task, chexstruct.Check{Value: index, Pass: f.Status == chexstruct.StatusOK})
	}
}

// values adds the figures of a check to their series. Flags are no figures.
func (s *scan) values(at int, task chexstruct.Task, c chexstruct.Check) {
	if c.Rule == chexstruct.RuleSideLabel {
		return
	}
	put := func(part int, v chexstruct.Value) {
		f, ok := v.Float()
		if !ok {
			return
		}
		key := seriesKey{task, c.Rule, part}
		if s.series[key] == nil {
			s.series[key] = &series{}
		}
		s.series[key].add(at, f, c.Pass)
	}
	if c.Value.Len() > 0 {
		for i := range c.Value.Len() {
			put(i, c.Value.At(i))
		}
		return
	}
	put(0, c.Value)
}

// window returns the window of an ordinal and its place in it.
func (s *scan) window(ordinal int) (w, k int) {
	w, found := slices.BinarySearch(s.first, ordinal)
	if !found {
		w--
	}
	return w, ordinal - s.first[w]
}

// keysOf lists the series of a task in a fixed order: the index first, then rules.
func (s *scan) keysOf(t chexstruct.Task) []seriesKey {
	var keys []seriesKey
	for k := range s.series {
		if k.task == t {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b seriesKey) int {
		if a.rule != b.rule {
			return int(a.rule) - int(b.rule)
		}
		return a.part - b.part
	})
	return keys
}
