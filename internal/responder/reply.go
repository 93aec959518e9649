package responder

import (
	"math/rand/v2"
	"slices"
	"strings"

	"cxrepro/internal/cxreasonbench"
)

// write puts an intent into words. What it says beside the answer depends on r.
func write(p place, in intent, r *rand.Rand) string {
	if in.reply != nil {
		return *in.reply
	}
	options := p.options()
	letters := chosen(p, options, in, r)
	if letters == nil {
		return "I don't know."
	}
	text := form(options, letters, r)
	if remark := remarks[p.q.Key.Stage]; len(remark) > 0 && in.word != WordUnknown && r.IntN(3) > 0 {
		text += "\n" + remark[r.IntN(len(remark))]
	}
	if p.q.Key.Stage == cxreasonbench.StageFinal && cxreasonbench.KindOf(p.at.task) == cxreasonbench.Measurement {
		text += value(p, in, r)
	}
	return text
}

// options of the question. A released question has lost its own; its answer goes by those of
// the diagnostic question.
func (p place) options() []cxreasonbench.Option {
	if len(p.q.Options) > 0 {
		return p.q.Options
	}
	for _, key := range []cxreasonbench.Key{{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageInit}, {Path: cxreasonbench.RePath1, Stage: cxreasonbench.StageInit}} {
		if q := p.at.question(key); q != nil {
			return slices.DeleteFunc(slices.Clone(q.Options), func(o cxreasonbench.Option) bool { return o.Means == cxreasonbench.MeansUnknown })
		}
	}
	return nil
}

// form writes the line with the answer, mostly as it is asked for.
func form(options []cxreasonbench.Option, letters []string, r *rand.Rand) string {
	var parts []string
	upper := r.IntN(12) == 0
	for _, o := range options {
		if slices.Contains(letters, o.Letter) {
			letter := o.Letter
			if upper {
				letter = strings.ToUpper(letter)
			}
			parts = append(parts, "("+letter+") "+o.Text)
		}
	}
	line := "FINAL ANSWER: " + strings.Join(parts, ", ")
	if r.IntN(12) == 0 {
		return "**" + line + "**"
	}
	return line
}

// chosen returns the letters of an intent; nil where no option expresses it.
func chosen(p place, options []cxreasonbench.Option, in intent, r *rand.Rand) []string {
	means := func(m string) []string {
		for _, o := range options {
			if o.Means == m {
				return []string{o.Letter}
			}
		}
		return nil
	}
	switch {
	case in.letter:
		if len(options) == 0 {
			return nil
		}
		return []string{options[r.IntN(len(options))].Letter}
	case in.word == WordRight:
		if p.q.Rule == cxreasonbench.OneOf {
			return []string{p.q.Accepted[r.IntN(len(p.q.Accepted))]}
		}
		return p.q.Accepted
	case in.word == WordUnknown && p.q.Key.Stage == cxreasonbench.StageRefined:
		return means(cxreasonbench.MeansNo)
	case in.word == WordUnknown:
		if l := means(cxreasonbench.MeansUnknown); l != nil {
			return l
		}
		return means(cxreasonbench.MeansNone)
	case in.word == WordNone:
		return means(cxreasonbench.MeansNone)
	}
	return wrong(p, options, r)
}

// wrong returns letters that are not right, the way a model errs: one structure too few or
// another one, a neighbouring range, the other diagnosis. Where every single option is right,
// it takes them all.
func wrong(p place, options []cxreasonbench.Option, r *rand.Rand) []string {
	var others []string
	for _, o := range options {
		if !slices.Contains(p.q.Accepted, o.Letter) && o.Means != cxreasonbench.MeansUnknown {
			others = append(others, o.Letter)
		}
	}
	if len(others) == 0 {
		return slices.Clone(p.q.Accepted)
	}
	switch k := p.q.Key; {
	case k.Stage == cxreasonbench.StageStructures && len(p.q.Accepted) > 1:
		if r.IntN(2) == 0 {
			return drop(p.q.Accepted, r)
		}
		return append(drop(p.q.Accepted, r), content(options, others, r))
	case k.Stage == cxreasonbench.StageStructures, k.Stage == cxreasonbench.StageCriteria:
		if r.IntN(5) == 0 {
			for _, o := range options {
				if o.Means == cxreasonbench.MeansNone && slices.Contains(others, o.Letter) {
					return []string{o.Letter}
				}
			}
		}
		return []string{content(options, others, r)}
	case k.Stage == cxreasonbench.StageMeasurement && len(p.q.Accepted) > 1:
		return wrongSide(p, options, r)
	case k.Stage == cxreasonbench.StageMeasurement:
		return []string{neighbour(options, p.q.Accepted[0], r)}
	}
	return []string{others[r.IntN(len(others))]}
}

func drop(letters []string, r *rand.Rand) []string {
	i := r.IntN(len(letters))
	return slices.Delete(slices.Clone(letters), i, i+1)
}

// content is one of the letters whose option says something about the picture, if any does.
func content(options []cxreasonbench.Option, letters []string, r *rand.Rand) string {
	var list []string
	for _, o := range options {
		if slices.Contains(letters, o.Letter) && o.Means != cxreasonbench.MeansNone && o.Means != cxreasonbench.MeansNeedNew {
			list = append(list, o.Letter)
		}
	}
	if len(list) == 0 {
		list = letters
	}
	return list[r.IntN(len(list))]
}

// neighbour is an option beside the right one, now and then one further away.
func neighbour(options []cxreasonbench.Option, right string, r *rand.Rand) string {
	at := slices.IndexFunc(options, func(o cxreasonbench.Option) bool { return o.Letter == right })
	if len(options) == 1 {
		return right
	}
	i := at + 1 - 2*r.IntN(2)
	if r.IntN(4) == 0 {
		i = r.IntN(len(options))
	}
	if i < 0 || i == at {
		i = at + 1
	}
	if i >= len(options) {
		i = at - 1
	}
	return options[i].Letter
}

// wrongSide replaces the range of one side by a neighbour of that side.
func wrongSide(p place, options []cxreasonbench.Option, r *rand.Rand) []string {
	letters := slices.Clone(p.q.Accepted)
	i := r.IntN(len(letters))
	side := func(o cxreasonbench.Option) string { s, _, _ := strings.Cut(o.Text, ":"); return s }
	for range letters {
		at := slices.IndexFunc(options, func(o cxreasonbench.Option) bool { return o.Letter == letters[i] })
		if at >= 0 {
			same := slices.DeleteFunc(slices.Clone(options), func(o cxreasonbench.Option) bool { return side(o) != side(options[at]) })
			if len(same) > 1 {
				letters[i] = neighbour(same, letters[i], r)
				return letters
			}
		}
		i = (i + 1) % len(letters)
	}
	return letters[:1]
}

// remarks follow an answer. They hold no numbers, no letters of options and no other answer.
var remarks = map[cxreasonbench.Stage][]string{
	cxreasonbench.StageInit: {
		"The relevant contours are well seen on this radiograph, and they support this reading.",
		"I compared the outlines of both sides with the structures around them and decided by the appearance as a whole.",
		"Although parts of the picture are of low contrast, the landmarks that matter here can be made out.",
	},
	cxreasonbench.StageCriteria: {
		"This is the criterion by which I judged the picture.",
		"Other signs were considered, too, but this one carried the decision.",
	},
	cxreasonbench.StageStructures: {
		"What is marked there is needed to apply the criterion.",
		"The other marks show structures that the criterion does not refer to.",
	},
	cxreasonbench.StageMeasurement: {
		"I located the landmarks on the picture and worked from them.",
		"The estimate follows the marked borders as closely as they can be seen.",
	},
}
