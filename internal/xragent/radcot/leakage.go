package radcot

import (
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// A leak is a list of phrases that give away where a text comes from. Phrases are matched as
// whole words after lower-casing, whatever stands between the words.
type leak struct {
	code Code
	// strip takes the sentence out; otherwise the text is rejected.
	strip   bool
	phrases []string
}

// LeakageVersion changes whenever a phrase does.
const LeakageVersion = 1

// leaks are the phrases. Source: the idea [paper], the list [ours].
var leaks = []leak{
	{LeakPrompt, false, whole([]string{
		"reference findings", "reference finding", "reference report", "reference answer", "reference text", "ground truth", "as given", "given findings",
		"the given report", "provided findings", "provided report", "provided reference", "findings provided", "findings you gave", "answer key", "target answer",
		"correct answer is given", "the prompt", "as instructed", "the instructions", "my instructions", "the user", "hidden findings", "language model", "as an ai",
	})},
	{LeakReport, true, whole([]string{
		"according to the report", "according to the findings", "the report states", "the report says", "the report mentions", "the report describes", "the report notes",
		"the report indicates", "the report confirms", "per the report", "per report", "in the report", "from the report", "as reported", "as documented", "the radiologist",
		"radiology report", "the findings state", "the findings mention", "the findings describe", "the findings say", "the findings confirm", "consistent with the findings given",
		"as stated", "as described above", "the written findings", "the description states", "the description says",
	})},
}

// priorWords are what a text says of an earlier film.
var priorWords = whole([]string{
	"compared to prior", "compared with prior", "compared to the prior", "compared with the prior", "compared to previous", "compared with previous",
	"compared to the previous", "compared with the previous", "comparison to prior", "comparison with prior", "in comparison with the", "in comparison to the",
	"prior study", "prior studies", "prior exam", "prior examination", "prior radiograph", "prior radiographs", "prior film", "prior films", "prior chest", "prior ct",
	"previous study", "previous studies", "previous exam", "previous examination", "previous radiograph", "previous radiographs", "previous film", "previous chest",
	"earlier study", "earlier radiograph", "earlier film", "earlier examination", "since the prior", "since the previous", "since prior", "since previous", "from prior", "from the prior",
	"interval change", "interval development", "interval increase", "interval decrease", "interval improvement", "interval worsening", "interval removal", "interval placement",
	"interval resolution", "in the interval", "unchanged from", "as before", "as seen previously", "previously seen", "previously noted", "again seen", "again noted", "are again", "is again",
	"no longer seen", "has improved", "have improved", "has worsened", "have worsened", "has resolved", "have resolved", "has increased", "has decreased", "newly developed",
})

// priorHints let findings count as speaking of an earlier film.
var priorHints = whole([]string{"unchanged", "stable", "prior", "previous", "previously", "comparison", "interval"})

// whole puts a blank around each phrase, as spaced does around words.
func whole(phrases []string) []string {
	out := make([]string, len(phrases))
	for i, p := range phrases {
		out[i] = " " + p + " "
	}
	return out
}

// spaced joins words with a blank around each, so that a phrase is found as whole words.
func spaced(text string) string { return " " + strings.Join(xragent.Words(text), " ") + " " }

func says(words string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(words, p) })
}

// speaksOfPrior reports that findings speak of an earlier film.
func speaksOfPrior(findings string) bool {
	words := spaced(findings)
	return says(words, priorWords) || says(words, priorHints)
}

// leaking returns what a text gives away, and whether its sentence may be taken out. prior
// allows words about an earlier film.
func leaking(text string, prior bool, how Leakage) (code Code, strip bool) {
	words := spaced(text)
	choose := func(code Code, strip bool) (Code, bool) {
		switch how {
		case LeakageReject:
			return code, false
		case LeakageStrip:
			return code, true
		}
		return code, strip
	}
	for _, l := range leaks {
		if says(words, l.phrases) {
			return choose(l.code, l.strip)
		}
	}
	if says(words, identifierWords) || namesIdentifier(text) {
		return choose(LeakIdentifier, false)
	}
	if !prior && says(words, priorWords) {
		return choose(LeakPrior, true)
	}
	return "", false
}

// cleaned takes leaking sentences out. codes are what was found; rejected says that a sentence
// must not be taken out.
func cleaned(text string, prior bool, how Leakage) (kept string, codes []Code, stripped int, rejected bool) {
	if code, _ := leaking(text, prior, how); code == "" {
		return text, nil, 0, false
	}
	var out []string
	for _, s := range sentences(text) {
		code, strip := leaking(s, prior, how)
		if code == "" {
			out = append(out, s)
			continue
		}
		codes = append(codes, code)
		rejected = rejected || !strip
		stripped++
	}
	if stripped == 0 { // a phrase across sentences
		code, _ := leaking(text, prior, how)
		return text, []Code{code}, 0, true
	}
	if rejected {
		return text, codes, 0, true
	}
	return strings.Join(out, " "), codes, stripped, false
}
