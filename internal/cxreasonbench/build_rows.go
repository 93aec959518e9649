package cxreasonbench

import "cxrepro/internal/chexstruct"

// Row is the generator's numbers for one measurement task: how its ranges are laid out and
// how far around a threshold both diagnoses count.
//
// Source: [official code].
type Row struct {
	Task Task
	// Tolerance is the half width of the range that holds the value, and of the band
	// around a threshold.
	Tolerance float64
	// Margin is the gap between neighbouring ranges.
	Margin float64
	// Decimals of the range bounds.
	Decimals int
	// ValueDecimals are those to which the value itself is rounded first and which a
	// model is asked for.
	ValueDecimals int
	// Low and High bound the outermost ranges. Their texts are how the released program
	// prints a bound that was cut there.
	Low, High         float64
	LowText, HighText string
}

// The rows hold the tasks that ask for a number, by task. They are variables and not
// constants on purpose: 0.4 - 0.1 must be rounded as the doubles are.
var rows = [...]Row{
	{chexstruct.Cardiomegaly, 0.01, 0.01, 2, 2, 0.3, 0.95, "0.3", "0.95"},
	{chexstruct.MediastinalWidening, 0.015, 0.001, 3, 2, 0.1, 0.95, "0.1", "0.95"},
	{chexstruct.CarinaAngle, 10, 1, 0, 0, 0, 180, "0", "180"},
	{chexstruct.Rotation, 0.1, 0.01, 2, 2, 0, 1, "0.0", "1.0"},
	{chexstruct.Projection, 0.1, 0.01, 2, 2, 0, 1, "0", "1.0"},
	{chexstruct.AorticKnobEnlargement, 0.1, 0.01, 2, 2, 0, 10, "0.0", "10"},
	{chexstruct.DescendingAortaEnlargement, 0.1, 0.01, 2, 2, 0, 10, "0.0", "10"},
	{chexstruct.DescendingAortaTortuous, 0.00015, 0.00001, 5, 4, 0, 1, "0.0", "1.0"},
}

const (
	// optionCount is how many options a question has that offers ranges, labels or
	// pictures and, last, none of them.
	optionCount = 5
	// pictureCount is how many pictures a question on structures shows.
	pictureCount = 4
	// The ribs that may be an option.
	minRib, maxRib = 5, 11
)

// RowOf returns the numbers of a task that asks for one; ok is false for the others.
func RowOf(t Task) (r Row, ok bool) {
	for _, r := range rows {
		if r.Task == t {
			return r, true
		}
	}
	return Row{}, false
}

// thresholds are the limits of the reference answers, in the order of the table of tasks.
// They are variables for the same reason as the rows.
var thresholds = struct {
	cardiomegalyPA, cardiomegalyAP float64
	mediastinumPA, mediastinumAP   float64
	carinaLow, carinaHigh          float64
	rotation                       float64
	projection                     float64
	vessel                         float64
	curvature                      float64
	ascending                      float64
	rib                            int
}{
	cardiomegalyPA: 0.5, cardiomegalyAP: 0.55, mediastinumPA: 0.25, mediastinumAP: 0.33,
	carinaLow: 40, carinaHigh: 80, rotation: 0.4, projection: 0.3,
	vessel: 2.5, curvature: 0.0009, ascending: 0.1, rib: 9,
}
