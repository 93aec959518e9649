package chexstruct

import "cxrepro/internal/geom"

// Label is the class that a task's label rule gives; empty means none.
type Label string

// Labels of the tasks.
const (
	LabelIncluded    Label = "included"
	LabelExcluded    Label = "excluded"
	LabelGood        Label = "good"
	LabelPoor        Label = "poor"
	LabelNotRotated  Label = "not_rotated"
	LabelRotated     Label = "rotated"
	LabelAP          Label = "AP"
	LabelPA          Label = "PA"
	LabelNormal      Label = "normal"
	LabelEnlarged    Label = "enlarged"
	LabelAbnormal    Label = "abnormal"
	LabelNotDeviated Label = "not_deviated"
	LabelDeviated    Label = "deviated"
	LabelTortuous    Label = "tortuous"
)

// Labels returns the classes of a diagnostic task, the normal one first; nil for the
// other sections.
func Labels(t Task) []Label {
	switch t {
	case Inclusion:
		return []Label{LabelIncluded, LabelExcluded}
	case Inspiration:
		return []Label{LabelGood, LabelPoor}
	case Rotation:
		return []Label{LabelNotRotated, LabelRotated}
	case Projection:
		return []Label{LabelPA, LabelAP}
	case CarinaAngle:
		return []Label{LabelNormal, LabelAbnormal}
	case TracheaDeviation:
		return []Label{LabelNotDeviated, LabelDeviated}
	case DescendingAortaTortuous:
		return []Label{LabelNormal, LabelTortuous}
	case Cardiomegaly, MediastinalWidening, AorticKnobEnlargement, AscendingAortaEnlargement, DescendingAortaEnlargement:
		return []Label{LabelNormal, LabelEnlarged}
	}
	return nil
}

// Check is the verdict of one quality rule with the value it judged.
type Check struct {
	Rule  Rule
	Pass  bool
	Value Value
}

// Measurement is one named figure or landmark of a task.
type Measurement struct {
	Name  string
	Value Value
}

// Landmark is a polyline in mask pixels for drawings, beyond the measurements that are
// points themselves. It is not part of the encoded result.
type Landmark struct {
	Name   string
	Points []geom.Vec
}

// Flag is one part of the inclusion task.
type Flag uint8

// Flags; FlagMixed is neither included nor excluded.
const (
	FlagExcluded Flag = iota + 1
	FlagIncluded
	FlagMixed
)

// Parts holds the six flags of the inclusion task, the patient's right side first.
type Parts struct{ Apex, Side, Bottom [2]Flag }

// Finding is the outcome of one diagnostic task on one picture: landmarks, measurement,
// quality control and label together.
type Finding struct {
	Task   Task
	Status Status
	// Reason is set exactly when the status is not_evaluable.
	Reason Reason
	// Checks are the quality rules in the order of evaluation.
	Checks       []Check
	Measurements []Measurement
	// Index is the task's answer as measured: a number, a pair for two sides, a direction.
	Index Value
	// Rounded is Index as the label rule sees it; absent where no rounding is defined.
	Rounded Value
	// Label is set exactly when the status is ok.
	Label Label
	// Parts is set for the inclusion task, once all six are known.
	Parts *Parts

	Landmarks []Landmark
}

// Failed returns the quality rules that failed, in order.
func (f *Finding) Failed() []Rule { return failed(f.Checks) }

// Measurement returns a measurement by name; ok is false when it was not taken.
func (f *Finding) Measurement(name string) (v Value, ok bool) {
	for _, m := range f.Measurements {
		if m.Name == name {
			return m.Value, true
		}
	}
	return None(), false
}

func failed(checks []Check) []Rule {
	list := []Rule{}
	for _, c := range checks {
		if !c.Pass {
			list = append(list, c.Rule)
		}
	}
	return list
}

// Orientation says whether the lungs are on the sides that their names say.
type Orientation string

// Orientations.
const (
	OrientationOK       Orientation = "ok"
	OrientationMirrored Orientation = "mirrored"
	OrientationUnknown  Orientation = "unknown" // a lung is missing
	OrientationOff      Orientation = "off"     // the preset does not look
)

// FilterDecision is the outcome of the global filter.
type FilterDecision struct {
	Checks      []Check
	Orientation Orientation
	// Landmarks are for drawings and not part of the encoded result.
	Landmarks []Landmark
}

// Failed returns the filter rules that failed, in order.
func (d *FilterDecision) Failed() []Rule { return failed(d.Checks) }

// Keep reports whether the image stays in the data set: mask count, heart position and
// gradient passed. A failed orientation makes its tasks not evaluable instead.
func (d *FilterDecision) Keep() bool {
	for _, c := range d.Checks {
		if !c.Pass && c.Rule != RuleOrientation {
			return false
		}
	}
	return true
}

// Graded is a measurement of the X-Ragent bundle with its category.
type Graded struct {
	Value, Rounded float64
	Category       string
	// Side names the smaller lung (asymmetry) or the direction (shift), as the patient's
	// side; empty where there is none.
	Side string
}

// Bundle is the X-Ragent block. Exposed is false when the gate withholds it; Reason then
// says why and the measurements are nil.
type Bundle struct {
	Exposed               bool
	Reason                Reason
	CTR, Asymmetry, Shift *Graded
}

// Result is everything [Assess] computed for one picture.
type Result struct {
	// Case names the picture; it is the caller's and may be empty.
	Case string
	// Global is nil unless asked for.
	Global *FilterDecision
	// Findings are in the order of [Tasks].
	Findings []Finding
	// XRagent is nil unless asked for.
	XRagent *Bundle
}

// Finding returns the finding of a task; nil when it was not asked for.
func (r *Result) Finding(t Task) *Finding {
	for i := range r.Findings {
		if r.Findings[i].Task == t {
			return &r.Findings[i]
		}
	}
	return nil
}
