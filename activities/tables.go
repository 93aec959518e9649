package activities

import (
	"encoding/json"
	"fmt"
	"sort"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
)

// tables counts rows of findings into a summary.
type tables struct {
	plan  *derive.Plan
	out   contract.Summary
	tasks map[chexstruct.Task]*taskTable
}

type taskTable struct {
	statuses, reasons, failed map[string]int
	labels                    map[string]int
}

func newTables(pl *derive.Plan, data *derive.Dataset) *tables {
	b := &tables{plan: pl, tasks: map[chexstruct.Task]*taskTable{}}
	b.out = contract.Summary{
		Format: contract.SummaryFormat, Name: pl.Spec.Name, Paper: pl.Spec.Paper, Rules: pl.Rules.String(),
		Images: contract.SummaryImages{In: data.In, Images: data.Images, Filtered: emptyNotNil(data.Filtered), Quarantined: emptyNotNil(data.Quarantined)},
		Global: contract.SummaryGlobal{Failed: []contract.Count{}, Orientation: []contract.Count{}},
		Tasks:  []contract.SummaryTask{},
	}
	if e := pl.Spec.Expected; e != nil {
		b.out.Expected, b.out.Global.ExpectedImages, b.out.Global.ExpectedKept = e.Source, e.Images, e.Kept
	}
	for _, t := range pl.Tasks {
		b.tasks[t] = &taskTable{statuses: map[string]int{}, reasons: map[string]int{}, failed: map[string]int{}, labels: map[string]int{}}
	}
	return b
}

// finding is what the tables read of a row.
type finding struct {
	Status      string   `json:"status"`
	Reason      *string  `json:"reason"`
	Label       *string  `json:"label"`
	Failed      []string `json:"failed"`
	Orientation string   `json:"orientation"`
}

// global counts the filter's rows and returns which images stay. Orientation removes no
// image: it makes the tasks of an image not evaluable.
func (b *tables) global(rows contract.Findings) ([]bool, error) {
	keep := make([]bool, len(rows.Rows))
	for i, row := range rows.Rows {
		var f finding
		if err := json.Unmarshal(row.Finding, &f); err != nil {
			return nil, fmt.Errorf("global filter of image %s: %w", row.Image.Short(), err)
		}
		keep[i] = true
		for _, rule := range f.Failed {
			b.out.Global.Failed = contract.AddCount(b.out.Global.Failed, rule, 1)
			if rule != chexstruct.RuleOrientation.String() {
				keep[i] = false
			}
		}
		b.out.Global.Orientation = contract.AddCount(b.out.Global.Orientation, f.Orientation, 1)
		if keep[i] {
			b.out.Global.Kept++
		} else {
			b.out.Global.Removed++
		}
	}
	return keep, nil
}

// task counts one task's rows of the images that stay.
func (b *tables) task(task chexstruct.Task, rows contract.Findings, keep []bool) error {
	if len(rows.Rows) != len(keep) {
		return fmt.Errorf("%d rows of %s, %d of the global filter", len(rows.Rows), task, len(keep))
	}
	if !task.Diagnostic() {
		return nil
	}
	t := b.tasks[task]
	for i, row := range rows.Rows {
		if !keep[i] {
			continue
		}
		var f finding
		if err := json.Unmarshal(row.Finding, &f); err != nil {
			return fmt.Errorf("%s of image %s: %w", task, row.Image.Short(), err)
		}
		t.statuses[f.Status]++
		if f.Reason != nil {
			t.reasons[*f.Reason]++
		}
		if f.Label != nil && f.Status == chexstruct.StatusOK.String() {
			t.labels[*f.Label]++
		}
		for _, rule := range f.Failed {
			t.failed[rule]++
		}
	}
	return nil
}

func (b *tables) summary() *contract.Summary {
	for _, task := range b.plan.Tasks {
		if !task.Diagnostic() {
			continue
		}
		t := b.tasks[task]
		row := contract.SummaryTask{
			Task: task.String(), Total: t.statuses[chexstruct.StatusOK.String()], Labels: []contract.LabelCount{},
			Statuses: sorted(t.statuses), Reasons: sorted(t.reasons), Failed: sorted(t.failed),
		}
		for _, label := range chexstruct.Labels(task) {
			l := contract.LabelCount{Label: string(label), N: t.labels[string(label)]}
			if row.Total > 0 {
				f := float64(l.N) / float64(row.Total)
				l.Fraction = &f
			}
			row.Labels = append(row.Labels, l)
		}
		b.expect(&row)
		b.out.Tasks = append(b.out.Tasks, row)
	}
	return &b.out
}

// expect puts the published figures beside a row.
func (b *tables) expect(row *contract.SummaryTask) {
	if b.plan.Spec.Expected == nil {
		return
	}
	for _, e := range b.plan.Spec.Expected.Tasks {
		if e.Task != row.Task {
			continue
		}
		row.Expected = e.Total
		for i := range row.Labels {
			row.Labels[i].Expected = e.Labels[row.Labels[i].Label]
		}
	}
}

func sorted(m map[string]int) []contract.Count {
	out := make([]contract.Count, 0, len(m))
	for name, n := range m {
		out = append(out, contract.Count{Name: name, N: n})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
