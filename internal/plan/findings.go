package plan

import (
	"context"
	"errors"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
)

// window is what is known of one window of images.
type window struct {
	images int
	// whole: every image has masks, so that inputs are known. fresh: no key of it can have a
	// record, although its inputs are not known.
	whole, fresh bool
	inputs       artifacts.Ref
	// tasks are the records in the order of the plan; a zero result is not known.
	tasks []contract.AssessedTask
}

// known reports whether every row of the window is known.
func (w *window) known() bool {
	if !w.whole {
		return false
	}
	for _, t := range w.tasks {
		if t.Result.IsZero() {
			return false
		}
	}
	return true
}

// findings walks facts, masks, assessment and tables.
func (p *planner) findings(ctx context.Context) error {
	if p.release() {
		return nil
	}
	p.windows = make([]window, len(p.data.Manifest.Chunks()))
	flips := newFlips(p)
	err := p.eachBlock(ctx, func(first int, block []images) error {
		var keys []artifacts.Digest
		for _, b := range block {
			keys = append(keys, b.keys...)
		}
		found, err := p.shelf.Present(ctx, keys)
		for i := range block {
			if err == nil {
				err = p.window(ctx, first+i, &block[i], found, flips)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	p.out.Flips = flips.list()
	p.facts()
	return p.summarise(ctx)
}

// window walks one window. found are the records of keys of images.
func (p *planner) window(ctx context.Context, i int, in *images, found map[artifacts.Digest]catalog.Entry, flips *flips) (err error) {
	w, entries := &p.windows[i], in.entries
	w.images = len(entries)
	masks := make([]artifacts.Ref, len(entries))
	var lack []contract.Entry
	for k, e := range entries {
		if masks[k], err = p.image(ctx, e, in.docs[k], found[in.keys[k]]); err != nil {
			return err
		}
		if masks[k].IsZero() {
			lack = append(lack, e)
		}
		if _, err := p.image(ctx, e, in.docs[len(entries)+k], found[in.keys[len(entries)+k]]); err != nil {
			return err
		}
	}
	if len(lack) > 0 {
		return p.blindWindow(ctx, w, lack)
	}
	return p.assess(ctx, i, entries, masks, flips)
}

// image counts one key of an image and returns its result, zero for none. record is the zero
// entry where the key has none.
func (p *planner) image(ctx context.Context, e contract.Entry, doc artifacts.KeyDoc, record catalog.Entry) (artifacts.Ref, error) {
	row := p.step(doc.Step)
	if !record.Result.IsZero() {
		row.found(p.mine(record), 1)
		return record.Result, nil
	}
	other, err := p.base.imageKey(ctx, e, doc.Step)
	if err == nil {
		err = row.lacks(doc, other)
	}
	if err != nil {
		return artifacts.Ref{}, err
	}
	return p.madeMasks(ctx, doc)
}

// imageKey is the base's key of facts or masks of an image, nil where it has no such image.
func (b *base) imageKey(ctx context.Context, e contract.Entry, step string) (*artifacts.KeyDoc, error) {
	if known, err := b.knows(ctx, e.Image); err != nil || !known {
		return nil, err
	}
	doc := b.pl.MasksKey(e)
	if step == contract.StepPixelFacts {
		doc = contract.PixelFactsKey(e.Image, b.pl.Decoding)
	}
	return &doc, nil
}

// madeMasks returns masks that reading the data set anew gave: imported ones.
func (p *planner) madeMasks(ctx context.Context, doc artifacts.KeyDoc) (artifacts.Ref, error) {
	if doc.Step != contract.StepImportMasks {
		return artifacts.Ref{}, nil
	}
	key, err := doc.Key()
	if err != nil {
		return artifacts.Ref{}, err
	}
	rec, err := p.o.Store.Lookup(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return artifacts.Ref{}, nil
	}
	return rec.Result, err
}

// blindWindow counts the assessment of a window whose masks are to be made. Its keys are new for
// sure when one of its images never had masks.
func (p *planner) blindWindow(ctx context.Context, w *window, lack []contract.Entry) error {
	for _, e := range lack {
		known := 0
		for _, step := range []string{contract.StepSegment, contract.StepImportMasks} {
			n, err := p.o.Catalog.Users(ctx, e.Image, step)
			if err != nil {
				return err
			}
			known += n
		}
		if known == 0 && p.pl.Spec.Masks.Import == nil {
			w.fresh = true
			break
		}
	}
	row, n := p.step(contract.StepAssess), float64(len(p.pl.Tasks))
	if w.fresh {
		row.missing(n)
	} else {
		row.perhaps(sure(n), about(0, n, n))
	}
	row.why.after(contract.StepSegment, len(p.pl.Tasks))
	return nil
}

// assess counts the tasks of a window whose inputs are known. Tasks without a record are judged
// anew from recorded findings where that is possible.
func (p *planner) assess(ctx context.Context, i int, entries []contract.Entry, masks []artifacts.Ref, flips *flips) (err error) {
	w := &p.windows[i]
	w.whole = true
	doc := derive.WindowIn(entries, masks)
	if w.inputs, err = refOf(doc, contract.WindowInMediaType); err != nil {
		return err
	}
	docs := make([]artifacts.KeyDoc, len(p.pl.Tasks))
	for k, task := range p.pl.Tasks {
		docs[k] = p.pl.AssessKey(w.inputs.Digest, task)
	}
	keys, err := digests(docs)
	if err != nil {
		return err
	}
	found, err := p.shelf.Present(ctx, keys)
	if err != nil {
		return err
	}
	row, old := p.step(contract.StepAssess), p.baseWindow(w.inputs.Digest)
	for k, task := range p.pl.Tasks {
		t := contract.AssessedTask{Task: task.String(), Key: artifacts.Key{Step: contract.StepAssess, Digest: keys[k]}}
		if e, ok := found[keys[k]]; ok {
			row.found(p.mine(e), 1)
			t.Result = e.Result
		} else {
			if err := row.lacks(docs[k], p.baseAssess(i, w.inputs.Digest, task)); err != nil {
				return err
			}
			if old != nil {
				if t.Result, err = flips.judge(ctx, task, entries, old); err != nil {
					return err
				}
			}
		}
		p.know(t.Key)
		w.tasks = append(w.tasks, t)
	}
	if len(found) < len(keys) {
		_, err = p.docs.put(ctx, doc, contract.WindowInMediaType)
	}
	return err
}

// baseWindow is the base's window with the same inputs.
func (p *planner) baseWindow(inputs artifacts.Digest) *contract.Assessed {
	if p.base == nil {
		return nil
	}
	return p.base.byInputs[inputs]
}

// baseAssess is the base's key of a task at the same place: over the same inputs, or over the
// window of the same name.
func (p *planner) baseAssess(i int, inputs artifacts.Digest, task chexstruct.Task) *artifacts.KeyDoc {
	if p.base == nil || p.base.data == nil {
		return nil
	}
	if p.base.byInputs[inputs] == nil {
		label := p.data.Manifest.Chunks()[i].Label
		inputs = artifacts.Digest{}
		for k, c := range p.base.data.Manifest.Chunks() {
			if c.Label == label && k < len(p.base.assessed) {
				inputs = p.base.assessed[k].Inputs.Digest
			}
		}
		if inputs.IsZero() {
			return nil
		}
	}
	doc := p.base.pl.AssessKey(inputs, task)
	return &doc
}

// facts completes the row of pixel facts with pictures that were read and then left out for
// another reason: they have facts, too.
func (p *planner) facts() {
	if p.o.Data == nil {
		return
	}
	row := p.step(contract.StepPixelFacts)
	for _, s := range p.o.Data.Totals.Steps {
		if s.Step != contract.StepPixelFacts {
			continue
		}
		if more := float64(s.Needed) - row.needed.low; more > 0 {
			run := float64(s.Run) - row.run.low - row.done.low
			row.needed, row.run = row.needed.plus(sure(more)), row.run.plus(sure(run))
			row.reused = row.reused.plus(sure(more - run))
		}
	}
}

// assessed lists the windows as the next steps are keyed by; whole is false while a row is not
// known.
func (p *planner) assessed() (list []contract.Assessed, whole bool) {
	whole = true
	for i := range p.windows {
		w := &p.windows[i]
		whole = whole && w.known()
		list = append(list, contract.Assessed{Window: i, Inputs: w.inputs, Tasks: w.tasks})
	}
	return list, whole
}

// summarise counts the tables of the findings.
func (p *planner) summarise(ctx context.Context) error {
	list, whole := p.assessed()
	results, err := refOf(derive.Results(p.data.Dataset, p.data.Sizes(), list), contract.ResultsMediaType)
	if err != nil {
		return err
	}
	doc, err := p.pl.SummariseKey(results.Digest)
	if err != nil {
		return err
	}
	if !whole {
		return p.unsure(ctx, doc, p.lastMissing(), func(input string) bool { return input == "results" })
	}
	other, err := p.base.summariseKey()
	if err != nil {
		return err
	}
	_, _, err = p.one(ctx, doc, other)
	return err
}

// lastMissing is the step whose results the next ones wait for.
func (p *planner) lastMissing() string {
	for i := range p.windows {
		if !p.windows[i].whole {
			return contract.StepSegment
		}
	}
	return contract.StepAssess
}

// summariseKey is the key of the tables of the base's findings, nil for none.
func (b *base) summariseKey() (*artifacts.KeyDoc, error) {
	if b == nil || b.data == nil {
		return nil, nil
	}
	results, err := refOf(derive.Results(b.data.Dataset, b.data.Sizes(), b.assessed), contract.ResultsMediaType)
	if err != nil {
		return nil, err
	}
	doc, err := b.pl.SummariseKey(results.Digest)
	return &doc, err
}
