package xragent

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/stats"
)

// Calibration is what profile "calibrated" compares with, and where it comes from. It is
// stored as an artifact; bounds belong to the middle category.
type Calibration struct {
	// Source says in words what was measured; reports cite it.
	Source string `json:"source"`
	// Pictures is how many were measured; 0 for limits that nobody measured.
	Pictures     int           `json:"pictures"`
	CTRNormalMax float64       `json:"ctr_normal_max"`
	CTRNormalAP  float64       `json:"ctr_normal_max_ap"`
	AsymmetryMin float64       `json:"asymmetry_min"`
	AsymmetryMax float64       `json:"asymmetry_max"`
	ShiftMin     float64       `json:"shift_min"`
	ShiftMax     float64       `json:"shift_max"`
	Quality      QualityLimits `json:"quality"`
}

// DefaultCalibration returns the limits used before any population was measured: CTR
// 0.50 (textbook, PA) and 0.55 (AP), asymmetry -0.10..0.25 [ours], shift -0.055..0.025
// from the normal range of the trachea on CT over a thorax of about 29 cm [ours].
func DefaultCalibration() Calibration {
	return Calibration{Source: "limits from literature; no population was measured", CTRNormalMax: 0.50, CTRNormalAP: 0.55,
		AsymmetryMin: -0.10, AsymmetryMax: 0.25, ShiftMin: -0.055, ShiftMax: 0.025, Quality: DefaultQuality()}
}

// Validate refuses limits that leave nothing normal.
func (c Calibration) Validate() error {
	for _, b := range [][2]float64{{0, c.CTRNormalMax}, {0, c.CTRNormalAP}, {c.AsymmetryMin, c.AsymmetryMax}, {c.ShiftMin, c.ShiftMax}} {
		if !(b[0] < b[1]) || math.IsInf(b[0], 0) || math.IsInf(b[1], 0) {
			return fmt.Errorf("calibration: nothing lies between %v and %v", b[0], b[1])
		}
	}
	if c.Source == "" {
		return fmt.Errorf("calibration: source is missing; hint: say what was measured")
	}
	return c.Quality.Validate()
}

// Encode returns the stored form, canonical JSON.
func (c Calibration) Encode() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return artifacts.Canonical(c)
}

// DecodeCalibration reads the stored form.
func DecodeCalibration(data []byte) (Calibration, error) {
	var c Calibration
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("calibration: %w", err)
	}
	return c, c.Validate()
}

// MinCalibration is the least number of pictures that percentiles are taken of.
const MinCalibration = 40

// Calibrate sets the limits of the asymmetry to the 2.5th and 97.5th percentile over
// normal pictures whose masks pass; everything else stays as it is. source says what the
// pictures were.
//
// Errors: fewer than [MinCalibration] pictures that can be measured, or no source.
func (c Calibration) Calibrate(list []Evidence, source string) (Calibration, error) {
	var values []float64
	for _, e := range list {
		if e.Masks == nil || c.Quality.check(e.Masks, partsOf(e.Masks)) != "" {
			continue
		}
		native, err := e.Masks.Native()
		if err != nil {
			return c, fmt.Errorf("calibration: %w", err)
		}
		if v, ok := measure(native); ok {
			values = append(values, v[LungAsymmetry.index()])
		}
	}
	if len(values) < MinCalibration {
		return c, fmt.Errorf("calibration: %d of %d pictures can be measured; hint: at least %d", len(values), len(list), MinCalibration)
	}
	slices.Sort(values)
	at := func(share float64) float64 { return chexstruct.RoundDecimal(stats.Quantile(values, share), 4) }
	c.Source, c.Pictures, c.AsymmetryMin, c.AsymmetryMax = source, len(values), at(0.025), at(0.975)
	return c, c.Validate()
}

// Categorize returns the category of a raw value of a PA picture. The CTR is compared
// after rounding to two decimals; asymmetry and shift are compared as they are.
func (c Calibration) Categorize(m Measurement, v float64) (Category, error) {
	return c.categorize(m, v, false)
}

func (c Calibration) categorize(m Measurement, v float64, ap bool) (Category, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", fmt.Errorf("%s is not a finite number", m)
	}
	switch m {
	case CTR:
		limit := c.CTRNormalMax
		if ap {
			limit = c.CTRNormalAP
		}
		if chexstruct.RoundDecimal(v, 2) > limit {
			return Enlarged, nil
		}
		return Normal, nil
	case LungAsymmetry:
		return between(v, c.AsymmetryMin, c.AsymmetryMax, RightSmaller, Symmetric, LeftSmaller), nil
	case ThoracicShift:
		return between(v, c.ShiftMin, c.ShiftMax, ShiftedRight, Midline, ShiftedLeft), nil
	}
	return "", fmt.Errorf("measurement %d has no category", uint8(m))
}

func between(v, low, high float64, below, inside, above Category) Category {
	switch {
	case v < low:
		return below
	case v > high:
		return above
	}
	return inside
}
