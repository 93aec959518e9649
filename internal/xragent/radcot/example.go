package radcot

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/datause"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/xragent"
)

// Message is one message of an example. Observations have role tool: a trainer that counts
// from the last user message would otherwise leave turn 1 untrained.
type Message struct {
	Role  string          `json:"role"` // system, user, assistant or tool
	Parts []dialogue.Part `json:"parts"`
}

// Roles of messages.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// Trained reports whether the message carries loss.
func (m Message) Trained() bool { return m.Role == roleAssistant }

// imageMark stands for a picture in a text.
const imageMark = "<image>"

// Content is the message as one text, a mark for each picture.
func (m Message) Content() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Image != nil {
			b.WriteString(imageMark)
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// Example is what a candidate became: a conversation to train on, a question to ask, or both.
type Example struct {
	ID      string              `json:"id"`
	Part    Part                `json:"part"`
	Source  Source              `json:"source"`
	DataUse datause.Class       `json:"data_use"`
	Picture xragent.ItemPicture `json:"picture"`
	// Messages are the conversation of SFT; empty of a question that RL keeps for itself.
	Messages []Message `json:"messages,omitempty"`
	// Question is what GRPO asks; nil of a report.
	Question *xragent.Question `json:"question,omitempty"`
	// Rollout is the accepted attempt of a routed example, for whoever replays it.
	Rollout *xragent.Rollout `json:"rollout,omitempty"`
}

func (e *Example) identify(c *Candidate) {
	e.ID, e.Part, e.Source, e.DataUse, e.Picture = c.ID, c.Part, c.Source, c.DataUse, c.Picture
}

// Images are the pictures of the conversation in order.
func (e *Example) Images() []artifacts.Ref {
	var out []artifacts.Ref
	for _, m := range e.Messages {
		for _, p := range m.Parts {
			if p.Image != nil {
				out = append(out, *p.Image)
			}
		}
	}
	return out
}

// Item is the example's question as a rollout takes it.
func (e *Example) Item() xragent.Item {
	return xragent.Item{ID: e.ID, Question: *e.Question, Pictures: []xragent.ItemPicture{e.Picture}, Source: string(e.Source), Labels: []string{string(e.Part)}}
}

func messagesOf(t dialogue.Transcript) []Message {
	out := make([]Message, len(t.Messages))
	for i, m := range t.Messages {
		out[i] = Message{m.Role.String(), m.Parts}
	}
	return out
}

// reportExample is a single turn: the rationale, then the reference findings as the answer.
func reportExample(c *Candidate, rationale string) *Example {
	reply := "<think>" + rationale + "</think>\n<answer>" + strings.TrimSpace(c.Findings) + "</answer>"
	return &Example{Messages: []Message{
		{roleSystem, []dialogue.Part{{Text: strings.TrimSpace(studentPrompt)}}},
		{roleUser, []dialogue.Part{{Image: &c.Picture.Image}, {Text: studentAsk}}},
		{roleAssistant, []dialogue.Part{{Text: reply}}},
	}}
}

// routedExample is the whole trajectory: turn 1 before the results that it asked for, then
// turn 2, as the agent lays them out.
func (s Spec) routedExample(r xragent.Rollout) (*Example, error) {
	messages, err := s.Conversation(r)
	if err != nil {
		return nil, err
	}
	q := r.Question
	r.Results = slices.Clone(r.Results)
	slices.SortFunc(r.Results, func(a, b xragent.Observation) int { return a.Call - b.Call })
	return &Example{Messages: messages, Question: &q, Rollout: &r}, nil
}

// Conversation lays a completed rollout out as messages: what the agent asks turn 2 with, and
// turn 2.
func (s Spec) Conversation(r xragent.Rollout) ([]Message, error) {
	if r.Turn2 == nil {
		return nil, fmt.Errorf("rollout %s has no second turn", r.ID)
	}
	before := r
	before.Turn2 = nil
	step, err := s.Agent.Next(before)
	if err != nil {
		return nil, err
	}
	if step.Turn != 2 {
		return nil, fmt.Errorf("rollout %s does not ask for its second turn", r.ID)
	}
	messages := messagesOf(step.Ask.Answered(r.Turn2.Text))
	messages[len(messages)-2].Role = roleTool
	return messages, nil
}

// Span is a part of a rendered conversation, in bytes, the end exclusive.
type Span struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

// Render writes a conversation as one text, a line with the role before each message, and
// returns where loss lies: exactly the texts of the assistant, no role, no line end, nothing of
// an observation. A trainer's chat template renders otherwise; the spans are of this text.
func Render(messages []Message) (text string, loss []Span) {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString("[" + m.Role + "]\n")
		begin := b.Len()
		b.WriteString(m.Content())
		if m.Trained() {
			loss = append(loss, Span{begin, b.Len()})
		}
		b.WriteByte('\n')
	}
	return b.String(), loss
}
