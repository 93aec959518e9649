package cxreasonbench

import "fmt"

// Terminal is why a call's reply cannot be judged. Each is durable: scored as wrong at its
// stage, counted in a column of its own, and not asked again on resume. Failures of
// authentication, quota, throttling and transport are none of these; they leave a case
// undetermined. The zero value means that the reply was judged.
type Terminal uint8

const (
	// Refusal: the model declined.
	Refusal Terminal = iota + 1
	// SafetyBlock: the endpoint withheld prompt or reply.
	SafetyBlock
	// EmptyReply: no text.
	EmptyReply
	// Truncated: the token limit ended the reply before an answer.
	Truncated
	// Unparsable: text without an answer, where an answer was to be read without a judge.
	Unparsable
	// RequestInvalid: the endpoint rejects the request as it is.
	RequestInvalid
)

var terminalText = [...]string{
	"", Refusal: "refusal", SafetyBlock: "safety_block", EmptyReply: "empty", Truncated: "truncated",
	Unparsable: "unparsable", RequestInvalid: "request_invalid",
}

// Terminals returns every terminal outcome.
func Terminals() []Terminal {
	return []Terminal{Refusal, SafetyBlock, EmptyReply, Truncated, Unparsable, RequestInvalid}
}

// String returns the text form, for example "safety_block"; empty for the zero value.
func (t Terminal) String() string {
	if int(t) >= len(terminalText) {
		return fmt.Sprintf("invalid terminal outcome %d", uint8(t))
	}
	return terminalText[t]
}

// MarshalText encodes a terminal outcome; the zero value is empty.
func (t Terminal) MarshalText() ([]byte, error) {
	if int(t) >= len(terminalText) {
		return nil, fmt.Errorf("cxreasonbench: %s", t)
	}
	return []byte(terminalText[t]), nil
}

// UnmarshalText accepts exactly the text forms.
func (t *Terminal) UnmarshalText(b []byte) error {
	for i, text := range terminalText {
		if text == string(b) {
			*t = Terminal(i)
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no terminal outcome is called %q", b)
}

// TerminalPlace is where terminal outcomes are counted: the column of their own in the tables.
type TerminalPlace struct {
	Path     Path
	Stage    Stage
	Terminal Terminal
}

// CountTerminals adds the terminal draws of a dialogue's own turns to counts.
func CountTerminals(s State, counts map[TerminalPlace]int) {
	for i, t := range s.Turns {
		if s.Entry != 0 && i < s.Replayed {
			continue
		}
		for _, d := range t.Draws {
			if d.Terminal != 0 {
				counts[TerminalPlace{t.Key.Path, t.Key.Stage, d.Terminal}]++
			}
		}
	}
}
