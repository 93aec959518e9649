package responder

import (
	"encoding/json"
	"fmt"
	"strings"

	"cxrepro/internal/xragent"
)

// chanceOf is a share of the items: whether an item is among those of which something holds.
func (m *model) chanceOf(what string, item *xragent.Item, share float64) bool {
	return named(m.seed, what, m.Name, item.ID).share() < share
}

// plan is the policy's first turn. routed says that measure is among the tools.
func (m *model) plan(item *xragent.Item, routed bool) string {
	switch {
	case m.chanceOf("malformed", item, m.Agent.Malformed):
		return malformedPlan(named(m.seed, "which form", m.Name, item.ID).number(len(malformedPlans)))
	case m.chanceOf("over budget", item, m.Agent.OverBudget):
		return firstReading + strings.Repeat(crop(item), xragent.MaxCalls+1)
	}
	var calls []string
	need := m.Agent.skill(item).Needs
	switch m.Agent.Tools {
	case ToolsAlways:
		calls = []string{crop(item), parse(item), lookup(item)}
	case ToolsNever:
	default:
		switch need {
		case xragent.ToolCrop:
			calls = []string{crop(item)}
		case xragent.ToolParse:
			calls = []string{parse(item)}
		case xragent.ToolLookup:
			calls = []string{lookup(item)}
		}
	}
	if routed && m.Agent.Tools != ToolsNever && (need == needsMeasurement || m.Agent.Tools == ToolsAlways) {
		calls = append(calls, call(xragent.ToolMeasure, map[string]any{}))
	}
	if len(calls) == 0 {
		return firstReading + "<no_tool/>"
	}
	return firstReading + strings.Join(calls, "")
}

// evidence is what the second turn is shown.
type evidence struct {
	observations []xragent.Observation
	bundle       *xragent.Bundle // nil where there is no measurement block
}

// readEvidence takes the blocks out of the message between the turns.
func readEvidence(text string) evidence {
	var e evidence
	for _, body := range blocks(text, "observation") {
		var o xragent.Observation
		if json.Unmarshal([]byte(body), &o) == nil {
			e.observations = append(e.observations, o)
		}
	}
	for _, body := range blocks(text, "measurement") {
		var b xragent.Bundle
		if json.Unmarshal([]byte(body), &b) == nil {
			e.bundle = &b
		}
	}
	return e
}

// blocks returns what stands in blocks of a name.
func blocks(text, name string) (out []string) {
	for {
		_, rest, found := strings.Cut(text, "<"+name+">")
		body, after, closed := strings.Cut(rest, "</"+name+">")
		if !found || !closed {
			return out
		}
		out, text = append(out, body), after
	}
}

// conclude is the policy's second turn. draw tells the draws of an item apart; -1 is the
// likeliest reply.
func (m *model) conclude(item *xragent.Item, e evidence, draw int) string {
	ignores := m.chanceOf("ignores", item, m.Agent.Ignores)
	var said []string
	if !ignores {
		said = measured(item.Question, e.bundle)
	}
	if m.chanceOf("hallucinates", item, m.Agent.Hallucinates) {
		said = []string{invented(e.bundle)}
	}
	if ignores {
		e = evidence{}
	}
	if m.chanceOf("malformed reply", item, m.Agent.MalformedReply) {
		return "<think>" + reasoning(said) + "</think>" + m.decide(item, e, draw)
	}
	return "<think>" + reasoning(said) + "</think><answer>" + m.decide(item, e, draw) + "</answer>"
}

// decide is the answer: by the evidence that the item needs, by what the policy knows, or a
// guess.
func (m *model) decide(item *xragent.Item, e evidence, draw int) string {
	k := m.Agent.skill(item)
	guess := named(m.seed, "guess", m.Name, item.ID, itoa(int64(draw)))
	if draw >= 0 && named(m.seed, "dissent", m.Name, item.ID, itoa(int64(draw))).share() < m.Dissent {
		return guessed(item.Question, guess)
	}
	if k.Needs != "" && m.chanceOf("reads", item, k.Reads) {
		if answer, ok := e.answer(item.Question, k.Needs); ok {
			return answer
		}
	}
	if m.chanceOf("knows", item, k.Knows) {
		return item.Question.Key
	}
	return guessed(item.Question, guess)
}

// answer is what the evidence says; ok is false where it says nothing. A measurement is taken at
// its word, right or wrong; a tool's result, which the responder does not look at, is right.
func (e evidence) answer(q xragent.Question, need string) (string, bool) {
	if need == needsMeasurement {
		if e.bundle == nil {
			return "", false
		}
		return byMeasurement(q, *e.bundle)
	}
	for _, o := range e.observations {
		if o.Name != need || o.Status != xragent.StatusOK {
			continue
		}
		if named := optionsIn(q, o.Text); len(named) == 1 {
			return named[0], true
		}
		return q.Key, true
	}
	return "", false
}

// optionsIn lists the letters of the options that a text names.
func optionsIn(q xragent.Question, text string) (letters []string) {
	for i, o := range q.Options {
		if o != "" && strings.Contains(strings.ToLower(text), strings.ToLower(o)) {
			letters = append(letters, string(rune('A'+i)))
		}
	}
	return letters
}

// guessed is any answer of the question's type.
func guessed(q xragent.Question, c chance) string {
	switch q.Type {
	case xragent.Lettered:
		return string(rune('A' + c.number(len(q.Options))))
	case xragent.YesNo:
		return []string{"Yes", "No"}[c.number(2)]
	}
	return "not seen"
}

// direct is the only turn under a direct prompt; bare leaves the reasoning out.
func (m *model) direct(item *xragent.Item, bare bool, draw int) string {
	answer := "<answer>" + m.decide(item, evidence{}, draw) + "</answer>"
	if bare {
		return answer
	}
	return "<think>" + reasoning(nil) + "</think>" + answer
}

// lookedUp answers an evidence lookup: what the notes of the question sets say of a condition,
// else a sentence about it.
func (q *Questions) lookedUp(conditions []string) string {
	var out []string
	for _, c := range conditions {
		c = strings.ToLower(strings.TrimSpace(c))
		if note := q.notes[c]; note != "" {
			out = append(out, note)
		} else if c != "" {
			out = append(out, fmt.Sprintf("%s: how far it spreads and how sharp its borders are tells it from what it is confused with.", c))
		}
	}
	return strings.Join(out, " ")
}
