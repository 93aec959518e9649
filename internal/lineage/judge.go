package lineage

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
)

// judged finds a call to the judge about a reply by its answer. Where several have the same
// answer about the same words, the one with the prompt and the message of this question.
func (p *page) judged(ctx context.Context, t *cxreasonbench.Turn, kind cxreasonbench.CallKind, verdict, reply artifacts.Ref) (*accounted, error) {
	if err := p.account(ctx); err != nil {
		return nil, err
	}
	var found []*accounted
	for i := range p.calls[verdict.Digest] {
		if c := &p.calls[verdict.Digest][i]; c.to("reply") == reply.Digest {
			found = append(found, c)
		}
	}
	if len(found) < 2 {
		return slices.Concat(found, []*accounted{nil})[0], nil
	}
	prompt, message, err := p.run.judgeMessage(ctx, p.key.task, t, kind, reply)
	if err != nil && !gone(err) {
		return nil, err
	}
	for _, c := range found {
		if c.to(catalog.LinkQuestion) == message && c.to(catalog.LinkPrompt) == prompt {
			return c, nil
		}
	}
	return nil, nil
}

// judgedReply is the reply that a draw is judged on: its own, or where the rules say so that to
// an earlier question.
func (p *page) judgedReply(ctx context.Context, d *contract.DialogueDoc, turn, draw int) (artifacts.Ref, error) {
	s, err := p.run.Summary(ctx)
	if err != nil {
		return artifacts.Ref{}, err
	}
	t := own(d)[turn]
	on := cxreasonbench.JudgementOf(s.Rules, p.key.task, t.Key).Reply
	for _, said := range d.State.Turns {
		if said.Key == on && on != t.Key && draw < len(said.Draws) {
			return said.Draws[draw].Reply, nil
		}
	}
	return t.Draws[draw].Reply, nil
}

// judgeMessage are the digests of what the judge is told and asked about a reply.
func (r *Run) judgeMessage(ctx context.Context, task cxreasonbench.Task, t *cxreasonbench.Turn, kind cxreasonbench.CallKind, reply artifacts.Ref) (prompt, message artifacts.Digest, err error) {
	q, _, err := r.questionOf(ctx, t)
	if q == nil || err != nil {
		return prompt, message, err
	}
	s, err := r.Summary(ctx)
	if err != nil {
		return prompt, message, err
	}
	a, err := read[lvlm.Answer](ctx, r.x.docs, reply)
	if err != nil {
		return prompt, message, err
	}
	pack, err := r.pack(ctx)
	if pack == nil || err != nil {
		return prompt, message, err
	}
	j := cxreasonbench.JudgementOf(s.Rules, task, t.Key)
	told, text := j.Extract, cxreasonbench.ExtractMessage(a.Text)
	if kind == cxreasonbench.CallJudge {
		shown := ""
		if j.Question {
			shown = q.Text
		}
		told, text = j.Prompt, cxreasonbench.JudgeMessage(s.Rules, shown, q.Answer, a.Text)
	}
	return systemDigest(pack.Judge(told)), contract.MessageDigest(dialogue.Transcript{}.Ask(text).Messages[0]), nil
}
