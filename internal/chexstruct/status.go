package chexstruct

import "fmt"

// Status is the outcome of one task. The zero value is invalid.
type Status uint8

// Outcomes. Where several apply the first in this order wins: not evaluable, QC failed,
// undecided, ok.
const (
	// StatusOK: every rule passed and there is a label.
	StatusOK Status = iota + 1
	// StatusQCFailed: the geometry is defined and at least one quality rule failed.
	StatusQCFailed
	// StatusUndecided: every rule passed, but the label rule gives no class.
	StatusUndecided
	// StatusNotEvaluable: an input is missing or a geometric step is undefined.
	StatusNotEvaluable
)

var statusText = [...]string{StatusOK: "ok", StatusQCFailed: "qc_failed", StatusUndecided: "undecided", StatusNotEvaluable: "not_evaluable"}

// Statuses returns every status.
func Statuses() []Status {
	return []Status{StatusOK, StatusQCFailed, StatusUndecided, StatusNotEvaluable}
}

// Valid reports whether s is one of [Statuses].
func (s Status) Valid() bool { return s >= StatusOK && s <= StatusNotEvaluable }

// String returns the text form, for example "qc_failed".
func (s Status) String() string {
	if !s.Valid() {
		return fmt.Sprintf("invalid status %d", uint8(s))
	}
	return statusText[s]
}

// MarshalText encodes a valid status.
func (s Status) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("chexstruct: %s", s)
	}
	return []byte(statusText[s]), nil
}

// UnmarshalText accepts exactly the text forms.
func (s *Status) UnmarshalText(b []byte) error {
	for _, v := range Statuses() {
		if statusText[v] == string(b) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("chexstruct: no status is called %q", b)
}

// Reason says why a task is not evaluable or why the X-Ragent bundle is withheld. The
// zero value means "no reason".
type Reason string

// Reasons of a task that is not evaluable.
const (
	ReasonMissingMask  Reason = "missing_mask"  // a structure the task reads is empty
	ReasonMissingImage Reason = "missing_image" // no picture was given
	ReasonMissingBox   Reason = "missing_box"   // the reference box is not there
	ReasonView         Reason = "view"          // neither PA nor AP; for X-Ragent not PA
	ReasonOrientation  Reason = "orientation"   // mirrored or mislabelled masks
	ReasonNoContent    Reason = "no_content"    // the content border has no extent at the point
	ReasonZeroWidth    Reason = "zero_width"    // a division by a width of 0

	ReasonApexEmpty Reason = "apex_empty" // no lung pixel on picture content
	ReasonSideEmpty Reason = "side_empty" // no such pixel beside the diaphragm
	ReasonBaseEmpty Reason = "base_empty" // none above the diaphragm's columns

	ReasonNoMidClavicularRow  Reason = "no_mid_clavicular_row" // the lung's middle third has no row wider than a pixel
	ReasonNoDiaphragmOnLine   Reason = "no_diaphragm_on_line"
	ReasonNoRibOnLine         Reason = "no_rib_on_line"
	ReasonNoRibAbove          Reason = "no_rib_above"
	ReasonRibGap              Reason = "rib_gap"
	ReasonClavicleVertical    Reason = "clavicle_vertical"
	ReasonMissingVertebra     Reason = "missing_vertebra"
	ReasonNoLungInBand        Reason = "no_lung_in_band"
	ReasonNoLungBelowHeartTop Reason = "no_lung_below_heart_top"
	ReasonNoLungAtLevel       Reason = "no_lung_at_level"
	ReasonNoNotch             Reason = "no_notch"
	ReasonNoCarina            Reason = "no_carina"
	ReasonCarinaRows          Reason = "carina_rows"
	ReasonTracheaEmpty        Reason = "trachea_empty"
	ReasonMidlinePoints       Reason = "midline_points"
	ReasonDescAboveTrachea    Reason = "desc_above_trachea_end"
	ReasonDescPartEmpty       Reason = "desc_part_empty"
	ReasonNoArchOverDesc      Reason = "no_arch_over_desc"
	ReasonNoTracheaAtArch     Reason = "no_trachea_at_arch"
	ReasonNoHeartOverlap      Reason = "no_heart_overlap"
	ReasonDescEmpty           Reason = "desc_empty"
	ReasonDescShort           Reason = "desc_short"
	ReasonDescGap             Reason = "desc_gap"
)

// Further reasons for withholding the X-Ragent bundle.
const (
	ReasonMaskQuality      Reason = "mask_quality"      // a lung or the heart covers too little
	ReasonImplausibleValue Reason = "implausible_value" // CTR outside its plausible range
)

var reasons = []Reason{
	ReasonMissingMask, ReasonMissingImage, ReasonMissingBox, ReasonView, ReasonOrientation, ReasonNoContent, ReasonZeroWidth,
	ReasonApexEmpty, ReasonSideEmpty, ReasonBaseEmpty,
	ReasonNoMidClavicularRow, ReasonNoDiaphragmOnLine, ReasonNoRibOnLine, ReasonNoRibAbove, ReasonRibGap,
	ReasonClavicleVertical, ReasonMissingVertebra, ReasonNoLungInBand, ReasonNoLungBelowHeartTop, ReasonNoLungAtLevel,
	ReasonNoNotch, ReasonNoCarina, ReasonCarinaRows, ReasonTracheaEmpty, ReasonMidlinePoints,
	ReasonDescAboveTrachea, ReasonDescPartEmpty, ReasonNoArchOverDesc, ReasonNoTracheaAtArch,
	ReasonNoHeartOverlap, ReasonDescEmpty, ReasonDescShort, ReasonDescGap,
	ReasonMaskQuality, ReasonImplausibleValue,
}

// Reasons returns every reason.
func Reasons() []Reason { return append([]Reason(nil), reasons...) }
