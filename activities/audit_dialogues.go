package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// Difference is one thing that was recorded otherwise than it follows from what lies below it.
type Difference struct {
	// Object is the object that holds it, What says what it is, Detail how it differs.
	Object, What, Detail string
}

// Dialogues runs every dialogue of one task on one path again over the recorded answers: the
// questions, keys and scores that follow from them are compared with what the pages hold. For
// Path 2 it also compares who enters it with what follows from Path 1.
//
// Errors: what is needed and not there (artifacts.ErrNotFound), such as answers that are
// withheld.
func (u *Audit) Dialogues(ctx context.Context, doc *contract.EvaluationDoc, t contract.EvaluationTask, path cxreasonbench.Path) ([]Difference, error) {
	in, err := u.dialogueRange(ctx, doc, t)
	if err != nil {
		return nil, err
	}
	list := t.Path1
	var found []Difference
	if path == cxreasonbench.Path2 {
		list = t.Path2
		if found, err = u.population(ctx, in, t); err != nil || t.Population.IsZero() {
			return found, err
		}
		pop, err := getJSON[contract.PopulationDoc](ctx, u.a.opts.Store, t.Population)
		if err != nil {
			return nil, err
		}
		in.Path, in.Population, in.Count = path, t.Population, len(pop.Entries)
	}
	w, err := u.a.walk(ctx, in)
	if err != nil {
		return nil, err
	}
	var packed contract.Packed // without pages where nobody enters
	if !list.IsZero() {
		if packed, err = getJSON[contract.Packed](ctx, u.a.opts.Store, list); err != nil {
			return nil, err
		}
	}
	place := 0
	for _, item := range packed.Items {
		page, err := getJSON[contract.DialoguesDoc](ctx, u.a.opts.Store, item.Ref)
		if err != nil {
			return nil, err
		}
		for i := range page.Dialogues {
			d, err := u.dialogue(ctx, w, place, &page.Dialogues[i])
			if err != nil {
				return nil, fmt.Errorf("case %d of %s on %s: %w", page.Dialogues[i].Case, t.Task, path, err)
			}
			if d != "" {
				found = append(found, Difference{
					Object: artifacts.BlobObject(item.Ref.Digest), Detail: d,
					What: fmt.Sprintf("dialogue of case %d of %s on %s, %s", page.Dialogues[i].Case, t.Task, path, doc.Evaluation.Name),
				})
			}
			place++
			u.p.progress()
		}
	}
	if place != in.Count {
		found = append(found, Difference{
			Object: artifacts.BlobObject(cmp.Or(list, u.r.Evaluations[doc.Index]).Digest), What: fmt.Sprintf("dialogues of %s on %s, %s", t.Task, path, doc.Evaluation.Name),
			Detail: fmt.Sprintf("%d are recorded, %d cases are asked about", place, in.Count),
		})
	}
	return found, nil
}

// dialogueRange is the range of the task's dialogues on Path 1.
func (u *Audit) dialogueRange(ctx context.Context, doc *contract.EvaluationDoc, t contract.EvaluationTask) (contract.DialogueRange, error) {
	in := contract.DialogueRange{
		Plan: u.r.Plan, Benchmark: u.r.Benchmark, Reproduction: u.r.Reproduction, Index: doc.Index, Evaluation: doc.Evaluation,
		Task: t.Task, Path: cxreasonbench.Path1,
	}
	b, err := u.a.asks.benchmark(ctx, u.r.Benchmark)
	if err != nil {
		return in, err
	}
	tasks := contract.TasksOf(b.Cases)
	i := slices.IndexFunc(tasks, func(r contract.TaskRange) bool { return r.Task == t.Task })
	if i < 0 {
		return in, fmt.Errorf("the benchmark has no case of %s", t.Task)
	}
	in.First, in.Count = tasks[i].First, tasks[i].Count
	return in, nil
}

// population compares who enters Path 2, or how many cases hold it up, with what follows from
// Path 1.
func (u *Audit) population(ctx context.Context, in contract.DialogueRange, t contract.EvaluationTask) ([]Difference, error) {
	w, err := u.a.walk(ctx, in)
	if err != nil {
		return nil, err
	}
	doc, waits, err := w.select2(ctx, t.Path1, u.pl.Spec.Evaluation.Seed, u.p.progress)
	if err != nil {
		return nil, err
	}
	holder := cmp.Or(t.Population, u.r.Evaluations[in.Index])
	d := Difference{Object: artifacts.BlobObject(holder.Digest), What: fmt.Sprintf("who enters path2 of %s, %s", t.Task, in.Evaluation.Name)}
	if doc == nil {
		if t.Population.IsZero() && t.Path2.IsZero() && t.Waits == waits {
			return nil, nil
		}
		d.Detail = fmt.Sprintf("%d cases have no result on path1, so that nobody may enter; recorded are %d that wait", waits, t.Waits)
		return []Difference{d}, nil
	}
	ref, err := refOfJSON(doc, contract.PopulationMediaType)
	if err != nil || ref.Digest == t.Population.Digest {
		return nil, err
	}
	recorded := "nothing"
	if !t.Population.IsZero() {
		recorded = t.Population.Digest.Short()
	}
	d.Detail = fmt.Sprintf("from the dialogues of path1 follow %d entries, %s; recorded is %s", len(doc.Entries), ref.Digest.Short(), recorded)
	return []Difference{d}, nil
}

// dialogue runs one dialogue and says how it differs from the recorded one, "" for nowise.
func (u *Audit) dialogue(ctx context.Context, w *walker, place int, recorded *contract.DialogueDoc) (string, error) {
	if place >= w.Range.Count {
		return "there is no such case", nil
	}
	why := ""
	if recorded.Undetermined != nil {
		why = recorded.Undetermined.Why
	}
	acc := account{byKey: map[artifacts.Digest]*contract.CallRecord{}}
	got, err := w.close(ctx, place, why, &acc)
	if err != nil {
		return "", err
	}
	a, err := artifacts.Canonical(got)
	if err != nil {
		return "", err
	}
	b, err := artifacts.Canonical(recorded)
	if err != nil || string(a) == string(b) {
		return "", err
	}
	if recorded.Undetermined == nil && got.Undetermined != nil && got.Undetermined.Why == callMissing {
		return u.missing(ctx, got.Undetermined, recorded)
	}
	return firstDifference(recorded, &got), nil
}

// missing tells a call that has no record from an answer of one that is withheld.
func (u *Audit) missing(ctx context.Context, un *cxreasonbench.Undetermined, recorded *contract.DialogueDoc) (string, error) {
	for _, t := range recorded.State.Turns {
		for _, d := range t.Draws {
			if d.Reply.IsZero() {
				continue
			}
			if has, err := u.a.opts.Store.Has(ctx, d.Reply.Digest); err != nil || !has {
				return "", errors.Join(err, fmt.Errorf("answer to %s: %w", t.Key, artifacts.ErrNotFound))
			}
		}
	}
	return fmt.Sprintf("from the recorded answers follows %s, of which there is no record", un.Call), nil
}

// firstDifference names the first turn in which two dialogues part.
func firstDifference(recorded, got *contract.DialogueDoc) string {
	for i, t := range recorded.State.Turns {
		if i >= len(got.State.Turns) {
			return fmt.Sprintf("%s was recorded; by the answers the dialogue ends before it", t.Key)
		}
		g := got.State.Turns[i]
		if g.Key != t.Key || g.Case != t.Case {
			return fmt.Sprintf("%s of case %s was recorded; by the answers %s of case %s comes then", t.Key, t.Case, g.Key, g.Case)
		}
		for k, d := range t.Draws {
			if k >= len(g.Draws) {
				return fmt.Sprintf("%s has %d draws, %d follow from the plan", t.Key, len(t.Draws), len(g.Draws))
			}
			if d != g.Draws[k] {
				return fmt.Sprintf("%s, draw %d: recorded is %s; from the answers follows %s", t.Key, k, drawWords(d), drawWords(g.Draws[k]))
			}
		}
		if g.Score != t.Score || g.Kept != t.Kept {
			return fmt.Sprintf("%s: recorded is %s, draw %d kept; from the draws follows %s, draw %d", t.Key, t.Score, t.Kept, g.Score, g.Kept)
		}
	}
	switch {
	case len(got.State.Turns) > len(recorded.State.Turns):
		return fmt.Sprintf("by the answers %s follows; the record ends before it", got.State.Turns[len(recorded.State.Turns)].Key)
	case recorded.End != got.End:
		return fmt.Sprintf("it is recorded to end as %s; by the answers it ends as %s", recorded.End, got.End)
	}
	return "what is told of its turns, verdicts or values is not what follows from the answers"
}

func drawWords(d cxreasonbench.Draw) string {
	out := d.Score.String()
	if d.Terminal != 0 {
		out += " (" + d.Terminal.String() + ")"
	}
	return out + " by answer " + d.Reply.Digest.Short()
}
