package radcot

import (
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// sentences cuts text after . ! or ? before white space or the end, and at line breaks; a point
// inside a number or an abbreviation without a blank ends nothing.
func sentences(text string) []string {
	var out []string
	begin := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[begin:end]); s != "" {
			out = append(out, s)
		}
		begin = end
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			add(i)
		case '.', '!', '?':
			if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] == '\t' || text[i+1] == '\r' {
				add(i + 1)
			}
		}
	}
	add(len(text))
	return out
}

// set makes a set of the words of a text.
func set(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// A sentence that points elsewhere names another document and says nothing beside it.
var (
	elsewhere = set("prior priors previous previously preceding comparison compared earlier report reports dictation dictated above below impression separately concurrent same addendum")
	pointing  = set(`see please refer to the of for details detail unchanged no not significant significantly interval change changes changed from since with and a an
		full complete description findings finding is are was were be been has have in on at as this that these chest radiograph radiographs radiography film films
		x ray xray ct pa lateral ap view views study studies exam exams examination examinations dated date performed same day under number clip accession again
		similar essentially otherwise there reported described noted discussed will`)
)

// pointer reports a sentence that only points to a prior or another report.
func pointer(sentence string) bool {
	points := false
	for _, w := range xragent.Words(sentence) {
		switch {
		case elsewhere[w]:
			points = true
		case !pointing[w] && strings.Trim(w, "0123456789") != "":
			return false
		}
	}
	return points
}

// trivial returns why findings are no reference, or "". Source: [ours].
func trivial(findings string, least int) Code {
	n := len(xragent.Words(findings))
	if n == 0 {
		return LeftNoFindings
	}
	if n < least {
		return LeftShortFindings
	}
	if blocks, faults := xragent.Blocks(findings); control(findings) || len(blocks) > 0 || slices.Contains(faults, xragent.UnclosedTag) || strings.Contains(findings, "</") {
		return LeftTags
	}
	for _, s := range sentences(findings) {
		if !pointer(s) {
			return ""
		}
	}
	return LeftPointer
}
