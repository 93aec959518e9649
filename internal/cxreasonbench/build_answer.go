package cxreasonbench

import (
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

// Diagnoses says which of the two diagnostic options of a task is right for a reading. Both
// are, either one alone, where the value lies within a tolerance of the threshold.
//
// The first option is Yes, for inspiration Good, for projection PA; the second is No, Poor,
// AP. The same answer holds for the first question and the last ones of a case.
//
// Special cases: NaN accepts both; a case with it is refused before.
// Source: [official code]; the paper names no tolerance.
func Diagnoses(task Task, view cxr.ViewPosition, r Reading) (first, second bool) {
	row, _ := RowOf(task)
	x := RoundNumpy(r.Number, row.ValueDecimals)
	t, w := &thresholds, row.Tolerance
	// over is the answer where more than the threshold is the first option.
	over := func(x, threshold float64) (bool, bool) {
		above, below := x > threshold+w, x < threshold-w
		return !below, !above
	}
	swap := func(first, second bool) (bool, bool) { return second, first }
	only := func(first bool) (bool, bool) { return first, !first }
	switch task {
	case chexstruct.Cardiomegaly:
		return over(x, byView(view, t.cardiomegalyPA, t.cardiomegalyAP))
	case chexstruct.MediastinalWidening:
		return over(x, byView(view, t.mediastinumPA, t.mediastinumAP))
	case chexstruct.AorticKnobEnlargement, chexstruct.DescendingAortaEnlargement:
		return over(x, t.vessel)
	case chexstruct.DescendingAortaTortuous:
		return over(x, t.curvature)
	case chexstruct.Rotation:
		return swap(over(x, t.rotation))
	case chexstruct.CarinaAngle:
		if x >= t.carinaLow && x <= t.carinaHigh {
			return only(true)
		}
		return !(x < t.carinaLow-w || x > t.carinaHigh+w), true
	case chexstruct.Projection:
		right, left := RoundNumpy(r.Right, row.ValueDecimals), RoundNumpy(r.Left, row.ValueDecimals)
		retracted := right < t.projection-w && left < t.projection-w
		over := right > t.projection+w && left > t.projection+w
		return !over, !retracted
	case chexstruct.AscendingAortaEnlargement:
		return only(r.Number >= t.ascending)
	case chexstruct.Inspiration:
		return only(r.Rib >= t.rib)
	case chexstruct.TracheaDeviation:
		return only(r.Direction != Flat)
	case chexstruct.Inclusion:
		return only(r.Parts == [6]bool{true, true, true, true, true, true})
	}
	return false, false
}

func byView(view cxr.ViewPosition, pa, ap float64) float64 {
	if view == cxr.ViewAP {
		return ap
	}
	return pa
}
