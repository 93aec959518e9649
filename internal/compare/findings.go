package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
	"cxrepro/internal/stats"
)

// place is where an image stands.
type place struct{ window, row int }

// findings walks facts, masks and measurements of the images of both sides, and compares the
// labels of each.
func (c *comparison) findings() error {
	if !c.both("the assessment of images", c.a.Findings != nil, c.b.Findings != nil) {
		return nil
	}
	other := map[artifacts.Digest]place{}
	for w, x := range c.windows[1] {
		for i, e := range x.Entries {
			other[e.Image] = place{w, i}
		}
	}
	for w := range c.windows[0] {
		for i, e := range c.windows[0][w].Entries {
			if at, both := other[e.Image]; both {
				if err := c.image(&c.windows[0][w], i, &c.windows[1][at.window], at.row); err != nil {
					return err
				}
			}
		}
	}
	if err := c.assessed(other); err != nil {
		return err
	}
	s := c.step(contract.StepSummarise)
	s.Compared++
	a, b := c.a.Receipt.Summary, c.b.Receipt.Summary
	if a.Digest != b.Digest {
		s.ResultsDiffer++
		return c.partByResult(s, "the tables of the findings", a.Digest, b.Digest, nil)
	}
	return nil
}

// image compares what was made of one image before the tasks.
func (c *comparison) image(x *Window, i int, y *Window, k int) error {
	e, f := x.Entries[i], y.Entries[k]
	image := fmt.Sprintf("%q", e.Image.String())
	ofImage := func(_ int, fields map[string]string) bool { return fields["inputs.image"] == image }
	if err := c.pair(contract.StepPixelFacts, e, e.Facts.Digest, f.Facts.Digest, ofImage); err != nil {
		return err
	}
	step := contract.StepSegment
	fits := func(side int, fields map[string]string) bool {
		model := []*Side{c.a, c.b}[side].Plan.Model
		return fields["inputs.image"] == image && model != nil && fields["inputs.model"] == fmt.Sprintf("%q", model.Weights.Digest.String())
	}
	if c.a.Plan.Model == nil || c.b.Plan.Model == nil {
		step, fits = contract.StepImportMasks, nil
	}
	return c.pair(step, e, x.Inputs.Images[i].Masks.Digest, y.Inputs.Images[k].Masks.Digest, fits)
}

// pair compares one result of an image. Of equal results one key is compared, since the keys of
// a step differ in the same fields for every image.
func (c *comparison) pair(step string, e contract.Entry, a, b artifacts.Digest, fits func(int, map[string]string) bool) error {
	s := c.step(step)
	s.Compared++
	if a != b {
		s.ResultsDiffer++
	}
	if a == b && s.Compared > 1 {
		return nil
	}
	return c.partByResult(s, imageName(e), a, b, fits)
}

// assessed compares the records of every task, window by window where the windows hold the same
// images, and the rows of every image where they differ.
func (c *comparison) assessed(other map[artifacts.Digest]place) error {
	s := c.step(contract.StepAssess)
	moved := map[string]*labels{}
	for w := range c.windows[0] {
		x := &c.windows[0][w]
		for t, task := range x.Tasks {
			for _, e := range x.Entries {
				if at, both := other[e.Image]; both && taskAt(&c.windows[1][at.window], task.Task) >= 0 {
					c.d.FlipsCases++
				}
			}
			if err := c.task(s, x, w, t, task, other, moved); err != nil {
				return err
			}
		}
	}
	c.labelCells(moved)
	return nil
}

func (c *comparison) task(s *StepState, x *Window, w, t int, task contract.AssessedTask, other map[artifacts.Digest]place, moved map[string]*labels) error {
	if w < len(c.windows[1]) {
		y := &c.windows[1][w]
		if k := taskAt(y, task.Task); k >= 0 && sameImages(x, y) {
			s.Compared++
			differ := task.Result.Digest != y.Tasks[k].Result.Digest
			if differ {
				s.ResultsDiffer++
			}
			item := fmt.Sprintf("window %d, %s", w, task.Task)
			if err := c.partByKeys(s, item, task.Key, y.Tasks[k].Key, differ); err != nil || !differ {
				return err
			}
		}
	}
	return c.rows(x, t, task.Task, other, moved)
}

func taskAt(w *Window, task string) int {
	for i, t := range w.Tasks {
		if t.Task == task {
			return i
		}
	}
	return -1
}

func sameImages(x, y *Window) bool {
	if len(x.Entries) != len(y.Entries) {
		return false
	}
	for i := range x.Entries {
		if x.Entries[i].Image != y.Entries[i].Image {
			return false
		}
	}
	return true
}

// labels counts how the labels of one task moved.
type labels struct {
	total stats.Paired
	// by are those of each label among the images that have one on both sides.
	by map[string]*stats.Paired
}

// rows compares the rows of one task image by image.
func (c *comparison) rows(x *Window, t int, task string, other map[artifacts.Digest]place, moved map[string]*labels) error {
	ours, err := x.Rows(c.ctx, t)
	if err != nil {
		return err
	}
	m := moved[task]
	if m == nil {
		m = &labels{by: map[string]*stats.Paired{}}
		moved[task] = m
	}
	read := map[int][]contract.FindingRow{}
	for i, row := range ours {
		at, both := other[x.Entries[i].Image]
		if !both {
			continue
		}
		y := &c.windows[1][at.window]
		k := taskAt(y, task)
		if k < 0 {
			return nil
		}
		if read[at.window] == nil {
			if read[at.window], err = y.Rows(c.ctx, k); err != nil {
				return err
			}
		}
		theirs := read[at.window][at.row]
		if bytes.Equal(row.Finding, theirs.Finding) {
			continue
		}
		a, err := stateOf(row)
		if err != nil {
			return err
		}
		b, err := stateOf(theirs)
		if err != nil {
			return err
		}
		m.add(a, b)
		if a.String() != b.String() {
			fields, err := fieldsOf(row, theirs)
			if err != nil {
				return err
			}
			c.flip(Flip{Task: task, Case: x.Entries[i].Case, What: "finding", Before: a.String(), After: b.String(), Fields: fields})
		}
	}
	return nil
}

// state is what a finding comes down to.
type state struct {
	Status chexstruct.Status `json:"status"`
	Label  *chexstruct.Label `json:"label"`
	// Failed are the rules that failed; the global filter has nothing else.
	Failed []string `json:"failed"`
}

func stateOf(r contract.FindingRow) (s state, err error) {
	if err := json.Unmarshal(r.Finding, &s); err != nil {
		return s, fmt.Errorf("finding of image %s: %w", r.Image.Short(), err)
	}
	return s, nil
}

func (s state) labelled() bool { return s.Status == chexstruct.StatusOK && s.Label != nil }

// String is the label, or why there is none.
func (s state) String() string {
	switch {
	case s.labelled():
		return string(*s.Label)
	case s.Status.Valid() && len(s.Failed) > 0:
		return s.Status.String() + " (" + strings.Join(s.Failed, ", ") + ")"
	case s.Status.Valid():
		return s.Status.String()
	case len(s.Failed) > 0:
		return "removed (" + strings.Join(s.Failed, ", ") + ")"
	}
	return "kept"
}

func (m *labels) add(a, b state) {
	m.total.Add(a.labelled(), b.labelled())
	if !a.labelled() || !b.labelled() {
		return
	}
	for _, l := range []chexstruct.Label{*a.Label, *b.Label} {
		if m.by[string(l)] == nil {
			m.by[string(l)] = &stats.Paired{}
		}
	}
	for l, p := range m.by {
		p.Add(string(*a.Label) == l, string(*b.Label) == l)
	}
}

// fieldsOf are the first fields in which two findings differ.
func fieldsOf(a, b contract.FindingRow) ([]provenance.Difference, error) {
	how, err := provenance.CompareDocuments(a.Finding, b.Finding)
	if err != nil {
		return nil, fmt.Errorf("finding of image %s: %w", a.Image.Short(), err)
	}
	return how.Differs[:min(len(how.Differs), 5)], nil
}
