package cxreasonbench

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// Content is what a question puts before the model.
type Content struct {
	Text   string
	Images []artifacts.Ref
}

// Conversation returns everything that is sent for the question that s waits for: the system
// message, every earlier turn with its text, its pictures and its kept reply, verbatim, and
// the question. Pictures stay at their original turns, also those of another case.
//
// content returns a question's text and pictures, reply the text of a turn's kept draw; a
// terminal outcome without text is an empty reply.
//
// Errors: ErrNotAsked if s does not wait for an answer; those of content and reply.
func Conversation(system string, s State, content func(caseID string, k Key) (Content, error), reply func(t Turn) (string, error)) (dialogue.Transcript, error) {
	step := s.Step()
	if step.Kind != StepAsk {
		return dialogue.Transcript{}, fmt.Errorf("case %s: a conversation without a question: %w", s.Case, ErrNotAsked)
	}
	var t dialogue.Transcript
	if system != "" {
		t = t.System(system)
	}
	for _, turn := range s.Turns {
		c, err := content(turn.Case, turn.Key)
		if err != nil {
			return dialogue.Transcript{}, fmt.Errorf("case %s, turn %s: %w", s.Case, turn.Key, err)
		}
		text, err := reply(turn)
		if err != nil {
			return dialogue.Transcript{}, fmt.Errorf("case %s, reply to %s: %w", s.Case, turn.Key, err)
		}
		t = t.Ask(c.Text, c.Images...).Answered(text)
	}
	c, err := content(step.Ask.Case, step.Ask.Key)
	if err != nil {
		return dialogue.Transcript{}, fmt.Errorf("case %s, question %s: %w", step.Ask.Case, step.Ask.Key, err)
	}
	return t.Ask(c.Text, c.Images...), nil
}
