package cxreasonbench

import (
	"errors"
	"fmt"

	"cxrepro/artifacts"
)

// Errors of the state machine.
var (
	// ErrFinished: there is nothing left to answer.
	ErrFinished = errors.New("cxreasonbench: the dialogue is finished")
	// ErrNotAsked: an answer, or a re-selected case, that the dialogue does not wait for.
	ErrNotAsked = errors.New("cxreasonbench: the dialogue does not wait for this")
)

// Shape is what the state machine needs to know of a case's questions.
type Shape struct {
	// CriteriaRounds and StructureRounds are 1, or 2 for a case with a second round.
	CriteriaRounds  int `json:"criteria_rounds"`
	StructureRounds int `json:"structure_rounds"`
}

// Validate names the field that is out of range.
func (s Shape) Validate() error {
	if s.CriteriaRounds < 1 || s.CriteriaRounds > 2 {
		return fmt.Errorf("cxreasonbench: shape: criteria_rounds is %d, want 1 or 2", s.CriteriaRounds)
	}
	if s.StructureRounds < 1 || s.StructureRounds > 2 {
		return fmt.Errorf("cxreasonbench: shape: structure_rounds is %d, want 1 or 2", s.StructureRounds)
	}
	return nil
}

// Entry says how a case came to Path 2. The zero value means: it did not, this is Path 1.
type Entry uint8

const (
	// EntryInit: "I don't know" to the diagnostic question.
	EntryInit Entry = iota + 1
	// EntryRefined: the refined criterion was rejected.
	EntryRefined
)

var entryText = [...]string{"", EntryInit: "idk_init", EntryRefined: "idk_custom"}

// Entries returns both entries, in the order in which Path 2 is worked through.
func Entries() []Entry { return []Entry{EntryInit, EntryRefined} }

// String returns the folder name of the result files, "idk_init" or "idk_custom".
func (e Entry) String() string {
	if int(e) >= len(entryText) {
		return fmt.Sprintf("invalid entry %d", uint8(e))
	}
	return entryText[e]
}

// MarshalText encodes an entry; that of Path 1 is empty.
func (e Entry) MarshalText() ([]byte, error) {
	if int(e) >= len(entryText) {
		return nil, fmt.Errorf("cxreasonbench: %s", e)
	}
	return []byte(entryText[e]), nil
}

// UnmarshalText accepts exactly the text forms.
func (e *Entry) UnmarshalText(b []byte) error {
	for i, t := range entryText {
		if t == string(b) {
			*e = Entry(i)
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no entry is called %q", b)
}

// Draw is one reply to a question, judged.
type Draw struct {
	Score Score `json:"score"`
	// Terminal is why there was nothing to judge: the reply was refused, blocked, empty,
	// cut, unreadable, or the request was invalid. Such a draw is Wrong. Zero otherwise.
	Terminal Terminal `json:"terminal,omitzero"`
	// Reply is the recorded answer. The state machine only carries it.
	Reply artifacts.Ref `json:"reply,omitzero"`
}

// Outcome is what came of one question: as many draws as the dialogue was started with.
type Outcome struct {
	Draws []Draw `json:"draws"`
}

// Turn is one question of a dialogue with what came of it.
type Turn struct {
	Key Key `json:"key"`
	// Case is the case whose question it is: the re-selected one in the re-evaluation.
	Case  string `json:"case"`
	Score Score  `json:"score"`
	// Kept is the index of the draw that is in the history.
	Kept  int    `json:"kept"`
	Draws []Draw `json:"draws"`
}

// State is one conversation: Path 1 of a case, or Path 2 and the re-evaluation that may
// follow in it. It is a value that encodes as JSON; only Start, StartPath2, Next and Reselect
// make one.
type State struct {
	Rules Rules  `json:"rules"`
	Task  Task   `json:"task"`
	Case  string `json:"case"`
	// Draws is the number of replies to every question, 1 for greedy decoding.
	Draws int   `json:"draws"`
	Entry Entry `json:"entry,omitzero"`
	Shape Shape `json:"shape"`
	// Guidance is the number of structure questions of Path 2.
	Guidance int `json:"guidance,omitempty"`
	// ReviewCase and ReviewShape are set once the re-evaluation has its case.
	ReviewCase  string `json:"review_case,omitempty"`
	ReviewShape Shape  `json:"review_shape,omitzero"`
	// NoReview: there was no case to re-evaluate on.
	NoReview bool `json:"no_review,omitempty"`
	// Turns are in the order asked, the first Replayed of them from Path 1.
	Turns    []Turn `json:"turns"`
	Replayed int    `json:"replayed,omitempty"`
}

// StepKind says what a dialogue waits for. The zero value is invalid.
type StepKind uint8

const (
	// StepAsk: an answer to Step.Ask.
	StepAsk StepKind = iota + 1
	// StepReselect: the case of the re-evaluation, by [Reselect].
	StepReselect
	// StepDone: nothing.
	StepDone
)

// Step is what a dialogue does next.
type Step struct {
	Kind StepKind `json:"kind"`
	Ask  Ask      `json:"ask,omitzero"`
	End  End      `json:"end,omitzero"`
}

// Ask is a question to be asked. The history that goes with it is every earlier turn, each
// with its text, its pictures and its kept reply.
type Ask struct {
	Key    Key    `json:"key"`
	Case   string `json:"case"`
	Images int    `json:"images"`
	// HistoryTurns and HistoryImages count what is sent before the question.
	HistoryTurns  int       `json:"history_turns"`
	HistoryImages int       `json:"history_images"`
	Judgement     Judgement `json:"judgement"`
}

// End says why a dialogue is over. The zero value is invalid.
type End uint8

const (
	// EndComplete: the last question was asked, whatever its score.
	EndComplete End = iota + 1
	// EndFailed: a stage was not right.
	EndFailed
	// EndUnknown: "I don't know" to the diagnostic question; the case goes to Path 2.
	EndUnknown
	// EndRejected: the refined criterion was rejected; the case goes to Path 2.
	EndRejected
	// EndNoReview: guidance was right, and there is no other case to re-evaluate on.
	EndNoReview
)

var endText = [...]string{
	EndComplete: "complete", EndFailed: "failed", EndUnknown: "unknown",
	EndRejected: "rejected", EndNoReview: "no_review_case",
}

// Ends returns every end.
func Ends() []End { return []End{EndComplete, EndFailed, EndUnknown, EndRejected, EndNoReview} }

// String returns the text form, for example "rejected".
func (e End) String() string {
	if e < EndComplete || int(e) >= len(endText) {
		return fmt.Sprintf("invalid end %d", uint8(e))
	}
	return endText[e]
}

// MarshalText encodes an end; the zero value is empty.
func (e End) MarshalText() ([]byte, error) {
	if e == 0 {
		return nil, nil
	}
	if int(e) >= len(endText) {
		return nil, fmt.Errorf("cxreasonbench: %s", e)
	}
	return []byte(endText[e]), nil
}

// UnmarshalText accepts exactly the text forms.
func (e *End) UnmarshalText(b []byte) error {
	for i, t := range endText {
		if t == string(b) {
			*e = End(i)
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no end is called %q", b)
}

// Entry returns how a Path 1 dialogue with this end enters Path 2; zero if it does not.
func (e End) Entry() Entry {
	switch e {
	case EndUnknown:
		return EntryInit
	case EndRejected:
		return EntryRefined
	}
	return 0
}
