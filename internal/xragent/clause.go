package xragent

import (
	"regexp"
	"strconv"
	"strings"
)

// token is a word, a comma or a number of a clause.
type token struct {
	text   string
	number bool
	cents  int  // a number in hundredths
	signed bool // written with a sign
}

var lexeme = regexp.MustCompile(`[-+]?[0-9]+(?:\.[0-9]+)?(?:\s*(?:%|per ?cent\b))?|[a-z][a-z']*|[,()]|[<>]|[.;!?\n:]`)

var hard = classes(map[string]bool{
	"but however yet although though while whereas because since therefore thus hence nevertheless despite": true,
})

// clauses rewrites the text and cuts it into sentences of clauses. Parentheses become
// commas; a colon ends a clause unless only a heading stands before it.
func clauses(text string) [][][]token {
	var out [][][]token
	for _, s := range sentences(strings.ToLower(text)) {
		if plain, ok := plainWords(s); ok {
			if len(plain) > 0 {
				out = append(out, [][]token{plain})
			}
			continue
		}
		out = append(out, rewritten(s)...)
	}
	return out
}

// sentences cuts text at . ; ! ? and line breaks; a point between digits cuts nothing.
func sentences(text string) []string {
	var out []string
	from := 0
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	for i := range len(text) {
		switch text[i] {
		case ';', '!', '?', '\n':
		case '.':
			if digit(i-1) && digit(i+1) {
				continue
			}
		default:
			continue
		}
		out = append(out, text[from:i+1])
		from = i + 1
	}
	return append(out, text[from:])
}

// triggers are words that a rewriting may turn into a cue.
var triggers = classes(map[string]bool{
	"volume volumes half midline middle limit limits range off centre center lost loss trachea tracheal mediastinum mediastinal airway it": true,
})

// plainWords returns the words of a sentence that can state nothing: no digit, no cue, no
// trigger. Most sentences are such, and skip the rewriting.
func plainWords(s string) ([]token, bool) {
	if strings.ContainsAny(s, "0123456789") {
		return nil, false
	}
	var out []token
	from := -1
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] >= 'a' && s[i] <= 'z' {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			w := s[from:i]
			if cues[w] != 0 || triggers[w] {
				return nil, false
			}
			out = append(out, token{text: w})
			from = -1
		}
	}
	return out, true
}

// rewritten reads one sentence with all rules.
func rewritten(text string) [][][]token {
	for _, f := range rewrites {
		text = f.apply(text)
	}
	var out [][][]token
	var sentence [][]token
	var clause []token
	endClause := func() {
		if len(clause) > 0 {
			sentence, clause = append(sentence, clause), nil
		}
	}
	endSentence := func() {
		endClause()
		if len(sentence) > 0 {
			out, sentence = append(out, sentence), nil
		}
	}
	for _, l := range lexeme.FindAllString(text, -1) {
		switch {
		case strings.ContainsAny(l[:1], ".;!?\n"):
			endSentence()
		case l == ":":
			if len(clause) > 3 {
				endSentence()
			} else {
				clause = append(clause, token{text: "is"})
			}
		case l == "(" || l == ")" || l == ",":
			clause = append(clause, token{text: ","})
		case hard[l]:
			endClause()
			clause = append(clause, token{text: l})
		case l[0] >= 'a' && l[0] <= 'z', l == "<", l == ">":
			clause = append(clause, token{text: l})
		default:
			clause = append(clause, numberToken(l))
		}
	}
	endSentence()
	for i, s := range out {
		out[i] = splitAnd(contrast(s))
	}
	return out
}

func numberToken(l string) token {
	digits := strings.TrimRight(l, " %percnt\t\n")
	v, err := strconv.ParseFloat(digits, 64)
	t := token{text: digits, number: true, signed: l[0] == '-' || l[0] == '+', cents: hundredths(v)}
	if digits != strings.TrimSpace(l) {
		t.cents = hundredths(v / 100)
	} else if err != nil || !strings.Contains(digits, ".") || v > 2 || v < -2 {
		t.number = false // a count, a year, a length
	}
	return t
}

func hasVerb(c []token) bool {
	for _, t := range c {
		if verbs[t.text] {
			return true
		}
	}
	return false
}

// contrast drops the denied half of "not X but Y": Y then continues what stood before not.
func contrast(s [][]token) [][]token {
	var out [][]token
	for _, c := range s {
		if n := len(out); n > 0 && c[0].text == "but" && !hasVerb(untilThat(c)) {
			before := out[n-1]
			for i := len(before) - 1; i >= 0; i-- {
				if before[i].text == "not" || before[i].text == "xnot" {
					joined := append([]token{}, before[:i]...)
					for _, t := range before[i:] {
						if subjects[t.text] != 0 && cues[t.text] == 0 {
							joined = append(joined, t) // "not the right lung but the left"
						}
					}
					joined = append(joined, c[1:]...)
					if subjectIn(c) == 0 {
						out[n-1] = joined
						c = nil
					}
					break
				}
			}
		}
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}

func untilThat(c []token) []token {
	for i, t := range c {
		if t.text == "that" || t.text == "which" {
			return c[:i]
		}
	}
	return c
}

// subjectIn returns the first subject of a clause.
func subjectIn(c []token) subject {
	for _, t := range c {
		if s := subjects[t.text]; s != 0 {
			return s
		}
	}
	return 0
}

// splitAnd cuts a clause at "and" or a comma where a new subject with its own predicate
// begins: a subject, then a verb or a cue that is not a noun list.
func splitAnd(s [][]token) [][]token {
	var out [][]token
	for _, c := range s {
		from := 0
		for i := 1; i < len(c); i++ {
			if c[i].text != "and" && c[i].text != "," && c[i].text != "so" && c[i].text != "with" {
				continue
			}
			if c[i].text == "with" && i < 2 {
				continue
			}
			if startsStatement(c[i+1:]) && states(c[from:i]) {
				out = append(out, c[from:i])
				from = i + 1
			}
		}
		out = append(out, c[from:])
	}
	return out
}

func states(c []token) bool {
	for _, t := range c {
		if verbs[t.text] || cues[t.text] != 0 || negators[t.text] {
			return true
		}
	}
	return false
}

// startsStatement reports that a subject comes before the next comma or "and" and a verb
// or an adjective follows it there.
func startsStatement(c []token) bool {
	seen := false
	for i, t := range c {
		switch {
		case t.text == "," || t.text == "or" || (t.text == "and" && i > 0):
			return false
		case seen && (verbs[t.text] || adjective[cues[t.text]] && !nouns[t.text]):
			return true
		case subjects[t.text] != 0 && cues[t.text] == 0:
			seen = true
		case (t.text == "it" || t.text == "there" || t.text == "both") && i < 2:
			seen = true
		}
	}
	return false
}

var adjective = map[cue]bool{cueLarge: true, cueSmall: true, cueNormal: true, cueEqual: true, cueUnequal: true, cueMoved: true, cueCentral: true}

var nouns = classes(map[string]bool{
	"enlargement dilatation dilation increase reduction decrease asymmetry symmetry difference discrepancy deviation displacement shift deflection hyperinflation": true,
})
