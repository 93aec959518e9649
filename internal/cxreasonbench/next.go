package cxreasonbench

import "fmt"

// Start begins Path 1 of a case. draws is the number of replies to every question, 1 for
// greedy decoding.
//
// Errors: rules, task, shape or draws that are invalid.
func Start(rules Rules, task Task, caseID string, shape Shape, draws int) (State, Step, error) {
	s := State{Rules: rules, Task: task, Case: caseID, Draws: draws, Shape: shape}
	if err := s.validate(); err != nil {
		return State{}, Step{}, err
	}
	return s, s.Step(), nil
}

// StartPath2 begins Path 2 of a case from its finished Path 1. structures is the number of
// its structure questions.
//
// The history begins with what the case's entry keeps of Path 1: the initial turn, or all
// turns up to the rejected refined criterion. The "I don't know" stays in it.
//
// Errors: a Path 1 that is not finished or does not lead to Path 2.
func StartPath2(path1 State, structures int) (State, Step, error) {
	end := path1.Step()
	if path1.Entry != 0 || end.Kind != StepDone {
		return State{}, Step{}, fmt.Errorf("cxreasonbench: path 2 of case %s needs a finished path 1: %w", path1.Case, ErrNotAsked)
	}
	entry := end.End.Entry()
	if entry == 0 {
		return State{}, Step{}, fmt.Errorf("cxreasonbench: path 1 of case %s ended as %s, which does not lead to path 2", path1.Case, end.End)
	}
	if structures < 1 {
		return State{}, Step{}, fmt.Errorf("cxreasonbench: path 2 of case %s has %d structure questions, want at least 1", path1.Case, structures)
	}
	s := path1
	s.Entry, s.Guidance = entry, structures
	s.Turns = append([]Turn(nil), path1.Turns...)
	s.Replayed = len(s.Turns)
	return s, s.Step(), nil
}

func (s State) validate() error {
	switch {
	case !s.Rules.Valid():
		return fmt.Errorf("cxreasonbench: case %s: the rules are unset; make them with NewRules", s.Case)
	case !KindOf(s.Task).valid():
		return fmt.Errorf("cxreasonbench: case %s: %s is no diagnostic task", s.Case, s.Task)
	case s.Draws < 1:
		return fmt.Errorf("cxreasonbench: case %s: %d draws, want at least 1", s.Case, s.Draws)
	}
	return s.Shape.Validate()
}

func (k Kind) valid() bool { return k == Measurement || k == Recognition }

// Next takes the outcome of the question that s waits for and returns what follows. s is not
// changed.
//
// Errors: ErrFinished, ErrNotAsked, or an outcome with another number of draws, an invalid
// score, or a terminal draw that is not Wrong.
func Next(s State, o Outcome) (State, Step, error) {
	step := s.Step()
	switch step.Kind {
	case StepDone:
		return s, step, fmt.Errorf("case %s: %w", s.Case, ErrFinished)
	case StepReselect:
		return s, step, fmt.Errorf("case %s: an answer where the re-evaluation needs its case: %w", s.Case, ErrNotAsked)
	}
	if len(o.Draws) != s.Draws {
		return s, step, fmt.Errorf("cxreasonbench: case %s, %s: %d draws, want %d", s.Case, step.Ask.Key, len(o.Draws), s.Draws)
	}
	scores := make([]Score, len(o.Draws))
	for i, d := range o.Draws {
		if !d.Score.Valid() {
			return s, step, fmt.Errorf("cxreasonbench: case %s, %s, draw %d: %s", s.Case, step.Ask.Key, i, d.Score)
		}
		if d.Terminal != 0 && d.Score != Wrong {
			return s, step, fmt.Errorf("cxreasonbench: case %s, %s, draw %d: %s scored as %s, want wrong", s.Case, step.Ask.Key, i, d.Terminal, d.Score)
		}
		scores[i] = d.Score
	}
	turn := Turn{Key: step.Ask.Key, Case: step.Ask.Case, Draws: append([]Draw(nil), o.Draws...)}
	turn.Score, turn.Kept = Vote(scores)
	s.Turns = append(append([]Turn(nil), s.Turns...), turn)
	return s, s.Step(), nil
}

// Reselected takes the case of the re-evaluation, with the shape of its questions there; an
// empty case means that there is none. s is not changed.
//
// Errors: ErrNotAsked, the dialogue's own case, an invalid shape.
func Reselected(s State, caseID string, shape Shape) (State, Step, error) {
	step := s.Step()
	if step.Kind != StepReselect {
		return s, step, fmt.Errorf("case %s: re-selection of %q: %w", s.Case, caseID, ErrNotAsked)
	}
	if caseID == "" {
		s.NoReview = true
		return s, s.Step(), nil
	}
	if caseID == s.Case {
		return s, step, fmt.Errorf("cxreasonbench: case %s cannot be re-evaluated on itself", s.Case)
	}
	if err := shape.Validate(); err != nil {
		return s, step, fmt.Errorf("re-selected case %s: %w", caseID, err)
	}
	s.ReviewCase, s.ReviewShape = caseID, shape
	return s, s.Step(), nil
}

// Step returns what s waits for. It is a function of the turns alone, so a resumed dialogue
// continues as if it had never stopped.
func (s State) Step() Step {
	if s.Entry == 0 {
		return s.walk(path1Stages(s.Task), s.Turns, Path1, s.Case, s.Shape)
	}
	guided := s.Turns[s.Replayed:]
	review := len(guided)
	for i, t := range guided {
		if t.Key.Path == RePath1 {
			review = i
			break
		}
	}
	step := s.walk(path2Stages, guided[:review], Path2, s.Case, Shape{StructureRounds: s.Guidance})
	if step.Kind != StepDone || step.End != EndComplete || guided[review-1].Score != Right {
		return step
	}
	switch {
	case s.NoReview:
		return Step{Kind: StepDone, End: EndNoReview}
	case s.ReviewCase == "":
		return Step{Kind: StepReselect}
	}
	return s.walk(reviewStages, guided[review:], RePath1, s.ReviewCase, s.ReviewShape)
}

var (
	path2Stages  = []Stage{StageStructures, StageMeasurement, StageFinal}
	reviewStages = []Stage{StageInit, StageCriteria, StageStructures, StageMeasurement, StageFinal}
	refinedPath1 = []Stage{StageInit, StageCriteria, StageRefined, StageStructures, StageMeasurement, StageFinal}
)

// path1Stages are those of the re-evaluation, with the refined criterion where a task has one.
func path1Stages(t Task) []Stage {
	if ExpertDefined(t) {
		return refinedPath1
	}
	return reviewStages
}

// walk goes through the stages of one path with the turns it has, and returns what follows.
func (s State) walk(stages []Stage, turns []Turn, path Path, caseID string, shape Shape) Step {
	for _, stage := range stages {
		rounds := shape.rounds(stage)
		right, refined := true, Score(0)
		for round := 0; round < rounds; round++ {
			if len(turns) == 0 {
				return s.ask(Key{Path: path, Stage: stage, Round: round}, caseID)
			}
			score := turns[0].Score
			turns = turns[1:]
			refined = score
			if !passes(path, stage, score) {
				right = false
				if round+1 < rounds && !s.asksAll(path) {
					break
				}
			}
		}
		if stage == StageFinal {
			return Step{Kind: StepDone, End: EndComplete}
		}
		if !right {
			return Step{Kind: StepDone, End: endAt(path, stage, refined)}
		}
	}
	panic("cxreasonbench: a path without a final stage")
}

func (s Shape) rounds(stage Stage) int {
	switch stage {
	case StageCriteria:
		return s.CriteriaRounds
	case StageStructures:
		return s.StructureRounds
	}
	return 1
}

// passes reports whether a path goes on after a round. A wrong first answer goes on in Path 1,
// for the path asks for the reasoning behind it; only "I don't know" does not.
//
// Source: [official code].
func passes(path Path, stage Stage, score Score) bool {
	if path == Path1 && stage == StageInit {
		return score != Unknown
	}
	return score == Right
}

// asksAll reports whether further rounds are asked after a miss.
func (s State) asksAll(path Path) bool {
	switch path {
	case Path2:
		return s.Rules.is(GuidanceStructures, AskAll)
	case RePath1:
		return s.Rules.is(ReviewRounds, AskAll)
	}
	return false
}

func endAt(path Path, stage Stage, score Score) End {
	if path == Path1 && score == Unknown {
		switch stage {
		case StageInit:
			return EndUnknown
		case StageRefined:
			return EndRejected
		}
	}
	return EndFailed
}

func (s State) ask(k Key, caseID string) Step {
	images := 0
	for _, t := range s.Turns {
		images += t.Key.Images()
	}
	return Step{Kind: StepAsk, Ask: Ask{
		Key: k, Case: caseID, Images: k.Images(),
		HistoryTurns: len(s.Turns), HistoryImages: images,
		Judgement: JudgementOf(s.Rules, s.Task, k),
	}}
}
