package main

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// printable quotes a text of a stranger that would do more to a terminal than be read.
func printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}

// tame spells out what would do more to a terminal than be read, but for ends of lines and tabs:
// an error may hold what a stranger wrote.
func tame(s string) string {
	if strings.IndexFunc(s, untamed) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || untamed(r) {
			quoted := strconv.Quote(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func untamed(r rune) bool { return r != '\n' && r != '\t' && !strconv.IsPrint(r) }

// untamedIn finds the first text in a decoded JSON document that tame would change.
func untamedIn(v any) (text string, found bool) {
	switch v := v.(type) {
	case string:
		return v, tame(v) != v
	case []any:
		for _, x := range v {
			if text, found = untamedIn(x); found {
				return text, true
			}
		}
	case map[string]any:
		for name, x := range v {
			if tame(name) != name {
				return name, true
			}
			if text, found = untamedIn(x); found {
				return text, true
			}
		}
	}
	return "", false
}
