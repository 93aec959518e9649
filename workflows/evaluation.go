package workflows

import (
	"go.temporal.io/sdk/workflow"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// evaluation is one Evaluation workflow.
type evaluation struct {
	in     contract.EvaluationInput
	gate   gate
	family *family
	tasks  []taskState
	told   contract.Gate
}

// taskState is how far one task of an evaluation is.
type taskState struct {
	path1, path2 contract.DialoguesResult
	doc          contract.EvaluationTask
	// guided counts the dialogues of Path 2.
	guided int
	err    error
}

// Evaluation puts every task of a benchmark to one model in one way of sampling: Path 1, then,
// once every case of the task has its result, Path 2 with the re-evaluation.
func Evaluation(ctx workflow.Context, in contract.EvaluationInput) (contract.EvaluationResult, error) {
	e := &evaluation{in: in, tasks: make([]taskState, len(in.Tasks))}
	e.gate.set(in.Gate)
	e.told = e.gate.state
	e.family = &family{gate: &e.gate}
	e.gate.listen(ctx)
	workflow.GoNamed(ctx, "relay", func(ctx workflow.Context) {
		for workflow.Await(ctx, func() bool { return e.gate.state != e.told }) == nil {
			e.told = e.gate.state
			e.family.tell(ctx)
		}
	})
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, e.progress); err != nil {
		return contract.EvaluationResult{}, err
	}
	if err := e.runTasks(ctx); err != nil {
		return contract.EvaluationResult{}, err
	}
	return e.close(ctx)
}

// runTasks runs a bounded number of tasks at a time.
func (e *evaluation) runTasks(ctx workflow.Context) error {
	err := each(ctx, len(e.tasks), e.in.Common.Tuning.Calls.Tasks, func(ctx workflow.Context, i int) {
		e.tasks[i].err = e.runTask(ctx, i)
	})
	if err != nil {
		return err
	}
	for i := range e.tasks {
		if err := e.tasks[i].err; err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluation) runTask(ctx workflow.Context, i int) error {
	t, cases := &e.tasks[i], e.in.Tasks[i]
	t.doc = contract.EvaluationTask{Task: cases.Task, Cases: cases.Count}
	in := e.dialogues(cases, cxreasonbench.Path1)
	var err error
	if t.path1, err = e.runDialogues(ctx, in); err != nil {
		return err
	}
	t.doc.Path1 = t.path1.Pages
	if !e.in.Evaluation.Path2 {
		return nil
	}
	cpu := work{queue: contract.QueueCPU(e.in.Common.Queue), chunk: true}
	in.Path = cxreasonbench.Path2
	chosen, err := call(ctx, e.in.Common, cpu, contract.SelectPath2, contract.SelectPath2Input{Range: rangeOf(in), Pages: t.path1.Pages})
	if err != nil {
		return passOn(err)
	}
	t.doc.Population, t.doc.Waits = chosen.Population, chosen.Waits
	if chosen.Waits > 0 || chosen.Count == 0 {
		return nil
	}
	in.Count, in.Population, t.guided = chosen.Count, chosen.Population, chosen.Count
	if t.path2, err = e.runDialogues(ctx, in); err != nil {
		return err
	}
	t.doc.Path2 = t.path2.Pages
	return nil
}

func (e *evaluation) dialogues(cases contract.TaskRange, path cxreasonbench.Path) contract.DialoguesInput {
	return contract.DialoguesInput{
		Common: e.in.Common, Reproduction: e.in.Reproduction, Benchmark: e.in.Benchmark, Index: e.in.Index,
		Evaluation: e.in.Evaluation, Task: cases.Task, Path: path, First: cases.First, Count: cases.Count, Parent: e.in.Parent,
	}
}

func (e *evaluation) runDialogues(ctx workflow.Context, in contract.DialoguesInput) (contract.DialoguesResult, error) {
	return child[contract.DialoguesInput, contract.DialoguesResult]{
		common: e.in.Common, reproduction: e.in.Reproduction, gate: &e.gate, kin: e.family,
		kind: contract.Dialogues, stage: contract.StageEvaluate,
		id: contract.DialoguesWorkflowID(e.in.Reproduction, e.in.Evaluation.Name, in.Task, in.Path),
		input: func(g contract.Gate) contract.DialoguesInput {
			in.Gate = g
			return in
		},
	}.run(ctx)
}

// close stores the evaluation's document.
func (e *evaluation) close(ctx workflow.Context) (contract.EvaluationResult, error) {
	doc := contract.EvaluationDoc{
		Format: contract.EvaluationFormat, Benchmark: e.in.Benchmark, Index: e.in.Index, Evaluation: e.in.Evaluation,
	}
	var totals contract.DialogueTotals
	var calls []artifacts.Ref
	for i := range e.tasks {
		t := &e.tasks[i]
		doc.Tasks = append(doc.Tasks, t.doc)
		for _, part := range []contract.DialoguesResult{t.path1, t.path2} {
			totals.Add(part.Totals)
			if !part.Calls.IsZero() {
				calls = append(calls, part.Calls)
			}
		}
		if t.doc.Waits > 0 {
			totals.Waiting++
		}
	}
	cpu := work{queue: contract.QueueCPU(e.in.Common.Queue)}
	out, err := call(ctx, e.in.Common, cpu, contract.CloseEvaluation, contract.CloseEvaluationInput{Doc: doc, Calls: calls})
	if err != nil {
		return contract.EvaluationResult{}, passOn(err)
	}
	return contract.EvaluationResult{Doc: out.Doc, Calls: out.Calls, Totals: totals}, nil
}

// progress sums what ended; the open children answer for themselves.
func (e *evaluation) progress() (contract.StageProgress, error) {
	p := contract.StageProgress{Stage: contract.StageEvaluate, State: contract.StateRunning, Active: e.family.active}
	if e.gate.state.Paused {
		p.State = contract.StatePaused
	}
	for i := range e.tasks {
		t := &e.tasks[i]
		p.ItemsAll += e.in.Tasks[i].Count + t.guided
		for _, part := range []contract.DialoguesResult{t.path1, t.path2} {
			p.Items += part.Totals.Dialogues
			p.Failed += part.Totals.Undetermined
			p.Calls += contract.Total(part.Totals.Calls)
		}
	}
	return p, nil
}

func rangeOf(in contract.DialoguesInput) contract.DialogueRange {
	return contract.DialogueRange{
		Plan: in.Common.Plan, Benchmark: in.Benchmark, Reproduction: in.Reproduction, Index: in.Index,
		Evaluation: in.Evaluation, Task: in.Task, Path: in.Path, First: in.First, Count: in.Count, Population: in.Population,
	}
}
