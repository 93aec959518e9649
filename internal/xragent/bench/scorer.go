package bench

import (
	"fmt"
	"strings"

	"cxrepro/internal/xragent"
)

// Scorer reads a reply as an answer. The zero value is invalid.
type Scorer uint8

// The scorers.
const (
	// Strict reads the last answer tag, and for baselines a documented cascade.
	Strict Scorer = iota + 1
	// MedRAXCompat reads a letter as the scripts beside MedRAX do, down to the first letter A to F
	// anywhere in the reply. It credits luck and serves comparison only.
	MedRAXCompat
)

var scorers = [...]struct {
	name    string
	version int
}{Strict: {"strict", 1}, MedRAXCompat: {"medrax_compat", 1}}

// Scorers lists every scorer.
func Scorers() []Scorer { return []Scorer{Strict, MedRAXCompat} }

// String is the name with the version, for example "strict/1": what results and tables name.
func (s Scorer) String() string {
	if s < Strict || int(s) >= len(scorers) {
		return fmt.Sprintf("invalid scorer %d", uint8(s))
	}
	return fmt.Sprintf("%s/%d", scorers[s].name, scorers[s].version)
}

// ParseScorer returns the scorer of a name, with its version or without.
func ParseScorer(name string) (Scorer, error) {
	for _, s := range Scorers() {
		if name == s.String() || name == scorers[s].name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("bench: no scorer is called %q; there are %s and %s", name, Strict, MedRAXCompat)
}

// Form says how an answer may stand in a reply.
type Form bool

// Forms. Replies of the agent have a tag; a baseline's may be free text.
const (
	TagOnly Form = false
	Cascade Form = true
)

// FormOf is the form of replies under an arm: those of the agent have a tag, those of a model that is
// asked directly, and of other systems, may be free text.
func FormOf(arm string) Form {
	return Form(arm == "" || strings.HasPrefix(arm, xragent.ArmDirect+"."))
}

// Read is what a scorer makes of a reply.
type Read struct {
	// Answer is normalised by the question's type; empty where there is none.
	Answer string
	// Unparsed: no answer could be read. It is wrong.
	Unparsed bool
	Correct  bool
	// Rule names what found the answer, or ended the search.
	Rule Rule
}

// Rule is a step of reading. It is a closed set.
type Rule string

// Rules, in the order of the search.
const (
	RuleTag        Rule = "tag"          // the last answer tag
	RuleBadTag     Rule = "bad_tag"      // a tag that is open or holds no answer: unparsed
	RuleBare       Rule = "bare"         // nothing but the letter, or the word
	RuleMarked     Rule = "marked"       // letter or word, and one of ) . : , at the start
	RuleLetterText Rule = "letter_text"  // letter, space and that option's text
	RuleAnswerIs   Rule = "answer_is"    // "answer is X"
	RuleOptionText Rule = "option_text"  // the only option whose text occurs
	RuleWhole      Rule = "whole_reply"  // a closed question: the reply itself
	RuleAmbiguous  Rule = "ambiguous"    // one rule found two answers: unparsed
	RuleNothing    Rule = "nothing"      // no rule found any: unparsed
	RuleStandAlone Rule = "stand_alone"  // medrax_compat: a letter that stands alone, the article "a" too
	RuleFirst      Rule = "first_a_to_f" // medrax_compat: the first of a to f anywhere
)

// Score reads a reply and compares it with the key.
//
// Special cases: an empty reply is unparsed. Under MedRAXCompat questions without letters are read
// as under Strict.
func (s Scorer) Score(q xragent.Question, reply string, form Form) Read {
	var r Read
	switch {
	case s == MedRAXCompat && q.Type == xragent.Lettered:
		r = medrax(reply)
	default:
		r = strict(q, reply, form)
	}
	r.Unparsed = r.Answer == ""
	key, ok := xragent.ReadAnswer(q, q.Key)
	r.Correct = ok && !r.Unparsed && r.Answer == key
	return r
}

const (
	openTag  = "<answer>"
	closeTag = "</answer>"
)

func strict(q xragent.Question, reply string, form Form) Read {
	if at := strings.LastIndex(reply, openTag); at >= 0 {
		content, _, closed := strings.Cut(reply[at+len(openTag):], closeTag)
		if answer, ok := xragent.ReadAnswer(q, content); ok && closed {
			return Read{Answer: answer, Rule: RuleTag}
		}
		return Read{Rule: RuleBadTag}
	}
	if form == TagOnly {
		return Read{Rule: RuleNothing}
	}
	reply = strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(afterThinking(reply)))
	switch q.Type {
	case xragent.Lettered:
		return readLettered(q, reply)
	case xragent.YesNo:
		return readWord(reply)
	}
	if answer, ok := xragent.ReadAnswer(q, reply); ok {
		return Read{Answer: answer, Rule: RuleWhole}
	}
	return Read{Rule: RuleNothing}
}

// afterThinking is a reply without a closed block of reasoning at its beginning.
func afterThinking(reply string) string {
	if _, rest, ok := strings.Cut(reply, "</think>"); ok {
		return rest
	}
	return reply
}

// Apply scores an outcome anew from its reply. Outcomes that are undetermined, that have no reply
// because they were read from a file, or that ended before a reply keep what they have.
func (s Scorer) Apply(item *xragent.Item, o xragent.Outcome, form Form) xragent.Outcome {
	if o.Undetermined || o.Reply == "" {
		return o
	}
	r := s.Score(item.Question, o.Reply, form)
	o.Answer, o.Unparsed, o.Correct = r.Answer, r.Unparsed, r.Correct
	return o
}
