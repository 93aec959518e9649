package xragent

import (
	"slices"
	"strings"
)

// Verdict is how a text stands to a verified measurement.
type Verdict uint8

// The three verdicts.
const (
	Silent      Verdict = iota + 1 // says nothing that maps to a category
	Agrees                         // at least one clause agrees and none contradicts
	Contradicts                    // a clause names another category, or a quoted number is off
)

// statement is what one cue says about a measurement: it names a category, or denies one.
type statement struct {
	category Category
	denied   bool
}

// Compare tells how the reasoning stands to the verified category and value of m. Clauses
// that mention m are mapped to categories with negation inside the clause; one
// contradiction, or one quoted number beyond the tolerance, beats any agreement.
//
// Special cases: hypotheticals, rejected options, withdrawn suspicions and earlier films
// state nothing; sides are the patient's; limits are not quotes. Source: [ours].
func Compare(m Measurement, verified Category, value float64, text string) Verdict {
	return compare(m, verified, value, prepare(text))
}

// compare is [Compare] on text that was cut already.
func compare(m Measurement, verified Category, value float64, text []clause) Verdict {
	agrees := false
	carry, side := subject(0), ""
	for i := range text {
		c := reading{clause: &text[i], m: m, carry: carry, side: side}
		if !c.muted && c.speaks {
			for _, s := range c.statements() {
				switch {
				case s.denied && s.category == verified, !s.denied && s.category != verified:
					return Contradicts
				case !s.denied:
					agrees = true
				}
			}
			if c.misquotes(value) {
				return Contradicts
			}
		}
		carry, side = c.last(), c.lastSide()
	}
	if agrees {
		return Agrees
	}
	return Silent
}

// clause is one clause of the reasoning, ready to be read for each measurement.
type clause struct {
	t      []token
	text   string // the words between single spaces
	speaks bool   // holds a cue or a number
	muted  bool   // asserts nothing
}

// prepare cuts the reasoning into clauses.
func prepare(text string) []clause {
	var out []clause
	for _, sentence := range clauses(text) {
		for _, t := range sentence {
			c := clause{t: t}
			for i := range t {
				c.speaks = c.speaks || t[i].number || t[i].cue != 0
			}
			if c.speaks {
				c.text = spaced(t)
				c.muted = c.mute()
			}
			out = append(out, c)
		}
	}
	return out
}

// spaced joins the words with a space before, between and after.
func spaced(t []token) string {
	n := 1
	for i := range t {
		n += len(t[i].text) + 1
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(' ')
	for i := range t {
		b.WriteString(t[i].text)
		b.WriteByte(' ')
	}
	return b.String()
}

// reading is one clause read for one measurement.
type reading struct {
	*clause
	m     Measurement
	carry subject // of the clause before
	side  string  // last side named before
}

func (c *clause) has(list ...string) bool {
	for _, w := range list {
		if c.holds(w) {
			return true
		}
	}
	return false
}

// holds finds words in the clause, whole words only.
func (c *clause) holds(words string) bool {
	for text := c.text; ; {
		i := strings.Index(text, words)
		if i < 0 {
			return false
		}
		// the text begins and ends with a space
		if end := i + len(words); text[i-1] == ' ' && text[end] == ' ' {
			return true
		}
		text = text[i:]
		next := strings.IndexByte(text, ' ')
		text = text[next:]
	}
}

// last is the subject that "it" in the next clause means: the first of this clause.
func (c *reading) last() subject {
	if s := subjectIn(c.t); s != 0 {
		return s
	}
	return c.carry
}

func (c *reading) lastSide() string {
	for i := len(c.t) - 1; i >= 0; i-- {
		if s := sideOf(c.t[i].text); s != "" {
			return s
		}
	}
	return c.side
}

func sideOf(w string) string {
	switch w {
	case "left", "xdirleft", "leftward", "leftwards":
		return "left"
	case "right", "xdirright", "rightward", "rightwards":
		return "right"
	}
	return ""
}

// generalities begin a rule: "a ctr above", "values below".
var generalities = func() []string {
	var out []string
	for _, any := range []string{"a ctr", "a ratio", "a cardiothoracic ratio", "a value", "values", "ratios", "anything", "an index", "a shift"} {
		for _, limit := range []string{"below", "under", "above", "over", "up to", "of less than", "of more than", "beyond"} {
			out = append(out, any+" "+limit)
		}
	}
	return out
}()

// muting are words of which a clause must hold one to be mute.
var muting = classes(map[string]bool{
	"if would unless whether suppose supposing assuming hypothetically should were had suspicion suspected can assessable unavailable available withheld first initially initial thought considered ctr ratio value values ratios anything index shift option options choice alternative answer reject rejected discarded eliminated eliminate discard": true,
})

// mute reports that nothing in the clause is asserted.
func (c *clause) mute() bool {
	return slices.ContainsFunc(c.t, func(t token) bool { return muting[t.text] }) && c.muteByRule()
}

// muteByRule is [clause.mute] without the look for a muting word, which every rule needs.
func (c *clause) muteByRule() bool {
	if c.has("if", "would", "unless", "whether", "suppose", "supposing", "assuming", "hypothetically", "should", "were it") {
		return true
	}
	if c.t[0].text == "were" || c.t[0].text == "had" {
		return true
	}
	if c.has("suspicion", "suspected") && c.has("not confirmed", "not borne", "unfounded", "dropped", "abandoned", "given up") {
		return true
	}
	judged := c.has("can not be judged", "can not be assessed", "can not be determined", "can not be confirmed", "can not be measured",
		"can not be evaluated", "can not be compared", "can not be quantified", "not assessable", "unavailable", "not available", "withheld")
	if judged {
		return true
	}
	if c.has("first", "initially", "initial", "suspicion", "thought", "considered") && (c.has("thought", "suspected", "considered", "impression", "seemed", "looked", "withdrawn", "dismissed")) {
		return true
	}
	if c.has(generalities...) {
		return true // a rule, not a finding
	}
	option := c.has("option", "options", "choice", "alternative", "answer")
	rejected := c.has("ruled", "rejected", "excluded", "wrong", "incorrect", "eliminated", "discarded", "unlikely", "not fit", "false", "does not", "dropped", "refuted")
	return option && rejected || c.has("reject", "rejected", "discarded", "eliminated", "eliminate", "discard")
}

// past reports that the cue at i tells of an earlier film.
func (c *reading) past(i int) bool {
	for j := i - 1; j >= 0; j-- {
		switch w := c.t[j].text; {
		case w == "now" || w == "today" || w == "currently" || w == "remains" || w == "remain" || w == "still" || w == "again" || w == "xnot":
			return false
		case earlier[w]:
			for k := j - 1; k >= max(0, j-4); k-- {
				if c.t[k].text == "compared" || c.t[k].text == "than" || c.t[k].text == "unchanged" || c.t[k].text == "unlike" || c.t[k].text == "to" {
					return false
				}
			}
			return true
		}
	}
	for j := i + 1; j < len(c.t) && (c.t[j].cue == 0 || c.t[j].cue == cueDirection); j++ {
		w := c.t[j].text
		if w == "compared" || w == "than" || w == "unchanged" || w == "now" || w == "as" {
			return false
		}
		if earlier[w] {
			return true
		}
	}
	return false
}

var earlier = classes(map[string]bool{"previous previously prior earlier former formerly once yesterday ago": true})

// negated tells whether the cue at i is denied: the nearest negator before it counts, a
// negator right before that one cancels it, and so does a denial after the cue.
func (c *reading) negated(i int) bool {
	n := 0
	for j := i - 1; j >= 0; j-- {
		if !c.t[j].negator {
			continue
		}
		if c.crossed(j, i) {
			break
		}
		n = 1
		for k := j - 1; k >= max(0, j-2); k-- {
			if w := c.t[k].text; c.t[k].negator && w != "nor" && c.t[j].text != "nor" && w != "no" && w != "neither" {
				n++
				break
			}
		}
		break
	}
	n += c.denials(i)
	return n%2 == 1
}

// crossed reports that a new predicate begins between the negator at j and the cue at i.
func (c *reading) crossed(j, i int) bool {
	open := false
	for k := j + 1; k < i; k++ {
		if w := c.t[k].text; w == "," || w == "and" {
			open = true
		} else if open && c.t[k].verb {
			return true
		}
	}
	return false
}

// denials counts denying words after the cue: "is absent", "can be excluded"; a not
// before such a word cancels it.
func (c *reading) denials(i int) int {
	n := 0
	for j := i + 1; j < len(c.t); j++ {
		w := c.t[j].text
		switch {
		case w == "," || c.t[j].cue != 0 && w != "xloss":
			return n
		case w == "denied" || w == "excluded" || w == "ruled" || w == "absent" || w == "unlikely" || w == "dismissed" || w == "missed" || w == "overlooked" || w == "refuted":
			n++
			for k := max(i+1, j-3); k < j; k++ {
				if c.t[k].negator {
					n++
				}
			}
			return n
		case w == "not" && (c.follows(j, "present") || c.follows(j, "seen") || c.follows(j, "evident") || c.follows(j, "confirmed") || c.follows(j, "found") || c.follows(j, "visible")):
			return n + 1
		}
	}
	return n
}

func (c *reading) follows(j int, w string) bool { return j+1 < len(c.t) && c.t[j+1].text == w }
