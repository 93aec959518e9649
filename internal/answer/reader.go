package answer

import "strings"

// option is an option ready for matching.
type option struct {
	letter  string
	texts   [][]token // its text, and other words for the same
	meaning Meaning
}

// reader reads options out of tokens.
type reader struct {
	options []option
	several bool
}

// otherWords are spellings of the options that are no choice, whatever the question calls them.
var otherWords = map[Meaning][]string{
	DontKnow:    {"i don't know", "i do not know", "don't know", "idk", "i dont know"},
	None:        {"none of the above", "none of these", "none of the above options"},
	MoreOptions: {"need new options", "need new option", "i need new options", "new options needed"},
}

func newReader(q Question) *reader {
	r := &reader{several: q.Several}
	for _, o := range q.Options {
		ready := option{letter: strings.ToLower(o.Letter), meaning: o.Meaning}
		for _, text := range append([]string{o.Text}, otherWords[o.Meaning]...) {
			if t := tokens(text); hasWord(t) {
				ready.texts = append(ready.texts, t)
			}
		}
		r.options = append(r.options, ready)
	}
	return r
}

func hasWord(list []token) bool {
	for _, t := range list {
		if t.word {
			return true
		}
	}
	return false
}

func (r *reader) byLetter(letter string) option {
	for _, o := range r.options {
		if o.letter == letter {
			return o
		}
	}
	return option{}
}

// found is an option read at some place.
type found struct {
	letter string
	end    int
	// strong: it cannot be a word of a sentence: a letter in brackets, or an option's text.
	strong bool
}

// segment reads the options at the front of what follows a mark. A line that does not begin
// with one may still name exactly one, in brackets.
func (r *reader) segment(list []token, i int) ([]string, bool) {
	if letters, _, ok, clash := r.row(list, i); ok || clash {
		return letters, ok
	}
	return r.onlyBracketed(list, i)
}

// start reads options that a reply begins with: strong ones, or a line of nothing else.
func (r *reader) start(list []token) ([]string, bool) {
	i := skipBreaks(list, 0)
	letters, end, ok, _ := r.row(list, i)
	if !ok {
		return nil, false
	}
	first, _ := r.one(list, i)
	if first.strong || ends(list, skipQuiet(list, end)) {
		return letters, true
	}
	return nil, false
}

// lastLine reads options of a last line that holds nothing else.
func (r *reader) lastLine(list []token) ([]string, bool) {
	last := len(list)
	for last > 0 && list[last-1].text == lineBreak {
		last--
	}
	i := last
	for i > 0 && list[i-1].text != lineBreak {
		i--
	}
	letters, end, ok, _ := r.row(list[:last], i)
	return letters, ok && skipQuiet(list[:last], end) == last
}

func skipQuiet(list []token, i int) int {
	for i < len(list) && quiet(list[i]) {
		i++
	}
	return i
}

// row reads one option or more from the front: options in a row, joined by commas, "and",
// "or" and the like, for sets also on lines of their own. clash is true where a letter and a
// text disagree, or a letter in brackets is none of the question's.
func (r *reader) row(list []token, i int) (letters []string, end int, ok, clash bool) {
	first, bad := r.one(list, i)
	if bad || first.letter == "" {
		return nil, 0, false, bad
	}
	letters, end = append(letters, first.letter), first.end
	for {
		next := r.joint(list, end)
		if next < 0 {
			return letters, end, true, false
		}
		more, bad := r.one(list, next)
		if bad {
			return nil, 0, false, true
		}
		// "and", a comma or a new line may lead into a sentence; only an option that cannot
		// be a word of it goes on with the set.
		if more.letter == "" || !more.strong && !ends(list, skipQuiet(list, more.end)) && r.joint(list, more.end) < 0 {
			return letters, end, true, false
		}
		letters, end = append(letters, more.letter), more.end
	}
}

// joint returns the place behind what joins two options, or -1.
func (r *reader) joint(list []token, i int) int {
	k := i
	for oneOf(list, k, ".", "]", "}") {
		k++
	}
	if r.several && is(list, k, lineBreak) {
		k = skipBreaks(list, k)
		for oneOf(list, k, "-", "•", "+", "·") {
			k++
		}
		return k
	}
	joined := false
	for oneOf(list, k, ",", ";", "&", "/", "+", "and", "or", "und", "et") {
		joined = true
		k++
	}
	if !joined {
		return -1
	}
	if r.several && is(list, k, lineBreak) {
		k = skipBreaks(list, k)
	}
	return k
}

// labels may stand before an option's letter.
var labels = []string{"option", "options", "answer", "choice", "letter", "image", "images", "right", "left", "criterion"}

// one reads one option at i: a letter with or without its text, or its text alone. bad is true
// where letter and text disagree or a bracketed letter is none of the question's.
func (r *reader) one(list []token, i int) (f found, bad bool) {
	for oneOf(list, i, "[", "{", "\"", "'", "•") || is(list, i, "-") && !is(list, i+1, lineBreak) {
		i++
	}
	if f, ok := r.text(list, i); ok {
		return f, false
	}
	for oneOf(list, i, labels...) {
		i++
		for oneOf(list, i, ":", "-") {
			i++
		}
	}
	if letter, end, ok := bracketed(list, i); ok {
		return r.lettered(list, letter, end, true)
	}
	if i < len(list) && len(list[i].text) == 1 && list[i].word && r.byLetter(list[i].text).letter != "" {
		return r.bare(list, i)
	}
	return found{}, false
}

// bracketed reads "(b)", "[b]" or "b)".
func bracketed(list []token, i int) (letter string, end int, ok bool) {
	open := oneOf(list, i, "(", "[")
	if open {
		i++
	}
	if i >= len(list) || !list[i].word || len(list[i].text) != 1 || list[i].text[0] < 'a' || list[i].text[0] > 'z' {
		return "", 0, false
	}
	if !oneOf(list, i+1, ")", "]") {
		return "", 0, false
	}
	return list[i].text, i + 2, true
}

// bare reads a letter without brackets. It counts only before the end of a line, a joint, a
// point or a colon, or its option's text; "a patient" and "i think" do not.
func (r *reader) bare(list []token, i int) (found, bool) {
	letter, end := list[i].text, i+1
	switch {
	case ends(list, end), oneOf(list, end, ".", ":", ",", ";", "&", "/", "+", "and", "or", "-", "]", "}"):
	default:
		if _, ok := r.ownText(list, letter, end); !ok {
			return found{}, false
		}
	}
	return r.lettered(list, letter, end, false)
}

// ownText matches the text of the option with a letter.
func (r *reader) ownText(list []token, letter string, i int) (end int, ok bool) {
	best := -1
	for _, text := range r.byLetter(letter).texts {
		if end, ok := matchText(list, i, text); ok && end > best {
			best = end
		}
	}
	return best, best >= 0
}

// lettered goes on from a letter to its text. Another option's whole text there contradicts it.
func (r *reader) lettered(list []token, letter string, i int, strong bool) (found, bool) {
	if r.byLetter(letter).letter == "" {
		return found{}, true
	}
	k := i
	for oneOf(list, k, ":", "-", ".", "=", "+", "[", "'") {
		k++
	}
	own, ok := r.ownText(list, letter, k)
	other, isOther := r.text(list, k)
	switch {
	case ok && (!isOther || own >= other.end):
		return found{letter, own, true}, false
	case isOther && other.letter != letter:
		return found{}, true
	case is(list, i, "]") || is(list, i, "}"):
		i++
	}
	return found{letter, i, strong}, false
}

// becauses may follow an option's text without a pause.
var becauses = []string{"because", "since", "as", "due", "for", "based", "given", "with", "and", "or", "-", "("}

// text reads an option's whole text, the longest that matches; it must end where a word ends a
// clause.
func (r *reader) text(list []token, i int) (f found, ok bool) {
	if i >= len(list) || !list[i].word {
		return found{}, false
	}
	for _, o := range r.options {
		for _, t := range o.texts {
			end, whole := matchText(list, i, t)
			if !whole || end <= f.end {
				continue
			}
			if end < len(list) && list[end].word && !oneOf(list, end, becauses...) {
				continue
			}
			f, ok = found{o.letter, end, true}, true
		}
	}
	return f, ok
}

// onlyBracketed finds the one option that the rest of a line names in brackets, "(b)".
func (r *reader) onlyBracketed(list []token, i int) ([]string, bool) {
	letter := ""
	for ; i < len(list) && list[i].text != lineBreak; i++ {
		if oneOf(list, i, "not", "isn't", "neither", "nor", "cannot", "can't") {
			return nil, false
		}
		if !is(list, i, "(") || !is(list, i+2, ")") || !list[i+1].word {
			continue
		}
		l := r.byLetter(list[i+1].text).letter
		if l == "" {
			continue
		}
		f, bad := r.lettered(list, l, i+3, true)
		if bad || letter != "" && f.letter != letter {
			return nil, false
		}
		letter = f.letter
	}
	if letter == "" {
		return nil, false
	}
	return []string{letter}, true
}

// unknown reports "I don't know" at i, also where the question has no such option.
func (r *reader) unknown(list []token, i int) bool {
	for _, words := range otherWords[DontKnow] {
		if end, ok := matchText(list, i, tokens(words)); ok && list[i].text == tokens(words)[0].text && (end >= len(list) || !list[end].word || oneOf(list, end, "the", "what", "which", "if", "how", "enough", "from")) {
			return true
		}
	}
	return false
}
