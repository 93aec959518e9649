package responder

import (
	"fmt"
	"maps"
	"slices"

	"cxrepro/internal/xragent"
)

// Behaviours of the agent's models.
const (
	// Agent answers as a policy of the two-turn agent, by its script.
	Agent Behaviour = "agent"
	// Lookup answers evidence lookups only. Every other model answers them too.
	Lookup Behaviour = "lookup"
	// Teacher writes rationales, questions and routed examples for Rad-CoT, with the faults that
	// its filters are there for (package radcot/fixture). It needs no question set.
	Teacher Behaviour = "teacher"
)

// ToolUse says which tools a policy calls. The empty word means needed.
type ToolUse string

// Ways of using tools.
const (
	ToolsNeeded ToolUse = "needed" // the tool that its questions need, if they need one
	ToolsAlways ToolUse = "always" // all three on every question
	ToolsNever  ToolUse = "never"
)

// needsMeasurement is what a source needs that is no tool.
const needsMeasurement = "measurement"

// AgentScript says how a policy of the agent plays. Shares are of the items, each drawn by
// itself from names alone; all draws of an item share them.
type AgentScript struct {
	Tools ToolUse `yaml:"tools,omitempty"`
	// Sources say, by the items' source, what it takes to answer them; "other" stands for every
	// source that is not named.
	Sources map[string]Skill `yaml:"sources"`
	// Malformed first turns break the form, MalformedReply second ones; OverBudget first turns
	// call a tool six times.
	Malformed      float64 `yaml:"malformed,omitempty"`
	MalformedReply float64 `yaml:"malformed_reply,omitempty"`
	OverBudget     float64 `yaml:"over_budget,omitempty"`
	// Ignores: the second turn reads nothing of what it was given.
	Ignores float64 `yaml:"ignores,omitempty"`
	// Hallucinates: the second turn quotes a cardiothoracic ratio that nobody measured.
	Hallucinates float64 `yaml:"hallucinates,omitempty"`
}

// Skill is what it takes to answer the questions of a source.
type Skill struct {
	// Needs is what the answer stands in: measurement, roi_crop, region_parse or
	// evidence_lookup; empty for the picture itself.
	Needs string `yaml:"needs,omitempty"`
	// Knows is the share of items that the policy answers right without it; the others are
	// guessed.
	Knows float64 `yaml:"knows"`
	// Reads is the share of items at which the policy goes by what it needs, once it has it: by
	// the measurement that it is shown, whether or not that is right; by a tool, right.
	Reads float64 `yaml:"reads,omitempty"`
}

// otherSource names the skill of every source that has none.
const otherSource = "other"

func (m *Model) checkAgent(c *checker, at string) {
	if (m.Behaviour == Agent) != (m.Agent != nil) {
		c.Add(at+".agent", "belongs to the behaviour agent, which needs it")
		return
	}
	if m.Agent == nil {
		return
	}
	s, at := m.Agent, at+".agent"
	if !slices.Contains([]ToolUse{"", ToolsNeeded, ToolsAlways, ToolsNever}, s.Tools) {
		c.Add(at+".tools", "is %q, want needed, always or never", s.Tools)
	}
	if len(s.Sources) == 0 {
		c.Add(at+".sources", "is empty; name the sources of the questions, or %q", otherSource)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sources)) {
		k, field := s.Sources[name], fmt.Sprintf("%s.sources.%s", at, name)
		if !slices.Contains([]string{"", needsMeasurement, xragent.ToolCrop, xragent.ToolParse, xragent.ToolLookup}, k.Needs) {
			c.Add(field+".needs", "is %q, want measurement, roi_crop, region_parse or evidence_lookup", k.Needs)
		}
		c.share(field+".knows", k.Knows)
		c.share(field+".reads", k.Reads)
	}
	for _, x := range []struct {
		name string
		v    float64
	}{{"malformed", s.Malformed}, {"malformed_reply", s.MalformedReply}, {"over_budget", s.OverBudget}, {"ignores", s.Ignores}, {"hallucinates", s.Hallucinates}} {
		c.share(at+"."+x.name, x.v)
	}
}

// skill is what it takes to answer an item.
func (s *AgentScript) skill(item *xragent.Item) Skill {
	if k, ok := s.Sources[item.Source]; ok {
		return k
	}
	return s.Sources[otherSource]
}
