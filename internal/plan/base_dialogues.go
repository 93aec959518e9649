package plan

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// baseEvaluation is one evaluation of the base.
type baseEvaluation struct {
	index int
	doc   *contract.EvaluationDoc
	// courses are its dialogues by path, task and id of the case.
	courses map[coursePlace]*contract.DialogueDoc
	// accounts are its calls, by task.
	accounts map[cxreasonbench.Task][]contract.CallRecord
}

type coursePlace struct {
	path cxreasonbench.Path
	task cxreasonbench.Task
	id   string
}

// evaluation returns the base's evaluation of a name, else the first one with as many draws; nil
// for none. same says that the name is the same.
func (b *base) evaluation(ctx context.Context, ref contract.EvaluationRef) (e *baseEvaluation, same bool, err error) {
	if b == nil || b.ev == nil {
		return nil, false, nil
	}
	at := slices.IndexFunc(b.refs, func(r contract.EvaluationRef) bool { return r.Name == ref.Name })
	if same = at >= 0; !same {
		at = slices.IndexFunc(b.refs, func(r contract.EvaluationRef) bool { return r.Draws == ref.Draws })
	}
	if at < 0 || at >= len(b.receipt.Evaluations) {
		return nil, false, nil
	}
	name := b.refs[at].Name
	if b.evals[name] == nil {
		if b.evals[name], err = b.loadEvaluation(ctx, at); err != nil {
			return nil, false, err
		}
	}
	return b.evals[name], same, nil
}

func (b *base) loadEvaluation(ctx context.Context, at int) (*baseEvaluation, error) {
	doc, err := get[*contract.EvaluationDoc](ctx, b.docs, b.receipt.Evaluations[at])
	if err != nil {
		return nil, err
	}
	e := &baseEvaluation{index: at, doc: doc, courses: map[coursePlace]*contract.DialogueDoc{}, accounts: map[cxreasonbench.Task][]contract.CallRecord{}}
	for _, t := range doc.Tasks {
		for path, list := range map[cxreasonbench.Path]artifacts.Ref{cxreasonbench.Path1: t.Path1, cxreasonbench.Path2: t.Path2} {
			if err := b.loadCourses(ctx, e, path, t.Task, list); err != nil {
				return nil, err
			}
		}
	}
	err = eachPacked(ctx, b.docs, b.receipt.Accounts[at], func(page contract.CallsDoc) error {
		e.accounts[page.Task] = append(e.accounts[page.Task], page.Calls...)
		return nil
	})
	return e, err
}

func (b *base) loadCourses(ctx context.Context, e *baseEvaluation, path cxreasonbench.Path, task cxreasonbench.Task, list artifacts.Ref) error {
	if list.IsZero() {
		return nil
	}
	return eachPacked(ctx, b.docs, list, func(page contract.DialoguesDoc) error {
		for i := range page.Dialogues {
			d := &page.Dialogues[i]
			e.courses[coursePlace{path, task, b.bench.Cases[d.Case].ID}] = d
		}
		return nil
	})
}

// course is what became of a dialogue; nil where there was none.
func (e *baseEvaluation) course(path cxreasonbench.Path, task cxreasonbench.Task, id string) *contract.DialogueDoc {
	if e == nil {
		return nil
	}
	return e.courses[coursePlace{path, task, id}]
}

// kinds counts calls.
type kinds struct{ model, judge float64 }

func (k kinds) plus(o kinds) kinds { return kinds{k.model + o.model, k.judge + o.judge} }

// tail counts the calls of a dialogue from a question on; the zero key for all of them.
func tail(d *contract.DialogueDoc, from cxreasonbench.Key, judged bool) (n kinds) {
	begun := from == cxreasonbench.Key{}
	for i, t := range d.State.Turns[d.State.Replayed:] {
		if begun = begun || t.Key == from; !begun {
			continue
		}
		n.model += float64(len(t.Draws))
		for k, draw := range t.Draws {
			if judged && draw.Terminal == 0 {
				n.judge++
				if i < len(d.Turns) && k < len(d.Turns[i].Draws) {
					n.judge += float64(d.Turns[i].Draws[k].Again)
				}
			}
		}
	}
	for _, v := range d.Values {
		if begun && judged && !v.Extraction.IsZero() {
			n.judge++
		}
	}
	return n
}

// all counts the calls of a task's dialogues on a path, and the dialogues.
func (e *baseEvaluation) all(path cxreasonbench.Path, task cxreasonbench.Task, judged bool) (n kinds, dialogues int) {
	if e == nil {
		return n, 0
	}
	for at, d := range e.courses {
		if at.path == path && at.task == task {
			n = n.plus(tail(d, cxreasonbench.Key{}, judged))
			dialogues++
		}
	}
	return n, dialogues
}
