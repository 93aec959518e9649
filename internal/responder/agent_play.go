package responder

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// Given is what a rollout is given by others than the policy.
type Given struct {
	// Bundle is what the gate lets through of the item's pictures.
	Bundle xragent.Bundle
	// Observe runs a call of the plan.
	Observe func(xragent.ToolCall, []xragent.Observation) xragent.Observation
}

// PlayAgent plays a rollout of an item without any protocol: the turns are the model's, by its
// script. It is what a rollout over the endpoint must come to. draw is -1 for the likeliest
// replies.
//
// Errors: an unknown model, one that is no policy; those of the agent.
func (s *Responder) PlayAgent(name string, agent xragent.Agent, item *xragent.Item, draw int, given Given) (xragent.Rollout, xragent.Ending, error) {
	m := s.models[name]
	if m == nil || m.Behaviour != Agent {
		return xragent.Rollout{}, "", fmt.Errorf("responder: no model %q plays the agent", name)
	}
	r := xragent.Rollout{ID: item.ID, Question: item.Question, Pictures: append([]artifacts.Ref{}, item.Images()...)}
	return agent.Play(r, xragent.Plays{
		Turn: func(_ xragent.Rollout, step xragent.Step) (xragent.Turn, error) {
			return xragent.Turn{Text: m.say(item, agent, step, draw), FinishReason: "stop"}, nil
		},
		Call: func(r xragent.Rollout, c xragent.ToolCall) (xragent.Observation, error) {
			return given.Observe(c, r.Results), nil
		},
		Bundle: given.Bundle,
	})
}

// say is the turn that a step asks for.
func (m *model) say(item *xragent.Item, agent xragent.Agent, step xragent.Step, draw int) string {
	switch {
	case agent.Direct != "":
		return m.direct(item, agent.Direct == bareDirect, draw)
	case step.Turn == 1:
		return m.plan(item, agent.Routed)
	}
	return m.conclude(item, readEvidence(step.Ask.Messages[len(step.Ask.Messages)-1].Text()), draw)
}
