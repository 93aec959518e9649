package quiztraining

import (
	"context"
	"fmt"
	"strconv"

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
	// Undetermined are questions that nobody knows an answer to, because an endpoint or the machine
	// failed. They are in no other count.
	Undetermined int `json:"undetermined,omitempty"`
	// Correct says of each question, by its id, whether its answer was right.
	Correct  map[string]bool             `json:"-"`
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
		s.Add(strconv.Itoa(i), families[i], o.Judged.Correct, o.Judged.Calls > 0, !o.Judged.WellFormed(), o.Reward)
	}
	return s, nil
}

// Add counts the answer to a question.
func (s *Score) Add(id string, f quiz.Family, right, called, malformed bool, reward float64) {
	if s.Families == nil {
		s.Families, s.Correct = map[quiz.Family]FamilyScore{}, map[string]bool{}
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
	s.Correct[id], s.Families[f] = right, x
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

// Against pairs the answers with those of another checkpoint, this one first: those of questions
// that both answered.
func (s Score) Against(other Score) (p stats.Paired) {
	for id, right := range s.Correct {
		if than, ok := other.Correct[id]; ok {
			p.Add(right, than)
		}
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
		if s.Undetermined > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d undetermined, in no count", s.Model, s.Undetermined))
		}
		if i > 0 {
			t.Notes = append(t.Notes, Difference(s, scores[i-1]))
		}
	}
	return t
}

// Difference says how two checkpoints differ on the questions that both answered, with the exact
// McNemar test.
func Difference(s, other Score) string {
	name, than := s.Model, other.Model
	p := s.Against(other)
	value, ok := p.McNemar()
	if !ok {
		return fmt.Sprintf("%s against %s: no question differs", name, than)
	}
	return fmt.Sprintf("%s against %s: right %d and %d of %d; %d questions only %s, %d only %s; exact McNemar p = %.2g", name, than, p.Both+p.OnlyFirst, p.Both+p.OnlySecond, p.N(), p.OnlyFirst, name, p.OnlySecond, than, value)
}
