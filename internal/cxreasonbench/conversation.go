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

// SaidTurn is an earlier turn as a model sees it: the question, of which case, and the reply
// that was kept.
type SaidTurn struct {
	Key   Key
	Case  string
	Reply artifacts.Ref
}

// Said returns the turns so far, oldest first, replayed ones and those of another case
// included.
func (s State) Said() []SaidTurn {
	var said []SaidTurn
	for _, t := range s.Turns {
		said = append(said, SaidTurn{Key: t.Key, Case: t.Case, Reply: t.Draws[t.Kept].Reply})
	}
	return said
}

// Conversation returns everything that is sent for a question of a case: the system message,
// what was said before with its text, its pictures and its kept reply, verbatim, and the
// question. Pictures stay at their original turns, also those of another case.
//
// content returns a question's text and pictures, reply the text of a kept reply; a terminal
// outcome without text is an empty reply.
//
// Errors: those of content and reply, with the question they belong to.
func Conversation(system string, said []SaidTurn, caseID string, ask Key, content func(caseID string, k Key) (Content, error), reply func(SaidTurn) (string, error)) (dialogue.Transcript, error) {
	var t dialogue.Transcript
	if system != "" {
		t = t.System(system)
	}
	for _, turn := range said {
		c, err := content(turn.Case, turn.Key)
		if err != nil {
			return dialogue.Transcript{}, fmt.Errorf("turn %s: %w", turn.Key, err)
		}
		text, err := reply(turn)
		if err != nil {
			return dialogue.Transcript{}, fmt.Errorf("reply to %s: %w", turn.Key, err)
		}
		t = t.Ask(c.Text, c.Images...).Answered(text)
	}
	c, err := content(caseID, ask)
	if err != nil {
		return dialogue.Transcript{}, fmt.Errorf("question %s: %w", ask, err)
	}
	return t.Ask(c.Text, c.Images...), nil
}
