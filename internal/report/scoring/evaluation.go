package scoring

import (
	"fmt"
	"slices"
	"strconv"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// Evaluation counts the dialogues of one evaluation.
type Evaluation struct {
	ref contract.EvaluationRef
	// cases holds determined dialogues: of Path 1, and of Path 2 with the re-evaluation.
	cases        map[cxreasonbench.Path]map[cxreasonbench.Task][]cxreasonbench.CaseScores
	seen         map[seenKey]bool
	stages       map[stageKey]*contract.SummaryStage
	readings     map[readingKey]int
	forms        map[formKey]int
	undetermined []contract.SummaryUndetermined
	waiting      []contract.Count
	again        int
}

type seenKey struct {
	path cxreasonbench.Path
	task cxreasonbench.Task
	id   int
}

type stageKey struct {
	path  cxreasonbench.Path
	stage cxreasonbench.Stage
}

type readingKey struct {
	stageKey
	judge, parser string
}

type formKey struct {
	path cxreasonbench.Path
	task cxreasonbench.Task
	form string
}

// New begins the count of an evaluation.
func New(ref contract.EvaluationRef) *Evaluation {
	return &Evaluation{
		ref: ref,
		cases: map[cxreasonbench.Path]map[cxreasonbench.Task][]cxreasonbench.CaseScores{
			cxreasonbench.Path1: {}, cxreasonbench.Path2: {},
		},
		seen: map[seenKey]bool{}, stages: map[stageKey]*contract.SummaryStage{}, readings: map[readingKey]int{}, forms: map[formKey]int{},
	}
}

// Waits notes that the Path 2 of a task waits for the Path 1 results of some cases.
func (e *Evaluation) Waits(task cxreasonbench.Task, cases int) {
	e.waiting = contract.AddCount(e.waiting, task.String(), cases)
}

// Put adds the scores of dialogues of one task that came to an end otherwise than on pages. Of
// Path 2 they hold those of the re-evaluation too.
func (e *Evaluation) Put(path cxreasonbench.Path, task cxreasonbench.Task, cases []cxreasonbench.CaseScores) {
	e.cases[path][task] = append(e.cases[path][task], cases...)
}

// Add counts a page.
//
// Errors: a page of another evaluation, or a dialogue that contradicts itself or was counted
// before.
func (e *Evaluation) Add(page *contract.DialoguesDoc) error {
	switch {
	case page.Format != contract.DialoguesFormat:
		return fmt.Errorf("page of dialogues: format %q, want %q", page.Format, contract.DialoguesFormat)
	case page.Evaluation != e.ref.Name:
		return fmt.Errorf("page of evaluation %s stands among those of %s", page.Evaluation, e.ref.Name)
	case e.cases[page.Path] == nil:
		return fmt.Errorf("page of %s: dialogues begin with path1 or path2", page.Path)
	}
	for i := range page.Dialogues {
		if err := e.dialogue(page, &page.Dialogues[i]); err != nil {
			return fmt.Errorf("evaluation %s, %s of %s, case %d: %w", e.ref.Name, page.Path, page.Task, page.Dialogues[i].Case, err)
		}
	}
	return nil
}

func (e *Evaluation) dialogue(page *contract.DialoguesDoc, d *contract.DialogueDoc) error {
	at := seenKey{page.Path, page.Task, d.Case}
	if e.seen[at] {
		return fmt.Errorf("counted twice")
	}
	e.seen[at] = true
	own := d.State.Turns[d.State.Replayed:]
	if len(own) != len(d.Turns) {
		return fmt.Errorf("%d turns with an outcome, %d with details", len(own), len(d.Turns))
	}
	for i := range own {
		if err := e.turn(&own[i], &d.Turns[i]); err != nil {
			return fmt.Errorf("%s: %w", own[i].Key, err)
		}
	}
	if d.Undetermined != nil {
		e.undetermined = append(e.undetermined, contract.SummaryUndetermined{
			Case: d.Case, Task: page.Task, Path: page.Path, Call: d.Undetermined.Call.String(), Why: d.Undetermined.Why,
		})
		return nil
	}
	if step := d.State.Step(); step.Kind != cxreasonbench.StepDone || step.End != d.End {
		return fmt.Errorf("its turns do not end as %s", d.End)
	}
	scores := cxreasonbench.ScoresOf(d.State)
	for _, v := range d.Values {
		scores.Consistent[v.Key.Path] = v.Consistent
		e.forms[formKey{v.Key.Path, page.Task, v.Form}]++
	}
	e.cases[page.Path][page.Task] = append(e.cases[page.Path][page.Task], scores)
	return nil
}

// turn counts the draws of one question, whether or not its dialogue came to an end.
func (e *Evaluation) turn(t *cxreasonbench.Turn, doc *contract.TurnDoc) error {
	if t.Key != doc.Key || len(t.Draws) != len(doc.Draws) {
		return fmt.Errorf("details of %s with %d draws stand beside %d draws", doc.Key, len(doc.Draws), len(t.Draws))
	}
	at := stageKey{t.Key.Path, t.Key.Stage}
	s := e.stages[at]
	if s == nil {
		s = &contract.SummaryStage{Path: at.path, Stage: at.stage, Terminals: []contract.Count{}}
		e.stages[at] = s
	}
	for i, d := range t.Draws {
		s.Draws++
		if d.Terminal != 0 {
			s.Terminals = contract.AddCount(s.Terminals, d.Terminal.String(), 1)
			continue
		}
		s.Judged++
		if e.ref.Judge == "" {
			continue
		}
		if doc.Draws[i].Again > 0 {
			e.again++
		}
		parser := doc.Draws[i].Parsed.String()
		switch {
		case doc.Draws[i].Unread != 0:
			parser = doc.Draws[i].Unread.String()
		case !doc.Draws[i].Parsed.Valid():
			continue // no text was read
		}
		e.readings[readingKey{at, d.Score.String(), parser}]++
	}
	return nil
}

// Cases returns the determined dialogues that a path's figures are over, by task.
func (e *Evaluation) Cases(path cxreasonbench.Path) map[cxreasonbench.Task][]cxreasonbench.CaseScores {
	if path == cxreasonbench.RePath1 {
		path = cxreasonbench.Path2
	}
	return e.cases[path]
}

// Paths are those that the evaluation was asked for.
func (e *Evaluation) Paths() []cxreasonbench.Path {
	if e.ref.Path2 {
		return cxreasonbench.Paths()
	}
	return []cxreasonbench.Path{cxreasonbench.Path1}
}

// sortedUndetermined are the undetermined cases by path and number.
func (e *Evaluation) sortedUndetermined() []contract.SummaryUndetermined {
	list := slices.Clone(e.undetermined)
	slices.SortFunc(list, func(a, b contract.SummaryUndetermined) int {
		if a.Path != b.Path {
			return int(a.Path) - int(b.Path)
		}
		return a.Case - b.Case
	})
	if list == nil {
		list = []contract.SummaryUndetermined{}
	}
	return list
}

// CaseNumber reads a case number as states hold it.
func CaseNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("case %q is no number of a manifest", text)
	}
	return n, nil
}
