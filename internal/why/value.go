package why

import (
	"context"
	"fmt"
	"math"
)

// Value is a figure as printed, or the reason why there is none.
type Value struct {
	Known bool `json:"known"`
	// Hundredths is the figure in units of its last printed decimal.
	Hundredths int64  `json:"hundredths"`
	K          int    `json:"k"`
	N          int    `json:"n"`
	Formula    string `json:"formula,omitempty"`
	Why        string `json:"why,omitempty"`
	// Open counts dialogues that wait for a call that nobody made, by who is to be called;
	// they are in no denominator. Waiting counts tasks whose Path 2 waits for them.
	Open    Open `json:"open"`
	Waiting int  `json:"waiting,omitempty"`
}

// Open counts dialogues by what they wait for.
type Open struct {
	Model int `json:"model"`
	Judge int `json:"judge"`
}

// Any reports whether something is missing.
func (o Open) Any() bool { return o.Model+o.Judge > 0 }

// ValueOf is a figure with two decimals.
func ValueOf(v float64, k, n int, formula string) Value {
	return Value{Known: true, Hundredths: int64(math.Round(v * 100)), K: k, N: n, Formula: formula}
}

// String is the figure with two decimals, "N/A" without one.
func (v Value) String() string {
	if !v.Known {
		return "N/A"
	}
	return Decimal(v.Hundredths, 2)
}

// Evaluate computes the figure of a setting from what is recorded.
type Evaluate func(ctx context.Context, s Setting) (Value, error)

// Decimal writes a number of units of the last of so many decimals.
func Decimal(units int64, digits int) string {
	sign := ""
	if units < 0 {
		sign, units = "-", -units
	}
	scale := int64(math.Pow10(digits))
	return fmt.Sprintf("%s%d.%0*d", sign, units/scale, digits, units%scale)
}

// Signed is Decimal with a plus in front of what is above zero.
func Signed(units int64, digits int) string {
	if units > 0 {
		return "+" + Decimal(units, digits)
	}
	return Decimal(units, digits)
}
