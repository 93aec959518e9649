package reporttest

import (
	"context"
	"fmt"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/answer"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
)

// pageSize is the number of dialogues on a page.
const pageSize = 32

// runner holds the dialogues of one evaluation.
type runner struct {
	ctx    context.Context
	store  *artifacts.Repository
	bench  *Benchmark
	ref    contract.EvaluationRef
	script Script
	seed   uint64
	// answers remembers what is stored already, by text and outcome.
	answers map[[2]string]artifacts.Ref
	texts   map[artifacts.Digest]string
}

// Evaluate answers the benchmark by a script and stores what an evaluation leaves behind. It
// returns the reference of its EvaluationDoc.
func Evaluate(ctx context.Context, store *artifacts.Repository, b *Benchmark, index int, ref contract.EvaluationRef, seed uint64, script Script) (artifacts.Ref, error) {
	r := &runner{ctx: ctx, store: store, bench: b, ref: ref, script: script, seed: seed, answers: map[[2]string]artifacts.Ref{}, texts: map[artifacts.Digest]string{}}
	doc := contract.EvaluationDoc{Format: contract.EvaluationFormat, Benchmark: b.Ref, Index: index, Evaluation: ref}
	first := 0
	for _, t := range contract.CasesOf(b.Doc.Cases) {
		task, err := r.task(t.Task, first, t.Cases)
		if err != nil {
			return artifacts.Ref{}, fmt.Errorf("%s, %s: %w", ref.Name, t.Task, err)
		}
		first += t.Cases
		doc.Tasks = append(doc.Tasks, task)
	}
	return put(ctx, store, doc, contract.EvaluationMediaType)
}

// task holds the dialogues of a task's cases, count of them from number first on.
func (r *runner) task(task cxreasonbench.Task, first, count int) (contract.EvaluationTask, error) {
	out := contract.EvaluationTask{Task: task, Cases: count}
	path1 := map[string]cxreasonbench.State{}
	var ids []string
	var docs []contract.DialogueDoc
	for n := first; n < first+count; n++ {
		id := strconv.Itoa(n)
		ids = append(ids, id)
		s, _, err := cxreasonbench.Start(r.ref.Rules, task, id, r.shape(n, cxreasonbench.Path1), r.ref.Draws)
		if err != nil {
			return out, err
		}
		doc, err := r.hold(s, cxreasonbench.SessionOptions{Judged: r.ref.Judge != "", Again: 1})
		if err != nil {
			return out, err
		}
		if doc.Undetermined == nil {
			path1[id] = doc.State
		} else {
			out.Waits++
		}
		docs = append(docs, doc)
	}
	var err error
	if out.Path1, err = r.pages(task, cxreasonbench.Path1, docs); err != nil || !r.ref.Path2 || out.Waits > 0 {
		return out, err
	}
	population, err := cxreasonbench.NewPopulation(r.ref.Rules, task, ids, path1)
	if err != nil {
		return out, err
	}
	docs = nil
	for _, e := range cxreasonbench.Entries() {
		for _, id := range population.Entering(e) {
			doc, err := r.guided(task, path1[id], population.Reselect(r.seed, id))
			if err != nil {
				return out, err
			}
			docs = append(docs, doc)
		}
	}
	out.Path2, err = r.pages(task, cxreasonbench.Path2, docs)
	return out, err
}

func (r *runner) guided(task cxreasonbench.Task, path1 cxreasonbench.State, review string) (contract.DialogueDoc, error) {
	s, _, err := cxreasonbench.StartPath2(path1, len(cxreasonbench.Structures(task)))
	if err != nil {
		return contract.DialogueDoc{}, err
	}
	o := cxreasonbench.SessionOptions{Judged: r.ref.Judge != "", Again: 1, ReviewCase: review}
	if review != "" {
		o.ReviewShape = r.shape(number(review), cxreasonbench.RePath1)
	}
	return r.hold(s, o)
}

func (r *runner) shape(n int, path cxreasonbench.Path) cxreasonbench.Shape {
	return cxreasonbench.ShapeOf(r.bench.Cases[n].Items, path)
}

// hold answers a dialogue to its end.
func (r *runner) hold(s cxreasonbench.State, o cxreasonbench.SessionOptions) (contract.DialogueDoc, error) {
	doc := contract.DialogueDoc{Case: number(s.Case), Review: -1, Turns: []contract.TurnDoc{}}
	if o.ReviewCase != "" {
		doc.Review = number(o.ReviewCase)
	}
	session, err := cxreasonbench.NewSession(s, o)
	if err != nil {
		return doc, err
	}
	open := map[cxreasonbench.Key]*contract.TurnDoc{}
	for !session.Done() {
		for _, c := range session.Calls() {
			if session.Done() {
				break // another draw came to nothing
			}
			context, err := session.Context(c)
			if err != nil {
				return doc, err
			}
			if c.Kind == cxreasonbench.CallModel && open[c.Key] == nil {
				open[c.Key] = &contract.TurnDoc{Key: c.Key, Draws: make([]contract.DrawDoc, s.Draws)}
			}
			if err := r.answer(session, c, context, open[c.Key]); err != nil {
				return doc, fmt.Errorf("case %s, %s: %w", s.Case, c, err)
			}
		}
	}
	doc.State, doc.End, doc.Undetermined = session.State(), session.End(), session.Undetermined()
	for _, t := range doc.State.Turns[doc.State.Replayed:] {
		doc.Turns = append(doc.Turns, *open[t.Key])
		if v, ok := r.valueOf(doc.State, t); ok {
			doc.Values = append(doc.Values, v)
		}
	}
	return doc, nil
}

// answer gives the session the result of one call.
func (r *runner) answer(session *cxreasonbench.Session, c cxreasonbench.Call, at cxreasonbench.CallContext, turn *contract.TurnDoc) error {
	n := number(at.Case)
	q, ok := cxreasonbench.FindQuestion(r.bench.Cases[n].Items, c.Key)
	if !ok {
		return fmt.Errorf("no question %s", c.Key)
	}
	want := r.script(Place{r.ref.Name, session.State().Task, n, c.Key, c.Draw})
	switch {
	case want.Undetermined:
		return session.Fail(c, "endpoint_gone")
	case c.Kind == cxreasonbench.CallExtract:
		return session.Record(c, cxreasonbench.CallResult{Score: cxreasonbench.Right})
	case c.Kind == cxreasonbench.CallJudge:
		score := want.Score
		if want.Judge.Valid() {
			score = want.Judge
		}
		ref, err := r.say(lvlm.Answered, map[cxreasonbench.Score]string{cxreasonbench.Right: "True", cxreasonbench.Wrong: "False", cxreasonbench.Unknown: "IDK", cxreasonbench.NoneOfAbove: "N/A"}[score])
		if err != nil {
			return err
		}
		turn.Draws[c.Draw].Verdict = ref
		return session.Record(c, cxreasonbench.CallResult{Reply: ref, Score: score})
	}
	if want.Terminal != 0 {
		ref, err := r.say(lvlm.Outcome(want.Terminal.String()), "")
		if err != nil {
			return err
		}
		return session.Record(c, cxreasonbench.CallResult{Reply: ref, Terminal: want.Terminal})
	}
	reply, ok := text(&q, want.Score)
	if !ok {
		return fmt.Errorf("the script wants %s of %s, which has no such option", want.Score, c.Key)
	}
	if c.Key.Stage == cxreasonbench.StageFinal && cxreasonbench.KindOf(session.State().Task) == cxreasonbench.Measurement {
		before, _ := cxreasonbench.FindQuestion(r.bench.Cases[n].Items, cxreasonbench.Key{Path: c.Key.Path, Stage: cxreasonbench.StageMeasurement})
		reply += value(session.State().Task, before.Answer, !want.Inconsistent)
	}
	ref, err := r.say(lvlm.Answered, reply)
	if err != nil {
		return err
	}
	score, unread, err := cxreasonbench.ScoreParsed(&q, answer.Parse(q.Readable(), reply))
	if err != nil {
		return err
	}
	if score != want.Score {
		return fmt.Errorf("%q is read as %s, the script wants %s", reply, score, want.Score)
	}
	turn.Draws[c.Draw].Parsed, turn.Draws[c.Draw].Unread = score, unread
	return session.Record(c, cxreasonbench.CallResult{Reply: ref, Score: score, Unread: unread})
}

// valueOf is the value of a final turn of a measurement task.
func (r *runner) valueOf(s cxreasonbench.State, t cxreasonbench.Turn) (contract.ValueDoc, bool) {
	if t.Key.Stage != cxreasonbench.StageFinal || cxreasonbench.KindOf(s.Task) != cxreasonbench.Measurement {
		return contract.ValueDoc{}, false
	}
	before, _ := cxreasonbench.FindQuestion(r.bench.Cases[number(t.Case)].Items, cxreasonbench.Key{Path: t.Key.Path, Stage: cxreasonbench.StageMeasurement})
	reply := r.texts[t.Draws[t.Kept].Reply.Digest]
	return contract.ValueDoc{
		Key: t.Key, Consistent: cxreasonbench.Consistent(s.Rules, s.Task, before.Answer, reply),
		Form: cxreasonbench.FormOf(s.Task, reply).String(), Terminal: t.Draws[t.Kept].Terminal,
	}, true
}

// say stores an answer, each text once.
func (r *runner) say(o lvlm.Outcome, text string) (artifacts.Ref, error) {
	key := [2]string{string(o), text}
	if ref, ok := r.answers[key]; ok {
		return ref, nil
	}
	ref, err := put(r.ctx, r.store, lvlm.Answer{Format: lvlm.AnswerFormat, Outcome: o, Text: text}, lvlm.AnswerMediaType)
	if err != nil {
		return ref, err
	}
	r.answers[key], r.texts[ref.Digest] = ref, text
	return ref, nil
}

// pages stores dialogues as pages and returns the list of them.
func (r *runner) pages(task cxreasonbench.Task, path cxreasonbench.Path, docs []contract.DialogueDoc) (artifacts.Ref, error) {
	packed := contract.Packed{Items: []contract.PackItem{}}
	for i := 0; i < len(docs); i += pageSize {
		page := contract.DialoguesDoc{Format: contract.DialoguesFormat, Evaluation: r.ref.Name, Task: task, Path: path, Dialogues: docs[i:min(i+pageSize, len(docs))]}
		ref, err := put(r.ctx, r.store, page, contract.DialoguesMediaType)
		if err != nil {
			return ref, err
		}
		packed.Items = append(packed.Items, contract.PackItem{Index: len(packed.Items), Ref: ref})
	}
	return put(r.ctx, r.store, packed, contract.PackMediaType)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("reporttest: a case is no number: " + text) // its own states only
	}
	return n
}
