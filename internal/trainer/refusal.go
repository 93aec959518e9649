package trainer

import (
	"errors"
	"fmt"
)

// Code says why a training is not believed. The zero value is none.
type Code string

const (
	// NoProgress: the checkpoint has the counter or the weights that the segment began with.
	NoProgress Code = "no_progress"
	// Short: the checkpoint's counter is below the target, or steps have no records.
	Short Code = "short"
	// Replayed: a step, or an item of it, was consumed twice, or is not the scheduled one.
	Replayed Code = "replayed"
	// Torn: the newest checkpoint is incomplete, and no complete one is at the target.
	Torn Code = "torn"
)

// Refusal says that a trainer's end is not believed, and what was found instead.
type Refusal struct {
	Code Code
	// Step is the first step that shows it, 0 where it is about the whole segment.
	Step   int
	Detail string
}

func (r *Refusal) Error() string {
	if r.Step == 0 {
		return fmt.Sprintf("training refused (%s): %s", r.Code, r.Detail)
	}
	return fmt.Sprintf("training refused (%s) at step %d: %s", r.Code, r.Step, r.Detail)
}

func refuse(code Code, step int, format string, args ...any) error {
	return &Refusal{Code: code, Step: step, Detail: fmt.Sprintf(format, args...)}
}

// RefusalOf returns the code of a refusal, empty for another error.
func RefusalOf(err error) Code {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}
