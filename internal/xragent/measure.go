package xragent

import (
	"fmt"
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/mask"
)

// Bounds are the values that a profile calls plausible. A value outside them withholds the
// bundle; none ever reaches a message.
type Bounds struct {
	CTR       [2]float64
	Asymmetry float64 // largest size
	Shift     float64 // largest size
}

// orDefault reads the empty profile as "table".
func (p Profile) orDefault() Profile {
	if p == "" {
		return ProfileTable
	}
	return p
}

// Bounds returns the bounds of a profile.
//
// Errors: an unknown profile.
func (p Profile) Bounds() (Bounds, error) {
	switch p.orDefault() {
	case ProfileTable:
		return Bounds{CTR: [2]float64{0.20, 0.95}, Asymmetry: 1, Shift: math.MaxFloat64}, nil
	case ProfileCalibrated:
		return Bounds{CTR: [2]float64{0.25, 0.90}, Asymmetry: 0.7, Shift: 0.25}, nil
	}
	return Bounds{}, fmt.Errorf("measurement profile %q; hint: %s or %s", string(p), ProfileTable, ProfileCalibrated)
}

// hold reports that every value that is there lies inside the bounds.
func (b Bounds) hold(v [3]float64) bool {
	ok := v[0] >= b.CTR[0] && v[0] <= b.CTR[1] && math.Abs(v[1]) <= b.Asymmetry
	return ok && (math.IsNaN(v[2]) || math.Abs(v[2]) <= b.Shift)
}

// Check refuses a bundle that must not be shown: values without a reason to trust them,
// outside the profile's bounds, not of two decimals, or of no category.
func (b Bundle) Check(p Profile) error {
	bounds, err := p.Bounds()
	if err != nil || b.Reason != "" {
		return err
	}
	v := [3]float64{math.NaN(), 0, math.NaN()}
	for _, m := range Measurements() {
		x := b.Values[m.index()]
		if x == nil {
			continue
		}
		if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) || x.Value != chexstruct.RoundDecimal(x.Value, 2) {
			return fmt.Errorf("measurement %s: %v is not a number of two decimals", m, x.Value)
		}
		if _, err := x.Read(m); err != nil {
			return fmt.Errorf("measurement %w", err)
		}
		v[m.index()] = x.Value
	}
	if b.Values[CTR.index()] == nil {
		return fmt.Errorf("measurement: a bundle without a reason and without a cardiothoracic ratio")
	}
	if !bounds.hold(v) {
		return fmt.Errorf("measurement: %v lies outside the bounds of profile %s; it must be withheld", v, p.orDefault())
	}
	return nil
}

// measure computes the three values of profile "calibrated" at the masks' size: the
// cardiothoracic ratio of the cardiomegaly task, the asymmetry of the largest lung
// components, and the airway's distance from the midline. The shift is NaN without an
// airway; ok is false where a value is not defined.
func measure(m *anatomy.Masks) (v [3]float64, ok bool) {
	ctr, reason := chexstruct.CardiothoracicRatio(m)
	right, left := m.Mask(anatomy.RightLung).Largest(), m.Mask(anatomy.LeftLung).Largest()
	sum := right.Area() + left.Area()
	if reason != "" || sum == 0 {
		return v, false
	}
	v = [3]float64{ctr, float64(right.Area()-left.Area()) / float64(sum), math.NaN()}
	airway := m.Mask(anatomy.Trachea).Largest()
	if airway.IsEmpty() {
		airway = m.Mask(anatomy.TrachealBifurcation).Largest()
	}
	c, has := airway.Centroid()
	if !has {
		return v, true
	}
	mid, width, has := thorax(right, left)
	if !has {
		return v, false
	}
	v[2] = (c.X - mid) / width
	return v, true
}

// thorax returns the midline and the widest inner width: per row the midpoint between the
// outer edges of both lungs, averaged over the rows of the middle third of their height.
func thorax(right, left mask.Mask) (mid, width float64, ok bool) {
	r0, r1, okR := right.RowBounds()
	l0, l1, okL := left.RowBounds()
	if !okR || !okL {
		return 0, 0, false
	}
	top, bottom := min(r0, l0), max(r1, l1)
	third := (bottom - top + 1) / 3
	sum, rows, widest := 0, 0, 0
	for y := top; y <= bottom; y++ {
		x0, _, hasR := right.Span(y)
		_, x1, hasL := left.Span(y)
		if !hasR || !hasL {
			continue
		}
		widest = max(widest, x1-x0)
		if y >= top+third && y <= bottom-third {
			sum += x0 + x1
			rows++
		}
	}
	if rows == 0 || widest == 0 {
		return 0, 0, false
	}
	return float64(sum) / float64(2*rows), float64(widest), true
}
