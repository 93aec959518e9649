package answer

import (
	"fmt"
	"strings"
)

// Meaning says what an option stands for. The zero value is a choice.
type Meaning uint8

const (
	// Choice is one of the answers that the question is about.
	Choice Meaning = iota
	// DontKnow is "I don't know".
	DontKnow
	// None is "None of the above".
	None
	// MoreOptions is "Need new options".
	MoreOptions
)

// Option is one of the answers that a question offers.
type Option struct {
	// Letter is a single letter; its case does not matter.
	Letter  string
	Text    string
	Meaning Meaning
}

// Question is what a reply is read against.
type Question struct {
	Options []Option
	// Several: the question may ask for a set of options.
	Several bool
}

// Validate reports options that a reply cannot be read against: none, a letter that is not
// one letter or that two options share.
func (q Question) Validate() error {
	if len(q.Options) == 0 {
		return fmt.Errorf("answer: a question without options")
	}
	seen := map[string]bool{}
	for _, o := range q.Options {
		l := strings.ToLower(o.Letter)
		if len(l) != 1 || l[0] < 'a' || l[0] > 'z' {
			return fmt.Errorf("answer: option %q has the letter %q, want one letter", o.Text, o.Letter)
		}
		if seen[l] {
			return fmt.Errorf("answer: two options have the letter %q", l)
		}
		seen[l] = true
	}
	return nil
}
