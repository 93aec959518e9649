package plan

import (
	"context"
	"errors"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
	"cxrepro/internal/provenance"
)

// taskWalk is one task of an evaluation.
type taskWalk struct {
	e     *evaluation
	cases taskCases
	// whole: every dialogue of Path 1 has its result, in path1.
	whole bool
	path1 []derive.Path1
	// again is how often a judge is asked again.
	again int
	// asks: a call to the model is missing, so that its replies are not known.
	asks bool
}

func (x *taskWalk) judged() bool { return x.e.ref.Judge != "" }

func (x *taskWalk) row(k cxreasonbench.CallKind) *callRow {
	if k == cxreasonbench.CallModel {
		return x.e.model
	}
	return x.e.judge
}

// find looks for the record of a call. q is nil when a picture is not prepared.
func (p *planner) find(ctx context.Context, b *derive.Benchmark, in contract.AskInput) (q *derive.Question, e ledger.Entry, ok bool, err error) {
	q, err = p.ev.Question(ctx, p.docs, b, in)
	if errors.Is(err, errUnprepared) {
		return nil, e, false, nil
	}
	if err != nil {
		return nil, e, false, err
	}
	e, ok, err = p.findCall(ctx, &q.Call)
	return q, e, ok, err
}

// findCall looks for the record of a call.
func (p *planner) findCall(ctx context.Context, c *derive.Call) (ledger.Entry, bool, error) {
	e, err := ledger.FindBy(c.Ledger, c.Retry, func(key artifacts.Key) (ledger.Entry, error) {
		found, ok := p.answers[key.Step][key.Digest]
		if !ok {
			return ledger.Entry{}, &artifacts.MissError{Key: key, Reason: artifacts.MissNoEntry}
		}
		out := ledger.Entry{
			Record:     artifacts.Record{Key: key, Result: found.Result},
			Invocation: provenance.Invocation{Reproduction: found.Reproduction},
		}
		if key.Step == contract.StepCallOutcome {
			a, err := p.docs.Answer(ctx, found.Result)
			if err != nil {
				return out, err
			}
			out.Facts.Outcome = a.Outcome
		}
		return out, nil
	})
	if errors.Is(err, artifacts.ErrNotFound) {
		return e, false, nil
	}
	return e, err == nil, err
}

// recorded answers a walk from the catalog. see hears of every call, with its question.
func (x *taskWalk) recorded(see func(in contract.AskInput, q *derive.Question, e ledger.Entry, ok bool)) derive.Recorded {
	p := x.e.p
	return func(ctx context.Context, in contract.AskInput) (out contract.AskResult, key artifacts.Key, ok bool, err error) {
		q, e, ok, err := p.find(ctx, p.bench.doc, in)
		if err != nil {
			return out, key, false, err
		}
		if see != nil {
			see(in, q, e, ok)
		}
		if !ok {
			return out, key, false, nil
		}
		a, err := p.docs.Answer(ctx, e.Record.Result)
		if err != nil {
			return out, key, false, err
		}
		out, err = q.Read(e.Record, a)
		return out, e.Record.Key, err == nil, err
	}
}

// lost is a call without a record.
type lost struct {
	in contract.AskInput
	q  *derive.Question
}

// dialogue walks one dialogue as far as answers go, and bounds what follows.
func (x *taskWalk) dialogue(ctx context.Context, w *derive.Walker, place int) error {
	s, err := w.Begin(ctx, place)
	if err != nil {
		return err
	}
	gone := map[cxreasonbench.Call]lost{}
	missing, err := w.Run(ctx, s, x.recorded(func(in contract.AskInput, q *derive.Question, e ledger.Entry, ok bool) {
		if ok {
			x.e.p.recordedCall(x.row(in.Call.Kind), e.Record.Key.Digest, x.e.p.answers[e.Record.Key.Step][e.Record.Key.Digest], 1)
		} else {
			gone[in.Call] = lost{in, q}
		}
	}), nil)
	if err != nil {
		return err
	}
	number, _ := w.CaseAt(place)
	if len(missing) == 0 {
		if w.Range.Path == cxreasonbench.Path1 {
			x.path1 = append(x.path1, derive.Path1{Case: number, Known: s.Undetermined() == nil, State: s.State()})
		}
		return nil
	}
	x.whole = false
	var now kinds
	for _, c := range missing {
		if c.Kind == cxreasonbench.CallModel {
			x.asks, now.model = true, now.model+1
		} else {
			now.judge++
		}
	}
	needed, run, known, err := x.expect(ctx, w, s, number, missing)
	if err != nil {
		return err
	}
	x.rest(x.boundsOf(s), now, needed, run, known)
	for _, c := range missing {
		if err := x.missing(ctx, gone[c]); err != nil {
			return err
		}
	}
	return nil
}

// missing counts a call that will be made, once for every key.
func (x *taskWalk) missing(ctx context.Context, l lost) error {
	row, p := x.row(l.in.Call.Kind), x.e.p
	if l.q == nil {
		row.missing(1)
		row.why.after(contract.StepPreparePicture, 1)
		return nil
	}
	key := l.q.Ledger.Key.Digest
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
	other, err := x.baseCall(ctx, l)
	if err != nil {
		return err
	}
	return row.why.add(l.q.Ledger.Doc, other)
}

// mostExplained is for how many calls of a row the reason is looked for.
const mostExplained = 500

// baseCall is the base's key of the same call; nil where the base has no such question, or its
// documents are gone.
func (x *taskWalk) baseCall(ctx context.Context, l lost) (*artifacts.KeyDoc, error) {
	b, p := x.e.p.base, x.e.p
	if x.e.base == nil || b.bench == nil {
		return nil, nil
	}
	in := l.in
	in.Evaluation = x.e.base.index
	number := func(n int) (int, bool) {
		c := p.bench.doc.Cases[n]
		at := slices.IndexFunc(b.bench.Cases, func(o contract.BenchmarkCase) bool { return o.Task == c.Task && o.ID == c.ID })
		return at, at >= 0
	}
	var ok bool
	if in.Case, ok = number(in.Case); !ok {
		return nil, nil
	}
	in.History = slices.Clone(in.History)
	for i := range in.History {
		if in.History[i].Case, ok = number(in.History[i].Case); !ok {
			return nil, nil
		}
	}
	q, err := b.ev.Question(ctx, p.docs, b.bench, in)
	var no *contract.Failure
	switch {
	case errors.As(err, &no), errors.Is(err, errUnprepared), errors.Is(err, artifacts.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &q.Ledger.Doc, nil
}

// rest counts what follows the calls that are to be made now, between bounds.
func (x *taskWalk) rest(b cxreasonbench.CallBounds, now, needed, run kinds, known bool) {
	one := func(row *callRow, s cxreasonbench.Span, now, needed, run float64) {
		low, high := max(0, float64(s.Low)-now), max(0, float64(s.High)-now)
		if row == nil || high == 0 {
			return
		}
		if known {
			row.perhaps(about(low, high, needed), about(0, high, run))
		} else {
			row.perhaps(span(low, high), span(0, high))
		}
	}
	one(x.e.model, b.Model, now.model, needed.model, run.model)
	one(x.e.judge, b.Judge, now.judge, needed.judge, run.judge)
}

// boundsOf is what the state machine allows, remembered by course.
func (x *taskWalk) boundsOf(s *cxreasonbench.Session) cxreasonbench.CallBounds {
	course := s.Course()
	b, ok := x.e.bounds[course]
	if !ok {
		b = s.Bounds()
		x.e.bounds[course] = b
	}
	return b
}

// path2 walks the dialogues of Path 2, which is known who enters.
func (x *taskWalk) path2(ctx context.Context, w *derive.Walker) error {
	p := x.e.p
	pop, waits, err := w.Population(p.pl.Spec.Evaluation.Seed, x.path1)
	if err != nil {
		return err
	}
	if waits > 0 {
		p.note("path 2 of %s, %s, waits for %d undetermined cases", w.Range.Task, x.e.ref.Name, waits)
		return nil
	}
	if len(pop.Entries) == 0 {
		return nil
	}
	r := w.Range
	r.Path, r.Count = cxreasonbench.Path2, len(pop.Entries)
	guided, err := p.ev.Walk(r, p.bench.doc, p.docs, pop)
	if err != nil {
		return err
	}
	for place := range r.Count {
		if err := x.dialogue(ctx, guided, place); err != nil {
			return err
		}
	}
	return nil
}
