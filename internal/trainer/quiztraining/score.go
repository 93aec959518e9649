package quiztraining

import (
	"context"
	"fmt"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/report"
	"cxrepro/internal/stats"
	"cxrepro/internal/xragent/quiz"
)

// Score is how a checkpoint answered questions, greedily.
type Score struct {
	// Model names the checkpoint.
	Model string `json:"model"`
	Items int    `json:"items"`
	Right int    `json:"right"`
	// Correct says of each question, in order, whether its answer was right.
	Correct  []bool                      `json:"-"`
	Families map[quiz.Family]FamilyScore `json:"families"`
}

// FamilyScore is that of the questions of one family.
type FamilyScore struct {
	Items     int     `json:"items"`
	Right     int     `json:"right"`
	Called    int     `json:"called"` // questions with a call or more
	Malformed int     `json:"malformed"`
	Reward    float64 `json:"reward"` // their sum
}

// Evaluate asks a checkpoint n questions greedily.
func Evaluate(ctx context.Context, policy lvlm.Asker, model string, n int, question func(i int) (Laid, error)) (Score, error) {
	s := Score{Model: model}
	seed := Sampling{Model: model}
	families := make([]quiz.Family, n)
	list, err := All(ctx, n, policy, func(i int) (Laid, Sampling, error) {
		l, err := question(i)
		families[i] = l.Family
		return l, seed, err
	})
	if err != nil {
		return s, err
	}
	for i, o := range list {
		s.Add(families[i], o.Judged.Correct, o.Judged.Calls > 0, !o.Judged.WellFormed(), o.Reward)
	}
	return s, nil
}

// Add counts one answer.
func (s *Score) Add(f quiz.Family, right, called, malformed bool, reward float64) {
	if s.Families == nil {
		s.Families = map[quiz.Family]FamilyScore{}
	}
	x := s.Families[f]
	x.Items++
	x.Reward += reward
	for count, yes := range map[*int]bool{&x.Right: right, &x.Called: called, &x.Malformed: malformed} {
		if yes {
			*count++
		}
	}
	if s.Items++; right {
		s.Right++
	}
	s.Correct, s.Families[f] = append(s.Correct, right), x
}

// Calls are the questions with a call of those that need a tool, and of those that need none.
func (s Score) Calls() (needed, needless stats.Proportion) {
	for f, x := range s.Families {
		p := &needless
		if f.Tool() != "" {
			p = &needed
		}
		p.K += x.Called
		p.N += x.Items
	}
	return needed, needless
}

// Against pairs the answers with those of another checkpoint to the same questions, this one first.
func (s Score) Against(other Score) (p stats.Paired) {
	for i := range s.Correct {
		p.Add(s.Correct[i], other.Correct[i])
	}
	return p
}

// HeldOut is the table of checkpoints on the same questions, each against the one before.
func HeldOut(scores []Score) *report.Table {
	const right, called = "right", "called"
	t := &report.Table{Title: "Held-out questions, answered greedily", Name: "held-out",
		Columns: []report.Column{{Name: "checkpoint"}, {Name: "right", Right: true}},
		Formulas: []report.Formula{{ID: right, Text: "right answers of the questions asked; an answer that breaks the form is wrong"},
			{ID: called, Text: "questions with one tool call or more, of the questions asked"}}}
	for _, f := range quiz.Families() {
		t.Columns = append(t.Columns, report.Column{Name: string(f), Right: true})
	}
	t.Columns = append(t.Columns, report.Column{Name: "calls where needed", Right: true}, report.Column{Name: "where not", Right: true}, report.Column{Name: "malformed", Right: true})
	for i, s := range scores {
		cells := []report.Cell{report.Text(s.Model), report.Share(s.Right, s.Items, right)}
		malformed := 0
		for _, f := range quiz.Families() {
			x, ok := s.Families[f]
			if malformed += x.Malformed; !ok {
				cells = append(cells, report.Absent("none asked"))
				continue
			}
			cells = append(cells, report.Share(x.Right, x.Items, right))
		}
		needed, needless := s.Calls()
		t.Add(append(cells, report.Share(needed.K, needed.N, called), report.Share(needless.K, needless.N, called), report.Count(malformed, right))...)
		if i > 0 {
			t.Notes = append(t.Notes, Difference(s, scores[i-1]))
		}
	}
	return t
}

// Difference says how two checkpoints differ on the same questions, with the exact McNemar test.
func Difference(s, other Score) string {
	name, than := s.Model, other.Model
	p := s.Against(other)
	value, ok := p.McNemar()
	if !ok {
		return fmt.Sprintf("%s against %s: no question differs", name, than)
	}
	return fmt.Sprintf("%s against %s: right %d and %d of %d; %d questions only %s, %d only %s; exact McNemar p = %.2g", name, than, s.Right, other.Right, s.Items, p.OnlyFirst, name, p.OnlySecond, than, value)
}
