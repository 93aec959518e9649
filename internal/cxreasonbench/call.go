package cxreasonbench

import "fmt"

// CallKind says who is asked, and for what. The zero value is invalid.
type CallKind uint8

const (
	// CallModel puts the question to the model under evaluation.
	CallModel CallKind = iota + 1
	// CallJudge asks the judge about one draw.
	CallJudge
	// CallExtract asks the judge for the value in the kept draw of a last question.
	CallExtract
)

var callText = [...]string{CallModel: "model", CallJudge: "judge", CallExtract: "extract"}

// Valid reports whether k is one of the kinds.
func (k CallKind) Valid() bool { return k >= CallModel && k <= CallExtract }

// String returns "model", "judge" or "extract".
func (k CallKind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("invalid kind of call %d", uint8(k))
	}
	return callText[k]
}

// MarshalText encodes a valid kind.
func (k CallKind) MarshalText() ([]byte, error) {
	if !k.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", k)
	}
	return []byte(callText[k]), nil
}

// UnmarshalText accepts exactly the text forms.
func (k *CallKind) UnmarshalText(b []byte) error {
	for i, t := range callText {
		if i > 0 && t == string(b) {
			*k = CallKind(i)
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no kind of call is called %q", b)
}

// Call names one call of a dialogue.
type Call struct {
	Kind CallKind `json:"kind"`
	// Key is the question, Draw the reply it is about.
	Key  Key `json:"key"`
	Draw int `json:"draw,omitempty"`
	// Again is 1 for the one repetition after a verdict that could not be read.
	Again int `json:"again,omitempty"`
}

// String names the call for messages, for example "judge of guidance-final, draw 2".
func (c Call) String() string {
	s := c.Kind.String() + " of " + c.Key.String()
	if c.Draw > 0 {
		s += fmt.Sprintf(", draw %d", c.Draw+1)
	}
	if c.Again > 0 {
		s += ", again"
	}
	return s
}
