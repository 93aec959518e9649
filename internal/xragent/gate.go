package xragent

import (
	"fmt"
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

// GateVersion changes whenever the same reading and masks may give another bundle.
const GateVersion = 1

// Gate decides whether measurements of a picture may be shown, and is the only place that
// makes a [Bundle] with values. It looks at the view, then at the masks, then at the
// values; the first fault withholds the whole bundle and names its code.
type Gate struct {
	Profile     Profile     `json:"profile"`
	View        ViewRule    `json:"view"`
	ViewOff     bool        `json:"view_off,omitempty"` // lift the view codes, and only them
	Calibration Calibration `json:"calibration"`
	// Rules are the thresholds of profile "table" and of the rotation flag.
	Rules *chexstruct.Rules `json:"-"`
}

// DefaultGate returns the gate of a profile with its uncalibrated limits, PA only.
//
// Errors: an unknown profile.
func DefaultGate(p Profile) (Gate, error) {
	if _, err := p.Bounds(); err != nil {
		return Gate{}, err
	}
	rules, err := chexstruct.NewRules(chexstruct.Corrected, nil)
	return Gate{Profile: p.orDefault(), Calibration: DefaultCalibration(), Rules: rules}, err
}

// Validate refuses a gate that cannot decide.
func (g Gate) Validate() error {
	if _, err := g.Profile.Bounds(); err != nil {
		return err
	}
	if g.Rules == nil {
		return fmt.Errorf("gate: no threshold table")
	}
	if err := g.View.Validate(); err != nil {
		return err
	}
	return g.Calibration.Validate()
}

// Evidence is what is known of one picture: the reading of the view check and the masks.
// Masks may be nil where the view already fails.
type Evidence struct {
	View  ViewReading
	Masks *anatomy.Masks
}

// Needs reports whether the picture's masks are needed at all.
func (g Gate) Needs(v ViewReading) bool { return g.ViewOff || g.View.Decide(v) == "" }

// Bundle decides on one picture.
//
// Errors: an invalid gate, masks that are needed and missing, masks that do not fit
// together. A picture that must not be measured is a bundle with a reason.
func (g Gate) Bundle(e Evidence) (Bundle, error) {
	if err := g.Validate(); err != nil {
		return Bundle{}, err
	}
	if code := g.View.Decide(e.View); code != "" && !g.ViewOff {
		return Bundle{Reason: code}, nil
	}
	if e.Masks == nil {
		return Bundle{}, fmt.Errorf("gate: the view passes and there are no masks")
	}
	native, err := e.Masks.Native()
	if err != nil {
		return Bundle{}, fmt.Errorf("gate: %w", err)
	}
	var b Bundle
	if g.Profile.orDefault() == ProfileTable {
		b, err = g.table(e, native)
	} else {
		b, err = g.calibrated(e, native)
	}
	if err != nil || b.Reason != "" {
		return b, err
	}
	if err := b.Check(g.Profile); err != nil { // the rules' own bounds were overridden
		return Bundle{Reason: ReasonImplausibleValue}, nil
	}
	if rotated, err := g.rotated(native); err != nil {
		return Bundle{}, err
	} else if rotated {
		b.Flags = []string{FlagRotated}
	}
	return b, nil
}

// First decides on the pictures of one question: the first that passes counts; where none
// does, the first picture's reason. which is the picture shown, -1 for none.
func (g Gate) First(list []Evidence) (b Bundle, which int, err error) {
	for i, e := range list {
		c, err := g.Bundle(e)
		if err != nil {
			return Bundle{}, -1, fmt.Errorf("picture %d: %w", i, err)
		}
		if c.Reason == "" {
			return c, i, nil
		}
		if i == 0 {
			b = c
		}
	}
	if len(list) == 0 {
		return Bundle{}, -1, fmt.Errorf("gate: no picture")
	}
	return b, -1, nil
}

// shown is the view that a bundle with values carries.
func (g Gate) shown(e Evidence) string {
	if g.ViewOff && g.View.Decide(e.View) != "" {
		return "unchecked"
	}
	return g.View.view(e.View).String()
}

// table is the block of every assess result, for a picture whose view has passed.
func (g Gate) table(e Evidence, native *anatomy.Masks) (Bundle, error) {
	in := chexstruct.Input{Masks: native, View: cxr.ViewPA, NativeWidth: native.NativeW}
	r, err := chexstruct.Assess(in, g.Rules, []chexstruct.Task{chexstruct.XRagent})
	if err != nil {
		return Bundle{}, fmt.Errorf("gate: %w", err)
	}
	b, err := FromTable(r.XRagent, ProfileTable, g.Calibration)
	if b.Reason == "" {
		b.View = g.shown(e)
	}
	return b, err
}

// calibrated checks the masks on their grid and measures at native size.
func (g Gate) calibrated(e Evidence, native *anatomy.Masks) (Bundle, error) {
	if code := g.Calibration.Quality.check(e.Masks, partsOf(e.Masks)); code != "" {
		return Bundle{Reason: code}, nil
	}
	v, ok := measure(native)
	bounds, err := g.Profile.Bounds()
	if err != nil {
		return Bundle{}, err
	}
	if !ok || !bounds.hold(v) {
		return Bundle{Reason: ReasonImplausibleValue}, nil
	}
	b := Bundle{View: g.shown(e)}
	for _, m := range Measurements() {
		raw := v[m.index()]
		if math.IsNaN(raw) { // no airway: the shift alone is not there
			continue
		}
		c, err := g.Calibration.categorize(m, raw, g.View.AdmitAP && g.View.view(e.View) == cxr.ViewAP)
		if err != nil {
			return Bundle{}, err
		}
		b.Values[m.index()] = &Verified{Value: chexstruct.RoundDecimal(raw, 2), Category: string(c)}
	}
	return b, nil
}

// rotated tells by the rotation task whether the patient stood rotated. A picture of which
// it cannot be told has no flag.
func (g Gate) rotated(native *anatomy.Masks) (bool, error) {
	in := chexstruct.Input{Masks: native, View: cxr.ViewPA, NativeWidth: native.NativeW}
	r, err := chexstruct.Assess(in, g.Rules, []chexstruct.Task{chexstruct.Rotation})
	if err != nil {
		return false, fmt.Errorf("gate: %w", err)
	}
	return r.Finding(chexstruct.Rotation).Label == chexstruct.LabelRotated, nil
}
