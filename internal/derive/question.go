package derive

import (
	"context"
	"fmt"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/answer"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
)

// Question is the call that puts a question of the benchmark to a model, or a reply to a judge.
type Question struct {
	Call
	In    contract.AskInput
	Rules cxreasonbench.Rules
	// Item is the question that is asked, or that a judge is asked about.
	Item *cxreasonbench.Question
}

// Question assembles a call from the documents that its input names.
func (e *Evaluated) Question(ctx context.Context, docs Documents, b *Benchmark, in contract.AskInput) (*Question, error) {
	if in.Evaluation < 0 || in.Evaluation >= len(e.Evaluations) {
		return nil, contract.Fail(contract.ErrTypeSpec, "evaluation %d: the plan has %d", in.Evaluation, len(e.Evaluations))
	}
	q := &Question{In: in, Rules: e.Rules, Call: Call{
		Reproduction: in.Reproduction, Budget: in.Budget, About: fmt.Sprintf("case %d, %s", in.Case, in.Call),
		Retry: e.Retry, Class: b.Class, ClassName: b.DataUse,
	}}
	q.Readable = q.readable
	of := e.Evaluations[in.Evaluation]
	var err error
	if in.Call.Kind == cxreasonbench.CallModel {
		q.Kind, q.Card = ledger.KindModel, of.Model
		err = q.model(ctx, e, docs, b, of)
	} else {
		q.Kind, q.Card = ledger.KindJudge, e.Judge
		err = q.judge(ctx, e, docs, b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.About, err)
	}
	return q, q.seal()
}

// model is the conversation so far and the question.
func (q *Question) model(ctx context.Context, e *Evaluated, docs Documents, b *Benchmark, of experiments.EvaluationOf) error {
	if err := q.identify(DecodingOf(of, e.Spec.Evaluation)); err != nil {
		return err
	}
	q.Request.Draw = q.In.Call.Draw
	said := make([]cxreasonbench.SaidTurn, len(q.In.History))
	for i, h := range q.In.History {
		said[i] = cxreasonbench.SaidTurn{Key: h.Key, Case: strconv.Itoa(h.Case), Reply: h.Reply}
	}
	content := func(text string, key cxreasonbench.Key) (cxreasonbench.Content, error) {
		number, err := CaseNumber(text)
		if err != nil {
			return cxreasonbench.Content{}, err
		}
		// The question is the last one that is put before the model.
		var shown cxreasonbench.Content
		shown, q.Item, err = q.shown(ctx, docs, b, number, key)
		return shown, err
	}
	reply := func(t cxreasonbench.SaidTurn) (string, error) {
		r, err := docs.Answer(ctx, t.Reply)
		q.Materials = append(q.Materials, provenance.Describe("answer to "+t.Key.String(), t.Reply))
		return r.Text, err
	}
	var err error
	q.Request.Transcript, err = cxreasonbench.Conversation(b.System, said, strconv.Itoa(q.In.Case), q.In.Call.Key, content, reply)
	return err
}

// shown returns what a question of a case puts before the model, its pictures as they are sent.
func (q *Question) shown(ctx context.Context, docs Documents, b *Benchmark, number int, key cxreasonbench.Key) (cxreasonbench.Content, *cxreasonbench.Question, error) {
	c, err := b.caseOf(ctx, docs, number)
	if err != nil {
		return cxreasonbench.Content{}, nil, err
	}
	item, ok := c.Questions[key]
	if !ok {
		return cxreasonbench.Content{}, nil, contract.Fail(contract.ErrTypeSpec, "case %d has no question %s", number, key)
	}
	out := cxreasonbench.Content{Text: item.Text, Images: make([]artifacts.Ref, len(item.Pictures))}
	for i, p := range item.Pictures {
		stored, ok := c.Pictures[p.Path]
		if !ok {
			return out, nil, contract.Fail(contract.ErrTypeSpec, "case %d, %s: picture %d is not in the case's document", number, key, i)
		}
		if out.Images[i], err = docs.Picture(ctx, &q.Call, stored); err != nil {
			return out, nil, fmt.Errorf("case %d, %s, picture %d: %w", number, key, i, err)
		}
		q.Materials = append(q.Materials, provenance.Describe("picture of "+key.String(), out.Images[i]))
	}
	return out, item, nil
}

// judge puts one reply before the judge.
func (q *Question) judge(ctx context.Context, e *Evaluated, docs Documents, b *Benchmark) error {
	if e.Judge == nil {
		return contract.Fail(contract.ErrTypeSpec, "the plan has no judge")
	}
	if err := q.identify(e.Judge.Greedy); err != nil {
		return err
	}
	q.Request.Draw = q.In.Call.Again
	c, err := b.caseOf(ctx, docs, q.In.Case)
	if err != nil {
		return err
	}
	item, ok := c.Questions[q.In.Call.Key]
	if !ok {
		return contract.Fail(contract.ErrTypeSpec, "case %d has no question %s", q.In.Case, q.In.Call.Key)
	}
	q.Item = item
	reply, err := docs.Answer(ctx, q.In.Reply)
	if err != nil {
		return fmt.Errorf("the reply to judge: %w", err)
	}
	q.Materials = append(q.Materials, provenance.Describe("reply", q.In.Reply))
	prompt, text := q.In.Judgement.Prompt, cxreasonbench.ExtractMessage(reply.Text)
	if q.In.Call.Kind == cxreasonbench.CallExtract {
		prompt = q.In.Judgement.Extract
	} else {
		shown := ""
		if q.In.Judgement.Question {
			shown = item.Text
		}
		text = cxreasonbench.JudgeMessage(e.Rules, shown, item.Answer, reply.Text)
	}
	if !prompt.Valid() {
		return contract.Fail(contract.ErrTypeSpec, "%s", prompt)
	}
	q.Request.Transcript = dialogue.Transcript{}.System(e.Prompts.Judge(prompt)).Ask(text)
	return nil
}

// terminals are the terminal outcomes by the word of the ledger.
var terminals = map[lvlm.Outcome]cxreasonbench.Terminal{
	lvlm.Refusal: cxreasonbench.Refusal, lvlm.SafetyBlock: cxreasonbench.SafetyBlock, lvlm.Empty: cxreasonbench.EmptyReply,
	lvlm.Truncated: cxreasonbench.Truncated, lvlm.Invalid: cxreasonbench.RequestInvalid,
}

// Read reads the recorded answer of a call: record is its key and result. Reading it again
// later gives the same, so nothing of the reading is recorded. The account stays empty.
func (q *Question) Read(record artifacts.Record, a lvlm.Answer) (contract.AskResult, error) {
	out := contract.AskResult{Answer: record.Result}
	if record.Key.Step == contract.StepCallOutcome {
		out.Terminal = terminals[a.Outcome]
	}
	var err error
	switch {
	case q.In.Call.Kind == cxreasonbench.CallJudge:
		if v, ok := cxreasonbench.ReadVerdict(q.Rules, q.In.Judgement.Prompt, a.Text); ok {
			out.Score = v.Score
		}
	case q.In.Call.Kind == cxreasonbench.CallModel && out.Terminal == 0:
		read := answer.Parse(q.Item.Readable(), a.Text)
		out.Score, out.Unread, err = cxreasonbench.ScoreParsed(q.Item, read)
	}
	return out, err
}

// readable reports whether a reply that was cut holds what was asked for.
func (q *Question) readable(text string) bool {
	switch q.In.Call.Kind {
	case cxreasonbench.CallModel:
		return answer.Parse(q.Item.Readable(), text).Kind.Scorable()
	case cxreasonbench.CallJudge:
		v, ok := cxreasonbench.ReadVerdict(q.Rules, q.In.Judgement.Prompt, text)
		return ok && v.Asked
	}
	return false
}
