package plan

import (
	"cmp"
	"slices"

	"cxrepro/internal/contract"
)

// gateFlips counts pictures whose bundle another gate would decide on otherwise.
type gateFlips struct {
	images int
	shifts []Shift
}

// add compares what two gates make of one picture.
func (f *gateFlips) add(before, now *contract.MeasurementDoc) {
	if sameJSON(before.Gated, now.Gated) && sameJSON(before.Ungated, now.Ungated) {
		return
	}
	f.images++
	from, to := cmp.Or(before.Gated.Reason, "shown"), cmp.Or(now.Gated.Reason, "shown")
	if from == to {
		return // other values or categories are shown
	}
	at := slices.IndexFunc(f.shifts, func(s Shift) bool { return s.From == from && s.To == to })
	if at < 0 {
		at = len(f.shifts)
		f.shifts = append(f.shifts, Shift{From: from, To: to})
	}
	f.shifts[at].N++
}

// tell adds the flips to a forecast; why are the reasons of new measurements.
func (f *gateFlips) tell(out *Forecast, why []Reason) {
	flip := Flip{Task: "measurements", Exact: true, Images: f.images, Statuses: f.shifts}
	for _, r := range why {
		flip.Rows = append(flip.Rows, reasonInWords(r))
	}
	out.Flips = append(out.Flips, flip)
}
