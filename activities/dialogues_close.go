package activities

import (
	"bytes"
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
)

const (
	// pageDialogues is the number of dialogues on a page.
	pageDialogues = 32
	// callMissing is the reason of a dialogue that was left without a word.
	callMissing = "call_missing"
)

// CloseDialogues makes the documents of a range from the ledger alone: pages of dialogues and
// the accounts of their calls. What a workflow knows beside that, why a call failed, only names
// the reason of a dialogue whose call has no record.
func (a *Activities) CloseDialogues(ctx context.Context, in contract.CloseDialoguesInput) (contract.DialoguesResult, error) {
	p := a.beat(ctx, in.Range.Count)
	defer p.close()
	w, err := a.walk(p.work, in.Range)
	if err != nil {
		return contract.DialoguesResult{}, err
	}
	failed := map[int]contract.DialogueFailure{}
	for _, f := range in.Failed {
		failed[f.Dialogue] = f
	}
	var out contract.DialoguesResult
	pages, calls := contract.Packed{Items: []contract.PackItem{}}, contract.Packed{Items: []contract.PackItem{}}
	for begin := 0; begin < in.Range.Count; begin += pageDialogues {
		doc := contract.DialoguesDoc{Format: contract.DialoguesFormat, Evaluation: in.Range.Evaluation.Name, Task: in.Range.Task, Path: in.Range.Path}
		acc := newAccount()
		for place := begin; place < min(begin+pageDialogues, in.Range.Count); place++ {
			if err := p.next(); err != nil {
				return contract.DialoguesResult{}, err
			}
			d, err := w.close(p.work, place, failed[place].Type, &acc)
			if err != nil {
				return contract.DialoguesResult{}, err
			}
			doc.Dialogues = append(doc.Dialogues, d)
			count(&out.Totals, &d)
			p.step(1)
		}
		out.Totals.Calls = contract.AddCounts(out.Totals.Calls, acc.kinds)
		if err := w.put(p.work, &pages, doc, contract.DialoguesMediaType); err != nil {
			return contract.DialoguesResult{}, err
		}
		if err := w.put(p.work, &calls, acc.doc(in.Range), contract.CallsMediaType); err != nil {
			return contract.DialoguesResult{}, err
		}
	}
	if out.Pages, err = putJSON(p.work, a.opts.Store, pages, contract.PackMediaType); err != nil {
		return contract.DialoguesResult{}, err
	}
	out.Calls, err = putJSON(p.work, a.opts.Store, calls, contract.PackMediaType)
	return out, err
}

// put stores a document and adds it to a list.
func (w *walker) put(ctx context.Context, list *contract.Packed, doc any, mediaType string) error {
	ref, err := putJSON(ctx, w.store(), doc, mediaType)
	list.Items = append(list.Items, contract.PackItem{Index: len(list.Items), Ref: ref})
	return err
}

func count(t *contract.DialogueTotals, d *contract.DialogueDoc) {
	t.Dialogues++
	if d.Undetermined != nil {
		t.Undetermined++
		t.Reasons = contract.AddCount(t.Reasons, d.Undetermined.Why, 1)
		return
	}
	t.Done++
	t.Ends = contract.AddCount(t.Ends, d.End.String(), 1)
}

// account collects the calls of a page, and those that have no record.
type account struct {
	byKey map[artifacts.Digest]*contract.CallRecord
	kinds []contract.Count
	open  map[artifacts.Key]contract.CallCount
}

func newAccount() account {
	return account{byKey: map[artifacts.Digest]*contract.CallRecord{}, open: map[artifacts.Key]contract.CallCount{}}
}

func (a *account) add(key artifacts.Digest, c contract.CallCount) {
	a.kinds = contract.AddCount(a.kinds, c.Kind, 1)
	r := a.byKey[key]
	if r == nil {
		r = &contract.CallRecord{Key: key, Count: c}
		a.byKey[key] = r
	}
	r.Times++
}

// doc lists the calls by key.
func (a *account) doc(r contract.DialogueRange) contract.CallsDoc {
	doc := contract.CallsDoc{Format: contract.CallsFormat, Task: r.Task, Path: r.Path, Calls: []contract.CallRecord{}}
	for _, r := range a.byKey {
		doc.Calls = append(doc.Calls, *r)
	}
	for key, c := range a.open {
		doc.Open = append(doc.Open, contract.CallRecord{Key: key.Digest, Count: c})
	}
	for _, list := range [][]contract.CallRecord{doc.Calls, doc.Open} {
		slices.SortFunc(list, func(x, y contract.CallRecord) int { return bytes.Compare(x.Key[:], y.Key[:]) })
	}
	return doc
}

// close walks one dialogue to its end and describes it.
func (w *walker) close(ctx context.Context, place int, why string, acc *account) (contract.DialogueDoc, error) {
	number, review := w.CaseAt(place)
	d := contract.DialogueDoc{Case: number, Review: review, Turns: []contract.TurnDoc{}}
	s, err := w.Begin(ctx, place)
	if err != nil {
		return d, err
	}
	turns := map[cxreasonbench.Key]*contract.TurnDoc{}
	values := map[cxreasonbench.Key]contract.ValueDoc{}
	missing, err := w.Run(ctx, s, w.watched(acc), func(c cxreasonbench.Call, out contract.AskResult, key artifacts.Key) error {
		t := turns[c.Key]
		if t == nil {
			t = &contract.TurnDoc{Key: c.Key, Draws: make([]contract.DrawDoc, w.Range.Evaluation.Draws)}
			turns[c.Key] = t
		}
		switch c.Kind {
		case cxreasonbench.CallModel:
			t.Draws[c.Draw].Parsed, t.Draws[c.Draw].Unread = out.Score, out.Unread
		case cxreasonbench.CallJudge:
			t.Draws[c.Draw].Verdict, t.Draws[c.Draw].Again = out.Answer, c.Again
		case cxreasonbench.CallExtract:
			v := contract.ValueDoc{Extraction: out.Answer, Terminal: out.Terminal}
			if out.Terminal == 0 {
				a, err := w.a.asks.answer(ctx, out.Answer)
				if err != nil {
					return err
				}
				v.Extracted = a.Text
			}
			values[c.Key] = v
		}
		acc.add(key.Digest, out.Count)
		return nil
	})
	if err != nil {
		return d, err
	}
	if len(missing) > 0 {
		if why == "" {
			why = callMissing
		}
		if err := s.Fail(missing[0], why); err != nil {
			return d, err
		}
	}
	d.State, d.End, d.Undetermined = s.State(), s.End(), s.Undetermined()
	for _, t := range d.State.Turns[d.State.Replayed:] {
		d.Turns = append(d.Turns, *turns[t.Key])
		if t.Key.Stage == cxreasonbench.StageFinal && cxreasonbench.KindOf(w.Range.Task) == cxreasonbench.Measurement {
			v, err := w.value(ctx, t, values[t.Key])
			if err != nil {
				return d, err
			}
			d.Values = append(d.Values, v)
		}
	}
	return d, nil
}

// watched looks calls up, and notes what was attempted of those that have no record.
func (w *walker) watched(acc *account) derive.Recorded {
	return func(ctx context.Context, in contract.AskInput) (contract.AskResult, artifacts.Key, bool, error) {
		out, key, ok, err := w.recorded(ctx, in)
		if _, known := acc.open[key]; err != nil || ok || key.IsZero() || known {
			return out, key, ok, err
		}
		n, err := ledger.Attempted(ctx, w.a.opts.Store, key)
		if err == nil && n.Attempts > 0 {
			n.Kind = out.Count.Kind
			acc.open[key] = n
		}
		return out, key, false, err
	}
}

// value says what the kept reply to a final question tells, and whether it lies in the range
// that was right in the stage before.
func (w *walker) value(ctx context.Context, t cxreasonbench.Turn, v contract.ValueDoc) (contract.ValueDoc, error) {
	v.Key = t.Key
	number, err := derive.CaseNumber(t.Case)
	if err != nil {
		return v, err
	}
	c, err := w.Case(ctx, number)
	if err != nil {
		return v, err
	}
	kept := t.Draws[t.Kept]
	if kept.Terminal != 0 {
		v.Terminal = kept.Terminal
	}
	reply, err := w.a.asks.answer(ctx, kept.Reply)
	if err != nil {
		return v, err
	}
	before := c.Questions[cxreasonbench.Key{Path: t.Key.Path, Stage: cxreasonbench.StageMeasurement}]
	if before == nil {
		return v, fail(contract.ErrTypeSpec, "case %d has no question before %s", number, t.Key)
	}
	rules, told := w.Range.Evaluation.Rules, reply.Text
	v.Form = cxreasonbench.FormOf(w.Range.Task, told).String()
	if rules.Value(cxreasonbench.ConsistencyInput) == cxreasonbench.JudgeValue {
		told = v.Extracted
	}
	v.Consistent = cxreasonbench.Consistent(rules, w.Range.Task, before.Answer, told)
	return v, nil
}
