package cxreasonbench

import (
	"math"

	"cxrepro/internal/chexstruct"
)

// RoundDecimal rounds to d decimals the way Python's round does: the correctly rounded
// decimal of the exact binary value. Percentages of a single task use it.
//
// Source: [official code].
func RoundDecimal(v float64, d int) float64 { return chexstruct.RoundDecimal(v, d) }

// RoundNumpy rounds to d decimals the way numpy does: times a power of ten, to the nearest
// whole number with ties to even, divided again. Means over tasks, and the answers and
// ranges of the questions, use it. 2.675 gives 2.68, 0.485 gives 0.48, 40.5 gives 40.
//
// Source: [official code].
func RoundNumpy(v float64, d int) float64 {
	p := math.Pow10(d)
	return math.RoundToEven(float64(v*p)) / p
}
