package xragent

import (
	"fmt"
	"slices"

	"cxrepro/internal/cxr"
)

// Codes of a bundle that is withheld for its view, in the order in which they are tried.
// [paper] for the PA condition, [ours] for the codes.
const (
	ReasonViewAP       = "view_ap"
	ReasonViewLateral  = "view_lateral"
	ReasonViewNotCXR   = "view_not_cxr"
	ReasonViewRotated  = "view_rotated" // the picture is turned; a rotated patient only gets a flag
	ReasonViewInverted = "view_inverted"
)

// Further codes: not a matter of the picture.
const (
	ReasonDisabled     = "disabled"      // switched off in this experiment
	ReasonNotReached   = "not_reached"   // the rollout ended before
	ReasonNotRequested = "not_requested" // the policy routes measurements and asked for none
)

// FlagRotated marks a bundle of a patient who stood rotated: the shift is unreliable.
const FlagRotated = "rotated"

// ViewReading is what a view check says of a picture: distributions over PA, AP, lateral
// and no chest radiograph, and over 0, 90, 180 and 270 degrees; two probabilities.
type ViewReading struct {
	Type     [4]float64
	Turn     [4]float64
	Inverted float64
	Mirrored float64
}

// AssertedView is the reading of a picture whose view is known from its data set. An unset
// view reads as no chest radiograph.
func AssertedView(v cxr.ViewPosition) ViewReading {
	r := ViewReading{Turn: [4]float64{1}}
	k := 3
	switch v {
	case cxr.ViewPA:
		k = 0
	case cxr.ViewAP:
		k = 1
	case cxr.ViewLateral:
		k = 2
	}
	r.Type[k] = 1
	return r
}

// typeCodes are the codes of the types; PA has none.
var typeCodes = [4]string{"", ReasonViewAP, ReasonViewLateral, ReasonViewNotCXR}

// ViewRule is which readings open the way to measurements.
type ViewRule struct {
	// AdmitAP lets AP films pass as well; their CTR has its own limit.
	AdmitAP bool `json:"admit_ap,omitempty"`
	// MinProbability is what the winning type and turn must reach; 0 asks for nothing.
	MinProbability float64 `json:"min_probability,omitempty"`
	// MaxInverted is the probability of inversion that still passes; 0 means one half.
	MaxInverted float64 `json:"max_inverted,omitempty"`
}

// Validate refuses thresholds that are no probabilities.
func (v ViewRule) Validate() error {
	for _, p := range []float64{v.MinProbability, v.MaxInverted} {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("gate: probability %v; hint: 0 to 1", p)
		}
	}
	return nil
}

// Decide returns the code that withholds the bundle, empty when the view passes. A type
// that wins with too little counts as the most probable type that does not pass.
func (v ViewRule) Decide(r ViewReading) string {
	k := argmax(r.Type)
	passes := func(k int) bool { return k == 0 || k == 1 && v.AdmitAP }
	if !passes(k) {
		return typeCodes[k]
	}
	if r.Type[k] < v.MinProbability {
		other := r.Type
		for i := range other {
			if passes(i) {
				other[i] = -1
			}
		}
		return typeCodes[argmax(other)]
	}
	if t := argmax(r.Turn); t != 0 || r.Turn[t] < v.MinProbability {
		return ReasonViewRotated
	}
	limit := v.MaxInverted
	if limit == 0 {
		limit = 0.5
	}
	if r.Inverted > limit {
		return ReasonViewInverted
	}
	return ""
}

// view names the view of a reading that passed.
func (v ViewRule) view(r ViewReading) cxr.ViewPosition {
	if argmax(r.Type) == 1 {
		return cxr.ViewAP
	}
	return cxr.ViewPA
}

func argmax(p [4]float64) int { return slices.Index(p[:], slices.Max(p[:])) }
