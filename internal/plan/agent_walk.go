package plan

import (
	"context"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
	"cxrepro/internal/xragent"
)

// setWalk is one set of rollouts.
type setWalk struct {
	g   *agent
	set contract.RolloutSet
	out *RolloutRow
	// base is the set that says what to expect, nil for none.
	base *baseSet
	// lost is the call of the rollout in hand that has no record.
	lost *derive.Call
}

var _ derive.Records = (*setWalk)(nil)

// open begins a set.
func (g *agent) open(ctx context.Context, set contract.RolloutSet) (*setWalk, error) {
	w := &setWalk{g: g, set: set}
	var err error
	if w.base, err = g.p.base.set(ctx, g.p.pl, set); err != nil {
		return nil, err
	}
	rows := &g.p.out.Rollouts
	at := slices.IndexFunc(*rows, func(r RolloutRow) bool { return r.Policy == set.Card && r.Arm == set.Arm })
	if at < 0 {
		at = len(*rows)
		*rows = append(*rows, RolloutRow{Policy: set.Card, Arm: set.Arm, Needed: sure(0).figure(), Run: sure(0).figure()})
	}
	w.out = &(*rows)[at]
	return w, nil
}

// walk walks the rollouts of the set.
func (w *setWalk) walk(ctx context.Context) error {
	g, items := w.g, len(w.g.questions.Items)
	before := w.sofar()
	rg := contract.RolloutRange{Plan: g.p.o.Ref, Questions: g.ref, Reproduction: g.p.out.Reproduction, Set: w.set, Items: items}
	ref, err := g.p.o.Rollouts.FollowRollouts(ctx, rg, w, func(item int, f derive.Followed) error {
		defer func() { w.lost = nil }()
		if f.Done {
			w.out.Ended++
			return nil
		}
		w.out.Open++
		g.whole = false
		return w.follows(ctx, item, f)
	})
	if err != nil {
		return err
	}
	g.docs = append(g.docs, ref.Digest)
	after := w.sofar()
	w.out.Rollouts, w.out.Pages = w.out.Rollouts+items, w.out.Pages+contract.PagesOf(items)
	w.out.Needed = w.out.Needed.Add(after.needed.minus(before.needed).figure())
	w.out.Run = w.out.Run.Add(after.run.minus(before.run).figure())
	return nil
}

// sofar is what was counted of the rows of the set.
func (w *setWalk) sofar() tally {
	t := w.g.policy(w.set).tally
	if book := w.g.book(); book != nil {
		t.add(book.tally)
	}
	return t
}

func (w *setWalk) row(kind string) *callRow {
	if kind == ledger.KindLookup {
		return w.g.book()
	}
	return w.g.policy(w.set)
}

// Call implements derive.Records.
func (w *setWalk) Call(ctx context.Context, _ string, c *derive.Call) (artifacts.Record, bool, error) {
	e, ok, err := w.g.p.findCall(ctx, c)
	if err != nil {
		return artifacts.Record{}, false, err
	}
	if !ok {
		w.lost = c
		return artifacts.Record{}, false, nil
	}
	key := e.Record.Key
	w.g.p.recordedCall(w.row(c.Kind), key.Digest, w.g.p.answers[key.Step][key.Digest], 1)
	return e.Record, true, nil
}

// Tool implements derive.Records: what no tool was asked yet is asked here, which costs nobody
// anything, so that the walk goes on.
func (w *setWalk) Tool(ctx context.Context, doc artifacts.KeyDoc, compute func(ctx context.Context) ([]byte, string, error)) (artifacts.Record, bool, error) {
	g, p := w.g, w.g.p
	key, err := doc.Key()
	if err != nil {
		return artifacts.Record{}, false, err
	}
	if rec, known := g.tools[key]; known {
		return rec, true, nil
	}
	e, ok, err := p.one(ctx, doc, nil)
	if err != nil {
		return artifacts.Record{}, false, err
	}
	rec := entryOf(key, e)
	if !ok {
		data, mediaType, err := compute(ctx)
		if err != nil {
			return rec, false, err
		}
		if rec.Result, err = p.docs.store.Put(ctx, data, mediaType); err != nil {
			return rec, false, err
		}
	}
	g.tools[key] = rec
	return rec, true, nil
}

// Measured implements derive.Records.
func (w *setWalk) Measured(_ context.Context, image artifacts.Ref) (artifacts.Record, bool, error) {
	rec, ok := w.g.measured[image.Digest]
	return rec, ok, nil
}

// follows counts what follows on the records of a rollout: the call that has none, and between
// bounds what comes after it.
func (w *setWalk) follows(ctx context.Context, item int, f derive.Followed) error {
	var now xragent.Needs
	switch {
	case w.lost == nil:
		w.after(f.Rest)
	case w.lost.Kind == ledger.KindLookup:
		now.Lookups = 1
	default:
		now.Turns = 1
	}
	likely, known := w.expect(item, f, now)
	w.rest(f.Rest, now, likely, known)
	if w.lost == nil {
		return nil
	}
	return w.missing(ctx, item, f.Waits)
}

// after gives the reason of calls that wait for a picture to be measured.
func (w *setWalk) after(rest xragent.Rest) {
	if rest.High.Turns > 0 {
		w.row(ledger.KindModel).why.after(contract.StepMeasure, 1)
	}
	if book := w.g.book(); book != nil && rest.High.Lookups > 0 {
		book.why.after(contract.StepMeasure, 1)
	}
}

// missing counts a call that will be made, once for every key.
func (w *setWalk) missing(ctx context.Context, item int, part string) error {
	row, p, key := w.row(w.lost.Kind), w.g.p, w.lost.Ledger.Key.Digest
	if p.planned[key] {
		row.found(false, 1)
		return nil
	}
	p.planned[key] = true
	row.missing(1)
	if row.explained++; row.explained > mostExplained {
		row.why.openKeys++
		return nil
	}
	other, err := w.base.call(ctx, p, w.g.questions.Items[item].ID, part)
	if err != nil {
		return err
	}
	return row.why.add(w.lost.Ledger.Doc, other)
}

// rest counts what follows the call that is made now, between bounds.
func (w *setWalk) rest(r xragent.Rest, now xragent.Needs, likely expected, known bool) {
	one := func(t *tally, low, high, needed, run int) {
		switch {
		case high <= 0:
		case known:
			t.perhaps(about(float64(low), float64(high), float64(needed)), about(0, float64(high), float64(run)))
		default:
			t.perhaps(span(float64(low), float64(high)), span(0, float64(high)))
		}
	}
	one(&w.row(ledger.KindModel).tally, max(0, r.Low.Turns-now.Turns), r.High.Turns-now.Turns, likely.needed.Turns, likely.run.Turns)
	if book := w.g.book(); book != nil {
		one(&book.tally, max(0, r.Low.Lookups-now.Lookups), r.High.Lookups-now.Lookups, likely.needed.Lookups, likely.run.Lookups)
	}
	// Rollouts that ask a tool the same share its record: nothing says that there is another one.
	one(&w.g.p.step(contract.StepTool).tally, 0, r.High.Tools, likely.needed.Tools, likely.run.Tools)
}

// expected is what the base makes one expect beyond the call that is made now.
type expected struct{ needed, run xragent.Needs }

// expect says what follows if the base's course comes again. Its turns are asked anew, unless
// another rollout of this plan is expected to ask the same; what the book and the tools said is
// recorded, unless it was removed.
func (w *setWalk) expect(item int, f derive.Followed, now xragent.Needs) (out expected, known bool) {
	d, ok := w.base.course(w.g.questions.Items[item].ID)
	if !ok {
		return out, false
	}
	p, skip := w.g.p, now
	for _, c := range f.Calls {
		skip = skip.Plus(needOf(c.Part))
	}
	for _, c := range d.calls {
		one := needOf(c.Part)
		if one.Turns <= skip.Turns && one.Lookups <= skip.Lookups {
			skip = xragent.Needs{Turns: skip.Turns - one.Turns, Lookups: skip.Lookups - one.Lookups}
			continue
		}
		out.needed = out.needed.Plus(one)
		again := w.g.supposed[c.Key]
		w.g.supposed[c.Key] = true
		if _, recorded := p.answers[contract.StepCall][c.Key]; again || one.Lookups > 0 && recorded {
			continue
		}
		out.run = out.run.Plus(one)
	}
	for _, key := range d.tools {
		k := artifacts.Key{Step: contract.StepTool, Digest: key}
		if p.keys[k] || w.g.supposed[key] {
			continue
		}
		w.g.supposed[key] = true
		out.needed.Tools++
	}
	return out, true
}

// needOf is what a part of a rollout asks for.
func needOf(part string) xragent.Needs {
	if strings.HasPrefix(part, "turn.") {
		return xragent.Needs{Turns: 1}
	}
	return xragent.Needs{Lookups: 1}
}
