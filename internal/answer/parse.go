package answer

import (
	"slices"
	"strings"
)

// Parse reads a reply against q. It never fails: what cannot be read is an outcome. A question
// that does not validate leaves every reply unparsable.
func Parse(q Question, reply string) Outcome {
	if q.Validate() != nil {
		return Outcome{Kind: Unparsable}
	}
	reply = withoutThought(reply)
	list := tokens(unbox(reply))
	if !slices.ContainsFunc(list, func(t token) bool { return t.text != lineBreak }) {
		return Outcome{Kind: Empty}
	}
	r := newReader(q)
	for _, rule := range []struct {
		rule Rule
		find func([]token) []int
	}{{RuleMarked, afterMarks}, {RulePhrase, afterPhrases}} {
		at := rule.find(list)
		for i := len(at) - 1; i >= 0; i-- {
			if letters, ok := r.segment(list, at[i]); ok {
				return r.outcome(letters, rule.rule)
			}
			if r.unknown(list, at[i]) {
				return Outcome{Kind: Unknown, Rule: rule.rule}
			}
		}
	}
	if letters, ok := r.start(list); ok {
		return r.outcome(letters, RuleStart)
	}
	if letters, ok := r.lastLine(list); ok {
		return r.outcome(letters, RuleLastLine)
	}
	switch {
	case r.unknown(list, skipBreaks(list, 0)):
		return Outcome{Kind: Unknown, Rule: RuleStart}
	case refuses(list):
		return Outcome{Kind: Refusal}
	}
	return Outcome{Kind: Unparsable}
}

// withoutThought drops what a model thinks aloud before it answers. A thought that never ends
// leaves nothing.
func withoutThought(s string) string {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		open, shut := "<"+tag+">", "</"+tag+">"
		if i := strings.LastIndex(s, shut); i >= 0 {
			s = s[i+len(shut):]
		}
		if i := strings.Index(s, open); i >= 0 {
			s = s[:i]
		}
	}
	return s
}

// unbox turns \boxed{B}, with or without \text, into a marked answer.
func unbox(s string) string {
	if !strings.Contains(s, `\boxed{`) {
		return s
	}
	s = strings.ReplaceAll(s, `\text{`, "{")
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, `\boxed{`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		depth, end := 1, len(rest)
		for i := 0; i < len(rest); i++ {
			switch rest[i] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth == 0 {
				end = i
				break
			}
		}
		b.WriteString("\nfinal answer: " + strings.Trim(rest[:end], "{} ") + "\n")
		s = rest[min(end+1, len(rest)):]
	}
}

// afterMarks returns the places behind "final answer".
func afterMarks(list []token) []int {
	var at []int
	for i := range list {
		if is(list, i, "final") && is(list, i+1, "answer") {
			at = append(at, skipIntro(list, i+2))
		}
	}
	return at
}

// answerWords are what an answer is called, alone before a colon or before a form of "to be".
var answerWords = []string{"answer", "answers", "choice", "antwort", "réponse", "respuesta", "risposta", "answer's"}

// afterPhrases returns the places behind "the answer is", "Answer:", "the correct option is",
// "I choose" and the like.
func afterPhrases(list []token) []int {
	var at []int
	for i := range list {
		switch {
		case oneOf(list, i, answerWords...) || oneOf(list, i, "option", "options", "criterion", "image", "images", "view"):
			alone := oneOf(list, i, answerWords...)
			k := i + 1
			if alone && is(list, k, ":") || oneOf(list, k, "is", "are", "ist", "lautet", "est", "es", "would") {
				at = append(at, skipIntro(list, k))
			}
		case is(list, i, "i") && oneOf(list, i+1, "choose", "select", "pick"), is(list, i, "i'd") && oneOf(list, i+1, "choose", "select", "pick"):
			at = append(at, skipIntro(list, i+2))
		}
	}
	return at
}

// skipIntro passes over what may stand between a mark and the answer: colons, dashes, "is",
// "be", "the", and a line break if nothing else stands on the mark's line.
func skipIntro(list []token, i int) int {
	for i < len(list) && oneOf(list, i, ":", "-", "=", ">", "is", "are", "be", "ist", "lautet", "est", "es", "would", "therefore", "thus") {
		i++
	}
	if is(list, i, lineBreak) {
		i = skipBreaks(list, i)
	}
	return i
}

func skipBreaks(list []token, i int) int {
	for is(list, i, lineBreak) {
		i++
	}
	return i
}

// outcome turns letters into a kind: a lone option that is no choice has a kind of its own.
func (r *reader) outcome(letters []string, rule Rule) Outcome {
	slices.Sort(letters)
	o := Outcome{Kind: Chosen, Letters: slices.Compact(letters), Rule: rule}
	if len(o.Letters) != 1 {
		return o
	}
	switch r.byLetter(o.Letters[0]).meaning {
	case DontKnow:
		o.Kind = Unknown
	case None:
		o.Kind = NoneOfAbove
	case MoreOptions:
		o.Kind = NeedNew
	}
	return o
}

// refusals are the beginnings of sentences by which models decline.
var refusals = [][]token{}

func init() {
	for _, s := range []string{
		"i can't", "i cannot", "i can not", "i'm unable", "i am unable", "i'm not able", "i am not able", "i won't",
		"i'm sorry", "i am sorry", "unable to", "as an ai", "i must decline", "i'm not a doctor", "i am not a doctor", "sorry, but",
	} {
		refusals = append(refusals, tokens(s))
	}
}

// refuses reports whether a sentence of a reply begins by declining.
func refuses(list []token) bool {
	begin := true
	for i := range list {
		if begin {
			for _, words := range refusals {
				if _, ok := matchText(list, i, words); ok && list[i].text == words[0].text {
					return true
				}
			}
		}
		begin = oneOf(list, i, ".", "!", "?", ",", ";", ":", lineBreak)
	}
	return false
}
