package xragent

import (
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// ImageMark stands in a content where a picture was shown. Trainers read it so; a text that
// holds it by itself is broken up by [Agent.Conversation].
const ImageMark = "<image>"

// Said is one message of a conversation as trainers read it.
type Said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Loss is set for every message but the system's: true exactly for what the policy wrote.
	Loss *bool `json:"loss,omitempty"`
	// Finish is the endpoint's word of a message that the policy wrote.
	Finish string `json:"finish,omitempty"`
}

// Conversation is a rollout as text: everything that was sent and generated, in order, and the
// pictures that the marks stand for.
type Conversation struct {
	Messages []Said          `json:"messages"`
	Images   []artifacts.Ref `json:"images"`
}

// Conversation writes a rollout as trainers read it, up to the last turn that was generated.
// The turns' texts are those that came, byte for byte.
//
// Errors: a rollout that no sequence of events leads to, or without a first turn.
func (a Agent) Conversation(r Rollout) (Conversation, error) {
	if r.Turn1 == nil {
		return Conversation{}, r.fault("it has no turn to be trained")
	}
	before := Rollout{ID: r.ID, Question: r.Question, Pictures: r.Pictures}
	turns := []*Turn{r.Turn1}
	if r.Turn2 != nil {
		before, turns = r, append(turns, r.Turn2)
		before.Turn2 = nil
	}
	step, err := a.Next(before)
	if err != nil {
		return Conversation{}, err
	}
	var c Conversation
	written := 0
	say := func(t *Turn) {
		yes := true
		c.Messages = append(c.Messages, Said{Role: dialogue.Assistant.String(), Content: t.Text, Loss: &yes, Finish: t.FinishReason})
		written++
	}
	for _, m := range step.Ask.Messages {
		if m.Role == dialogue.Assistant {
			say(turns[written])
			continue
		}
		s := Said{Role: m.Role.String()}
		for _, p := range m.Parts {
			if p.Image != nil {
				s.Content += ImageMark
				c.Images = append(c.Images, *p.Image)
				continue
			}
			s.Content += strings.ReplaceAll(p.Text, ImageMark, "< image>")
		}
		if m.Role != dialogue.System {
			no := false
			s.Loss = &no
		}
		c.Messages = append(c.Messages, s)
	}
	say(turns[written])
	return c, nil
}
