package cxreasonbench

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Range is an option of a measurement stage: both bounds belong to it.
type Range struct {
	Low, High Bound
}

// Bound is one end of a range as a number and as it is written.
type Bound struct {
	Value float64
	Text  string
}

// String returns the range as an option writes it, for example "[0.49 - 0.51]".
func (r Range) String() string { return "[" + r.Low.Text + " - " + r.High.Text + "]" }

func (r Range) means() string { return r.Low.Text + ".." + r.High.Text }

// Contains reports whether v lies in the range.
func (r Range) Contains(v float64) bool { return r.Low.Value <= v && v <= r.High.Value }

// Ranges returns every range that may be an option around a value, ascending, and the index
// of the one that holds it.
//
// The range that holds the value reaches one tolerance to either side of the rounded value.
// From there further ranges are laid outwards, each two tolerances wide and one margin away,
// until one meets a limit, at most five to a side; a value whose own range is cut by a limit
// has neighbours on the other side only.
//
// Special cases: as released, a range may hold one number, and a value outside the limits
// gives a range of one number or none at all; the switches BuildZeroWidth and BuildLimits
// mend both.
//
// Source: [official code].
func Ranges(rules Rules, row Row, value float64) (list []Range, holds int) {
	x := RoundNumpy(value, row.ValueDecimals)
	own := Range{row.bound(x - row.Tolerance), row.bound(x + row.Tolerance)}
	up, down := true, true
	switch {
	case own.Low.Value <= row.Low:
		own.Low, down = Bound{row.Low, row.LowText}, false
	case own.High.Value >= row.High:
		own.High, up = Bound{row.High, row.HighText}, false
	}
	list = []Range{own}
	if up {
		list = append(list, row.upwards(own)...)
	}
	if down {
		list = append(list, row.downwards(own)...)
	}
	slices.SortStableFunc(list, func(a, b Range) int {
		switch {
		case a.Low.Value < b.Low.Value:
			return -1
		case a.Low.Value > b.Low.Value:
			return 1
		}
		return 0
	})
	list = slices.CompactFunc(list, func(a, b Range) bool {
		return a.Low.Value == b.Low.Value && a.High.Value == b.High.Value
	})
	holds = slices.Index(list, own)
	if rules.is(BuildZeroWidth, Merged) {
		list, holds = mergeZeroWidth(list, holds)
	}
	if rules.is(BuildNumbers, FixedDecimals) {
		for i := range list {
			list[i].Low.Text = strconv.FormatFloat(list[i].Low.Value, 'f', row.Decimals, 64)
			list[i].High.Text = strconv.FormatFloat(list[i].High.Value, 'f', row.Decimals, 64)
		}
	}
	return list, holds
}

func (r Row) bound(v float64) Bound {
	v = RoundNumpy(v, r.Decimals)
	return Bound{v, pythonFloat(v)}
}

// neighbours is how many ranges are laid to one side at most.
const neighbours = 5

func (r Row) upwards(from Range) (list []Range) {
	for range neighbours {
		start := from.High.Value + r.Margin
		next := Range{r.bound(start), r.bound(start + 2*r.Tolerance)}
		end := next.High.Value >= r.High
		if end {
			next.High = Bound{r.High, r.HighText}
		}
		list = append(list, next)
		if end {
			break
		}
		from = next
	}
	return list
}

func (r Row) downwards(from Range) (list []Range) {
	for range neighbours {
		start := from.Low.Value - r.Margin
		next := Range{r.bound(start - 2*r.Tolerance), r.bound(start)}
		end := next.Low.Value <= r.Low
		if end {
			next.Low = Bound{r.Low, r.LowText}
		}
		list = append(list, next)
		if end {
			break
		}
		from = next
	}
	return list
}

// mergeZeroWidth joins a first or last range of one number to its neighbour.
func mergeZeroWidth(list []Range, holds int) ([]Range, int) {
	zero := func(r Range) bool { return r.Low.Value == r.High.Value }
	if len(list) > 1 && zero(list[0]) {
		list[1].Low = list[0].Low
		list, holds = list[1:], max(holds-1, 0)
	}
	if n := len(list); n > 1 && zero(list[n-1]) {
		list[n-2].High = list[n-1].High
		list, holds = list[:n-1], min(holds, n-2)
	}
	return list, holds
}

// window chooses five consecutive ranges that contain the one at holds; all of them where
// there are no more than five. The place of the right one is drawn first; near an end the
// window is pushed back inside.
//
// Source: [official code].
func window(r *rand.Rand, n, holds int) (from, to int) {
	if n <= optionCount {
		return 0, n
	}
	return windowAt(n, holds, r.IntN(optionCount))
}

func windowAt(n, holds, place int) (from, to int) {
	if n <= optionCount {
		return 0, n
	}
	from = min(max(holds-place, 0), n-optionCount)
	return from, from + optionCount
}

// pythonFloat writes a number the way Python does: the shortest text that reads back, with
// at least one decimal, and with an exponent below 0.0001.
func pythonFloat(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
