package chexstruct

import "fmt"

// Task is one diagnostic task, or one of the two further sections of a result that have
// threshold rows of their own. The zero value is invalid.
type Task uint8

// The twelve diagnostic tasks, in the order of a result, and the two further sections.
const (
	Inclusion Task = iota + 1
	Inspiration
	Rotation
	Projection
	Cardiomegaly
	MediastinalWidening
	CarinaAngle
	TracheaDeviation
	AorticKnobEnlargement
	AscendingAortaEnlargement
	DescendingAortaTortuous
	DescendingAortaEnlargement

	// Global is the global filter.
	Global
	// XRagent is the bundle of X-Ragent measurements.
	XRagent
)

var taskText = [...]string{
	Inclusion:                  "inclusion",
	Inspiration:                "inspiration",
	Rotation:                   "rotation",
	Projection:                 "projection",
	Cardiomegaly:               "cardiomegaly",
	MediastinalWidening:        "mediastinal_widening",
	CarinaAngle:                "carina_angle",
	TracheaDeviation:           "trachea_deviation",
	AorticKnobEnlargement:      "aortic_knob_enlargement",
	AscendingAortaEnlargement:  "ascending_aorta_enlargement",
	DescendingAortaTortuous:    "descending_aorta_tortuous",
	DescendingAortaEnlargement: "descending_aorta_enlargement",
	Global:                     "global",
	XRagent:                    "xragent",
}

// Tasks returns the twelve diagnostic tasks in the order of a result.
func Tasks() []Task {
	list := make([]Task, 0, DescendingAortaEnlargement)
	for t := Inclusion; t <= DescendingAortaEnlargement; t++ {
		list = append(list, t)
	}
	return list
}

// Sections returns the diagnostic tasks, the global filter and the X-Ragent bundle:
// everything that [Assess] can compute.
func Sections() []Task { return append(Tasks(), Global, XRagent) }

// Valid reports whether t is one of [Sections].
func (t Task) Valid() bool { return t >= Inclusion && t <= XRagent }

// Diagnostic reports whether t is one of the twelve tasks.
func (t Task) Diagnostic() bool { return t >= Inclusion && t <= DescendingAortaEnlargement }

// String returns the text form, for example "carina_angle".
func (t Task) String() string {
	if !t.Valid() {
		return fmt.Sprintf("invalid task %d", uint8(t))
	}
	return taskText[t]
}

// ParseTask returns the section with a text form; ok is false for any other text.
func ParseTask(text string) (t Task, ok bool) {
	for _, t := range Sections() {
		if taskText[t] == text {
			return t, true
		}
	}
	return 0, false
}

// MarshalText encodes a valid section.
func (t Task) MarshalText() ([]byte, error) {
	if !t.Valid() {
		return nil, fmt.Errorf("chexstruct: %s", t)
	}
	return []byte(taskText[t]), nil
}

// UnmarshalText accepts exactly the text forms.
func (t *Task) UnmarshalText(b []byte) error {
	v, ok := ParseTask(string(b))
	if !ok {
		return fmt.Errorf("chexstruct: no task is called %q; the tasks are %v", b, Sections())
	}
	*t = v
	return nil
}
