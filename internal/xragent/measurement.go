package xragent

import (
	"encoding/json"
	"fmt"

	"cxrepro/internal/chexstruct"
)

// Measurement names one of the three measurements of the bundle.
type Measurement uint8

// The three measurements, in the order of every output.
const (
	CTR Measurement = iota + 1
	LungAsymmetry
	ThoracicShift
)

// Measurements lists all three in order.
func Measurements() [3]Measurement { return [3]Measurement{CTR, LungAsymmetry, ThoracicShift} }

// String returns the name used in bundles and reports.
func (m Measurement) String() string {
	switch m {
	case CTR:
		return "ctr"
	case LungAsymmetry:
		return "lung_asymmetry"
	case ThoracicShift:
		return "thoracic_shift"
	}
	return "invalid measurement"
}

// MarshalText writes the name; it makes measurements usable as JSON keys.
func (m Measurement) MarshalText() ([]byte, error) {
	if m < CTR || m > ThoracicShift {
		return nil, fmt.Errorf("measurement %d is not one of ctr, lung_asymmetry, thoracic_shift", uint8(m))
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads a name.
func (m *Measurement) UnmarshalText(text []byte) error {
	for _, k := range Measurements() {
		if k.String() == string(text) {
			*m = k
			return nil
		}
	}
	return fmt.Errorf("measurement %q is not one of ctr, lung_asymmetry, thoracic_shift", text)
}

// index is the place of m in arrays over measurements.
func (m Measurement) index() int { return int(m) - 1 }

// tolerance is how far, in hundredths, a quoted number may lie from the verified value.
func (m Measurement) tolerance() int {
	if m == CTR {
		return 2
	}
	return 3
}

// Category is the reading of a measurement that rewards compare with: the categories of
// profile "calibrated".
type Category string

// Categories of profile "calibrated", and the only ones rewards see. [ours]
const (
	Normal       Category = "normal"
	Enlarged     Category = "enlarged"
	Symmetric    Category = "symmetric"
	LeftSmaller  Category = "left_smaller"
	RightSmaller Category = "right_smaller"
	Midline      Category = "midline"
	ShiftedLeft  Category = "shifted_left"
	ShiftedRight Category = "shifted_right"
)

// Profile names a way to turn a value into a category.
type Profile string

// Table is the profile of every assess result; Calibrated that of X-Ragent experiments.
const (
	ProfileTable      Profile = "table"
	ProfileCalibrated Profile = "calibrated"
)

// Verified is one measurement as the policy saw it.
type Verified struct {
	Value    float64 `json:"value"`
	Category string  `json:"category"`
	// Side is set by profile "table" for mild and marked.
	Side string `json:"side,omitempty"`
}

// Read returns the category that rewards compare with, from either profile: mild,
// moderate and severe of the CTR are enlarged; mild and marked with a side are that side.
func (v Verified) Read(m Measurement) (Category, error) {
	graded := v.Category == chexstruct.CategoryMild || v.Category == chexstruct.CategoryMarked
	side := func(left, right Category) (Category, bool) {
		switch v.Side {
		case "left":
			return left, true
		case "right":
			return right, true
		}
		return "", false
	}
	switch c := Category(v.Category); m {
	case CTR:
		switch v.Category {
		case string(Normal), string(Enlarged):
			return c, nil
		case chexstruct.CategoryMild, chexstruct.CategoryModerate, chexstruct.CategorySevere, "borderline":
			return Enlarged, nil
		}
	case LungAsymmetry:
		if c == Symmetric || c == LeftSmaller || c == RightSmaller {
			return c, nil
		}
		if s, ok := side(LeftSmaller, RightSmaller); graded && ok {
			return s, nil
		}
	case ThoracicShift:
		if v.Category == chexstruct.CategoryNone {
			return Midline, nil
		}
		if c == Midline || c == ShiftedLeft || c == ShiftedRight {
			return c, nil
		}
		if s, ok := side(ShiftedLeft, ShiftedRight); graded && ok {
			return s, nil
		}
	}
	return "", fmt.Errorf("%s: category %q (side %q) belongs to neither profile; hint: use the bundle as it was shown", m, v.Category, v.Side)
}

// Bundle is what turn 2 was shown of the measurements: all of them, or a reason.
type Bundle struct {
	Reason string // why withheld; empty when shown
	View   string
	Values [3]*Verified
	Flags  []string // what a reader should know of values that are shown
}

// Exposed reports whether m was shown.
func (b Bundle) Exposed(m Measurement) bool { return b.Reason == "" && b.Values[m.index()] != nil }

type bundleJSON struct {
	Status string    `json:"status"`
	Reason string    `json:"reason,omitempty"`
	View   string    `json:"view,omitempty"`
	CTR    *Verified `json:"ctr,omitempty"`
	Lungs  *Verified `json:"lung_asymmetry,omitempty"`
	Shift  *Verified `json:"thoracic_shift,omitempty"`
	Flags  []string  `json:"flags,omitempty"`
}

// MarshalJSON writes the observation text of the bundle.
func (b Bundle) MarshalJSON() ([]byte, error) {
	if b.Reason != "" {
		return json.Marshal(bundleJSON{Status: "withheld", Reason: b.Reason})
	}
	return json.Marshal(bundleJSON{"ok", "", b.View, b.Values[0], b.Values[1], b.Values[2], b.Flags})
}

// UnmarshalJSON reads a bundle; any reason text is taken, an unreadable category is not.
func (b *Bundle) UnmarshalJSON(data []byte) error {
	var j bundleJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("measurement: %w", err)
	}
	switch j.Status {
	case "withheld":
		*b = Bundle{Reason: j.Reason}
		if b.Reason == "" {
			b.Reason = "unknown"
		}
		return nil
	case "ok":
	default:
		return fmt.Errorf("measurement: status %q is neither ok nor withheld", j.Status)
	}
	*b = Bundle{View: j.View, Values: [3]*Verified{j.CTR, j.Lungs, j.Shift}, Flags: j.Flags}
	for _, m := range Measurements() {
		if v := b.Values[m.index()]; v != nil {
			if _, err := v.Read(m); err != nil {
				return fmt.Errorf("measurement: %w", err)
			}
		}
	}
	return nil
}

// FromTable turns the X-Ragent block of an assess result into the bundle of a profile.
// Values carry two decimals, as turn 2 is shown them.
func FromTable(in *chexstruct.Bundle, profile Profile, c Calibration) (Bundle, error) {
	if in == nil {
		return Bundle{}, fmt.Errorf("the assess result has no xragent block; hint: assess with task xragent")
	}
	if !in.Exposed {
		return Bundle{Reason: string(in.Reason)}, nil
	}
	out := Bundle{View: "PA"}
	for i, g := range []*chexstruct.Graded{in.CTR, in.Asymmetry, in.Shift} {
		if g == nil {
			continue
		}
		v := &Verified{Value: g.Rounded, Category: g.Category, Side: g.Side}
		if profile == ProfileCalibrated {
			cat, err := c.Categorize(Measurements()[i], g.Value)
			if err != nil {
				return Bundle{}, err
			}
			v.Category, v.Side = string(cat), ""
		}
		out.Values[i] = v
	}
	return out, nil
}
