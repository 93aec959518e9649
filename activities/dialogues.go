package activities

import (
	"context"
	"encoding/json"

	"cxrepro/internal/contract"
)

// PlanEvaluations lists what a plan evaluates.
func (a *Activities) PlanEvaluations(ctx context.Context, in contract.PlanEvaluationsInput) (contract.PlanEvaluationsResult, error) {
	p := a.beat(ctx, 1)
	defer p.close()
	pl, err := a.asks.plan(p.work, in.Plan)
	if err != nil {
		return contract.PlanEvaluationsResult{}, err
	}
	list, err := contract.EvaluationsOf(pl.Plan)
	if err != nil {
		return contract.PlanEvaluationsResult{}, fail(contract.ErrTypeSpec, "%w", err)
	}
	return contract.PlanEvaluationsResult{Evaluations: list}, nil
}

// maxSessions is what the sessions of one look-up may weigh in a history, in bytes.
const maxSessions = 48 << 10

// LoadDialogues returns dialogues as far as the ledger answers them.
func (a *Activities) LoadDialogues(ctx context.Context, in contract.LoadDialoguesInput) (contract.LoadDialoguesResult, error) {
	p := a.beat(ctx, len(in.Dialogues))
	defer p.close()
	w, err := a.walk(p.work, in.Range)
	if err != nil {
		return contract.LoadDialoguesResult{}, err
	}
	var out contract.LoadDialoguesResult
	weight := 0
	for _, place := range in.Dialogues {
		if err := p.next(); err != nil {
			return contract.LoadDialoguesResult{}, err
		}
		s, err := w.Begin(p.work, place)
		if err != nil {
			return contract.LoadDialoguesResult{}, err
		}
		if _, err := w.run(p.work, s, nil); err != nil {
			return contract.LoadDialoguesResult{}, err
		}
		s.Compact()
		text, err := json.Marshal(s)
		if err != nil {
			return contract.LoadDialoguesResult{}, err
		}
		if weight += len(text); weight > maxSessions && len(out.Sessions) > 0 {
			break
		}
		out.Sessions = append(out.Sessions, s)
		p.step(1)
	}
	return out, nil
}

// CloseEvaluation stores the document of an evaluation, and joins the accounts of its tasks.
func (a *Activities) CloseEvaluation(ctx context.Context, in contract.CloseEvaluationInput) (contract.CloseEvaluationResult, error) {
	p := a.beat(ctx, len(in.Calls))
	defer p.close()
	var all contract.Packed
	for _, ref := range in.Calls {
		list, err := getJSON[contract.Packed](p.work, a.opts.Store, ref)
		if err != nil {
			return contract.CloseEvaluationResult{}, err
		}
		for _, item := range list.Items {
			all.Items = append(all.Items, contract.PackItem{Index: len(all.Items), Ref: item.Ref})
		}
		p.step(1)
	}
	var out contract.CloseEvaluationResult
	var err error
	if out.Calls, err = putJSON(p.work, a.opts.Store, all, contract.PackMediaType); err != nil {
		return out, err
	}
	out.Doc, err = putJSON(p.work, a.opts.Store, in.Doc, contract.EvaluationMediaType)
	return out, err
}
