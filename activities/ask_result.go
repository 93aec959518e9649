package activities

import (
	"context"

	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
)

// result reads a recorded answer. Reading it again later gives the same, so nothing of the
// reading is recorded. own says that this activity made the record; what another one made is
// counted there.
func (s *asks) result(ctx context.Context, q *derive.Question, e ledger.Entry, own bool) (contract.AskResult, error) {
	text, err := s.answered(ctx, &q.Call, e, own)
	if err != nil {
		return contract.AskResult{}, err
	}
	out, err := q.Read(e.Record, text.Answer)
	out.Count = text.Count
	return out, err
}
