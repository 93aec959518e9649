package xragent

import (
	"strconv"
	"strings"
)

// token is a word, a comma or a number of a clause.
type token struct {
	word
	text   string
	number bool
	cents  int  // a number in hundredths
	signed bool // written with a sign
}

// lexemes cuts text into numbers with their per cent sign, words, and the marks that mean
// something; everything else parts them.
func lexemes(text string) []string {
	out := make([]string, 0, len(text)/5+1)
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; {
		case isLetter(c):
			n = wordLength(text[i:])
		case isDigit(c), (c == '-' || c == '+') && i+1 < len(text) && isDigit(text[i+1]):
			n = numberLength(text[i:])
		case strings.IndexByte(",()<>.;!?\n:", c) < 0:
			i++
			continue
		}
		out = append(out, text[i:i+n])
		i += n
	}
	return out
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// wordLength is the length of the word that text begins with: letters and apostrophes.
func wordLength(text string) int {
	n := 1
	for n < len(text) && (isLetter(text[n]) || text[n] == '\'') {
		n++
	}
	return n
}

// numberLength is the length of the number that text begins with: a sign, digits, decimals
// and "%", "percent" or "per cent".
func numberLength(text string) int {
	digits := func(n int) int {
		for n < len(text) && isDigit(text[n]) {
			n++
		}
		return n
	}
	n := digits(1)
	if n+1 < len(text) && text[n] == '.' && isDigit(text[n+1]) {
		n = digits(n + 1)
	}
	at := n
	for at < len(text) && strings.IndexByte(" \t\n\f\r", text[at]) >= 0 {
		at++
	}
	for _, unit := range []string{"%", "percent", "per cent"} {
		rest, ok := strings.CutPrefix(text[at:], unit)
		if ok && (unit == "%" || rest == "" || !isWord(rest[0])) {
			return at + len(unit)
		}
	}
	return n
}

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c >= 'A' && c <= 'Z' }

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

// plainWords returns what later sentences may refer to, subjects and sides, of a sentence that
// can state nothing: no digit, no cue, no trigger. Most sentences are such, and skip the
// rewriting.
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
			t := wordToken(s[from:i])
			if t.loud {
				return nil, false
			}
			if t.subject != 0 || sideOf(t.text) != "" {
				out = append(out, t)
			}
			from = -1
		}
	}
	return out, true
}

// rewritten reads one sentence with all rules.
func rewritten(text string) [][][]token {
	text = rewrites.apply(text)
	var out [][][]token
	var sentence [][]token
	list := lexemes(text)
	clause := make([]token, 0, len(list))
	endClause := func() {
		if n := len(clause); n > 0 { // what follows goes on in the same array
			sentence, clause = append(sentence, clause[:n:n]), clause[n:]
		}
	}
	endSentence := func() {
		endClause()
		if len(sentence) > 0 {
			out, sentence = append(out, sentence), nil
		}
	}
	for _, l := range list {
		switch {
		case strings.ContainsAny(l[:1], ".;!?\n"):
			endSentence()
		case l == ":":
			if len(clause) > 3 {
				endSentence()
			} else {
				clause = append(clause, wordToken("is"))
			}
		case l == "(" || l == ")" || l == ",":
			clause = append(clause, wordToken(","))
		case hard[l]:
			endClause()
			clause = append(clause, wordToken(l))
		case l[0] >= 'a' && l[0] <= 'z', l == "<", l == ">":
			clause = append(clause, wordToken(l))
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

func wordToken(text string) token {
	if !lexiconForms.may(text) {
		return token{text: text}
	}
	return token{text: text, word: lexicon[text]}
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
		if t.verb {
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
						if t.subject != 0 && t.cue == 0 {
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
		if s := t.subject; s != 0 {
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
		if t.verb || t.cue != 0 || t.negator {
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
		case seen && (t.verb || adjective[t.cue] && !t.noun):
			return true
		case t.subject != 0 && t.cue == 0:
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
