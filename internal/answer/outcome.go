package answer

import (
	"fmt"
	"slices"
)

// Kind says what came of a reply. The zero value is invalid.
type Kind uint8

const (
	// Chosen: one or more options, in Outcome.Letters.
	Chosen Kind = iota + 1
	// Unknown: "I don't know" and nothing else.
	Unknown
	// NoneOfAbove: "None of the above" and nothing else.
	NoneOfAbove
	// NeedNew: "Need new options" and nothing else.
	NeedNew
	// Refusal: the model declines, and no option can be read.
	Refusal
	// Empty: no text, or only hidden thought.
	Empty
	// Unparsable: text, but no option.
	Unparsable
	// Infrastructure: the endpoint failed. [Parse] never returns it; callers set it, and it
	// is never scored, not even as wrong.
	Infrastructure
)

var kindText = [...]string{
	Chosen: "chosen", Unknown: "unknown", NoneOfAbove: "none_of_above", NeedNew: "need_new",
	Refusal: "refusal", Empty: "empty", Unparsable: "unparsable", Infrastructure: "infrastructure",
}

// Kinds returns every kind.
func Kinds() []Kind {
	return []Kind{Chosen, Unknown, NoneOfAbove, NeedNew, Refusal, Empty, Unparsable, Infrastructure}
}

// Valid reports whether k is one of [Kinds].
func (k Kind) Valid() bool { return k >= Chosen && k <= Infrastructure }

// Scorable reports whether k says what the model answered.
func (k Kind) Scorable() bool { return k >= Chosen && k <= NeedNew }

// String returns the text form, for example "need_new".
func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("invalid kind %d", uint8(k))
	}
	return kindText[k]
}

// MarshalText encodes a valid kind.
func (k Kind) MarshalText() ([]byte, error) {
	if !k.Valid() {
		return nil, fmt.Errorf("answer: %s", k)
	}
	return []byte(kindText[k]), nil
}

// UnmarshalText accepts exactly the text forms.
func (k *Kind) UnmarshalText(b []byte) error {
	for _, v := range Kinds() {
		if kindText[v] == string(b) {
			*k = v
			return nil
		}
	}
	return fmt.Errorf("answer: no kind is called %q", b)
}

// Rule says where in a reply the answer was found. The zero value means nowhere.
type Rule uint8

const (
	// RuleMarked: after "FINAL ANSWER:" or in a box.
	RuleMarked Rule = iota + 1
	// RulePhrase: after "the answer is", "Answer:" and the like.
	RulePhrase
	// RuleStart: the reply begins with it.
	RuleStart
	// RuleLastLine: the last line is nothing else.
	RuleLastLine
)

var ruleText = [...]string{"", RuleMarked: "marked", RulePhrase: "phrase", RuleStart: "start", RuleLastLine: "last_line"}

// String returns the text form, for example "marked"; empty for nowhere.
func (r Rule) String() string {
	if int(r) >= len(ruleText) {
		return fmt.Sprintf("invalid rule %d", uint8(r))
	}
	return ruleText[r]
}

// MarshalText encodes a rule.
func (r Rule) MarshalText() ([]byte, error) {
	if int(r) >= len(ruleText) {
		return nil, fmt.Errorf("answer: %s", r)
	}
	return []byte(ruleText[r]), nil
}

// UnmarshalText accepts exactly the text forms.
func (r *Rule) UnmarshalText(b []byte) error {
	i := slices.Index(ruleText[:], string(b))
	if i < 0 {
		return fmt.Errorf("answer: no rule is called %q", b)
	}
	*r = Rule(i)
	return nil
}

// Outcome is what a reply says. Two outcomes of the same question are equal if [Outcome.Same]
// says so, whatever the rule.
type Outcome struct {
	Kind Kind `json:"kind"`
	// Letters are those of the options, sorted, each once; empty where no option was read.
	Letters []string `json:"letters,omitempty"`
	Rule    Rule     `json:"rule,omitzero"`
}

// Same reports whether two outcomes say the same: kind and set of options.
func (o Outcome) Same(p Outcome) bool { return o.Kind == p.Kind && slices.Equal(o.Letters, p.Letters) }
