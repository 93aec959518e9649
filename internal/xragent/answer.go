package xragent

import (
	"strings"
	"unicode"
)

// ReadAnswer reads the content of an answer tag by the question's type: an upper-case
// letter, Yes or No, or a closed answer in lower case with single spaces and without
// closing punctuation. ok is false when the content is not of that type.
//
// Special cases: a letter may carry one of ) . : and that option's own text, nothing else.
// Source: [ours].
func ReadAnswer(q Question, content string) (answer string, ok bool) {
	content = strings.TrimSpace(content)
	switch q.Type {
	case Lettered:
		return readLetter(q, content)
	case YesNo:
		for _, word := range []string{"Yes", "No"} {
			if strings.EqualFold(trimEnd(content), word) {
				return word, true
			}
		}
		return "", false
	case Closed:
		return normalClosed(content), content != ""
	}
	return "", false
}

func readLetter(q Question, content string) (string, bool) {
	if content == "" {
		return "", false
	}
	letter := content[0] &^ 0x20
	k := int(letter) - 'A'
	if !unicode.IsLetter(rune(content[0])) || k < 0 || k >= len(q.Options) {
		return "", false
	}
	rest := content[1:]
	trimmed := strings.TrimLeft(rest, " \t\r\n")
	marked := trimmed != "" && strings.ContainsRune(").:", rune(trimmed[0])) && len(trimmed) == len(rest)
	if marked {
		trimmed = trimmed[1:]
	} else if trimmed != "" && len(trimmed) == len(rest) {
		return "", false // a word that begins with the letter
	}
	trimmed = strings.TrimSpace(trimmed)
	if trimmed != "" && normalClosed(trimmed) != normalClosed(q.Options[k]) {
		return "", false
	}
	return string(rune(letter)), true
}

// trimEnd removes closing punctuation.
func trimEnd(s string) string { return strings.TrimRight(s, " \t\r\n.!?,;:") }

func normalClosed(s string) string {
	n := strings.Join(strings.Fields(strings.ToLower(s)), " ")
	if cut := trimEnd(n); cut != "" {
		return cut
	}
	return n
}

// keyOf returns the key in the form that [ReadAnswer] gives.
func keyOf(q Question) string {
	if key, ok := ReadAnswer(q, q.Key); ok {
		return key
	}
	return "\x00" // an unreadable key equals no answer
}
