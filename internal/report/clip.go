package report

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longDigest is a digest of which a line shows the beginning.
var longDigest = regexp.MustCompile(`(sha256:[0-9a-f]{12})[0-9a-f]{52}`)

// Clip keeps a text to one line of at most so many letters, three or more: white space becomes
// single blanks, what cannot be printed the replacement character, digests are shortened to their
// beginning, and what is longer ends in dots.
func Clip(s string, letters int) string {
	s = longDigest.ReplaceAllString(strings.Join(strings.Fields(s), " "), "$1")
	s = strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, s)
	if r := []rune(s); len(r) > letters {
		return string(r[:letters-3]) + "..."
	}
	return s
}
