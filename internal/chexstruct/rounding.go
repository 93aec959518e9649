package chexstruct

import "strconv"

// RoundDecimal rounds to d decimals: the correctly rounded decimal of the exact binary
// value, exact ties to even. 0.495 as a double lies below 0.495 and gives 0.49; scaling
// by 100 first would give 0.50.
//
// Source: [ours], the rule of every label of the threshold table.
func RoundDecimal(v float64, d int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', d, 64), 64)
	if err != nil {
		return v // only infinities beyond the range, which no caller has
	}
	return r
}

// Trunc2 returns the whole part of 100*v, towards zero: the ribs' way of looking at two
// decimals. It is compared with 100 times a limit.
//
// Source: [official code] rib rules.
func Trunc2(v float64) int { return int(float64(100 * v)) }
