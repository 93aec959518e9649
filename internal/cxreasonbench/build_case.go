package cxreasonbench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

// Source is what the questions of a case are built from: one radiograph that passed quality
// control under a task.
type Source struct {
	Task Task `json:"task"`
	// Case is the id that names the case's files.
	Case string `json:"case"`
	// Radiograph is the picture's path below the folder of radiographs.
	Radiograph string           `json:"radiograph"`
	View       cxr.ViewPosition `json:"view"`
	Reading    Reading          `json:"reading"`
	// Label is the class of the finding, where it is known. Only the balanced draw
	// reads it; answers come from the reading.
	Label chexstruct.Label `json:"label,omitempty"`
	// Overlays are the structure pictures that exist of this radiograph, under whatever
	// tasks it passed. Their order does not matter.
	Overlays []Overlay `json:"overlays"`
}

// Overlay names a picture of one structure, drawn under a task.
type Overlay struct {
	Task      Task   `json:"task"`
	Structure string `json:"structure"`
}

// Path is the picture's official path for a case: "/cardiomegaly/heart/ID.png".
func (o Overlay) Path(caseID string) string {
	return "/" + o.Task.String() + "/" + o.Structure + "/" + caseID + ".png"
}

// OverlayAt reads an official path back. For an annotated picture, "/rotation/ID.png", the
// structure is empty; ok is false for any other form and for an unknown task.
func OverlayAt(path string) (o Overlay, ok bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if !strings.HasPrefix(path, "/") || len(parts) < 2 || len(parts) > 3 {
		return Overlay{}, false
	}
	o.Task, ok = chexstruct.ParseTask(parts[0])
	if !ok || !o.Task.Diagnostic() {
		return Overlay{}, false
	}
	if len(parts) == 3 {
		o.Structure = parts[1]
	}
	return o, true
}

// Reading is what was measured under a task, unrounded. Which field counts follows from the
// task.
type Reading struct {
	// Number is the index of a measurement task, and the ratio of the ascending aorta.
	Number float64 `json:"number,omitempty"`
	// Right and Left are the overlaps of the projection task.
	Right float64 `json:"right,omitempty"`
	Left  float64 `json:"left,omitempty"`
	// Rib is the number of the rib on the diaphragm.
	Rib       int       `json:"rib,omitempty"`
	Direction Direction `json:"direction,omitempty"`
	// Parts are the inclusion flags: apex right, left; rib edge right, left;
	// costophrenic angle right, left. True is included.
	Parts [6]bool `json:"parts,omitzero"`
}

// Direction is how the trachea runs; its text is that of a finding. The zero value is
// invalid.
type Direction string

// Directions, as the patient's sides.
const (
	Flat      Direction = "flat"
	ToRight   Direction = "right"
	ToLeft    Direction = "left"
	RightLeft Direction = "right&left"
	LeftRight Direction = "left&right"
)

// Directions returns every direction, in the order of the prompt pack.
func Directions() []Direction { return []Direction{Flat, ToRight, ToLeft, RightLeft, LeftRight} }

// An IneligibleError says why a case cannot be asked about.
type IneligibleError struct {
	Task   Task
	Case   string
	Reason Ineligibility
	Detail string
}

func (e *IneligibleError) Error() string {
	return fmt.Sprintf("cxreasonbench: %s: case %s: %s: %s", e.Task, e.Case, e.Reason, e.Detail)
}

// Ineligibility is a reason. The zero value is invalid.
type Ineligibility string

// Reasons for which a case cannot be asked about.
const (
	NotMeasured      Ineligibility = "not_measured"
	OutsideLimits    Ineligibility = "outside_limits"
	OneSidedAngle    Ineligibility = "one_sided_costophrenic_angle"
	UnknownView      Ineligibility = "unknown_view"
	MissingOverlay   Ineligibility = "missing_overlay"
	FewDistractors   Ineligibility = "few_distractors"
	UnknownDirection Ineligibility = "unknown_direction"
)

// ReadingOf takes the reading from a finding: the raw index, never the rounded one.
//
// Errors: *IneligibleError where the task has no answer on this picture.
func ReadingOf(caseID string, f *chexstruct.Finding) (Reading, error) {
	var r Reading
	fail := func(reason Ineligibility, format string, args ...any) (Reading, error) {
		return Reading{}, &IneligibleError{f.Task, caseID, reason, fmt.Sprintf(format, args...)}
	}
	if f.Status != chexstruct.StatusOK {
		return fail(NotMeasured, "the finding is %s", f.Status)
	}
	var ok bool
	switch f.Task {
	case chexstruct.Projection:
		if f.Index.Len() != 2 {
			return fail(NotMeasured, "the index is not a pair")
		}
		var okLeft bool
		r.Right, ok = f.Index.At(0).Float()
		r.Left, okLeft = f.Index.At(1).Float()
		ok = ok && okLeft
	case chexstruct.Inspiration:
		var rib float64
		rib, ok = f.Index.Float()
		r.Rib = int(rib)
	case chexstruct.TracheaDeviation:
		var text string
		text, ok = f.Index.Text()
		r.Direction = Direction(text)
	case chexstruct.Inclusion:
		if f.Parts == nil {
			return fail(NotMeasured, "the parts are not known")
		}
		p := f.Parts
		ok = true
		for i, flag := range []chexstruct.Flag{p.Apex[0], p.Apex[1], p.Side[0], p.Side[1], p.Bottom[0], p.Bottom[1]} {
			ok = ok && (flag == chexstruct.FlagIncluded || flag == chexstruct.FlagExcluded)
			r.Parts[i] = flag == chexstruct.FlagIncluded
		}
	default:
		r.Number, ok = f.Index.Float()
	}
	if !ok {
		return fail(NotMeasured, "the index is absent or undecided")
	}
	return r, nil
}

// Check reports why a case cannot be asked about in any format; nil if it can. The official
// sampler needs the same: without these the released program stops.
//
// Errors: *IneligibleError.
func (s Source) Check(rules Rules) error {
	if err := s.checkReading(rules); err != nil {
		return err
	}
	k := len(facts(s.Task).structures)
	if need, have := 2*pictureCount-k, len(s.Distractors(rules, Path1)); have < need {
		return s.fail(FewDistractors, "%d structures of other tasks are drawn on the radiograph, the two rounds need %d", have, need)
	}
	if need, have := pictureCount-k, len(s.Distractors(rules, Path2)); have < need {
		return s.fail(FewDistractors, "%d structures of other tasks are drawn on the radiograph, Path 2 needs %d", have, need)
	}
	return nil
}

func (s Source) fail(reason Ineligibility, format string, args ...any) error {
	return &IneligibleError{s.Task, s.Case, reason, fmt.Sprintf(format, args...)}
}

// checkReading checks what does not depend on formats.
func (s Source) checkReading(rules Rules) error {
	if !s.Task.Diagnostic() {
		return fmt.Errorf("cxreasonbench: source of case %s: %s is no diagnostic task", s.Case, s.Task)
	}
	if s.Case == "" {
		return fmt.Errorf("cxreasonbench: source of a %s case: case is empty", s.Task)
	}
	for _, name := range facts(s.Task).structures {
		if !slices.Contains(s.Overlays, Overlay{s.Task, name}) {
			return s.fail(MissingOverlay, "there is no picture of %s", name)
		}
	}
	r := s.Reading
	switch s.Task {
	case chexstruct.Cardiomegaly, chexstruct.MediastinalWidening:
		if s.View != cxr.ViewPA && s.View != cxr.ViewAP {
			return s.fail(UnknownView, "the threshold depends on the view, which is neither PA nor AP")
		}
	case chexstruct.Inclusion:
		if r.Parts[4] != r.Parts[5] {
			return s.fail(OneSidedAngle, "one costophrenic angle is included, the other is not; no option says so")
		}
	case chexstruct.Inspiration:
		if r.Rib < minRib || r.Rib > maxRib {
			return s.fail(OutsideLimits, "rib %d, the options are %d to %d", r.Rib, minRib, maxRib)
		}
	case chexstruct.TracheaDeviation:
		if !slices.Contains(Directions(), r.Direction) {
			return s.fail(UnknownDirection, "%q is none of %q", r.Direction, Directions())
		}
	}
	for _, v := range s.values() {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return s.fail(NotMeasured, "the value is %v", v)
		}
		row, ok := RowOf(s.Task)
		if ok && rules.is(BuildLimits, Refused) && (v < row.Low || v > row.High) {
			return s.fail(OutsideLimits, "the value is %v, the ranges reach from %v to %v", v, row.Low, row.High)
		}
	}
	return nil
}

// values are the numbers that a task's ranges hold: one, or one for each side.
func (s Source) values() []float64 {
	switch s.Task {
	case chexstruct.Projection:
		return []float64{s.Reading.Right, s.Reading.Left}
	case chexstruct.Inclusion, chexstruct.Inspiration, chexstruct.TracheaDeviation:
		return nil
	}
	return []float64{s.Reading.Number}
}
