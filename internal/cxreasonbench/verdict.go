package cxreasonbench

import "fmt"

// Score is what the judge makes of a reply. The zero value is invalid.
type Score uint8

const (
	// Right: the reply agrees with the reference.
	Right Score = iota + 1
	// Wrong: it does not, or it is no answer at all.
	Wrong
	// Unknown: "I don't know", or a refined criterion that was rejected.
	Unknown
	// NoneOfAbove: "None of the above".
	NoneOfAbove
)

var scoreText = [...]string{Right: "right", Wrong: "wrong", Unknown: "unknown", NoneOfAbove: "none_of_the_above"}
var scoreNumber = [...]int{Right: 1, Wrong: 0, Unknown: -1, NoneOfAbove: -2}

// Scores returns every score.
func Scores() []Score { return []Score{Right, Wrong, Unknown, NoneOfAbove} }

// Valid reports whether s is one of [Scores].
func (s Score) Valid() bool { return s >= Right && s <= NoneOfAbove }

// String returns the text form, for example "right".
func (s Score) String() string {
	if !s.Valid() {
		return fmt.Sprintf("invalid score %d", uint8(s))
	}
	return scoreText[s]
}

// Number returns the number of the result files: 1, 0, -1 or -2.
func (s Score) Number() int {
	if !s.Valid() {
		panic("cxreasonbench: number of an " + s.String())
	}
	return scoreNumber[s]
}

// ScoreOf returns the score with a number of the result files.
func ScoreOf(n int) (s Score, ok bool) {
	for _, s := range Scores() {
		if scoreNumber[s] == n {
			return s, true
		}
	}
	return 0, false
}

// MarshalText encodes a valid score.
func (s Score) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", s)
	}
	return []byte(scoreText[s]), nil
}

// UnmarshalText accepts exactly the text forms.
func (s *Score) UnmarshalText(b []byte) error {
	for _, v := range Scores() {
		if scoreText[v] == string(b) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no score is called %q", b)
}

// Vote returns the score of several draws and the index of the draw that enters the history.
//
// The winner is the most frequent score if it is strictly more frequent than the next; a tie
// is Unknown if any draw is, else Wrong. The kept draw is the first with the winning score.
// Special cases: the released program fails where a tie gives Wrong and no draw is (an even
// number of draws); here the first draw is kept. No draws give an invalid score.
//
// Source: [official code].
func Vote(draws []Score) (winner Score, kept int) {
	var count [NoneOfAbove + 1]int
	for _, s := range draws {
		if !s.Valid() {
			return 0, 0
		}
		count[s]++
	}
	best, next := 0, 0
	for _, s := range Scores() {
		switch n := count[s]; {
		case n > best:
			best, next, winner = n, best, s
		case n > next:
			next = n
		}
	}
	if best == 0 {
		return 0, 0
	}
	if best == next {
		winner = Wrong
		if count[Unknown] > 0 {
			winner = Unknown
		}
	}
	for i, s := range draws {
		if s == winner {
			return winner, i
		}
	}
	return winner, 0
}
