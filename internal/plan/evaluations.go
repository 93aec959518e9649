package plan

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
)

// evaluation is one model in one way of sampling.
type evaluation struct {
	p            *planner
	ref          contract.EvaluationRef
	index        int
	of           experiments.EvaluationOf
	model, judge *callRow
	// base is the evaluation that says what to expect; alike, that it has this one's name.
	base  *baseEvaluation
	alike bool
	// bounds remembers what the state machine allows.
	bounds map[string]cxreasonbench.CallBounds
	// copied says that every task took its account from the base, so that its document is the
	// base's.
	copied bool
}

// taskCases are the cases of one task: known ones in the manifest, and others.
type taskCases struct {
	contract.TaskRange
	unbuilt []string
	undrawn int
}

// evaluations walks every evaluation, and the tables.
func (p *planner) evaluations(ctx context.Context) (err error) {
	if p.pl.Spec.Evaluation == nil {
		return nil
	}
	if p.ev, err = derive.NewEvaluated(p.pl.Plan, p.pl.Ref, p.docs.pack(ctx)); err != nil {
		return err
	}
	refs, err := contract.EvaluationsOf(p.pl.Plan)
	if err != nil {
		return err
	}
	if err := p.openAnswers(ctx); err != nil {
		return err
	}
	docs := make([]artifacts.Digest, len(refs))
	for i, ref := range refs {
		e := &evaluation{p: p, ref: ref, index: i, of: p.ev.Evaluations[i], bounds: map[string]cxreasonbench.CallBounds{}, copied: true}
		e.model = p.call(ledger.KindModel, ref.Model, e.of.Sampling)
		if ref.Judge != "" {
			e.judge = p.call(ledger.KindJudge, ref.Judge, e.of.Sampling)
		}
		if e.base, e.alike, err = p.base.evaluation(ctx, ref); err != nil {
			return err
		}
		for _, t := range p.tasks() {
			before := e.sofar()
			if err := e.task(ctx, t); err != nil {
				return err
			}
			p.countTask(t.Task, before, e.sofar())
		}
		if e.copied && p.bench.whole && p.bench.ref.Digest == p.base.receipt.Benchmark.Digest && e.base.index == i {
			docs[i] = p.base.receipt.Evaluations[i].Digest
		}
	}
	return p.tabulate(ctx, docs)
}

// openAnswers lists the recorded calls.
func (p *planner) openAnswers(ctx context.Context) (err error) {
	p.answers = map[string]map[artifacts.Digest]catalog.Entry{}
	for _, step := range []string{contract.StepCall, contract.StepCallOutcome} {
		if p.answers[step], err = p.shelf.All(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// sofar is what was counted of both rows.
func (e *evaluation) sofar() tally {
	t := e.model.tally
	if e.judge != nil {
		t.add(e.judge.tally)
	}
	return t
}

// countTask adds what came to the rows to a task.
func (p *planner) countTask(task cxreasonbench.Task, before, after tally) {
	at := slices.IndexFunc(p.out.Tasks, func(r TaskRow) bool { return r.Task == task.String() })
	if at < 0 {
		at = len(p.out.Tasks)
		p.out.Tasks = append(p.out.Tasks, TaskRow{Task: task.String(), Needed: sure(0).figure(), Run: sure(0).figure()})
	}
	row := &p.out.Tasks[at]
	row.Needed = row.Needed.Add(after.needed.minus(before.needed).figure())
	row.Run = row.Run.Add(after.run.minus(before.run).figure())
}

// tasks lists the tasks with the cases that are known of them, in the order of the tables.
func (p *planner) tasks() (list []taskCases) {
	known := map[cxreasonbench.Task]contract.TaskRange{}
	for _, r := range contract.TasksOf(p.bench.doc.Cases) {
		known[r.Task] = r
	}
	for i, t := range cxreasonbench.Tasks() {
		c := taskCases{TaskRange: known[t], unbuilt: p.bench.unbuilt[t]}
		if c.Task = t; p.bench.undrawn {
			c.undrawn = p.bench.quotas[i]
		}
		if c.Count+len(c.unbuilt)+c.undrawn > 0 {
			list = append(list, c)
		}
	}
	return list
}

// task walks the dialogues of one task.
func (e *evaluation) task(ctx context.Context, t taskCases) error {
	if done, err := e.fromAccount(ctx, t); done || err != nil {
		return err
	}
	e.copied = false
	r := contract.DialogueRange{
		Plan: e.p.o.Ref, Benchmark: e.p.bench.ref, Reproduction: e.p.out.Reproduction, Index: e.index, Evaluation: e.ref,
		Task: t.Task, Path: cxreasonbench.Path1, First: t.First, Count: t.Count,
	}
	w, err := e.p.ev.Walk(r, e.p.bench.doc, e.p.docs, nil)
	if err != nil {
		return err
	}
	x := &taskWalk{e: e, cases: t, again: w.Again, whole: len(t.unbuilt)+t.undrawn == 0}
	for place := range t.Count {
		if err := x.dialogue(ctx, w, place); err != nil {
			return err
		}
	}
	for _, id := range t.unbuilt {
		x.blind(id, 1)
	}
	if t.undrawn > 0 {
		x.blind("", t.undrawn)
	}
	if !e.ref.Path2 {
		return nil
	}
	if !x.whole {
		return x.blindPath2(ctx, w)
	}
	return x.path2(ctx, w)
}

// fromAccount takes the account of calls from the base, where nothing that a call of the task
// depends on differs, and every call still has its record.
func (e *evaluation) fromAccount(ctx context.Context, t taskCases) (bool, error) {
	if !e.alike || len(t.unbuilt)+t.undrawn > 0 || e.p.base.receipt.Incomplete() || !e.sameCalls(t) {
		return false, nil
	}
	calls := e.base.accounts[t.Task]
	entries := make([]catalog.Entry, len(calls))
	for i, c := range calls {
		entry, ok := e.p.answers[contract.StepCall][c.Key]
		if !ok {
			entry, ok = e.p.answers[contract.StepCallOutcome][c.Key]
		}
		if !ok {
			return false, nil
		}
		entries[i] = entry
	}
	for i, c := range calls {
		row := e.model
		if c.Count.Kind == ledger.KindJudge {
			row = e.judge
		}
		e.p.recordedCall(row, c.Key, entries[i], c.Times)
	}
	return true, ctx.Err()
}

// recordedCall counts a call that has a record. One of this reproduction's own is done once, and
// reused wherever else it is needed.
func (p *planner) recordedCall(row *callRow, key artifacts.Digest, entry catalog.Entry, times int) {
	if p.mine(entry) && !p.planned[key] {
		p.planned[key] = true
		row.found(true, 1)
		times--
	}
	row.found(false, float64(times))
}

// sameCalls compares what the calls of a task depend on.
func (e *evaluation) sameCalls(t taskCases) bool {
	p, b := e.p, e.p.base
	old := b.refs[e.base.index]
	x, y := e.of, b.ev.Evaluations[e.base.index]
	if old.Draws != e.ref.Draws || old.Path2 != e.ref.Path2 || (old.Judge == "") != (e.ref.Judge == "") || !sameJSON(old.Rules, e.ref.Rules) {
		return false
	}
	s, o := p.pl.Spec.Evaluation, b.pl.Spec.Evaluation
	if s.Seed != o.Seed || !sameJSON(s.Retry, o.Retry) || p.ev.Prompts.Digest() != b.ev.Prompts.Digest() || p.bench.doc.System != b.bench.System {
		return false
	}
	if !sameModel(x.Model, y.Model) || !sameJSON(derive.DecodingOf(x, s), derive.DecodingOf(y, o)) {
		return false
	}
	if e.ref.Judge != "" && (!sameModel(p.pl.Judge, b.pl.Judge) || !sameJSON(p.pl.Judge.Greedy, b.pl.Judge.Greedy)) {
		return false
	}
	list := contract.TasksOf(b.bench.Cases)
	at := slices.IndexFunc(list, func(r contract.TaskRange) bool { return r.Task == t.Task })
	return at >= 0 && slices.EqualFunc(p.bench.doc.Cases[t.First:t.First+t.Count], b.bench.Cases[list[at].First:list[at].First+list[at].Count],
		func(x, y contract.BenchmarkCase) bool { return x.ID == y.ID && x.Doc.Digest == y.Doc.Digest })
}

// sameModel compares what of a card enters keys, its decoding apart.
func sameModel(x, y *experiments.ModelCard) bool {
	return sameJSON(x.Identity, y.Identity) && x.Adapter == y.Adapter && x.Pictures == y.Pictures && (x.Identity.Unpinned == "" || x.Name == y.Name)
}

// unknownDigest stands in key documents for what is not known.
var unknownDigest = artifacts.Sum([]byte("unknown"))

// tabulate counts the tables. docs are the evaluations' documents, zero where one is not known.
func (p *planner) tabulate(ctx context.Context, docs []artifacts.Digest) error {
	whole, bench := p.bench.whole, p.bench.ref.Digest
	if !whole {
		bench = unknownDigest
	}
	for i := range docs {
		if docs[i].IsZero() {
			docs[i], whole = unknownDigest, false
		}
	}
	doc, err := p.pl.TabulateKey(bench, docs)
	if err != nil {
		return err
	}
	if !whole {
		return p.unsure(ctx, doc, contract.StepCall, func(input string) bool { return input != "benchmark" || bench == unknownDigest })
	}
	other, err := p.base.tabulateKey()
	if err != nil {
		return err
	}
	_, _, err = p.one(ctx, doc, other)
	return err
}

// tabulateKey is the key of the base's tables, nil for none.
func (b *base) tabulateKey() (*artifacts.KeyDoc, error) {
	if b == nil || b.ev == nil {
		return nil, nil
	}
	docs := make([]artifacts.Digest, len(b.receipt.Evaluations))
	for i, r := range b.receipt.Evaluations {
		docs[i] = r.Digest
	}
	doc, err := b.pl.TabulateKey(b.receipt.Benchmark.Digest, docs)
	return &doc, err
}
