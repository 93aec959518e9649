package scoring

import (
	"errors"
	"fmt"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// A Reader scores a stored reply anew: draw i of turn t, whose details are doc. ok is false
// where nothing is stored that it could read; the old score then stays.
type Reader func(t *cxreasonbench.Turn, doc *contract.TurnDoc, i int) (s cxreasonbench.Score, terminal cxreasonbench.Terminal, ok bool, err error)

// NotAsked is the reason of a dialogue that would go on with a question that has no stored
// answer.
const NotAsked = "not_asked"

// Rescored is what another reading makes of an evaluation's dialogues.
type Rescored struct {
	// Before and After hold the score of every stored reply in both readings, under the case
	// of its dialogue: a re-evaluation is told apart by the case that it followed.
	Before, After []cxreasonbench.Scored
	// Unread counts replies that the new reading has nothing for.
	Unread int
	// Open counts dialogues that would go on with questions that were never asked, Entering
	// those of them that would newly enter Path 2, Leaving the dialogues of Path 2 that would
	// not take place.
	Open, Entering, Leaving int

	read  Reader
	value func(task cxreasonbench.Task, t cxreasonbench.Turn) (contract.ValueDoc, error)
	count *Evaluation
	// path1 holds the re-read Path 1 of each task by case; nil where it is open.
	path1 map[seenKey]*cxreasonbench.State
	// guided are the cases that have a dialogue of Path 2.
	guided map[seenKey]bool
}

// NewRescored begins a re-reading. ref is the evaluation, with the rules of the new reading;
// value reads the value of a final reply where the kept draw is another one than before.
func NewRescored(ref contract.EvaluationRef, read Reader, value func(cxreasonbench.Task, cxreasonbench.Turn) (contract.ValueDoc, error)) *Rescored {
	return &Rescored{read: read, value: value, count: New(ref), path1: map[seenKey]*cxreasonbench.State{}, guided: map[seenKey]bool{}}
}

// Counted is the count of the re-read dialogues.
func (r *Rescored) Counted() *Evaluation { return r.count }

// Add re-reads a page. Pages of a task's Path 1 come before those of its Path 2.
//
// Errors: those of the reader, and a page that contradicts itself.
func (r *Rescored) Add(page *contract.DialoguesDoc) error {
	out := *page
	out.Dialogues = nil
	for i := range page.Dialogues {
		d, keep, err := r.dialogue(page, &page.Dialogues[i])
		if err != nil {
			return fmt.Errorf("%s of %s, case %d: %w", page.Path, page.Task, page.Dialogues[i].Case, err)
		}
		if keep {
			out.Dialogues = append(out.Dialogues, d)
		}
	}
	return r.count.Add(&out)
}

// Close counts the cases that the new reading sends to Path 2 for the first time.
func (r *Rescored) Close() {
	for at, s := range r.path1 {
		if !r.count.ref.Path2 || s == nil || r.guided[at] || s.Step().End.Entry() == 0 {
			continue
		}
		r.Entering++
		r.Open++
		r.count.undetermined = append(r.count.undetermined, contract.SummaryUndetermined{
			Case: at.id, Task: at.task, Path: cxreasonbench.Path2, Call: cxreasonbench.CallModel.String(), Why: NotAsked,
		})
	}
}

// dialogue re-reads one dialogue as far as its replies go.
func (r *Rescored) dialogue(page *contract.DialoguesDoc, d *contract.DialogueDoc) (out contract.DialogueDoc, keep bool, err error) {
	at := seenKey{cxreasonbench.Path1, page.Task, d.Case}
	start := d.State
	start.Turns, start.NoReview, start.ReviewCase, start.ReviewShape = nil, false, "", cxreasonbench.Shape{}
	if page.Path == cxreasonbench.Path2 {
		r.guided[at] = true
		before := r.path1[at]
		if before == nil || before.Step().End.Entry() == 0 {
			r.Leaving++
			return out, false, nil
		}
		if start, _, err = cxreasonbench.StartPath2(*before, d.State.Guidance); err != nil {
			return out, false, err
		}
	}
	start.Rules = r.count.ref.Rules
	outcomes, err := r.outcomes(page.Task, d)
	if err != nil {
		return out, false, err
	}
	out = *d
	out.End, out.Undetermined, out.Turns, out.Values = 0, nil, []contract.TurnDoc{}, nil
	s := start
	for i := 0; ; i++ {
		step := s.Step()
		if step.Kind == cxreasonbench.StepReselect {
			// The re-selection depends on every Path 1 of the task; the case stays the one
			// that was asked about.
			if s, _, err = cxreasonbench.Reselected(s, d.State.ReviewCase, d.State.ReviewShape); err != nil {
				return out, false, err
			}
			step = s.Step()
		}
		if step.Kind == cxreasonbench.StepDone {
			out.State, out.End = s, step.End
			break
		}
		own := d.State.Turns[d.State.Replayed:]
		if i >= len(own) || own[i].Key != step.Ask.Key || own[i].Case != step.Ask.Case {
			out.State = s
			out.Undetermined = &cxreasonbench.Undetermined{Call: cxreasonbench.Call{Kind: cxreasonbench.CallModel, Key: step.Ask.Key}, Why: NotAsked}
			if d.Undetermined != nil && i >= len(own) {
				out.Undetermined = d.Undetermined
			} else {
				r.Open++
			}
			break
		}
		if s, _, err = cxreasonbench.Next(s, outcomes[i]); err != nil {
			return out, false, err
		}
		out.Turns = append(out.Turns, d.Turns[i])
	}
	if err := r.values(page.Task, d, &out); err != nil {
		return out, false, err
	}
	if page.Path == cxreasonbench.Path1 {
		r.path1[at] = nil
		if out.Undetermined == nil {
			state := out.State
			r.path1[at] = &state
		}
	}
	return out, true, nil
}

// outcomes re-reads every stored draw of a dialogue.
func (r *Rescored) outcomes(task cxreasonbench.Task, d *contract.DialogueDoc) ([]cxreasonbench.Outcome, error) {
	own := d.State.Turns[d.State.Replayed:]
	if len(own) != len(d.Turns) {
		return nil, errors.New("turns and their details differ in number")
	}
	var out []cxreasonbench.Outcome
	for i := range own {
		o := cxreasonbench.Outcome{}
		for k, draw := range own[i].Draws {
			before := cxreasonbench.Scored{Task: task, Case: d.State.Case, Key: own[i].Key, Draw: k, Score: draw.Score}
			s, terminal, ok, err := r.read(&own[i], &d.Turns[i], k)
			if err != nil {
				return nil, fmt.Errorf("%s, draw %d: %w", own[i].Key, k+1, err)
			}
			if !ok {
				r.Unread++
				o.Draws = append(o.Draws, draw)
				continue
			}
			after := before
			after.Score = s
			r.Before, r.After = append(r.Before, before), append(r.After, after)
			o.Draws = append(o.Draws, cxreasonbench.Draw{Score: s, Terminal: terminal, Reply: draw.Reply})
		}
		out = append(out, o)
	}
	return out, nil
}

// values keeps what was told, and reads it again where another draw is kept now.
func (r *Rescored) values(task cxreasonbench.Task, d, out *contract.DialogueDoc) error {
	for _, t := range out.State.Turns[out.State.Replayed:] {
		if t.Key.Stage != cxreasonbench.StageFinal || cxreasonbench.KindOf(task) != cxreasonbench.Measurement {
			continue
		}
		v, found := contract.ValueDoc{}, false
		for k, old := range d.State.Turns[d.State.Replayed:] {
			if old.Key != t.Key || old.Kept != t.Kept {
				continue
			}
			for _, x := range d.Values {
				if x.Key == d.State.Turns[d.State.Replayed+k].Key {
					v, found = x, true
				}
			}
		}
		if !found {
			var err error
			if v, err = r.value(task, t); err != nil {
				return err
			}
		}
		out.Values = append(out.Values, v)
	}
	return nil
}
