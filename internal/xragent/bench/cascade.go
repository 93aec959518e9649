package bench

import (
	"regexp"
	"strings"

	"cxrepro/internal/xragent"
)

var (
	bareLetter   = regexp.MustCompile(`^\(?([A-Za-z])[).:]*$`)
	markedLetter = regexp.MustCompile(`^\(?([A-Z])[).:]`)
	letterText   = regexp.MustCompile(`^([A-Z])\s+(\S.*)$`)
	answerIs     = regexp.MustCompile(`(?i:\banswer\s+is)\s*:?\s*(?i:option\s+)?\(?([A-Z])\b`)
	bareWord     = regexp.MustCompile(`^(?i)(yes|no)[.!,;:]*$`)
	markedWord   = regexp.MustCompile(`^(?i)(yes|no)[.!,;:]`)
	answerIsWord = regexp.MustCompile(`(?i)\banswer\s+is\s*:?\s*(yes|no)\b`)
)

// readLettered goes through the cascade for a question with letters. "A chest ..." is no letter, and
// neither is an "a" in the middle of a sentence.
//
// Source: order of the rules [ours], as in the requirements.
func readLettered(q xragent.Question, reply string) Read {
	letter := func(l string, r Rule) (Read, bool) {
		l = strings.ToUpper(l)
		k := int(l[0] - 'A')
		return Read{Answer: l, Rule: r}, k < len(q.Options)
	}
	if m := bareLetter.FindStringSubmatch(reply); m != nil {
		if r, ok := letter(m[1], RuleBare); ok {
			return r
		}
	}
	if m := markedLetter.FindStringSubmatch(reply); m != nil {
		if r, ok := letter(m[1], RuleMarked); ok {
			return r
		}
	}
	if m := letterText.FindStringSubmatch(reply); m != nil {
		if r, ok := letter(m[1], RuleLetterText); ok && sameText(m[2], q.Options[r.Answer[0]-'A']) {
			return r
		}
	}
	var said []string
	for _, m := range answerIs.FindAllStringSubmatchIndex(reply, -1) {
		rest, _, _ := strings.Cut(reply[m[1]:], "\n")
		if r, ok := letter(reply[m[2]:m[3]], RuleAnswerIs); ok && endsHere(rest, q.Options[r.Answer[0]-'A']) {
			said = append(said, r.Answer)
		}
	}
	if r, decided := agreed(said, RuleAnswerIs); decided {
		return r
	}
	if r, decided := agreed(mentioned(q.Options, reply), RuleOptionText); decided {
		return r
	}
	return Read{Rule: RuleNothing}
}

// agreed is the answer that all findings of one rule name. Two different ones end the search.
func agreed(found []string, rule Rule) (Read, bool) {
	found = distinct(found)
	switch len(found) {
	case 0:
		return Read{}, false
	case 1:
		return Read{Answer: found[0], Rule: rule}, true
	}
	return Read{Rule: RuleAmbiguous}, true
}

// endsHere reports whether what follows a letter leaves it a letter: nothing, a mark, or the
// option's own text.
func endsHere(rest, option string) bool {
	rest = strings.TrimSpace(rest)
	return rest == "" || strings.ContainsRune(").:,;!", rune(rest[0])) || strings.HasPrefix(plainWords(rest)+" ", plainWords(option)+" ")
}

func sameText(a, b string) bool { return plainWords(a) == plainWords(b) }

var notWord = regexp.MustCompile(`[^\p{L}\p{N}]+`)

// plainWords is a text as lower-case words with single spaces.
func plainWords(s string) string {
	return strings.TrimSpace(notWord.ReplaceAllString(strings.ToLower(s), " "))
}

// mentioned are the letters of the options whose text occurs in a reply. A text inside a longer
// one that occurs is not counted: "effusion" in "pleural effusion".
func mentioned(options []string, reply string) []string {
	text := " " + plainWords(reply) + " "
	order := make([]int, len(options))
	for i := range order {
		order[i] = i
	}
	// Longest first, so that a longer text takes its words away from the shorter ones in it.
	for i := range order {
		for k := i + 1; k < len(order); k++ {
			if len(plainWords(options[order[k]])) > len(plainWords(options[order[i]])) {
				order[i], order[k] = order[k], order[i]
			}
		}
	}
	var out []string
	for _, i := range order {
		words := plainWords(options[i])
		if words == "" || !strings.Contains(text, " "+words+" ") {
			continue
		}
		text = strings.ReplaceAll(text, " "+words+" ", " | ")
		out = append(out, alphabet[i:i+1])
	}
	return out
}

// readWord goes through the cascade for yes and no. The only text that occurs is no rule here: "no"
// is a word of every report.
func readWord(reply string) Read {
	word := func(s string) string { return strings.ToUpper(s[:1]) + strings.ToLower(s[1:]) }
	if m := bareWord.FindStringSubmatch(reply); m != nil {
		return Read{Answer: word(m[1]), Rule: RuleBare}
	}
	if m := markedWord.FindStringSubmatch(reply); m != nil {
		return Read{Answer: word(m[1]), Rule: RuleMarked}
	}
	var said []string
	for _, m := range answerIsWord.FindAllStringSubmatch(reply, -1) {
		said = append(said, word(m[1]))
	}
	if r, decided := agreed(said, RuleAnswerIs); decided {
		return r
	}
	return Read{Rule: RuleNothing}
}

var (
	medraxLeading = regexp.MustCompile(`^(?i)([A-F])[).\s]`)
	medraxAlone   = regexp.MustCompile(`(?i)\b([A-F])\b`)
	medraxAny     = regexp.MustCompile(`(?i)[A-F]`)
)

// medrax reads a letter as MedRAX's comparison of runs does. A reply with an answer tag is read by
// what the last one holds: the words of our own tags would answer otherwise.
//
// Source: [official code], behaviour; the tag [ours].
func medrax(reply string) Read {
	if at := strings.LastIndex(reply, openTag); at >= 0 {
		reply, _, _ = strings.Cut(reply[at+len(openTag):], closeTag)
	}
	reply = strings.TrimSpace(reply)
	upper := strings.ToUpper(reply)
	if len(upper) == 1 && upper >= "A" && upper <= "F" {
		return Read{Answer: upper, Rule: RuleBare}
	}
	for _, step := range []struct {
		form *regexp.Regexp
		rule Rule
	}{{medraxLeading, RuleMarked}, {medraxAlone, RuleStandAlone}} {
		if m := step.form.FindStringSubmatch(reply); m != nil {
			return Read{Answer: strings.ToUpper(m[1]), Rule: step.rule}
		}
	}
	if found := medraxAny.FindString(reply); found != "" {
		return Read{Answer: strings.ToUpper(found), Rule: RuleFirst}
	}
	return Read{Rule: RuleNothing}
}
