package activities

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// CallNotRecorded is the reason of a replayed dialogue that waits for a call that nobody made.
const CallNotRecorded = "not_recorded"

// A Replayer holds dialogues again over what is recorded alone, under any plan: nothing is
// asked, claimed, prepared or stored. It finds the calls of every reproduction of the store. It
// serves one goroutine.
type Replayer struct{ a *Activities }

// NewReplayer reads a store.
func NewReplayer(store *artifacts.Repository) (*Replayer, error) {
	a, err := New(Options{Store: store, Owner: artifacts.Owner{Worker: "replay"}, Now: func() time.Time { return time.Time{} }, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &Replayer{a}, nil
}

// A Replay is one evaluation of a plan over a benchmark.
type Replay struct {
	a     *Activities
	plan  *derive.Evaluated
	bench *derive.Benchmark
	r     contract.DialogueRange
	tasks []contract.TaskRange
}

// Open prepares the replay of the evaluation at a place of the plan. The plan need not be
// stored.
//
// Errors: a plan that has no such evaluation, a benchmark that cannot be read.
func (r *Replayer) Open(ctx context.Context, p *experiments.Plan, benchmark artifacts.Ref, index int) (*Replay, error) {
	text, err := p.Encode()
	if err != nil {
		return nil, err
	}
	ref := artifacts.Ref{Digest: artifacts.Sum(text), Size: int64(len(text)), MediaType: experiments.PlanMediaType}
	opened, err := derive.NewEvaluated(p, ref, r.a.asks.pack(ctx))
	if err != nil {
		return nil, err
	}
	r.a.docs.kept.Put(docKey{ref.Digest, reflect.TypeFor[*derive.Evaluated]()}, opened, 1)
	list, err := contract.EvaluationsOf(p)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(list) {
		return nil, fmt.Errorf("evaluation %d: the plan has %d", index, len(list))
	}
	bench, err := r.a.asks.benchmark(ctx, benchmark)
	if err != nil {
		return nil, err
	}
	return &Replay{a: r.a, plan: opened, bench: bench, tasks: contract.TasksOf(bench.Cases),
		r: contract.DialogueRange{Plan: ref, Benchmark: benchmark, Index: index, Evaluation: list[index]}}, nil
}

// Evaluation is what is held again.
func (r *Replay) Evaluation() contract.EvaluationRef { return r.r.Evaluation }

// Pages calls fn with the dialogues of each of the tasks, all of them where none is named: Path
// 1 and, where the evaluation has it and upTo asks for it, Path 2, as one page each. A dialogue
// that waits for a call that nobody made is undetermined for CallNotRecorded. waits is called,
// with their number, for a task whose Path 2 has no population because of such cases.
//
// Errors: those of fn, and documents of the plan or the benchmark that cannot be read.
func (r *Replay) Pages(ctx context.Context, tasks []cxreasonbench.Task, upTo cxreasonbench.Path, fn func(*contract.DialoguesDoc) error, waits func(cxreasonbench.Task, int)) error {
	for _, t := range r.tasks {
		if len(tasks) > 0 && !slices.Contains(tasks, t.Task) {
			continue
		}
		w, err := r.walker(t, cxreasonbench.Path1, nil)
		if err != nil {
			return err
		}
		page, err := w.page(ctx)
		if err != nil {
			return err
		}
		if err := fn(page); err != nil {
			return err
		}
		if upTo == cxreasonbench.Path1 || !r.r.Evaluation.Path2 {
			continue
		}
		population, n, err := w.Population(r.plan.Spec.Evaluation.Seed, path1Of(page.Dialogues))
		if err != nil {
			return err
		}
		if population == nil {
			waits(t.Task, n)
			continue
		}
		if w, err = r.walker(t, cxreasonbench.Path2, population); err != nil {
			return err
		}
		if page, err = w.page(ctx); err != nil {
			return err
		}
		if err := fn(page); err != nil {
			return err
		}
	}
	return nil
}

// Calls calls see for every recorded call of one dialogue, in order, with the key of its
// record. population is that of the evaluation's Path 2; Path 1 needs none.
//
// Errors: a case that has no such dialogue.
func (r *Replay) Calls(ctx context.Context, task cxreasonbench.Task, path cxreasonbench.Path, population *contract.PopulationDoc, number int, see func(c cxreasonbench.Call, out contract.AskResult, key artifacts.Key) error) error {
	for _, t := range r.tasks {
		if t.Task != task {
			continue
		}
		w, err := r.walker(t, path, population)
		if err != nil {
			return err
		}
		for place := range w.Range.Count {
			if n, _ := w.CaseAt(place); n != number {
				continue
			}
			s, err := w.Begin(ctx, place)
			if err != nil {
				return err
			}
			_, err = w.run(ctx, s, see)
			return err
		}
	}
	return fmt.Errorf("%s of %s has no dialogue of case %d", path, task, number)
}

func (r *Replay) walker(t contract.TaskRange, path cxreasonbench.Path, population *contract.PopulationDoc) (*walker, error) {
	in := r.r
	in.Task, in.Path, in.First, in.Count = t.Task, path, t.First, t.Count
	if path == cxreasonbench.Path2 {
		in.Count = len(population.Entries)
	}
	w, err := r.plan.Walk(in, r.bench, askDocuments{r.a.asks, r.a}, population)
	return &walker{w, r.a, r.recorded}, err
}

// recorded finds what came of a call. One that was never assembled, because a picture was never
// prepared or an earlier answer is gone, has no record.
func (r *Replay) recorded(ctx context.Context, in contract.AskInput) (contract.AskResult, artifacts.Key, bool, error) {
	out, key, ok, err := r.a.recorded(ctx, in)
	if errors.Is(err, artifacts.ErrNotFound) {
		return out, key, false, nil
	}
	return out, key, ok, err
}

// page walks every dialogue of the range.
func (w *walker) page(ctx context.Context) (*contract.DialoguesDoc, error) {
	doc := &contract.DialoguesDoc{Format: contract.DialoguesFormat, Evaluation: w.Range.Evaluation.Name, Task: w.Range.Task, Path: w.Range.Path}
	unused := newAccount()
	for place := range w.Range.Count {
		d, err := w.close(ctx, place, CallNotRecorded, &unused)
		if err != nil {
			return nil, err
		}
		doc.Dialogues = append(doc.Dialogues, d)
	}
	return doc, nil
}
