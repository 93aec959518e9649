package claims

import (
	"slices"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/stats"
)

// Flips counts how often replies to one and the same question part ways.
type Flips struct {
	// Pairs: K of N pairs of replies to the same question have different scores.
	Pairs stats.Proportion `json:"pairs"`
	// Questions that were answered more than once, and those of them whose replies do not agree.
	Questions int `json:"questions"`
	Split     int `json:"split"`
	// variance sums, over the questions, that of whether the score that counts is right.
	variance float64
}

func (f Flips) add(g Flips) Flips {
	return Flips{f.Pairs.Add(g.Pairs), f.Questions + g.Questions, f.Split + g.Split, f.variance + g.variance}
}

// flips compares the replies to one question.
func flips(scores []cxreasonbench.Score) Flips {
	f := Flips{Questions: 1}
	right := 0
	for i, a := range scores {
		if a == cxreasonbench.Right {
			right++
		}
		for _, b := range scores[i+1:] {
			f.Pairs.N++
			if a != b {
				f.Pairs.K++
			}
		}
	}
	if f.Pairs.K > 0 {
		f.Split = 1
	}
	f.variance = variance(right, len(scores))
	return f
}

// variance is that of whether a question comes out right, of which right of some replies were.
//
// Where three are voted on, it is that of the vote, each being right with the share that was: of
// two to one 20/27 x 7/27. Of two replies one counts, and half the chance that they differ is its
// variance without bias.
func variance(right, replies int) float64 {
	p := float64(right) / float64(replies)
	if replies == 2 {
		return float64(2*p) * (1 - p)
	}
	q := float64(p*p) * (3 - float64(2*p)) // at least two of three
	return float64(q * (1 - q))
}

// Noise is the decoding noise of one evaluation, as its stored answers show it. The zero value
// has seen no answer; nothing is measured by it, nor by a nil Noise.
type Noise struct {
	stages map[noiseKey]Flips
	// ended sums, over the dialogues that end right, the variance of that.
	ended map[noiseKey]float64
}

// noiseKey is a stage, or with a zero one the end, of a path of a task.
type noiseKey struct {
	path  cxreasonbench.Path
	task  cxreasonbench.Task
	stage cxreasonbench.Stage
}

// Add counts a dialogue: every question of its own that has more than one reply. again is the
// same dialogue as another reproduction held it, nil without: its replies count as far as it
// answers the same questions after the same replies.
func (n *Noise) Add(task cxreasonbench.Task, d, again *contract.DialogueDoc) {
	own := d.State.Turns[d.State.Replayed:]
	var other []cxreasonbench.Turn
	if again != nil && sameTurns(d.State.Turns[:d.State.Replayed], again.State.Turns[:again.State.Replayed]) {
		other = again.State.Turns[again.State.Replayed:]
	}
	replies := make([][]cxreasonbench.Score, len(own))
	for i, t := range own {
		replies[i] = scoresOf(t)
		if i < len(other) && t.Key == other[i].Key && t.Case == other[i].Case && sameTurns(own[:i], other[:i]) {
			replies[i] = append(replies[i], scoresOf(other[i])...)
		}
	}
	n.dialogue(task, own, replies)
}

// sameTurns reports whether two dialogues have the same replies in their history.
func sameTurns(a, b []cxreasonbench.Turn) bool {
	return slices.EqualFunc(a, b, func(x, y cxreasonbench.Turn) bool {
		return x.Key == y.Key && x.Case == y.Case && x.Draws[x.Kept].Reply == y.Draws[y.Kept].Reply
	})
}

func scoresOf(t cxreasonbench.Turn) []cxreasonbench.Score {
	scores := make([]cxreasonbench.Score, len(t.Draws))
	for k, d := range t.Draws {
		scores[k] = d.Score
	}
	return scores
}

// dialogue counts the turns of one dialogue, whose replies have some scores.
func (n *Noise) dialogue(task cxreasonbench.Task, turns []cxreasonbench.Turn, replies [][]cxreasonbench.Score) {
	if n.stages == nil {
		n.stages, n.ended = map[noiseKey]Flips{}, map[noiseKey]float64{}
	}
	sum := map[cxreasonbench.Path]float64{}
	for i := range turns {
		t, list := &turns[i], replies[i]
		if len(list) < 2 {
			continue
		}
		at := noiseKey{t.Key.Path, task, t.Key.Stage}
		f := flips(list)
		n.stages[at] = n.stages[at].add(f)
		sum[at.path] += f.variance
		if at.stage == cxreasonbench.StageFinal && t.Score == cxreasonbench.Right {
			n.ended[noiseKey{path: at.path, task: task}] += min(0.25, sum[at.path])
		}
	}
}

// stagesOf are the stages whose questions decide a column.
func stagesOf(p cxreasonbench.Path, c cxreasonbench.Column) []cxreasonbench.Stage {
	all := []cxreasonbench.Stage{cxreasonbench.StageCriteria, cxreasonbench.StageStructures, cxreasonbench.StageMeasurement, cxreasonbench.StageFinal}
	if p == cxreasonbench.Path2 {
		all = all[1:]
	}
	switch c {
	case cxreasonbench.Stage1, cxreasonbench.Stage2, cxreasonbench.Stage3, cxreasonbench.Stage4:
		return all[c-cxreasonbench.Stage1:][:1]
	case cxreasonbench.Initial:
		return []cxreasonbench.Stage{cxreasonbench.StageInit}
	case cxreasonbench.Alignment:
		return []cxreasonbench.Stage{cxreasonbench.StageInit, cxreasonbench.StageFinal}
	case cxreasonbench.Consistency:
		return nil // of replies that were not kept it is not stored whether their value is consistent
	}
	return all
}

// of returns the flips behind a column over some tasks.
func (n *Noise) of(at cxreasonbench.Place, tasks ...cxreasonbench.Task) Flips {
	var f Flips
	for _, t := range tasks {
		for s, g := range n.stages {
			if s.path == at.Path && s.task == t && slices.Contains(stagesOf(at.Path, at.Column), s.stage) {
				f = f.add(g)
			}
		}
	}
	return f
}

// spread is the variance of the k behind a task's figure.
//
// Of a stage it is the sum over its questions. Of what needs every stage, those that end right
// can be lost, and as many are gained where gain and loss are in balance.
func (n *Noise) spread(at cxreasonbench.Place, t cxreasonbench.Task) float64 {
	switch at.Column {
	case cxreasonbench.Completion, cxreasonbench.Alignment:
		return 2 * n.ended[noiseKey{path: at.Path, task: t}]
	}
	sum := 0.0
	for _, s := range stagesOf(at.Path, at.Column) {
		sum += n.stages[noiseKey{at.Path, t, s}].variance
	}
	return sum
}
