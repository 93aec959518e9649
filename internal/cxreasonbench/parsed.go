package cxreasonbench

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"cxrepro/internal/answer"
	"cxrepro/internal/stats"
)

// Readable returns what a reply to q is read against. It tells nothing of the right answer: a
// set may be named wherever the stage can ask for one.
func (q *Question) Readable() answer.Question {
	out := answer.Question{Several: q.Key.Stage == StageStructures && q.Key.Path != Path2}
	for _, o := range q.Options {
		meaning := answer.Choice
		switch o.Means {
		case MeansUnknown:
			meaning = answer.DontKnow
		case MeansNone:
			meaning = answer.None
		case MeansNeedNew:
			meaning = answer.MoreOptions
		}
		out.Several = out.Several || strings.HasPrefix(o.Means, "right:")
		out.Options = append(out.Options, answer.Option{Letter: o.Letter, Text: o.Text, Meaning: meaning})
	}
	return out
}

// ScoreParsed scores a reply that was read without a judge, with the judge's scores: "I don't
// know" is one to the diagnostic question, "None of the above" one to criteria and structures,
// and a refined criterion is accepted or rejected. What could not be read is Wrong and says
// why.
//
// Errors: an outcome that is no reply of the model: invalid, or of the infrastructure.
func ScoreParsed(q *Question, o answer.Outcome) (Score, Terminal, error) {
	switch o.Kind {
	case answer.Refusal:
		return Wrong, Refusal, nil
	case answer.Empty:
		return Wrong, EmptyReply, nil
	case answer.Unparsable:
		return Wrong, Unparsable, nil
	case answer.Chosen, answer.Unknown, answer.NoneOfAbove, answer.NeedNew:
	default:
		return 0, 0, fmt.Errorf("cxreasonbench: %s: an outcome of kind %s is no reply of the model", q.Key, o.Kind)
	}
	right := len(o.Letters) > 0 && q.Right(o.Letters)
	switch {
	case right:
		return Right, 0, nil
	case q.Key.Stage == StageRefined:
		return Unknown, 0, nil
	case o.Kind == answer.Unknown && q.Key.Stage == StageInit:
		return Unknown, 0, nil
	case o.Kind == answer.NoneOfAbove && (q.Key.Stage == StageCriteria || q.Key.Stage == StageStructures):
		return NoneOfAbove, 0, nil
	}
	return Wrong, 0, nil
}

// Scored is one stored reply with the score that some reading gave it.
type Scored struct {
	Task  Task   `json:"task"`
	Case  string `json:"case"`
	Key   Key    `json:"key"`
	Draw  int    `json:"draw"`
	Score Score  `json:"score"`
}

// Flip is a reply that two readings score differently.
type Flip struct {
	Task   Task   `json:"task"`
	Case   string `json:"case"`
	Key    Key    `json:"key"`
	Draw   int    `json:"draw"`
	Before Score  `json:"before"`
	After  Score  `json:"after"`
}

// Flips compares two readings of stored replies: those they score differently, in the order of
// tasks, cases, questions and draws, and how far they agree. Replies that only one of them has
// are left out and counted.
func Flips(before, after []Scored) (flips []Flip, agreement stats.Agreement, unpaired int) {
	type place struct {
		task Task
		id   string
		key  Key
		draw int
	}
	old := map[place]Score{}
	for _, s := range before {
		old[place{s.Task, s.Case, s.Key, s.Draw}] = s.Score
	}
	for _, s := range after {
		at := place{s.Task, s.Case, s.Key, s.Draw}
		was, ok := old[at]
		if !ok {
			unpaired++
			continue
		}
		delete(old, at)
		agreement.Add(was.String(), s.Score.String())
		if was != s.Score {
			flips = append(flips, Flip{Task: s.Task, Case: s.Case, Key: s.Key, Draw: s.Draw, Before: was, After: s.Score})
		}
	}
	sort.Slice(flips, func(i, k int) bool { return flips[i].before(flips[k]) })
	return flips, agreement, unpaired + len(old)
}

func (f Flip) before(g Flip) bool {
	switch {
	case f.Task != g.Task:
		return slices.Index(Tasks(), f.Task) < slices.Index(Tasks(), g.Task)
	case f.Case != g.Case:
		return f.Case < g.Case
	case f.Key.Path != g.Key.Path:
		return f.Key.Path < g.Key.Path
	case f.Key.Stage != g.Key.Stage:
		return f.Key.Stage < g.Key.Stage
	case f.Key.Round != g.Key.Round:
		return f.Key.Round < g.Key.Round
	}
	return f.Draw < g.Draw
}
