package cxreasonbench

// Tally holds the numbers of question-answer pairs of a benchmark.
type Tally struct {
	Path1   int `json:"path1"`
	Path2   int `json:"path2"`
	RePath1 int `json:"re_path1"`
	// Path2Asked is how many questions Path 2 really asks: one for each structure.
	Path2Asked int `json:"path2_asked"`
	// Files of the official layout.
	Files int `json:"files"`
}

// Pairs is the total as the paper counts it.
func (t Tally) Pairs() int { return t.Path1 + t.Path2 + t.RePath1 }

// Questions is how many questions there are to put to a model.
func (t Tally) Questions() int { return t.Path1 + t.Path2Asked + t.RePath1 }

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Path1 += o.Path1
	t.Path2 += o.Path2
	t.RePath1 += o.RePath1
	t.Path2Asked += o.Path2Asked
	t.Files += o.Files
}

// Count adds items the way the paper counts pairs: in Path 1 and in the
// re-evaluated Path 1 each round is one, in Path 2 each stage of a case is one.
//
// 1,200 cases, 100 for each task, give 8,044 + 3,600 + 7,344 = 18,988.
func (t *Tally) Count(items ...Item) {
	for _, it := range items {
		t.Files++
		switch it.Path {
		case Path1:
			t.Path1 += len(it.Questions)
		case Path2:
			t.Path2++
			t.Path2Asked += len(it.Questions)
		case RePath1:
			t.RePath1 += len(it.Questions)
		}
	}
}
