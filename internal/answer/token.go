package answer

import (
	"strings"
	"unicode"
)

// A token is a word, a number, a line break, or a single other character, in lower case.
type token struct {
	text string
	word bool
}

const lineBreak = "\n"

// unify maps characters that models use for the same thing.
var unify = strings.NewReplacer(
	"’", "'", "‘", "'", "`", "", "*", "", "“", "\"", "”", "\"",
	"–", "-", "—", "-", "−", "-", "‑", "-",
	"（", "(", "）", ")", "：", ":", "，", ",", "．", ".", "。", ".",
	"\r\n", "\n", "\r", "\n", "\u00a0", " ", "\u200b", "",
	"<br>", "\n", "<br/>", "\n",
)

// tokens splits text. Underscores and asterisks of emphasis, quotes and blanks are dropped;
// "0.49" is one token, "don't" is one, "notice" is one, "a.yes" are three.
func tokens(text string) []token {
	runes := []rune(strings.ToLower(unify.Replace(text)))
	var list []token
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case r == '\n':
			list = append(list, token{text: lineBreak})
			i++
		case unicode.IsSpace(r) || r == '"' || r == '_':
			i++
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			k := i + 1
			for k < len(runes) && (unicode.IsLetter(runes[k]) || unicode.IsNumber(runes[k]) || unicode.IsMark(runes[k]) || inside(runes, k)) {
				k++
			}
			list = append(list, token{string(runes[i:k]), true})
			i = k
		default:
			list = append(list, token{text: string(r)})
			i++
		}
	}
	return list
}

// inside reports whether the character at k joins what stands on both sides: a point between
// digits, an apostrophe between letters.
func inside(r []rune, k int) bool {
	if k == 0 || k+1 >= len(r) {
		return false
	}
	switch r[k] {
	case '.':
		return unicode.IsDigit(r[k-1]) && unicode.IsDigit(r[k+1])
	case '\'':
		return unicode.IsLetter(r[k-1]) && unicode.IsLetter(r[k+1])
	}
	return false
}

// is reports whether the token at i is the text.
func is(list []token, i int, text string) bool {
	return i >= 0 && i < len(list) && list[i].text == text
}

// oneOf reports whether the token at i is one of the texts.
func oneOf(list []token, i int, texts ...string) bool {
	for _, t := range texts {
		if is(list, i, t) {
			return true
		}
	}
	return false
}

// ends reports whether nothing follows at i but a line break or the end.
func ends(list []token, i int) bool { return i >= len(list) || list[i].text == lineBreak }

// quiet tokens carry no meaning in an option's text.
func quiet(t token) bool {
	switch t.text {
	case "[", "]", "'", ".", ",", ";", "!":
		return true
	}
	return false
}

// matchText matches the words of an option's text at i, passing over brackets and points in
// both, and returns the index behind them; ok is false where they do not stand there whole.
func matchText(list []token, i int, text []token) (end int, ok bool) {
	k := 0
	for {
		for k < len(text) && quiet(text[k]) {
			k++
		}
		if k == len(text) {
			return i, true
		}
		for i < len(list) && quiet(list[i]) && list[i].text != text[k].text {
			i++
		}
		if i >= len(list) || list[i].text != text[k].text {
			return 0, false
		}
		i, k = i+1, k+1
	}
}
