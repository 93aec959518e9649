package plan

import (
	"context"
	"encoding/json"
	"slices"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// expect says how many calls follow those that are missing now, if the base's verdicts and
// courses come again. known is false when the base has no such dialogue.
func (x *taskWalk) expect(ctx context.Context, w *derive.Walker, s *cxreasonbench.Session, number int, missing []cxreasonbench.Call) (needed, run kinds, known bool, err error) {
	d := x.e.base.course(w.Range.Path, w.Range.Task, w.Bench.Cases[number].ID)
	if d == nil {
		return needed, run, false, nil
	}
	first := missing[0]
	if first.Kind == cxreasonbench.CallModel {
		n := tail(d, first.Key, x.judged())
		n.model = max(0, n.model-float64(len(missing)))
		return n, n, true, nil
	}
	// Only verdicts are missing: with the base's the dialogue goes on over recorded replies.
	text, err := json.Marshal(s)
	if err != nil {
		return needed, run, false, err
	}
	supposed := &cxreasonbench.Session{} // a decoded session offers every call again
	if err := json.Unmarshal(text, supposed); err != nil {
		return needed, run, false, err
	}
	h := &hypothesis{x: x, w: w, d: d, first: missing}
	err = h.play(ctx, supposed)
	return h.needed, h.run, err == nil, err
}

// hypothesis plays a dialogue on with the base's verdicts.
type hypothesis struct {
	x           *taskWalk
	w           *derive.Walker
	d           *contract.DialogueDoc
	first       []cxreasonbench.Call
	needed, run kinds
}

func (h *hypothesis) play(ctx context.Context, s *cxreasonbench.Session) error {
	recorded := h.x.recorded(nil)
	for !s.Done() {
		calls := s.Calls()
		if len(calls) == 0 {
			return nil
		}
		for _, c := range calls {
			if s.Done() {
				break
			}
			in, err := h.w.Range.AskInput(s, c, 0)
			if err != nil {
				return err
			}
			out, _, ok, err := recorded(ctx, in)
			if err != nil {
				return err
			}
			if !ok && c.Kind == cxreasonbench.CallModel {
				n := tail(h.d, c.Key, h.x.judged())
				h.needed, h.run = h.needed.plus(n), h.run.plus(n)
				return nil
			}
			h.count(c, ok)
			result := out.CallResult()
			if !ok {
				result = h.verdict(c)
			}
			if err := s.Record(c, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts a call that is not one of those missing now.
func (h *hypothesis) count(c cxreasonbench.Call, recorded bool) {
	if slices.Contains(h.first, c) {
		return
	}
	one := kinds{judge: 1}
	if c.Kind == cxreasonbench.CallModel {
		one = kinds{model: 1}
	}
	h.needed = h.needed.plus(one)
	if !recorded {
		h.run = h.run.plus(one)
	}
}

// verdict is the base's; a question that the base did not come to counts as wrong.
func (h *hypothesis) verdict(c cxreasonbench.Call) cxreasonbench.CallResult {
	for _, t := range h.d.State.Turns {
		if t.Key == c.Key && c.Draw < len(t.Draws) {
			return cxreasonbench.CallResult{Score: t.Draws[c.Draw].Score}
		}
	}
	return cxreasonbench.CallResult{Score: cxreasonbench.Wrong}
}
