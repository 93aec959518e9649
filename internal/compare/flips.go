package compare

import (
	"fmt"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/provenance"
)

// Flip is a case, or an image under a task, whose outcome is not the same on both sides.
type Flip struct {
	// Of names the evaluation, empty for a finding. Case is its number on A, CaseB on B.
	Of     string `json:"of,omitempty"`
	Path   string `json:"path,omitempty"`
	Task   string `json:"task"`
	Case   int    `json:"case"`
	CaseB  int    `json:"case_b"`
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Turns are both transcripts, of the first flips; Fields the first fields in which two
	// findings differ.
	Turns  []TurnPair              `json:"turns,omitempty"`
	Fields []provenance.Difference `json:"fields,omitempty"`
}

// TurnPair is one question with the kept reply and score of both sides; a side that was not
// asked it has neither.
type TurnPair struct {
	Key    string `json:"key"`
	ScoreA string `json:"score_a,omitempty"`
	ScoreB string `json:"score_b,omitempty"`
	ReplyA string `json:"reply_a,omitempty"`
	ReplyB string `json:"reply_b,omitempty"`
	JudgeA string `json:"judge_a,omitempty"`
	JudgeB string `json:"judge_b,omitempty"`
}

// Parts reports whether the two sides differ in the turn. Where only one side has a judge, its
// text is no difference.
func (t TurnPair) Parts() bool {
	judged := t.JudgeA != "" && t.JudgeB != "" && t.JudgeA != t.JudgeB
	return t.ScoreA != t.ScoreB || t.ReplyA != t.ReplyB || judged
}

// flip notes a flip; transcripts are for the first ones.
func (c *comparison) flip(f Flip) {
	c.d.FlipsAll++
	if c.room() {
		c.d.Flips = append(c.d.Flips, f)
	}
}

func (c *comparison) room() bool { return c.o.Flips < 0 || len(c.d.Flips) < c.o.Flips }

// flips compares the outcome of every case of a pair on every path.
func (c *comparison) flips(e *pair) error {
	for _, path := range e.paths {
		page := path
		if path == cxreasonbench.RePath1 {
			page = cxreasonbench.Path2
		}
		for _, at := range e.order {
			x, y := e.talks[0][at], e.talks[1][at]
			if at.path != page || y == nil {
				continue
			}
			a, asked := outcome(path, x)
			b, also := outcome(path, y)
			if !asked && !also {
				continue
			}
			c.d.FlipsCases++
			if a == b {
				continue
			}
			f := Flip{Of: e.name, Path: path.String(), Task: at.task.String(), Case: x.Case, CaseB: y.Case, What: "outcome", Before: a, After: b}
			if c.room() {
				var err error
				if f.Turns, err = c.transcripts(path, x, y); err != nil {
					return err
				}
			}
			c.flip(f)
		}
	}
	return nil
}

// outcome is what became of a case on a path, in words; ok is false where it never came there.
func outcome(path cxreasonbench.Path, d *contract.DialogueDoc) (words string, ok bool) {
	if d.Undetermined != nil {
		return "undetermined: " + d.Undetermined.Call.String() + ", " + d.Undetermined.Why, true
	}
	s := cxreasonbench.ScoresOf(d.State)
	for _, v := range d.Values {
		s.Consistent[v.Key.Path] = v.Consistent
	}
	n := cxreasonbench.Count(path, []cxreasonbench.CaseScores{s})
	if n == (cxreasonbench.Counts{}) {
		return "not asked", false
	}
	last := 3
	if path == cxreasonbench.Path2 {
		last = 2
	}
	passed := 0
	for _, right := range n.Right {
		passed += right
	}
	switch {
	case n.Unknown > 0:
		return "\"I don't know\"", true
	case n.Rejected > 0:
		return "refined criterion rejected", true
	case path == cxreasonbench.RePath1 && n.Entered == 0:
		return "initial answer not right", true
	case n.Right[last] == 1:
		words = "all stages right"
	default:
		words = fmt.Sprintf("stopped after %d of %d stages", passed, last+1)
	}
	if n.Checked > 0 && n.Consistent == 0 {
		words += ", value not consistent"
	}
	return words, true
}

// transcripts lays the turns of two dialogues side by side, in the order in which they were
// asked.
func (c *comparison) transcripts(path cxreasonbench.Path, x, y *contract.DialogueDoc) ([]TurnPair, error) {
	var out []TurnPair
	at := map[cxreasonbench.Key]int{}
	for side, d := range []*contract.DialogueDoc{x, y} {
		s := []*Side{c.a, c.b}[side]
		for i, t := range d.State.Turns[d.State.Replayed:] {
			if path != cxreasonbench.RePath1 && t.Key.Path != path {
				continue
			}
			reply, err := s.reply(c.ctx, t.Draws[t.Kept].Reply)
			if err != nil {
				return nil, err
			}
			judge, err := s.reply(c.ctx, d.Turns[i].Draws[t.Kept].Verdict)
			if err != nil {
				return nil, err
			}
			k, seen := at[t.Key]
			if !seen {
				k = len(out)
				at[t.Key] = k
				out = append(out, TurnPair{Key: t.Key.String()})
			}
			if side == 0 {
				out[k].ScoreA, out[k].ReplyA, out[k].JudgeA = t.Score.String(), reply, judge
			} else {
				out[k].ScoreB, out[k].ReplyB, out[k].JudgeB = t.Score.String(), reply, judge
			}
		}
	}
	return out, nil
}
