package activities

import (
	"context"

	"cxrepro/internal/answer"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/ledger"
)

// result reads a recorded answer. Reading it again later gives the same, so nothing of the
// reading is recorded. own says that this activity made the record; what another one made is
// counted there.
func (s *asks) result(ctx context.Context, q *question, e ledger.Entry, own bool) (contract.AskResult, error) {
	a, err := s.answer(ctx, e.Record.Result)
	if err != nil {
		return contract.AskResult{}, err
	}
	out, err := q.Read(e.Record, a)
	if err != nil {
		return out, err
	}
	out.Count = contract.CallCount{Kind: q.Kind, Needed: 1, Reused: 1}
	if own {
		out.Count = e.Count(q.In.Reproduction)
		out.Count.Kind = q.Kind
	}
	return out, nil
}

// readable reports whether a reply that was cut holds what was asked for.
func (q *question) readable(text string) bool {
	switch q.In.Call.Kind {
	case cxreasonbench.CallModel:
		return answer.Parse(q.Item.Readable(), text).Kind.Scorable()
	case cxreasonbench.CallJudge:
		v, ok := cxreasonbench.ReadVerdict(q.Rules, q.In.Judgement.Prompt, text)
		return ok && v.Asked
	}
	return false
}
