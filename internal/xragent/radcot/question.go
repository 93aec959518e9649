package radcot

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// draft is a question as the teacher writes it, without letters.
type draft struct {
	Question string   `json:"question"`
	Correct  string   `json:"correct"`
	Wrong    []string `json:"wrong"`
}

// citing are phrases of a question that points at what its reader cannot see.
var citing = whole([]string{"the report", "the findings", "reported", "described", "mentioned", "documented", "noted in", "stated", "according to", "based on the text", "given text"})

// quoted is the number of words in a row that a question may not share with hidden findings.
const quoted = 6

// Question judges a reply that writes a question from hidden findings, and returns the
// question: sentences that cite the findings are taken out, options stand in an order drawn
// from the seed and the candidate.
func (s Spec) Question(c *Candidate, reply xragent.Turn) (Verdict, *xragent.Question) {
	segments, fault := read(reply)
	found := map[Code]bool{fault: fault != ""}
	if fault == "" && len(segments) != 1 {
		found[MalformedRepeated] = true
	}
	v := Verdict{Segments: len(segments)}
	if fault != "" || len(segments) != 1 {
		return judged(v, found), nil
	}
	var d draft
	dec := json.NewDecoder(strings.NewReader(segments[0].answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		found[QuestionJSON] = true
		return judged(v, found), nil
	}
	if _, err := dec.Token(); err != io.EOF {
		found[QuestionJSON] = true
		return judged(v, found), nil
	}
	stem, cut := withoutCues(d.Question, c.Findings)
	if cut > 0 {
		v.Stripped = []Count{{string(QuestionCue), cut}}
	}
	options := s.options(c, d, found)
	found[QuestionCue] = found[QuestionCue] || !strings.HasSuffix(stem, "?")
	for _, text := range append(slices.Clone(options), stem) {
		code, _ := leaking(text, false, LeakageReject)
		found[code] = code != ""
		found[ControlToken] = found[ControlToken] || control(text)
	}
	delete(found, "")
	v.Kept = 1
	if v = judged(v, found); !v.Accepted {
		return v, nil
	}
	return v, s.lettered(c, stem, options)
}

// options returns the options with the correct one first, and notes what is wrong with them.
func (s Spec) options(c *Candidate, d draft, found map[Code]bool) []string {
	want := s.Options
	if c.Part == Binary {
		want = 2
	}
	options := append([]string{d.Correct}, d.Wrong...)
	seen := map[string]bool{}
	longest := 0
	for i, o := range options {
		o = strings.Join(strings.Fields(o), " ")
		options[i] = o
		plain := spaced(o)
		if plain == "  " {
			found[QuestionFields] = true
		}
		if seen[plain] {
			found[QuestionOptions] = true
		}
		seen[plain] = true
		if i > 0 {
			longest = max(longest, len(xragent.Words(o)))
		}
	}
	if strings.TrimSpace(d.Question) == "" {
		found[QuestionFields] = true
	}
	if len(options) != want {
		found[QuestionOptions] = true
	}
	// An answer that says far more than the others, or that the question holds already, needs no picture.
	if n := len(xragent.Words(options[0])); n > 2*longest+2 || n > 1 && strings.Contains(spaced(d.Question), spaced(options[0])) {
		found[QuestionCue] = true
	}
	return options
}

// withoutCues takes sentences out of a question that cite the findings or repeat so many words
// of theirs in a row.
func withoutCues(question, findings string) (kept string, cut int) {
	runs := map[string]bool{}
	words := xragent.Words(findings)
	for i := 0; i+quoted <= len(words); i++ {
		runs[strings.Join(words[i:i+quoted], " ")] = true
	}
	var out []string
	for _, s := range sentences(strings.Join(strings.Fields(question), " ")) {
		w := xragent.Words(s)
		bad := says(spaced(s), citing)
		for i := 0; i+quoted <= len(w) && !bad; i++ {
			bad = runs[strings.Join(w[i:i+quoted], " ")]
		}
		if bad {
			cut++
			continue
		}
		out = append(out, s)
	}
	return strings.Join(out, " "), cut
}

// lettered gives the options letters in drawn order. Drawn from seed and content, the order of
// one question does not depend on any other.
func (s Spec) lettered(c *Candidate, stem string, options []string) *xragent.Question {
	h := rank(s.Seed, "letters", c.key())
	r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16])))
	order := r.Perm(len(options))
	q := &xragent.Question{Type: xragent.Lettered, Text: stem}
	for place, i := range order {
		q.Options = append(q.Options, options[i])
		if i == 0 {
			q.Key = string(rune('A' + place))
		}
	}
	return q
}

// canonical writes v as JSON without escaping what needs no escape.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
