package xragent

import (
	"encoding/json"

	"cxrepro/artifacts"
)

// AnswerType says how a question is answered.
type AnswerType string

// The three answer types.
const (
	Lettered AnswerType = "mcq"
	YesNo    AnswerType = "yesno"
	Closed   AnswerType = "closed"
)

// Question is what the policy was asked and the key that scores it.
type Question struct {
	Type    AnswerType `json:"type"`
	Text    string     `json:"text"`
	Options []string   `json:"options,omitempty"`
	Key     string     `json:"key"`
}

// Turn is one assistant message as it came.
type Turn struct {
	Text         string `json:"text"`
	FinishReason string `json:"finish_reason"`
}

// Observation is what one executed call returned.
type Observation struct {
	Call   int    `json:"call"`
	Name   string `json:"name"`
	Status string `json:"status"`
	Text   string `json:"text"`
	// Box is where a crop or an outline lies, in thousandths of the picture's sides; Area
	// an outline's share of the picture.
	Box  *[4]int  `json:"bbox,omitempty"`
	Area *float64 `json:"area,omitempty"`
	// Images are the pictures that go with it, in order.
	Images []artifacts.Ref `json:"images,omitempty"`
}

// Trajectory is one rollout as text. A nil turn is absent.
type Trajectory struct {
	ID           string        `json:"id"`
	Question     Question      `json:"question"`
	Turn1        *Turn         `json:"turn1"`
	Turn2        *Turn         `json:"turn2"`
	Observations []Observation `json:"observations"`
	Measurement  Bundle        `json:"measurement"`
	// Routed says that measure was among the tools.
	Routed bool `json:"policy_routed,omitempty"`
}

// Call is one tool call of a plan; Arguments are the bytes the policy wrote.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// MaxCalls is the budget of one trajectory. [paper]
const MaxCalls = 5

// Names of the tools that a policy may call. [paper]
const (
	ToolCrop   = "roi_crop"
	ToolParse  = "region_parse"
	ToolLookup = "evidence_lookup"
)

// ToolMeasure asks for the measurements of a picture. It is a tool only where the agent
// routes measurements by policy, an ablation. [paper] that there is one, [ours] its form.
const ToolMeasure = "measure"

// Reason is a broken contract.
type Reason string

// Reasons why a trajectory is malformed, in the order they are reported.
const (
	TurnMissing      Reason = "turn_missing"
	Truncated        Reason = "truncated"
	UnclosedTag      Reason = "unclosed_tag"
	NestedTag        Reason = "nested_tag"
	TagOrder         Reason = "tag_order"
	StrayText        Reason = "stray_text"
	ThinkMissing     Reason = "think_missing"
	ThinkDuplicated  Reason = "think_duplicated"
	ThinkEmpty       Reason = "think_empty"
	AnswerInTurn1    Reason = "answer_in_turn1"
	PlanMissing      Reason = "plan_missing"
	PlanConflict     Reason = "plan_conflict"
	BadJSON          Reason = "bad_json"
	UnknownTool      Reason = "unknown_tool"
	BadArguments     Reason = "bad_arguments"
	OverBudget       Reason = "over_budget"
	CallInTurn2      Reason = "call_in_turn2"
	NoToolInTurn2    Reason = "no_tool_in_turn2"
	AnswerMissing    Reason = "answer_missing"
	AnswerDuplicated Reason = "answer_duplicated"
	AnswerEmpty      Reason = "answer_empty"
	AnswerTypeWrong  Reason = "answer_type"
)

// Reasons lists every reason in the order of reports.
func Reasons() []Reason {
	return []Reason{TurnMissing, Truncated, UnclosedTag, NestedTag, TagOrder, StrayText, ThinkMissing,
		ThinkDuplicated, ThinkEmpty, AnswerInTurn1, PlanMissing, PlanConflict, BadJSON, UnknownTool,
		BadArguments, OverBudget, CallInTurn2, NoToolInTurn2, AnswerMissing, AnswerDuplicated, AnswerEmpty,
		AnswerTypeWrong}
}
