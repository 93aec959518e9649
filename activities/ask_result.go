package activities

import (
	"context"

	"cxrepro/internal/answer"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
)

// terminals are the terminal outcomes by the word of the ledger.
var terminals = map[lvlm.Outcome]cxreasonbench.Terminal{
	lvlm.Refusal: cxreasonbench.Refusal, lvlm.SafetyBlock: cxreasonbench.SafetyBlock, lvlm.Empty: cxreasonbench.EmptyReply,
	lvlm.Truncated: cxreasonbench.Truncated, lvlm.Invalid: cxreasonbench.RequestInvalid,
}

// result reads a recorded answer. Reading it again later gives the same, so nothing of the
// reading is recorded. own says that this activity made the record; what another one made is
// counted there.
func (s *asks) result(ctx context.Context, q *question, e ledger.Entry, own bool) (contract.AskResult, error) {
	a, err := s.answer(ctx, e.Record.Result)
	if err != nil {
		return contract.AskResult{}, err
	}
	out := contract.AskResult{Answer: e.Record.Result, Count: contract.CallCount{Kind: q.kind, Needed: 1, Reused: 1}}
	if own {
		out.Count = e.Count(q.in.Reproduction)
		out.Count.Kind = q.kind
	}
	if e.Record.Key.Step == contract.StepCallOutcome {
		out.Terminal = terminals[a.Outcome]
	}
	switch {
	case q.in.Call.Kind == cxreasonbench.CallJudge:
		if v, ok := cxreasonbench.ReadVerdict(q.rules, q.in.Judgement.Prompt, a.Text); ok {
			out.Score = v.Score
		}
	case q.in.Call.Kind == cxreasonbench.CallModel && out.Terminal == 0:
		read := answer.Parse(q.item.Readable(), a.Text)
		out.Score, out.Unread, err = cxreasonbench.ScoreParsed(q.item, read)
	}
	return out, err
}

// readable reports whether a reply that was cut holds what was asked for.
func (q *question) readable(text string) bool {
	switch q.in.Call.Kind {
	case cxreasonbench.CallModel:
		return answer.Parse(q.item.Readable(), text).Kind.Scorable()
	case cxreasonbench.CallJudge:
		v, ok := cxreasonbench.ReadVerdict(q.rules, q.in.Judgement.Prompt, text)
		return ok && v.Asked
	}
	return false
}
