package dialogue

import (
	"errors"
	"fmt"
	"strings"

	"cxrepro/artifacts"
)

// Role says who speaks. The zero value is invalid.
type Role uint8

const (
	// System sets the scene, before the first turn.
	System Role = iota + 1
	// User asks.
	User
	// Assistant is the model.
	Assistant
)

var roleText = [...]string{System: "system", User: "user", Assistant: "assistant"}

// Valid reports whether r is one of the three roles.
func (r Role) Valid() bool { return r >= System && r <= Assistant }

// String returns "system", "user" or "assistant".
func (r Role) String() string {
	if !r.Valid() {
		return fmt.Sprintf("invalid role %d", uint8(r))
	}
	return roleText[r]
}

// MarshalText encodes a valid role.
func (r Role) MarshalText() ([]byte, error) {
	if !r.Valid() {
		return nil, fmt.Errorf("dialogue: %s", r)
	}
	return []byte(roleText[r]), nil
}

// UnmarshalText accepts exactly the text forms.
func (r *Role) UnmarshalText(b []byte) error {
	for v := System; v.Valid(); v++ {
		if roleText[v] == string(b) {
			*r = v
			return nil
		}
	}
	return fmt.Errorf("dialogue: no role is called %q; there are system, user and assistant", b)
}

// Part is a piece of a message: a text, or a picture by reference. Exactly one is set.
type Part struct {
	Text  string         `json:"text,omitempty"`
	Image *artifacts.Ref `json:"image,omitempty"`
}

// Message is what one side says in one turn.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Text joins the message's texts; pictures leave no trace.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Images returns the message's pictures in order.
func (m Message) Images() []artifacts.Ref {
	var refs []artifacts.Ref
	for _, p := range m.Parts {
		if p.Image != nil {
			refs = append(refs, *p.Image)
		}
	}
	return refs
}

// TextsFirst reports whether no text stands after a picture, the order of [Transcript.Ask].
func (m Message) TextsFirst() bool {
	picture := false
	for _, p := range m.Parts {
		if p.Image == nil && picture {
			return false
		}
		picture = picture || p.Image != nil
	}
	return true
}

// Transcript is a conversation up to some point. Its methods return longer ones and leave the
// receiver as it is. The zero value is an empty conversation.
type Transcript struct {
	Messages []Message `json:"messages"`
}

func (t Transcript) with(m Message) Transcript {
	return Transcript{Messages: append(append(make([]Message, 0, len(t.Messages)+1), t.Messages...), m)}
}

// System adds the system message; it must be the first.
func (t Transcript) System(text string) Transcript {
	return t.with(Message{Role: System, Parts: []Part{{Text: text}}})
}

// Ask adds a question: the text, then its pictures.
func (t Transcript) Ask(text string, images ...artifacts.Ref) Transcript {
	m := Message{Role: User, Parts: []Part{{Text: text}}}
	for i := range images {
		ref := images[i]
		m.Parts = append(m.Parts, Part{Image: &ref})
	}
	return t.with(m)
}

// Answered adds a reply, verbatim. An empty reply stays as a turn without parts: the model
// said nothing, and the next question must not look like a continuation of the last.
func (t Transcript) Answered(reply string) Transcript {
	m := Message{Role: Assistant, Parts: []Part{}}
	if reply != "" {
		m.Parts = append(m.Parts, Part{Text: reply})
	}
	return t.with(m)
}

// Images returns every picture in order, repeats included.
func (t Transcript) Images() []artifacts.Ref {
	var refs []artifacts.Ref
	for _, m := range t.Messages {
		refs = append(refs, m.Images()...)
	}
	return refs
}

// Turns counts the questions.
func (t Transcript) Turns() int {
	n := 0
	for _, m := range t.Messages {
		if m.Role == User {
			n++
		}
	}
	return n
}

// Validate reports every way in which t cannot be sent: no question at the end, sides that do
// not alternate, a system message that is not the first, pictures of another side than the
// user's, a part that is neither or both.
func (t Transcript) Validate() error {
	var wrong []error
	say := func(i int, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("dialogue: message %d: %s", i, fmt.Sprintf(format, args...)))
	}
	next := User
	for i, m := range t.Messages {
		switch {
		case !m.Role.Valid():
			say(i, "%s", m.Role)
		case m.Role == System:
			if i > 0 {
				say(i, "the system message must be the first")
			}
		case m.Role != next:
			say(i, "%s speaks where it is the turn of %s", m.Role, next)
		}
		if m.Role == User {
			next = Assistant
		} else {
			next = User
		}
		if len(m.Parts) == 0 && m.Role != Assistant {
			say(i, "no parts")
		}
		for k, p := range m.Parts {
			switch {
			case (p.Text == "") == (p.Image == nil):
				say(i, "part %d must be a text or a picture", k)
			case p.Image != nil && m.Role != User:
				say(i, "part %d: only questions have pictures", k)
			}
		}
	}
	if n := len(t.Messages); n == 0 || t.Messages[n-1].Role != User {
		wrong = append(wrong, errors.New("dialogue: a transcript to be answered ends with a question"))
	}
	return errors.Join(wrong...)
}
