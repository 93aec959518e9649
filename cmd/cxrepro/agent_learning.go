package main

import (
	"bytes"
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	tables "cxrepro/internal/report"
	"cxrepro/internal/report/agent"
	"cxrepro/internal/report/learning"
	"cxrepro/internal/trainer"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/xragent/quiz"
)

// learningPage is the page of a reproduction's training in its report folder.
const learningPage = "learning.html"

// writeLearning writes the learning curves of a reproduction that trained, with its checkpoints
// beside each other. The page is empty of one that did not.
func (a *app) writeLearning(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, t *contract.AgentTables) (p learning.Page, err error) {
	if r.Training.IsZero() {
		return p, nil
	}
	if p, err = learningOf(ctx, store, r); err != nil || p.Title == "" {
		return p, err
	}
	if t.Questions.Layout == experiments.LayoutQuiz {
		scores, err := trainedScores(ctx, store, r)
		if err != nil {
			return p, err
		}
		held := quiztraining.HeldOut(scores)
		held.Notes = append(held.Notes, learning.Note)
		p.Tables = []*tables.Table{held}
	}
	var page bytes.Buffer
	if err := p.Write(&page); err != nil {
		return p, err
	}
	return p, writeReport(a.reportFolder(r, learningPage), page.Bytes(), false)
}

// learningOf is the page of a training without tables; it has no title where nothing was rolled out
// by us.
func learningOf(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) (p learning.Page, err error) {
	var doc contract.TrainingDoc
	if err := readJSON(ctx, store, r.Training, &doc); err != nil {
		return p, err
	}
	var t contract.Training
	if err := readJSON(ctx, store, doc.Training, &t); err != nil {
		return p, err
	}
	told := ""
	for i, run := range doc.Runs {
		told += fmt.Sprintf("%s: %d steps of %d; ", run.Stage, run.Steps, t.Runs[i].Batch)
		if run.Stage != string(trainer.GRPO) || len(run.Rounds) == 0 {
			continue
		}
		x := t.Runs[i]
		c := learning.Curve{Name: fmt.Sprintf("seed %d", x.Seed), Control: x.Permute}
		if x.Permute {
			c.Name += ", permuted rewards"
		}
		if x.Scale {
			c.Name += ", scaled"
		}
		for _, round := range run.Rounds {
			c.Rounds = append(c.Rounds, learning.Round{Step: round.Step, Samples: round.Rewards.Groups * x.Group, RoundRewards: round.Rewards})
		}
		p.Title, p.Curves = "Training of "+doc.Name, append(p.Curves, c)
		told += fmt.Sprintf("%d draws of each; ", x.Group)
	}
	p.Facts = []learning.Fact{
		{Name: "reproduction", Text: r.Reproduction}, {Name: "training", Text: contract.TrainingID(doc.Training.Digest)},
		{Name: "weights", Text: doc.Runs[len(doc.Runs)-1].Weights.String()}, {Name: "told", Text: told + "base " + t.Base},
	}
	return p, nil
}

// trainedScores are the checkpoints on the drawn questions that judge them, under the first arm and
// in the first repeat.
func trainedScores(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) (out []quiztraining.Score, err error) {
	arm := ""
	err = tellRollouts(ctx, store, r, func(d agent.Told) {
		if arm == "" {
			arm = d.Arm
		}
		if d.Arm != arm || d.Repeat != 0 {
			return
		}
		if n := len(out); n == 0 || out[n-1].Model != d.Policy {
			out = append(out, quiztraining.Score{Model: d.Policy})
		}
		if d.Doc.Outcome.Undetermined {
			out[len(out)-1].Undetermined++
			return
		}
		reward, malformed := -1.0, true // a first turn that breaks the form ends a rollout
		if score := d.Doc.Score; score != nil {
			reward, malformed = score.R, score.Format < 0
		}
		o := d.Doc.Outcome
		out[len(out)-1].Add(d.Item.ID, quiz.Family(d.Item.Source), o.Correct, len(o.Calls) > 0, malformed, reward)
	})
	return out, err
}
