package cxreasonbench

import "cxrepro/internal/chexstruct"

// Task is a diagnostic task; its text form is the folder name and JSON key of the data set.
type Task = chexstruct.Task

// Kind divides the tasks by what their third stage asks for. The zero value is invalid.
type Kind uint8

const (
	// Measurement tasks ask for a number.
	Measurement Kind = iota + 1
	// Recognition tasks ask for a label.
	Recognition
)

// String is "measurement" or "recognition".
func (k Kind) String() string {
	switch k {
	case Measurement:
		return "measurement"
	case Recognition:
		return "recognition"
	}
	return "invalid kind"
}

// taskFacts is what the protocol needs to know of a task.
type taskFacts struct {
	task   Task
	kind   Kind
	expert bool
	// structures are the folder names of the structures that the second stage asks for.
	structures []string
}

// The order is that of the published tables: measurement tasks, then recognition tasks.
// Source: [official code], confirmed by the counts of the paper.
var taskTable = [...]taskFacts{
	{chexstruct.Rotation, Measurement, false, []string{"clavicle_both", "midline"}},
	{chexstruct.Projection, Measurement, true, []string{"scapular_both", "lung_both"}},
	{chexstruct.Cardiomegaly, Measurement, false, []string{"heart", "thoracic_width_heart"}},
	{chexstruct.MediastinalWidening, Measurement, true, []string{"mediastinum", "thoracic_width_mw"}},
	{chexstruct.CarinaAngle, Measurement, false, []string{"carina"}},
	{chexstruct.AorticKnobEnlargement, Measurement, true, []string{"aortic_knob", "trachea"}},
	{chexstruct.DescendingAortaEnlargement, Measurement, true, []string{"descending_aorta", "trachea"}},
	{chexstruct.DescendingAortaTortuous, Measurement, true, []string{"descending_aorta"}},
	{chexstruct.TracheaDeviation, Recognition, false, []string{"trachea", "midline"}},
	{chexstruct.Inclusion, Recognition, false, []string{"lung_both"}},
	{chexstruct.Inspiration, Recognition, true, []string{"diaphragm_right", "right_posterior_rib", "midclavicularline"}},
	{chexstruct.AscendingAortaEnlargement, Recognition, true, []string{"ascending_aorta", "borderline"}},
}

func facts(t Task) taskFacts {
	for _, f := range taskTable {
		if f.task == t {
			return f
		}
	}
	return taskFacts{}
}

// Tasks returns the twelve tasks in the order of the published tables.
func Tasks() []Task {
	tasks := make([]Task, len(taskTable))
	for i, f := range taskTable {
		tasks[i] = f.task
	}
	return tasks
}

// KindOf returns whether t asks for a number or a label.
func KindOf(t Task) Kind { return facts(t).kind }

// ExpertDefined reports whether t has a refined criterion and so a Stage 1.5. It is a fixed
// list, never a count of folders.
func ExpertDefined(t Task) bool { return facts(t).expert }

// Structures returns the folder names of the structures that t's criterion needs.
func Structures(t Task) []string { return append([]string(nil), facts(t).structures...) }
