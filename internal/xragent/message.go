package xragent

import (
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// opening is what turn 1 is asked with: the system text, then pictures and question.
func (a Agent) opening(r Rollout) (dialogue.Transcript, error) {
	if len(r.Pictures) == 0 {
		return dialogue.Transcript{}, r.fault("it has no picture")
	}
	text, err := a.system()
	if err != nil {
		return dialogue.Transcript{}, err
	}
	return dialogue.Transcript{Messages: []dialogue.Message{
		{Role: dialogue.System, Parts: []dialogue.Part{{Text: text}}},
		{Role: dialogue.User, Parts: append(pictures(r.Pictures), dialogue.Part{Text: QuestionText(r.Question)})},
	}}, nil
}

func pictures(refs []artifacts.Ref) []dialogue.Part {
	out := make([]dialogue.Part, len(refs))
	for i := range refs {
		out[i].Image = &refs[i]
	}
	return out
}

// closing is what turn 2 is asked with: everything so far, turn 1 verbatim, and one
// message with a block per call in call order and, always, the measurement.
func (a Agent) closing(r Rollout, plan Plan, results []*Observation) (dialogue.Transcript, error) {
	t, err := a.opening(r)
	if err != nil {
		return t, err
	}
	b := Bundle{Reason: a.unmeasured()}
	if r.Measurement != nil && a.wants(plan) {
		b = *r.Measurement
	}
	measured, err := b.Message(a.Profile)
	if err != nil {
		return dialogue.Transcript{}, fmt.Errorf("rollout %s: %w", r.ID, err)
	}
	var parts []dialogue.Part
	for _, o := range results {
		text, err := o.Message()
		if err != nil {
			return dialogue.Transcript{}, fmt.Errorf("rollout %s: call %d: %w", r.ID, o.Call, err)
		}
		parts = append(parts, dialogue.Part{Text: text})
		parts = append(parts, pictures(o.Images)...)
	}
	parts = append(parts, dialogue.Part{Text: measured})
	t = t.Answered(r.Turn1.Text)
	t.Messages = append(t.Messages, dialogue.Message{Role: dialogue.User, Parts: parts})
	return t, nil
}

// Message writes an observation as turn 2 reads it. The JSON inside escapes <, > and &, so
// no tool can write a tag of the protocol.
func (o Observation) Message() (string, error) {
	o.Images = nil // they follow as pictures
	body, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	return "<observation>" + string(body) + "</observation>", nil
}

// Message writes the bundle as turn 2 reads it. Values have two decimals.
//
// Errors: values outside the profile's bounds; nothing is written then.
func (b Bundle) Message(p Profile) (string, error) {
	if err := b.Check(p); err != nil {
		return "", err
	}
	body, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	return "<measurement>" + string(body) + "</measurement>", nil
}
