package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Mark says how sure a figure is.
type Mark string

// Marks.
const (
	Exact   Mark = "exact"
	Between Mark = "between"
	Unknown Mark = "unknown"
)

// Figure is a number of a forecast. Value is set where it is exact, Low and High where it lies
// between them, Expected then too if an earlier run says something.
type Figure struct {
	Mark     Mark     `json:"mark"`
	Value    *float64 `json:"value,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Expected *float64 `json:"expected,omitempty"`
}

// amount is a figure under construction. The zero value is exactly 0.
type amount struct {
	low, high, expected float64
	// open: nothing says what to expect. dark: not even bounds are known.
	open, dark bool
}

func sure(n float64) amount { return amount{low: n, high: n, expected: n} }

func dark() amount { return amount{dark: true} }

// span lies between two numbers, of which nobody knows what to expect.
func span(low, high float64) amount { return amount{low: low, high: high, open: low != high} }

// about lies between two numbers; what is expected is moved between them.
func about(low, high, expected float64) amount {
	return amount{low: low, high: high, expected: min(max(expected, low), high)}
}

func (a amount) plus(b amount) amount {
	if !a.open && a.low == a.high {
		a.expected = a.low
	}
	return amount{a.low + b.low, a.high + b.high, a.expected + b.mean(), a.open || b.open, a.dark || b.dark}
}

// mean is what is expected.
func (a amount) mean() float64 {
	if a.low == a.high {
		return a.low
	}
	return a.expected
}

// times scales by a unit that was seen between two values.
func (a amount) times(low, mean, high float64) amount {
	if a.dark {
		return a
	}
	return amount{a.low * low, a.high * high, a.mean() * mean, a.open, false}
}

// minus takes out what was counted before.
func (a amount) minus(b amount) amount {
	return amount{a.low - b.low, a.high - b.high, a.mean() - b.mean(), a.open && a.low-b.low != a.high-b.high, a.dark}
}

// zero reports an amount of exactly nothing.
func (a amount) zero() bool { return !a.dark && a.low == 0 && a.high == 0 }

func (a amount) figure() Figure {
	switch {
	case a.dark:
		return Figure{Mark: Unknown}
	case a.low == a.high:
		return Figure{Mark: Exact, Value: &a.low}
	}
	f := Figure{Mark: Between, Low: &a.low, High: &a.high}
	if !a.open {
		f.Expected = &a.expected
	}
	return f
}

// amount is the figure as it was built.
func (f Figure) amount() amount {
	switch f.Mark {
	case Exact:
		return sure(*f.Value)
	case Between:
		a := span(*f.Low, *f.High)
		if f.Expected != nil {
			a.expected, a.open = *f.Expected, false
		}
		return a
	}
	return dark()
}

// UnmarshalJSON reads a figure.
//
// Errors: one whose mark needs a number that is not there, or that no plan has.
func (f *Figure) UnmarshalJSON(data []byte) error {
	type plain Figure
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	whole := p.Mark == Unknown || p.Mark == Exact && p.Value != nil || p.Mark == Between && p.Low != nil && p.High != nil
	if !whole {
		return fmt.Errorf("figure %s is neither exact, nor between two numbers, nor unknown", data)
	}
	*f = Figure(p)
	return nil
}

// Add sums figures: unknown with anything is unknown.
func (f Figure) Add(o Figure) Figure { return f.amount().plus(o.amount()).figure() }

// Zero reports a figure of exactly nothing.
func (f Figure) Zero() bool { return f.amount().zero() }

// String is the figure for people: 12, 3..9 (~4), or ?.
func (f Figure) String() string {
	switch f.Mark {
	case Exact:
		return short(*f.Value)
	case Between:
		s := short(*f.Low) + ".." + short(*f.High)
		if f.Expected != nil {
			s += " (~" + short(*f.Expected) + ")"
		}
		return s
	}
	return "?"
}

// short writes counts whole and other numbers with three digits.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
