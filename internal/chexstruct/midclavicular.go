package chexstruct

import (
	"math"

	"cxrepro/internal/mask"
)

// lungRow is the row of a right lung from which the mid-clavicular line is taken: its
// span and the line's column.
type lungRow struct{ y, x0, x1, line int }

// midClavicular returns the row at one third of the lung's middle third, and the column
// at the given share of its span from the lateral edge. It approximates the line through
// the middle of the clavicle; no clavicle is used.
//
// Special cases: ok is false when the middle third has no row wider than one pixel.
// Source: [official code].
func midClavicular(lung mask.Mask, fraction float64) (r lungRow, ok bool) {
	y0, y1, ok := lung.RowBounds()
	if !ok {
		return lungRow{}, false
	}
	n := y1 - y0 + 1
	top := thirdOf(n, 0)
	var rows []lungRow
	for y := y0 + top; y < y0+top+thirdOf(n, 1); y++ {
		if a, b, ok := lung.Span(y); ok && a != b {
			rows = append(rows, lungRow{y: y, x0: a, x1: b})
		}
	}
	if len(rows) == 0 {
		return lungRow{}, false
	}
	r = rows[len(rows)/3]
	r.line = r.x0 + int(math.Floor(float64(fraction*float64(r.x1-r.x0))))
	return r, true
}

// thirdOf returns the size of part i when n rows are split in three as evenly as
// possible, the first n mod 3 parts getting one more.
func thirdOf(n, i int) int { return splitSize(n, 3, i) }

// splitSize returns the size of part i of n things split into k parts, the first n mod k
// parts getting one more.
func splitSize(n, k, i int) int {
	size := n / k
	if i < n%k {
		size++
	}
	return size
}
