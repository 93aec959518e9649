package claims

import (
	"math"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/stats"
)

// TestFlips holds worked numbers: of three replies one dissents in 2 of 3 pairs, and three drawn
// with shares 2 : 1 vote right with 4/9 x (3 - 4/3) = 20/27.
func TestFlips(t *testing.T) {
	right, wrong, idk := cxreasonbench.Right, cxreasonbench.Wrong, cxreasonbench.Unknown
	for _, c := range []struct {
		scores   []cxreasonbench.Score
		pairs    stats.Proportion
		split    int
		variance float64
	}{
		{[]cxreasonbench.Score{right, right, right}, stats.Proportion{K: 0, N: 3}, 0, 0},
		{[]cxreasonbench.Score{right, wrong, right}, stats.Proportion{K: 2, N: 3}, 1, 20.0 / 27 * 7 / 27},
		{[]cxreasonbench.Score{wrong, wrong, right}, stats.Proportion{K: 2, N: 3}, 1, 20.0 / 27 * 7 / 27},
		{[]cxreasonbench.Score{wrong, idk, right}, stats.Proportion{K: 3, N: 3}, 1, 20.0 / 27 * 7 / 27},
		{[]cxreasonbench.Score{wrong, idk, wrong}, stats.Proportion{K: 2, N: 3}, 1, 0}, // wrong either way
		{[]cxreasonbench.Score{right, wrong}, stats.Proportion{K: 1, N: 1}, 1, 0.5},
	} {
		f := flips(c.scores)
		if f.Pairs != c.pairs || f.Split != c.split || f.Questions != 1 || math.Abs(f.variance-c.variance) > 1e-12 {
			t.Errorf("%v: %+v", c.scores, f)
		}
	}
}

// turns are those of a dialogue that ends right, every question answered by some replies.
func turns(path cxreasonbench.Path, replies ...cxreasonbench.Score) []cxreasonbench.Turn {
	var list []cxreasonbench.Turn
	for _, s := range []cxreasonbench.Stage{cxreasonbench.StageInit, cxreasonbench.StageCriteria, cxreasonbench.StageStructures, cxreasonbench.StageMeasurement, cxreasonbench.StageFinal} {
		t := cxreasonbench.Turn{Key: cxreasonbench.Key{Path: path, Stage: s}, Score: cxreasonbench.Right}
		for _, r := range replies {
			t.Draws = append(t.Draws, cxreasonbench.Draw{Score: r})
		}
		list = append(list, t)
	}
	return list
}

func drawn(turns []cxreasonbench.Turn) (replies [][]cxreasonbench.Score) {
	for _, t := range turns {
		replies = append(replies, scoresOf(t))
	}
	return replies
}

// TestRepeat: of a dialogue that another reproduction held too, questions count as far as both
// have the same history.
func TestRepeat(t *testing.T) {
	dialogue := func(texts string, scores ...cxreasonbench.Score) *contract.DialogueDoc {
		d := &contract.DialogueDoc{State: cxreasonbench.State{Turns: turns(cxreasonbench.Path1, cxreasonbench.Right)[:len(scores)]}}
		for i := range d.State.Turns {
			d.State.Turns[i].Draws[0] = cxreasonbench.Draw{Score: scores[i], Reply: artifacts.Ref{Digest: artifacts.Sum([]byte(texts[i : i+1]))}}
		}
		return d
	}
	right, wrong := cxreasonbench.Right, cxreasonbench.Wrong
	for _, c := range []struct {
		name      string
		again     *contract.DialogueDoc
		questions int
		pairs     stats.Proportion
	}{
		{"none", nil, 0, stats.Proportion{}},
		{"the same", dialogue("abc", right, right, right), 3, stats.Proportion{K: 0, N: 3}},
		{"another text at the second", dialogue("axc", right, right, wrong), 2, stats.Proportion{K: 0, N: 2}},
		{"another score at the second, where it ends", dialogue("ax", right, wrong), 2, stats.Proportion{K: 1, N: 2}},
	} {
		n := &Noise{}
		n.Add(chexstruct.Inclusion, dialogue("abc", right, right, right), c.again)
		var f Flips
		for _, x := range n.stages {
			f = f.add(x)
		}
		if f.Questions != c.questions || f.Pairs != c.pairs {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// TestWiden: an interval gets wider where replies part ways, the more the more of them do, and
// stays what it was where they agree; nothing is measured of questions answered once.
func TestWiden(t *testing.T) {
	rules := released()
	counts := map[cxreasonbench.Task]cxreasonbench.Counts{chexstruct.Inclusion: {Entered: 40, Right: [4]int{30, 25, 20, 10}, Aligned: 8}}
	e := cxreasonbench.Evaluation{Model: "m", Sampling: cxreasonbench.Stochastic, Paths: []cxreasonbench.PathScores{cxreasonbench.ScoreCounts(rules, cxreasonbench.Path1, counts)}}
	at := cxreasonbench.Place{Model: "m", Sampling: cxreasonbench.Stochastic, Path: cxreasonbench.Path1, Row: chexstruct.Inclusion.String()}
	width := func(n *Noise, c cxreasonbench.Column, row string) (float64, bool) {
		at := at
		at.Column, at.Row = c, row
		r, err := e.At(at)
		if err != nil {
			t.Fatal(err)
		}
		r.Interval.Plain = cxreasonbench.Interval{Known: true, Low: r.Plain.Value - 5, High: r.Plain.Value + 5}
		in, f, measured := n.widen(at, r, rules)
		if measured != (f.Questions > 0) {
			t.Errorf("%s: measured %t with %+v", c, measured, f)
		}
		return in.Plain.High - in.Plain.Low, measured
	}
	right, wrong := cxreasonbench.Right, cxreasonbench.Wrong
	noise := func(apart int) *Noise {
		n := &Noise{}
		for i := range 40 {
			list := turns(cxreasonbench.Path1, right, right, right)
			if i < apart {
				list = turns(cxreasonbench.Path1, right, wrong, right)
			}
			n.dialogue(chexstruct.Inclusion, list, drawn(list))
		}
		return n
	}
	for _, c := range []cxreasonbench.Column{cxreasonbench.Stage1, cxreasonbench.Stage4, cxreasonbench.Completion, cxreasonbench.Depth, cxreasonbench.Alignment} {
		last := 0.0
		for _, apart := range []int{0, 4, 20} {
			w, measured := width(noise(apart), c, at.Row)
			if !measured || apart == 0 && w != 10 || apart > 0 && w <= last {
				t.Errorf("%s: %d of 40 questions apart: width %v after %v, measured %t", c, apart, w, last, measured)
			}
			last = w
		}
	}
	own, _ := width(noise(20), cxreasonbench.Stage1, at.Row)
	if group, measured := width(noise(20), cxreasonbench.Stage1, cxreasonbench.RecognitionTasks.String()); !measured || group != own {
		t.Errorf("the mean of one task is %v wide, the task %v", group, own) // the other tasks have no value
	}
	once := &Noise{}
	once.dialogue(chexstruct.Inclusion, turns(cxreasonbench.Path1, right), drawn(turns(cxreasonbench.Path1, right)))
	for _, n := range []*Noise{nil, {}, once} {
		if w, measured := width(n, cxreasonbench.Stage1, at.Row); measured || w != 10 {
			t.Errorf("width %v, measured %t", w, measured)
		}
	}
	if w, measured := width(noise(20), cxreasonbench.Consistency, at.Row); measured || w != 10 {
		t.Errorf("consistency: width %v, measured %t", w, measured)
	}
}
