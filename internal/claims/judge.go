package claims

import (
	"fmt"
	"math"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// fewestCases is how many cases a figure needs for its bootstrap interval to be compared with.
const fewestCases = 5

// TooFewResamples is why an interval without width is compared with nothing.
const TooFewResamples = "too few cases: every resample gives the same figure"

// outside is why a figure is off.
const outside = "outside our 95 % bootstrap interval"

// judge says how a figure of ours relates to a printed one, and why where that is not plain:
// reproduced if both numbers are equal as printed, within noise if each printed number lies
// inside our interval, else off; not computable if exactly one of the two has a value, without
// an interval, or where too few cases make an interval that says nothing: below fewestCases
// of them, or when every resample gives the same figure. refines says that the one in
// parentheses counts too.
func judge(p cxreasonbench.PublishedFigure, ours cxreasonbench.Reached, in cxreasonbench.CellInterval, refines bool) (report.Verdict, string) {
	refined := refines && p.HasRefined
	switch {
	case !ours.Plain.Known && !p.Known:
		return report.Reproduced, "neither has a value"
	case !ours.Plain.Known:
		return report.NotComputable, "ours has no value: " + ours.Plain.Why
	case !p.Known:
		return report.NotComputable, "the paper has no value"
	case refined && !ours.Refined.Known:
		return report.NotComputable, "ours has no value in parentheses: " + ours.Refined.Why
	}
	same, tie := equal(ours.Plain, p.Value)
	if refined {
		also, either := equal(ours.Refined, p.Refined)
		same, tie = same && also, tie || either
	}
	switch {
	case same && tie:
		return report.Reproduced, "an exact decimal tie, which rounds either way"
	case same:
		return report.Reproduced, ""
	case !in.Plain.Known || (refined && !in.Refined.Known):
		return report.NotComputable, "no bootstrap interval was computed"
	case ours.Cases < fewestCases:
		return report.NotComputable, fmt.Sprintf("too few cases: %d, and an interval needs %d", ours.Cases, fewestCases)
	case !in.Plain.Holds(p.Value) && point(in.Plain), refined && !in.Refined.Holds(p.Refined) && point(in.Refined):
		return report.NotComputable, TooFewResamples
	case !in.Plain.Holds(p.Value):
		return report.Off, outside
	case refined && !in.Refined.Holds(p.Refined):
		return report.Off, "the one in parentheses is outside our 95 % bootstrap interval"
	}
	return report.WithinNoise, ""
}

// equal reports whether a figure is the printed one as printed, and whether only because it is a
// mean at an exact decimal tie.
func equal(f cxreasonbench.Figure, printed float64) (same, tie bool) {
	if math.Round(f.Value*100) == math.Round(printed*100) {
		return true, false
	}
	half := f.Formula == cxreasonbench.FormulaMean && isTie(f.Exact) && math.Abs(f.Value-printed) < tieTolerance+1e-9
	return half, half
}

// isTie reports whether a value lies half way between two hundredths, up to the last bits.
func isTie(v float64) bool {
	_, rest := math.Modf(v * 100)
	return math.Abs(rest-0.5) < 1e-9
}

// point reports whether the interval has no width.
func point(i cxreasonbench.Interval) bool { return i.High <= i.Low }
