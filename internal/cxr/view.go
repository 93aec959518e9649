package cxr

import (
	"fmt"
	"strings"
)

// ViewPosition is the direction in which the beam crossed the chest. The zero value means
// "unset" and is invalid.
type ViewPosition uint8

// The view positions we tell apart.
const (
	ViewPA      ViewPosition = 1 // back to front, patient upright at the detector
	ViewAP      ViewPosition = 2 // front to back, often at the bedside
	ViewLateral ViewPosition = 3 // from either side
	ViewOther   ViewPosition = 4 // a published value that is none of these (oblique, decubitus, axial)
)

var viewText = [...]string{ViewPA: "PA", ViewAP: "AP", ViewLateral: "LATERAL", ViewOther: "OTHER"}

// Views lists every valid view position.
func Views() []ViewPosition {
	return []ViewPosition{ViewPA, ViewAP, ViewLateral, ViewOther}
}

// Valid reports whether v is one of the four.
func (v ViewPosition) Valid() bool { return v >= ViewPA && v <= ViewOther }

// Frontal reports whether v is PA or AP.
func (v ViewPosition) Frontal() bool { return v == ViewPA || v == ViewAP }

// String returns the text form, "unset" for the zero value.
func (v ViewPosition) String() string {
	if !v.Valid() {
		return "unset"
	}
	return viewText[v]
}

// MarshalText encodes a valid view position.
func (v ViewPosition) MarshalText() ([]byte, error) {
	if !v.Valid() {
		return nil, fmt.Errorf("view position %d is not one of PA, AP, LATERAL, OTHER", uint8(v))
	}
	return []byte(viewText[v]), nil
}

// UnmarshalText accepts exactly the four text forms.
func (v *ViewPosition) UnmarshalText(b []byte) error {
	for _, w := range Views() {
		if viewText[w] == string(b) {
			*v = w
			return nil
		}
	}
	return fmt.Errorf("view position %q is not one of PA, AP, LATERAL, OTHER", b)
}

// ParseView reads a ViewPosition field as data sets write it.
//
// Exactly "PA" and "AP" are frontal: "AP AXIAL" or "PA LLD" (lying on the side) are other
// projections. ok is false for an empty field and for a value that no published table
// uses; the caller then knows nothing about the view.
// Source: values of the DICOM attribute (0018,5101) and of MIMIC-CXR-JPG's metadata.
func ParseView(field string) (v ViewPosition, ok bool) {
	switch strings.ToUpper(strings.TrimSpace(field)) {
	case "PA":
		return ViewPA, true
	case "AP":
		return ViewAP, true
	case "LATERAL", "LL", "RL", "LLAT", "RLAT":
		return ViewLateral, true
	case "AP AXIAL", "AP LLD", "AP RLD", "PA LLD", "PA RLD", "LLD", "RLD",
		"LAO", "RAO", "LLO", "RLO", "LPO", "RPO", "SWIMMERS", "XTABLE":
		return ViewOther, true
	}
	return 0, false
}
