package radcot

import (
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// Verdict judges one reply, or one trajectory. It is data without texts.
type Verdict struct {
	Accepted bool `json:"accepted"`
	// Codes are why it is rejected, in the order of [Codes].
	Codes []Code `json:"codes,omitempty"`
	// Segments counts the pairs of think and answer, Kept is the one that stays, from 1.
	Segments int `json:"segments,omitempty"`
	Kept     int `json:"kept,omitempty"`
	Words    int `json:"words,omitempty"`
	// Stripped counts the sentences that were taken out, by what they gave away.
	Stripped []Count `json:"stripped,omitempty"`
	// Similarity is set where a rationale was compared with findings.
	Similarity *xragent.Similarity `json:"similarity,omitempty"`
	// Broken are the contracts of the protocol that a trajectory broke.
	Broken []xragent.Reason `json:"broken,omitempty"`
}

// Code is the deciding code of a rejection, "" of what is accepted.
func (v Verdict) Code() Code {
	if len(v.Codes) == 0 {
		return ""
	}
	return v.Codes[0]
}

// rejected is a verdict with these codes; without any it accepts.
func judged(v Verdict, found map[Code]bool) Verdict {
	v.Codes = nil
	for _, c := range Codes() {
		if found[c] {
			v.Codes = append(v.Codes, c)
		}
	}
	v.Accepted = len(v.Codes) == 0
	return v
}

// segment is one pair of think and answer.
type segment struct{ think, answer string }

// read cuts a reply into its segments: pairs of think and answer in this order, white space
// between them. The fault is what keeps it from being that. Source: that such replies are
// rejected [paper], the exact test [ours].
func read(turn xragent.Turn) ([]segment, Code) {
	if strings.TrimSpace(turn.Text) == "" {
		return nil, NoReply
	}
	if turn.FinishReason != "stop" {
		return nil, Truncated
	}
	blocks, faults := xragent.Blocks(turn.Text)
	switch {
	case slices.Contains(faults, xragent.UnclosedTag), slices.Contains(faults, xragent.NestedTag):
		return nil, MalformedNested
	case len(blocks) == 0:
		return nil, MalformedMissing
	case len(faults) > 0:
		return nil, MalformedStray
	}
	var out []segment
	for i, b := range blocks {
		switch {
		case b.Tag != "think" && b.Tag != "answer":
			return nil, MalformedStray
		case i > 0 && blocks[i-1].Tag == b.Tag:
			return nil, MalformedRepeated
		case b.Tag == "think":
			out = append(out, segment{think: b.Body})
		case len(out) == 0 && len(blocks) == 1:
			return nil, MalformedMissing
		case len(out) == 0:
			return nil, MalformedOrder
		default:
			out[len(out)-1].answer = b.Body
		}
	}
	if blocks[len(blocks)-1].Tag == "think" {
		return nil, MalformedMissing
	}
	return out, ""
}

// control reports text that a chat template or a trainer would take for its own.
func control(text string) bool {
	if !strings.Contains(text, "<") {
		return false
	}
	for _, t := range []string{"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<image>", "<video>", "<audio>"} {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}

// Rationale judges a teacher's reply for a report and returns the rationale that stays. Of
// several segments the longest valid one stays, the first of equally long ones; where none is
// valid the verdict is that of the longest.
func (r Rules) Rationale(c *Candidate, reply xragent.Turn) (Verdict, string) {
	segments, fault := read(reply)
	if fault != "" {
		return judged(Verdict{}, map[Code]bool{fault: true}), ""
	}
	var best Verdict
	text := ""
	for i, s := range segments {
		v, kept := r.segment(c, s)
		v.Kept = i + 1
		if i == 0 || v.Accepted && !best.Accepted || v.Accepted == best.Accepted && v.Words > best.Words {
			best, text = v, kept
		}
	}
	best.Segments = len(segments)
	if !best.Accepted {
		best.Kept, text = 0, ""
	}
	return best, text
}

// segment judges one pair.
func (r Rules) segment(c *Candidate, s segment) (Verdict, string) {
	found := map[Code]bool{}
	think := strings.TrimSpace(s.think)
	if think == "" || strings.TrimSpace(s.answer) == "" {
		found[MalformedEmpty] = true
	}
	if control(think) {
		found[ControlToken] = true
	}
	kept, codes, _, rejected := cleaned(think, c.Prior, r.Leakage)
	var v Verdict
	stripped := tally{}
	for _, code := range codes {
		if rejected {
			found[code] = true
		} else {
			stripped[string(code)]++
		}
	}
	if !rejected && len(stripped) > 0 {
		v.Stripped = stripped.list()
	}
	sim := xragent.ComputeSimilarity(kept, c.Findings)
	v.Similarity, v.Words = &sim, sim.Rationale
	if !found[MalformedEmpty] {
		found[TooShort] = v.Words < r.MinWords
		found[TooLong] = v.Words > r.MaxWords
	}
	found[TooSimilar] = sim.Ratio > r.Similarity
	return judged(v, found), kept
}
