package responder

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/answer"
	"cxrepro/internal/cxreasonbench"
)

// judgePrompts finds the judge's instruction with a text; ok is false for any other text.
func judgePrompts(instruction func(cxreasonbench.JudgePrompt) string) map[string]cxreasonbench.JudgePrompt {
	out := map[string]cxreasonbench.JudgePrompt{}
	for _, p := range cxreasonbench.JudgePrompts() {
		if text := strings.TrimSpace(instruction(p)); text != "" {
			out[text] = p
		}
	}
	return out
}

// judge answers as a competent judge does: by the instruction, from the message alone. ok is
// false for a message that is not laid out as a judge's.
func judge(p cxreasonbench.JudgePrompt, message string) (text string, ok bool) {
	if p == cxreasonbench.ExtractValue || p == cxreasonbench.ExtractValueSides {
		reply, found := strings.CutPrefix(strings.TrimSpace(message), "- Response: ")
		return extract(p, reply), found
	}
	reference, reply, ok := compared(message)
	if !ok {
		return "", false
	}
	return verdict(p, reference, reply), true
}

// compared takes the two answers out of a judge's message, in either layout.
func compared(message string) (reference, reply string, ok bool) {
	_, rest, ok := strings.Cut(message, "- Answer 1: ")
	if !ok {
		return "", "", false
	}
	for _, mark := range []string{"\n- Answer 2: ", " - Answer 2: ", "- Answer 2: "} {
		if reference, reply, ok = strings.Cut(rest, mark); ok {
			return reference, reply, true
		}
	}
	if reference, ok = strings.CutSuffix(rest, "- Answer 2:"); ok { // of an empty reply
		return reference, "", true
	}
	return "", "", false
}

// referred is an option that a reference names.
var referred = regexp.MustCompile(`(?:^|, )\(([a-z])\) `)

// special are the options that say nothing about the picture, behind their letter in a reply.
var special = regexp.MustCompile(`(?i)\(?\b([a-z])[).:]\s*(none of the above|need new options?|i (?:don['’]?t|do not) know)`)

// meanings of the special options by their first word.
var meanings = map[byte]answer.Meaning{'n': answer.None, 'i': answer.DontKnow}

// readable is what a reply is read against by someone who knows the reference and no other
// option: letters with the texts that are known.
func readable(reference, reply string, several bool) (q answer.Question, accepted []string) {
	known := map[string]answer.Option{}
	at := referred.FindAllStringSubmatchIndex(reference, -1)
	for i, m := range at {
		end := len(reference)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		letter := reference[m[2]:m[3]]
		known[letter] = answer.Option{Letter: letter, Text: strings.TrimRight(reference[m[1]:end], ". ")}
		accepted = append(accepted, letter)
	}
	for _, m := range special.FindAllStringSubmatch(reply, -1) {
		letter, text := strings.ToLower(m[1]), strings.ToLower(m[2])
		o := answer.Option{Letter: letter, Text: text, Meaning: meanings[text[0]]}
		if strings.HasPrefix(text, "need") {
			o.Meaning = answer.MoreOptions
		}
		if _, ok := known[letter]; !ok {
			known[letter] = o
		}
	}
	for c := 'a'; c <= 'l'; c++ {
		o, ok := known[string(c)]
		if !ok {
			o = answer.Option{Letter: string(c)}
		}
		q.Options = append(q.Options, o)
	}
	q.Several = several
	return q, accepted
}

func verdict(p cxreasonbench.JudgePrompt, reference, reply string) string {
	several := p == cxreasonbench.JudgeStructures || p == cxreasonbench.JudgeMeasurementSides
	q, accepted := readable(reference, reply, several)
	o := answer.Parse(q, reply)
	// Without its letter an option of these is told by its words alone.
	if o.Kind == answer.Unparsable && strings.Contains(strings.ToLower(claim(reply)), "none of the above") {
		o.Kind = answer.NoneOfAbove
	}
	hits := 0
	for _, l := range o.Letters {
		if slices.Contains(accepted, l) {
			hits++
		}
	}
	all := hits == len(accepted) && hits == len(o.Letters) && hits > 0
	switch {
	case p == cxreasonbench.JudgeRefined:
		return word(all, "True", "IDK")
	case p == cxreasonbench.JudgeInit && o.Kind == answer.Unknown:
		return "IDK"
	case p == cxreasonbench.JudgeInit, p == cxreasonbench.JudgeFinal:
		return word(hits == 1 && len(o.Letters) == 1, "True", "False")
	case all:
		return "True"
	case o.Kind == answer.NoneOfAbove && slices.Contains(p.Words(), "N/A"):
		return "N/A"
	case p == cxreasonbench.JudgeStructures && hits > 0 && hits == len(o.Letters):
		return "Partial (" + strconv.Itoa(hits) + ")"
	case p == cxreasonbench.JudgeMeasurementSides && hits > 0:
		return "Partial"
	}
	return "False"
}

// claim is the line in which a reply states its answer, the first where none is marked.
func claim(reply string) string {
	if i := strings.LastIndex(strings.ToUpper(reply), "FINAL ANSWER"); i >= 0 && i < len(reply) {
		reply = reply[i:]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(reply), "\n")
	return line
}

func word(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

var (
	valueLine  = regexp.MustCompile(`(?i)value\W*:\W*?(-?[0-9]*\.?[0-9]+)(\s*-\s*[0-9])?`)
	valueSides = regexp.MustCompile(`(?i)value\W*:\W*right\s*-\s*(-?[0-9]*\.?[0-9]+)\s*,\s*left\s*-\s*(-?[0-9]*\.?[0-9]+)`)
)

// extract finds the value of a reply; N/A where there is none, or a range.
func extract(p cxreasonbench.JudgePrompt, reply string) string {
	if p == cxreasonbench.ExtractValueSides {
		if m := valueSides.FindStringSubmatch(reply); m != nil {
			return "Right - " + m[1] + ", Left - " + m[2]
		}
		return "N/A"
	}
	if m := valueLine.FindStringSubmatch(reply); m != nil && m[2] == "" {
		return m[1]
	}
	return "N/A"
}

// mistaken turns a verdict into its opposite, as a judge that errs does.
func mistaken(verdict string) string {
	switch verdict {
	case "True":
		return "False"
	case "False", "N/A", "IDK":
		return "True"
	}
	return verdict
}
