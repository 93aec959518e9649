package plan

import (
	"context"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
)

// stepOrder is the order of the rows.
var stepOrder = []string{
	contract.StepImportCase, contract.StepPixelFacts, contract.StepImportMasks, contract.StepSegment, contract.StepAssess, contract.StepSummarise,
	contract.StepDrawCases, contract.StepBuildCase, contract.StepTabulate,
	contract.StepMeasure, contract.StepTool, contract.StepTabulateAgent,
}

// tally is what becomes of keys.
type tally struct {
	needed, reused, done, run amount
}

// found counts a key that has a record.
func (t *tally) found(own bool, n float64) {
	t.needed = t.needed.plus(sure(n))
	if own {
		t.done = t.done.plus(sure(n))
	} else {
		t.reused = t.reused.plus(sure(n))
	}
}

// missing counts keys that will be run.
func (t *tally) missing(n float64) {
	t.needed, t.run = t.needed.plus(sure(n)), t.run.plus(sure(n))
}

// perhaps counts keys that are needed, and run or reused: nobody knows yet.
func (t *tally) perhaps(needed, run amount) {
	t.needed, t.run = t.needed.plus(needed), t.run.plus(run)
	rest := amount{low: max(0, needed.low-run.high), high: needed.high - run.low, open: needed.open || run.open}
	rest.expected = min(max(needed.mean()-run.mean(), rest.low), rest.high)
	t.reused = t.reused.plus(rest)
}

// stepRow is a row in the making.
type stepRow struct {
	step string
	tally
	why reasons
}

// lacks counts a key that will be run, and explains it by the base's key at the same place.
func (r *stepRow) lacks(doc artifacts.KeyDoc, other *artifacts.KeyDoc) error {
	r.missing(1)
	return r.why.add(doc, other)
}

func (p *planner) step(name string) *stepRow {
	r := p.steps[name]
	if r == nil {
		r = &stepRow{step: name}
		p.steps[name] = r
	}
	return r
}

// one counts one key of a step and returns its record; other is the base's key, which explains
// a missing one.
func (p *planner) one(ctx context.Context, doc artifacts.KeyDoc, other *artifacts.KeyDoc) (catalog.Entry, bool, error) {
	e, ok, err := p.present(ctx, doc)
	if err != nil {
		return e, false, err
	}
	key, err := doc.Key()
	if err != nil {
		return e, false, err
	}
	p.know(key)
	row := p.step(doc.Step)
	if ok {
		row.found(p.mine(e), 1)
		return e, true, nil
	}
	return e, false, row.lacks(doc, other)
}

// know remembers a key that is needed.
func (p *planner) know(key artifacts.Key) {
	if !p.keys[key] {
		p.keys[key] = true
		p.known[key.Step]++
	}
}

// callRow is a row of calls in the making.
type callRow struct {
	kind, card, sampling string
	tally
	why reasons
	// explained counts calls whose reason was looked for.
	explained int
}

func (p *planner) call(kind, card, sampling string) *callRow {
	for _, r := range p.calls {
		if r.kind == kind && r.card == card && r.sampling == sampling {
			return r
		}
	}
	r := &callRow{kind: kind, card: card, sampling: sampling}
	p.calls = append(p.calls, r)
	return r
}

// reasons collects why keys are missing.
type reasons struct {
	list []Reason
	// open are keys that nothing of the base stands beside: the nearest recorded key is looked
	// for later, for the first of them.
	open     []artifacts.KeyDoc
	openKeys int
	compared int
}

// mostOpen is for how many keys of a row the nearest recorded key is looked for.
const mostOpen = 3

// mostCompared is how many keys with one reason are compared one by one.
const mostCompared = 1000

// add explains a missing key by the base's key at the same place, nil for none.
func (r *reasons) add(doc artifacts.KeyDoc, other *artifacts.KeyDoc) error {
	if other == nil {
		if r.openKeys++; len(r.open) < mostOpen {
			r.open = append(r.open, doc)
		}
		return nil
	}
	// Where very many keys have one reason, the others have it, too.
	if r.compared++; r.compared > mostCompared && len(r.list) == 1 {
		r.list[0].Keys++
		return nil
	}
	key, err := doc.Key()
	if err != nil {
		return err
	}
	c, err := compareKeys(doc, *other)
	if err != nil {
		return err
	}
	// Where nothing differs the base needed the same key, and its record is gone.
	one := Reason{Field: "record", Ours: "gone", Other: "was there", Keys: 1, Example: key}
	if len(c.Differs) > 0 {
		d := c.Differs[0]
		one.Field, one.Ours, one.Other = d.Field, d.Ours, d.Other
	}
	r.merge(one)
	return nil
}

// after explains keys that are not known before another step has run.
func (r *reasons) after(step string, keys int) {
	if keys > 0 {
		r.merge(Reason{After: step, Keys: keys})
	}
}

// merge joins equal reasons. Of inputs the name says it: their digests differ from key to key.
func (r *reasons) merge(one Reason) {
	_, input := cutInput(one.Field)
	for i := range r.list {
		have := &r.list[i]
		if have.Field == one.Field && have.After == one.After && (input || have.Ours == one.Ours && have.Other == one.Other) {
			have.Keys += one.Keys
			return
		}
	}
	r.list = append(r.list, one)
}

func compareKeys(a, b artifacts.KeyDoc) (provenance.Comparison, error) {
	x, err := a.Canonical()
	if err != nil {
		return provenance.Comparison{}, err
	}
	y, err := b.Canonical()
	if err != nil {
		return provenance.Comparison{}, err
	}
	return provenance.Compare(x, y)
}

// mostNear is with how many recorded keys one is compared.
const mostNear = 24

// explainOpen looks for the nearest recorded keys.
func (p *planner) explainOpen(ctx context.Context, r *reasons) error {
	if r.openKeys == 0 {
		return nil
	}
	for i, doc := range r.open {
		n := 1
		if i == 0 {
			n += r.openKeys - len(r.open) // the first stands for those that were not looked at
		}
		one := Reason{Keys: n}
		ours, err := doc.Canonical()
		if err != nil {
			return err
		}
		if one.Example, err = doc.Key(); err != nil {
			return err
		}
		search := provenance.NewNearest(ours)
		materials := make([]artifacts.Digest, 0, len(doc.Inputs))
		for _, in := range doc.Inputs {
			materials = append(materials, in.Digest)
		}
		near, err := p.o.Catalog.Near(ctx, doc.Step, materials, mostNear)
		if err != nil {
			return err
		}
		for _, s := range near {
			other, err := p.docs.keyDocument(ctx, s.Key)
			if err != nil {
				return err
			}
			if other != nil {
				search.Offer(provenance.Earlier{Name: s.Key.String(), Document: other, Finished: s.Finished})
			}
		}
		if _, how, ok := search.Best(); ok {
			d := how.Differs[0]
			one.Field, one.Ours, one.Other = d.Field, d.Ours, d.Other
		}
		r.merge(one)
	}
	return nil
}

// mostAlike is how many recorded keys of a step are looked at to tell that a key with unknown
// parts is new.
const mostAlike = 200

// surelyNew reports that no recorded key of the step has the known parts of one. unknown names
// the inputs that are not known, all of them for nil.
func (p *planner) surelyNew(ctx context.Context, doc artifacts.KeyDoc, unknown func(input string) bool) (bool, error) {
	near, err := p.o.Catalog.Near(ctx, doc.Step, nil, mostAlike+1)
	if err != nil || len(near) > mostAlike {
		return false, err
	}
	ours, err := doc.Canonical()
	if err != nil {
		return false, err
	}
	for _, s := range near {
		other, err := p.docs.keyDocument(ctx, s.Key)
		if err != nil {
			return false, err
		}
		if other == nil {
			return false, nil
		}
		c, err := provenance.Compare(ours, other)
		if err != nil {
			return false, err
		}
		known := false
		for _, d := range c.Differs {
			name, input := cutInput(d.Field)
			known = known || !input || unknown != nil && !unknown(name)
		}
		if !known {
			return false, nil
		}
	}
	return true, nil
}

// cutInput returns the name of an input that differs; ok is false for other fields.
func cutInput(field string) (name string, ok bool) { return strings.CutPrefix(field, "inputs.") }

// unsure counts one key with unknown parts.
func (p *planner) unsure(ctx context.Context, doc artifacts.KeyDoc, after string, unknown func(input string) bool) error {
	row := p.step(doc.Step)
	fresh, err := p.surelyNew(ctx, doc, unknown)
	if err != nil {
		return err
	}
	if fresh {
		row.missing(1)
	} else {
		row.perhaps(sure(1), about(0, 1, 1))
	}
	row.why.after(after, 1)
	return nil
}
