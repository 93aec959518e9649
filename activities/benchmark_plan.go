package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// PlanBenchmark draws the cases of every task out of all findings. It reads each row once and
// keeps 24 bytes of it, so that a data set of hundreds of thousands of images fits.
func (a *Activities) PlanBenchmark(ctx context.Context, in contract.PlanBenchmarkInput) (contract.PlanBenchmarkResult, error) {
	var none contract.PlanBenchmarkResult
	pl, recipe, quotas, err := a.recipe(ctx, in.Plan)
	if err != nil {
		return none, err
	}
	data, err := a.dataset(ctx, in.Manifest)
	if err != nil {
		return none, err
	}
	windows := len(data.Manifest.Chunks())
	p := a.beat(ctx, windows)
	defer p.close()
	assessed, err := a.assessed(p, in.Outputs, windows)
	if err != nil {
		return none, err
	}
	t := &tally{effort: effort{reproduction: in.Reproduction, ingest: in.Ingest, id: in.Reproduction}}
	key, err := derive.DrawCasesKey(in.Manifest.Digest, assessed, recipe, quotas)
	if err != nil {
		return none, err
	}
	rec, err := a.steps.once(p, key, t, pl.Class(), func(context.Context) (product, error) {
		d := &drawing{a: a, p: p, plan: pl, data: data, assessed: assessed, recipe: recipe, overlays: map[uint16][]cxreasonbench.Overlay{}}
		doc, err := d.draw(quotas)
		if err != nil {
			return product{}, err
		}
		text, err := artifacts.Canonical(doc)
		return product{data: text, mediaType: contract.BenchmarkPlanMediaType}, err
	})
	if err != nil {
		return none, err
	}
	drawn, err := a.drawn(ctx, rec.Result)
	if err != nil {
		return none, err
	}
	n := len(drawn.Cases)
	if n == 0 {
		return none, fail(contract.ErrTypeDataset, "no image can be asked about under any task; %s", derive.LeftOut(drawn.Tasks))
	}
	t.totals.Items = n
	return contract.PlanBenchmarkResult{Drawn: rec.Result, Cases: n, Chunks: (n + contract.CaseChunk - 1) / contract.CaseChunk, Totals: t.totals}, nil
}

// drawn loads a benchmark plan.
func (a *Activities) drawn(ctx context.Context, ref artifacts.Ref) (*contract.BenchmarkPlan, error) {
	return load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*contract.BenchmarkPlan, error) {
		doc, err := getJSON[*contract.BenchmarkPlan](ctx, a.opts.Store, ref)
		if err == nil && doc.Format != contract.BenchmarkPlanFormat {
			err = fail(contract.ErrTypeSpec, "benchmark plan %s: format %q, want %q", ref.Digest.Short(), doc.Format, contract.BenchmarkPlanFormat)
		}
		return doc, err
	})
}

// drawing is the draw of a benchmark's cases.
type drawing struct {
	a        *Activities
	p        *pulse
	plan     *derive.Plan
	data     *derive.Dataset
	assessed []contract.Assessed
	recipe   cxreasonbench.Recipe

	images     []drawnImage
	candidates [][]candidate // by place in cxreasonbench.Tasks
	// overlays are shared by the images that passed the same tasks.
	overlays map[uint16][]cxreasonbench.Overlay
}

// drawnImage is what the draw keeps of an image.
type drawnImage struct {
	id, path string
	view     cxr.ViewPosition
	// passed has a bit for each of cxreasonbench.Tasks.
	passed        uint16
	window, place int32
}

// candidate is one finding, packed.
type candidate struct {
	image int32
	// class is 1 for the normal label and 2 for the other one.
	class uint8
	small uint8 // rib, place among the directions, or flags of the parts
	a, b  float64
}

func (d *drawing) draw(quotas []int) (*contract.BenchmarkPlan, error) {
	tasks := cxreasonbench.Tasks()
	d.candidates = make([][]candidate, len(tasks))
	for i := range d.assessed {
		if err := d.window(i); err != nil {
			return nil, fmt.Errorf("window %d: %w", i, err)
		}
		d.p.step(1)
	}
	if err := d.unique(); err != nil {
		return nil, err
	}
	doc := &contract.BenchmarkPlan{Format: contract.BenchmarkPlanFormat, Rules: d.recipe.Rules.String(), Cases: []contract.DrawnCase{}}
	for i, t := range tasks {
		sources, places := d.sources(i, t)
		d.candidates[i] = nil
		p, err := cxreasonbench.PlanTask(d.recipe, t, sources, quotas[i])
		if err != nil {
			// Its text may name a case of the data set.
			return nil, fail(contract.ErrTypeSpec, "%s: the cases could not be drawn", t)
		}
		doc.Tasks = append(doc.Tasks, p.Told)
		for k, s := range p.Cases {
			c, err := d.chosen(s, p.Formats[k], &d.images[places[s.Case]])
			if err != nil {
				return nil, err
			}
			doc.Cases = append(doc.Cases, c)
		}
		d.p.progress()
	}
	return doc, nil
}

// window reads the rows of one window.
func (d *drawing) window(w int) error {
	entries, err := d.data.Window(d.p.work, w)
	if err != nil {
		return err
	}
	first := len(d.images)
	var keep []bool
	for i, task := range d.plan.Tasks {
		if task != chexstruct.Global && !task.Diagnostic() {
			continue
		}
		rows, err := getJSON[contract.Findings](d.p.work, d.a.opts.Store, d.assessed[w].Tasks[i].Result)
		if err != nil {
			return err
		}
		if rows.Task != task.String() || len(rows.Rows) != len(entries) {
			return fmt.Errorf("%d rows of task %q stand at the place of %s, which has %d images", len(rows.Rows), rows.Task, task, len(entries))
		}
		if task == chexstruct.Global { // it comes first
			if keep, err = kept(rows); err != nil {
				return err
			}
			for n, e := range entries {
				view, _ := cxr.ParseView(e.View)
				d.images = append(d.images, drawnImage{id: strings.Clone(e.ID), path: strings.Clone(e.Path), view: view, window: int32(w), place: int32(n)})
			}
			continue
		}
		if err := d.task(task, rows, keep, first); err != nil {
			return err
		}
		d.p.progress()
	}
	return nil
}

// kept reads the global filter's rows.
func kept(rows contract.Findings) ([]bool, error) {
	keep := make([]bool, len(rows.Rows))
	for i, row := range rows.Rows {
		var f chexstruct.FilterDecision
		if err := json.Unmarshal(row.Finding, &f); err != nil {
			return nil, fmt.Errorf("global filter of image %s: %w", row.Image.Short(), err)
		}
		keep[i] = f.Keep()
	}
	return keep, nil
}

// reading is what the draw reads of a finding.
type reading struct {
	Status chexstruct.Status `json:"status"`
	Index  chexstruct.Value  `json:"index"`
	Label  *chexstruct.Label `json:"label"`
	Parts  *struct {
		Apex   [2]chexstruct.Flag `json:"apex"`
		Side   [2]chexstruct.Flag `json:"side"`
		Bottom [2]chexstruct.Flag `json:"bottom"`
	} `json:"parts"`
}

// task takes the candidates of one task's rows: the images that passed it.
func (d *drawing) task(task chexstruct.Task, rows contract.Findings, keep []bool, first int) error {
	at := derive.TaskPlace(task)
	for i, row := range rows.Rows {
		if !keep[i] {
			continue
		}
		var r reading
		if err := json.Unmarshal(row.Finding, &r); err != nil {
			return fmt.Errorf("%s of image %s: %w", task, row.Image.Short(), err)
		}
		if r.Status != chexstruct.StatusOK {
			continue
		}
		d.images[first+i].passed |= 1 << at
		f := chexstruct.Finding{Task: task, Status: r.Status, Index: r.Index}
		if r.Label != nil {
			f.Label = *r.Label
		}
		if r.Parts != nil {
			f.Parts = &chexstruct.Parts{Apex: r.Parts.Apex, Side: r.Parts.Side, Bottom: r.Parts.Bottom}
		}
		read, err := cxreasonbench.ReadingOf("", &f)
		if err != nil {
			continue // passed, but without an answer
		}
		d.candidates[at] = append(d.candidates[at], pack(task, f.Label, read, first+i))
	}
	return nil
}

// unique refuses a data set in which two images have one id: a case is named by it.
func (d *drawing) unique() error {
	seen := make(map[string]struct{}, len(d.images))
	for i, m := range d.images {
		if _, twice := seen[m.id]; twice || m.id == "" || strings.ContainsAny(m.id, "/\\") || strings.HasPrefix(m.id, ".") {
			return fail(contract.ErrTypeDataset, "image %d of window %d: its id is empty, no file name, or that of another image; a benchmark names its cases by id", m.place, d.images[i].window)
		}
		seen[m.id] = struct{}{}
	}
	return nil
}

// sources unpacks the candidates of a task; places are the images by id.
func (d *drawing) sources(at int, task chexstruct.Task) (list []cxreasonbench.Source, places map[string]int32) {
	places = make(map[string]int32, len(d.candidates[at]))
	list = make([]cxreasonbench.Source, 0, len(d.candidates[at]))
	for _, c := range d.candidates[at] {
		m := &d.images[c.image]
		places[m.id] = c.image
		label, read := c.unpack(task)
		list = append(list, cxreasonbench.Source{
			Task: task, Case: m.id, Radiograph: strings.TrimPrefix(m.path, "files/"), View: m.view,
			Reading: read, Label: label, Overlays: d.passed(m.passed),
		})
	}
	return list, places
}

// passed returns the structure pictures of an image that passed a set of tasks.
func (d *drawing) passed(set uint16) []cxreasonbench.Overlay {
	list, ok := d.overlays[set]
	if !ok {
		var tasks []cxreasonbench.Task
		for i, t := range cxreasonbench.Tasks() {
			if set>>i&1 == 1 {
				tasks = append(tasks, t)
			}
		}
		list = cxreasonbench.OverlaysOf(tasks)
		d.overlays[set] = list
	}
	return list
}

// chosen completes a drawn case with what its pictures are drawn from.
func (d *drawing) chosen(s cxreasonbench.Source, f cxreasonbench.CaseFormats, m *drawnImage) (contract.DrawnCase, error) {
	entries, err := d.data.Window(d.p.work, int(m.window))
	if err != nil {
		return contract.DrawnCase{}, err
	}
	in, err := load(d.p.work, d.a.docs, d.assessed[m.window].Inputs, func(ctx context.Context, ref artifacts.Ref) (*contract.WindowIn, error) {
		return getJSON[*contract.WindowIn](ctx, d.a.opts.Store, ref)
	})
	if err != nil {
		return contract.DrawnCase{}, err
	}
	e := entries[m.place]
	if in.Images[m.place].Image != e.Image {
		return contract.DrawnCase{}, fmt.Errorf("window %d: image %d of its inputs is another one than in the manifest", m.window, m.place)
	}
	d.p.progress()
	return contract.DrawnCase{Source: s, Formats: f, Entry: e, Masks: in.Images[m.place].Masks}, nil
}

// pack reduces a finding to what the draw needs.
func pack(task chexstruct.Task, label chexstruct.Label, r cxreasonbench.Reading, image int) candidate {
	c := candidate{image: int32(image), a: r.Number, b: r.Left}
	if labels := chexstruct.Labels(task); label != "" {
		c.class = 2
		if label == labels[0] {
			c.class = 1
		}
	}
	switch task {
	case chexstruct.Projection:
		c.a = r.Right
	case chexstruct.Inspiration:
		c.small = uint8(min(max(r.Rib, 0), 255))
	case chexstruct.TracheaDeviation:
		for i, x := range cxreasonbench.Directions() {
			if x == r.Direction {
				c.small = uint8(i + 1)
			}
		}
	case chexstruct.Inclusion:
		for i, in := range r.Parts {
			if in {
				c.small |= 1 << i
			}
		}
	}
	return c
}

// unpack is the inverse of pack.
func (c candidate) unpack(task chexstruct.Task) (label chexstruct.Label, r cxreasonbench.Reading) {
	if c.class > 0 {
		label = chexstruct.Labels(task)[c.class-1]
	}
	switch task {
	case chexstruct.Projection:
		r.Right, r.Left = c.a, c.b
	case chexstruct.Inspiration:
		r.Rib = int(c.small)
	case chexstruct.TracheaDeviation:
		if c.small > 0 {
			r.Direction = cxreasonbench.Directions()[c.small-1]
		}
	case chexstruct.Inclusion:
		for i := range r.Parts {
			r.Parts[i] = c.small>>i&1 == 1
		}
	default:
		r.Number = c.a
	}
	return label, r
}
