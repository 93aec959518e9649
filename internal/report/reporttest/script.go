package reporttest

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"cxrepro/internal/cxreasonbench"
)

// Place is one reply: of a model in one way of sampling, to one question.
type Place struct {
	Evaluation string
	Task       cxreasonbench.Task
	// Case is the case whose question is asked.
	Case int
	Key  cxreasonbench.Key
	Draw int
}

// Reply is what a script wants to come of a reply.
type Reply struct {
	Score cxreasonbench.Score
	// Terminal is set where there shall be no answer; Score is ignored then.
	Terminal cxreasonbench.Terminal
	// Inconsistent: the value told lies outside the range chosen before.
	Inconsistent bool
	// Judge overrides what the judge says, for a reply that judge and parser read apart.
	Judge cxreasonbench.Score
	// Undetermined: nothing comes of the call.
	Undetermined bool
}

// Script says what shall come of every reply. It is a function of the place alone.
type Script func(p Place) Reply

// Chance returns a number from 0 to 99 that depends on the place and on nothing else.
func (p Place) Chance(salt string) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s|%s|%d|%s|%d|%s", p.Evaluation, p.Task, p.Case, p.Key, p.Draw, salt)
	v := h.Sum64()
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	return int(v % 100)
}

// text writes a reply that the parser reads as the wanted score. Where the question has no
// option for it, ok is false.
func text(q *cxreasonbench.Question, want cxreasonbench.Score) (s string, ok bool) {
	var options []cxreasonbench.Option
	switch want {
	case cxreasonbench.Right:
		letters := q.Accepted
		if q.Rule == cxreasonbench.OneOf {
			letters = letters[:1]
		}
		for _, l := range letters {
			o, _ := q.Option(l)
			options = append(options, o)
		}
	case cxreasonbench.Unknown:
		options = meaning(q, cxreasonbench.MeansUnknown)
		if q.Key.Stage == cxreasonbench.StageRefined {
			options = meaning(q, cxreasonbench.MeansNo)
		}
	case cxreasonbench.NoneOfAbove:
		options = meaning(q, cxreasonbench.MeansNone)
	case cxreasonbench.Wrong:
		for _, o := range q.Options {
			plain := o.Means != cxreasonbench.MeansUnknown && o.Means != cxreasonbench.MeansNone
			if plain && !q.Right([]string{o.Letter}) {
				options = []cxreasonbench.Option{o}
				break
			}
		}
	}
	if len(options) == 0 {
		return "", false
	}
	parts := make([]string, len(options))
	for i, o := range options {
		parts[i] = "(" + o.Letter + ") " + o.Text
	}
	return "FINAL ANSWER: " + strings.Join(parts, ", "), true
}

func meaning(q *cxreasonbench.Question, means string) []cxreasonbench.Option {
	return slices.DeleteFunc(slices.Clone(q.Options), func(o cxreasonbench.Option) bool { return o.Means != means })
}

// value is the line of a final reply that tells the value: inside the range of the reference
// answer of the stage before, or far outside.
func value(task cxreasonbench.Task, reference string, inside bool) string {
	numbers := rangeNumbers(reference)
	if len(numbers) < 2 {
		return ""
	}
	one := func(low, high float64) string {
		if !inside {
			return "987"
		}
		return fmt.Sprintf("%.6g", (low+high)/2)
	}
	if task.String() == "projection" && len(numbers) >= 4 {
		return "\nValue: Right - " + one(numbers[0], numbers[1]) + ", Left - " + one(numbers[2], numbers[3])
	}
	return "\nValue: " + one(numbers[0], numbers[1])
}

func rangeNumbers(s string) []float64 {
	var out []float64
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("[]- ,()", r) }) {
		var v float64
		if n, err := fmt.Sscanf(part, "%g", &v); n == 1 && err == nil {
			out = append(out, v)
		}
	}
	return out
}

// Mixed is a script in which everything happens: most replies are right, some models do not
// know, some refuse, some values are inconsistent, and judge and parser part ways now and
// then. Equal names give equal scripts.
func Mixed(name string) Script {
	return func(p Place) Reply {
		r := Reply{Score: cxreasonbench.Right}
		chance := p.Chance(name)
		switch p.Key.Stage {
		case cxreasonbench.StageInit:
			switch {
			case p.Key.Path == cxreasonbench.Path1 && chance < 28:
				r.Score = cxreasonbench.Unknown
			case chance < 55:
				r.Score = cxreasonbench.Wrong
			case chance < 58:
				r.Terminal = cxreasonbench.Refusal
			}
		case cxreasonbench.StageRefined:
			if chance < 25 {
				r.Score = cxreasonbench.Unknown
			}
		default:
			switch {
			case chance < 12:
				r.Score = cxreasonbench.Wrong
			case chance < 14:
				r.Terminal = cxreasonbench.EmptyReply
			case chance < 16:
				r.Terminal = cxreasonbench.Truncated
			case chance < 18:
				r.Judge = cxreasonbench.Wrong
			}
		}
		r.Inconsistent = p.Chance(name+" value") < 30
		return r
	}
}
