package plan

import (
	"context"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// widest is a case with as many questions as there can be.
var widest = cxreasonbench.Shape{CriteriaRounds: 2, StructureRounds: 2}

// blind counts dialogues of Path 1 whose questions are not built yet. A case may be dropped when
// it is built, so that nothing may be asked.
func (x *taskWalk) blind(id string, n int) {
	x.whole, x.asks = false, true
	b := x.boundsOf(x.start())
	expected, known := kinds{}, false
	if d := x.e.base.course(cxreasonbench.Path1, x.cases.Task, id); d != nil {
		expected, known = tail(d, cxreasonbench.Key{}, x.judged()), true
	} else if all, dialogues := x.e.base.all(cxreasonbench.Path1, x.cases.Task, x.judged()); dialogues > 0 {
		expected, known = kinds{all.model / float64(dialogues), all.judge / float64(dialogues)}, true
	}
	f := float64(n)
	x.maybe(x.e.model, float64(b.Model.High)*f, expected.model*f, expected.model*f, known)
	x.maybe(x.e.judge, float64(b.Judge.High)*f, expected.judge*f, expected.judge*f, known)
	x.after(contract.StepBuildCase)
}

// maybe counts up to high calls.
func (x *taskWalk) maybe(row *callRow, high, needed, run float64, known bool) {
	if row == nil || high == 0 {
		return
	}
	if known {
		row.perhaps(about(0, high, needed), about(0, high, run))
	} else {
		row.perhaps(span(0, high), span(0, high))
	}
}

func (x *taskWalk) after(step string) {
	for _, row := range []*callRow{x.e.model, x.e.judge} {
		if row != nil {
			row.why.after(step, 1)
		}
	}
}

// start is a dialogue of Path 1 over the widest case.
func (x *taskWalk) start() *cxreasonbench.Session {
	s, _, err := cxreasonbench.Start(x.e.ref.Rules, x.cases.Task, "0", widest, x.e.ref.Draws)
	if err != nil {
		panic("plan: " + err.Error()) // rules and task come from a plan that was checked
	}
	return x.session(s, cxreasonbench.SessionOptions{Judged: x.judged(), Again: x.again})
}

func (x *taskWalk) session(s cxreasonbench.State, o cxreasonbench.SessionOptions) *cxreasonbench.Session {
	session, err := cxreasonbench.NewSession(s, o)
	if err != nil {
		panic("plan: " + err.Error())
	}
	return session
}

// blindPath2 bounds Path 2 of a task whose Path 1 has no result for every case: nobody knows who
// enters it. Cases that are known to have gone another way do not.
func (x *taskWalk) blindPath2(ctx context.Context, w *derive.Walker) error {
	ended := map[int]bool{}
	for _, d := range x.path1 {
		if d.Known && d.State.Step().End.Entry() == 0 {
			ended[d.Case] = true
		}
	}
	var model, judge float64
	bound := func(guidance int) {
		b := x.boundsOf(x.guided(guidance))
		model, judge = model+float64(b.Model.High), judge+float64(b.Judge.High)
	}
	for place := range x.cases.Count {
		number, _ := w.CaseAt(place)
		if ended[number] {
			continue
		}
		c, err := w.Case(ctx, number)
		if err != nil {
			return err
		}
		bound(c.Guidance())
	}
	for range len(x.cases.unbuilt) + x.cases.undrawn {
		bound(max(1, len(cxreasonbench.Structures(x.cases.Task))))
	}
	all, _ := x.e.base.all(cxreasonbench.Path2, x.cases.Task, x.judged())
	_, before := x.e.base.all(cxreasonbench.Path1, x.cases.Task, x.judged())
	run := all
	if !x.asks {
		run.model = 0 // with the base's verdicts its replies are asked for again, and are there
	}
	known := before > 0
	x.maybe(x.e.model, model, all.model, run.model, known)
	x.maybe(x.e.judge, judge, all.judge, run.judge, known)
	return nil
}

// guided is a dialogue of Path 2 with a re-evaluation on the widest case.
func (x *taskWalk) guided(guidance int) *cxreasonbench.Session {
	first := x.start().State()
	o := cxreasonbench.Outcome{Draws: make([]cxreasonbench.Draw, first.Draws)}
	for i := range o.Draws {
		o.Draws[i].Score = cxreasonbench.Unknown
	}
	path1, _, err := cxreasonbench.Next(first, o)
	if err != nil {
		panic("plan: " + err.Error())
	}
	s, _, err := cxreasonbench.StartPath2(path1, guidance)
	if err != nil {
		panic("plan: " + err.Error())
	}
	return x.session(s, cxreasonbench.SessionOptions{Judged: x.judged(), Again: x.again, ReviewCase: "1", ReviewShape: widest})
}
