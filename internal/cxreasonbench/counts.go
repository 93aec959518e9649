package cxreasonbench

// CaseScores is what the scores of one case come down to: those of Path 1, or those of Path 2
// and the re-evaluation that followed.
type CaseScores struct {
	Case string
	// Entry is how the case came to Path 2; zero for Path 1.
	Entry Entry
	// Scores holds every question asked.
	Scores map[Key]Score
	// Consistent holds, for each path of a measurement task whose last question was asked,
	// whether the value told lies in the range chosen before.
	Consistent map[Path]bool
}

// ScoresOf returns the scores of a dialogue's own turns. Consistent is left empty: it needs
// texts, which a state does not hold.
func ScoresOf(s State) CaseScores {
	c := CaseScores{Case: s.Case, Entry: s.Entry, Scores: map[Key]Score{}, Consistent: map[Path]bool{}}
	for i, t := range s.Turns {
		if s.Entry == 0 || i >= s.Replayed {
			c.Scores[t.Key] = t.Score
		}
	}
	return c
}

// Counts are the counts of one task and path that every figure is made of.
type Counts struct {
	// Candidates: re-evaluation only, the cases whose guidance ended right.
	Candidates int `json:"candidates,omitempty"`
	// Entered: cases that count as attempts of the first stage. In Path 1 those that did
	// not answer "I don't know", in Path 2 all, in the re-evaluation those whose first
	// answer was right.
	Entered int `json:"entered,omitempty"`
	// Unknown: Path 1 only, cases that answered "I don't know" to the first question.
	Unknown int `json:"unknown,omitempty"`
	// Rejected: Path 1 only, cases that rejected the refined criterion.
	Rejected int `json:"rejected,omitempty"`
	// Malformed: Path 1 only, cases whose refined criterion was neither accepted nor
	// rejected. They stop, and count as accepted.
	Malformed int `json:"malformed,omitempty"`
	// Right holds the cases right in each stage, all rounds: four, in Path 2 three.
	Right [4]int `json:"right"`
	// Checked: cases whose value was checked; Consistent: those whose value was consistent;
	// RightConsistent: those that also were right.
	Checked         int `json:"checked,omitempty"`
	Consistent      int `json:"consistent,omitempty"`
	RightConsistent int `json:"right_consistent,omitempty"`
	// Aligned: cases right in the first and in the last question.
	Aligned int `json:"aligned,omitempty"`
}

// Accepted are the attempts of Stage 2 of Path 1: Stage 1 right and the refined criterion not
// rejected.
func (c Counts) Accepted() int { return c.Right[0] - c.Rejected }

// Remaining are the cases of Path 1 that completion and depth are over.
func (c Counts) Remaining() int { return c.Entered - c.Rejected }

// Add pools the counts of two sets of cases.
func (c Counts) Add(d Counts) Counts {
	c.Candidates += d.Candidates
	c.Entered += d.Entered
	c.Unknown += d.Unknown
	c.Rejected += d.Rejected
	c.Malformed += d.Malformed
	for i := range c.Right {
		c.Right[i] += d.Right[i]
	}
	c.Checked += d.Checked
	c.Consistent += d.Consistent
	c.RightConsistent += d.RightConsistent
	c.Aligned += d.Aligned
	return c
}

// passed reports whether a stage was asked and every round of it was right.
func (c CaseScores) passed(path Path, stage Stage) bool {
	asked := false
	for k, s := range c.Scores {
		if k.Path == path && k.Stage == stage {
			if s != Right {
				return false
			}
			asked = true
		}
	}
	return asked
}

func (c CaseScores) score(path Path, stage Stage) Score {
	return c.Scores[Key{Path: path, Stage: stage}]
}

// Count counts the cases of one task in one path. The order of cases does not matter, and the
// counts of shards add up.
func Count(path Path, cases []CaseScores) Counts {
	var total Counts
	for _, c := range cases {
		total = total.Add(c.count(path))
	}
	return total
}

func (c CaseScores) count(path Path) Counts {
	n := Counts{}
	stages := []Stage{StageCriteria, StageStructures, StageMeasurement, StageFinal}
	switch path {
	case Path1:
		switch first := c.score(Path1, StageInit); {
		case !first.Valid():
			return n
		case first == Unknown:
			n.Unknown = 1
			return n
		}
		n.Entered = 1
		switch c.score(Path1, StageRefined) {
		case Unknown:
			n.Rejected = 1
		case Wrong, NoneOfAbove:
			n.Malformed = 1
		}
	case Path2:
		if c.Entry == 0 {
			return n
		}
		n.Entered = 1
		stages = stages[1:]
	case RePath1:
		if c.score(Path2, StageFinal) != Right {
			return n
		}
		n.Candidates = 1
		if c.score(RePath1, StageInit) != Right {
			return n
		}
		n.Entered = 1
	}
	for i, stage := range stages {
		if !c.passed(path, stage) {
			break
		}
		n.Right[i] = 1
	}
	last := len(stages) - 1
	if consistent, checked := c.Consistent[path]; checked {
		n.Checked = 1
		if consistent {
			n.Consistent = 1
			n.RightConsistent = n.Right[last]
		}
	}
	if n.Right[last] == 1 && c.score(path, StageInit) == Right {
		n.Aligned = 1
	}
	return n
}
