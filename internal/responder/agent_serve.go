package responder

import (
	"net/http"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/xragent"
)

// agentRequest is a request of the agent: about an item in one of its turns, or a lookup.
type agentRequest struct {
	item   *xragent.Item
	turn   int
	direct bool // under a direct prompt; bare is that without reasoning
	bare   bool
	routed bool
	// evidence is the message between the turns.
	evidence evidence
	// conditions of a lookup; options of a request to name conditions.
	conditions, options []string
}

// bareDirect is the direct prompt that asks for no reasoning.
const bareDirect = "v4"

// agentPrompts are the system texts of the agent's side requests.
type agentPrompts struct {
	lookup, conditions string
	direct             map[string]bool // bare
}

func newAgentPrompts() agentPrompts {
	p := agentPrompts{direct: map[string]bool{}}
	p.lookup = strings.TrimSpace(xragent.LookupTranscript([]string{"x"}).Messages[0].Text())
	p.conditions = strings.TrimSpace(xragent.ConditionsTranscript([]string{"x"}).Messages[0].Text())
	for _, name := range xragent.DirectPrompts() {
		if text, err := xragent.DirectPrompt(name); err == nil {
			p.direct[strings.TrimSpace(text)] = name == bareDirect
		}
	}
	return p
}

// side reports that a system text is that of a lookup.
func (p agentPrompts) side(system string) bool { return system == p.lookup || system == p.conditions }

// understand reads a request of the agent.
//
// Errors: wrapping errUnknown.
func (p agentPrompts) understand(q *Questions, r *chatRequest, pictures []picture) (a *agentRequest, err error) {
	system, turns := strings.TrimSpace(r.system()), r.turns(pictures)
	last := r.Messages[len(r.Messages)-1].Content.text
	switch system {
	case p.lookup:
		text, _ := strings.CutPrefix(strings.TrimSpace(last), "Conditions: ")
		return &agentRequest{conditions: strings.Split(text, ";")}, nil
	case p.conditions:
		return &agentRequest{options: optionLines(last)}, nil
	}
	a = &agentRequest{turn: len(turns), routed: strings.Contains(system, "\nmeasure takes ")}
	a.bare, a.direct = p.direct[system]
	if len(turns) > 2 || a.direct && len(turns) > 1 {
		return nil, invalid("messages", "", "the agent asks twice, a direct prompt once")
	}
	if a.item, err = q.locate(turns[0]); err != nil {
		return nil, err
	}
	if a.turn == 2 {
		a.evidence = readEvidence(last)
	}
	return a, nil
}

// optionLines are the lines behind the heading of a list of options.
func optionLines(text string) (out []string) {
	_, rest, _ := strings.Cut(text, "\n")
	for line := range strings.SplitSeq(rest, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// reply is what a model says to a request of the agent.
func (a *agentRequest) reply(m *model, q *Questions, draw int) (string, *apiError) {
	switch {
	case a.conditions != nil:
		return q.lookedUp(a.conditions), nil
	case a.item == nil:
		return strings.Join(a.options[:min(xragent.MaxConditions, len(a.options))], "\n"), nil
	case m.Behaviour != Agent:
		return "", invalid("messages", "", m.Name+" is no policy of the agent: its behaviour is "+string(m.Behaviour))
	case a.direct:
		return m.direct(a.item, a.bare, draw), nil
	case a.turn == 1:
		return m.plan(a.item, a.routed), nil
	}
	return m.conclude(a.item, a.evidence, draw), nil
}

// noQuestions tells a client to come again once there are questions.
func noQuestions() *apiError {
	return &apiError{status: http.StatusServiceUnavailable, kind: "server_error", code: "no_questions", message: "the responder has no question set yet", after: time.Second}
}

// transcript is the request as a dialogue, pictures by the digest of their bytes.
//
// Errors: *apiError of status 400.
func (r *chatRequest) transcript(pictures []picture) (t dialogue.Transcript, err error) {
	roles := map[string]dialogue.Role{"user": dialogue.User, "assistant": dialogue.Assistant}
	for _, m := range r.Messages {
		role, ok := roles[m.Role]
		if !ok {
			role = dialogue.System
		}
		var parts []dialogue.Part
		for _, n := range m.Content.pictures {
			data, err := pictures[n].bytes()
			if err != nil {
				return t, err
			}
			parts = append(parts, dialogue.Part{Image: &artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data))}})
		}
		t.Messages = append(t.Messages, dialogue.Message{Role: role, Parts: append(parts, dialogue.Part{Text: m.Content.text})})
	}
	return t, nil
}
