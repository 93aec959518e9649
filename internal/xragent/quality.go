package xragent

import (
	"fmt"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// Codes of a bundle that is withheld for its masks, in the order in which they are tried.
// [paper] that there is a check, [ours] what it looks at.
const (
	ReasonMissingClass     = "missing_class"
	ReasonFewStructures    = "few_structures"
	ReasonAreaBounds       = "area_bounds"
	ReasonFragmented       = "fragmented"
	ReasonLaterality       = "laterality"
	ReasonHeartPosition    = "heart_position"
	ReasonOverlap          = "overlap"
	ReasonImplausibleValue = "implausible_value"
)

// QualityLimits are the numbers of the mask check of profile "calibrated"; shares are of
// what their names say, bounds pass.
type QualityLimits struct {
	Structures  float64    `json:"structures_min"`   // of the structures that the source declares
	LungArea    [2]float64 `json:"lung_area"`        // both lungs, of the picture
	HeartArea   [2]float64 `json:"heart_area"`       // of the picture
	LungRatio   float64    `json:"lung_ratio_min"`   // smaller over larger lung
	Largest     float64    `json:"largest_part_min"` // largest component of a lung or the heart
	HeartHeight [2]float64 `json:"heart_height"`     // of the lungs' vertical extent, from the top
	Overlap     float64    `json:"overlap_max"`      // of the smaller lung
}

// DefaultQuality returns the limits before any population was measured. [ours]
func DefaultQuality() QualityLimits {
	return QualityLimits{Structures: 100.0 / 159, LungArea: [2]float64{0.12, 0.70}, HeartArea: [2]float64{0.02, 0.25}, LungRatio: 0.15,
		Largest: 0.90, HeartHeight: [2]float64{0.25, 0.85}, Overlap: 0.02}
}

// Validate refuses limits that are no shares or that leave nothing between them.
func (q QualityLimits) Validate() error {
	for _, v := range []float64{q.Structures, q.LungArea[0], q.LungArea[1], q.HeartArea[0], q.HeartArea[1], q.LungRatio, q.Largest, q.HeartHeight[0], q.HeartHeight[1], q.Overlap} {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("quality limits: %v is no share; hint: 0 to 1", v)
		}
	}
	for _, b := range [][2]float64{q.LungArea, q.HeartArea, q.HeartHeight} {
		if b[0] >= b[1] {
			return fmt.Errorf("quality limits: nothing lies between %v and %v", b[0], b[1])
		}
	}
	return nil
}

// parts are the three masks that every measurement reads, whole and their largest
// component.
type parts struct {
	right, left, heart    mask.Mask
	rightL, leftL, heartL mask.Mask
}

func partsOf(m *anatomy.Masks) parts {
	p := parts{right: m.Mask(anatomy.RightLung), left: m.Mask(anatomy.LeftLung), heart: m.Mask(anatomy.Heart)}
	p.rightL, p.leftL, p.heartL = p.right.Largest(), p.left.Largest(), p.heart.Largest()
	return p
}

// check returns the code of the first rule that fails, empty when all hold.
func (q QualityLimits) check(m *anatomy.Masks, p parts) string {
	if p.right.IsEmpty() || p.left.IsEmpty() || p.heart.IsEmpty() {
		return ReasonMissingClass
	}
	if float64(m.Present().Len()) < float64(q.Structures*float64(m.Declared.Len()))-1e-9 {
		return ReasonFewStructures
	}
	grid := float64(m.GridW) * float64(m.GridH)
	right, left := p.right.Area(), p.left.Area()
	both := p.right.AndArea(p.left)
	within := func(v float64, b [2]float64) bool { return v >= b[0] && v <= b[1] }
	small, large := float64(min(right, left)), float64(max(right, left))
	switch {
	case !within(float64(right+left-both)/grid, q.LungArea), !within(float64(p.heart.Area())/grid, q.HeartArea), small/large < q.LungRatio:
		return ReasonAreaBounds
	case fragmented(p.right, p.rightL, q.Largest), fragmented(p.left, p.leftL, q.Largest), fragmented(p.heart, p.heartL, q.Largest):
		return ReasonFragmented
	}
	r, _ := p.rightL.Centroid()
	l, _ := p.leftL.Centroid()
	if r.X >= l.X {
		return ReasonLaterality
	}
	if !q.heartBetween(p) {
		return ReasonHeartPosition
	}
	if float64(both)/small > q.Overlap {
		return ReasonOverlap
	}
	return ""
}

func fragmented(whole, largest mask.Mask, share float64) bool {
	return float64(largest.Area()) < float64(share*float64(whole.Area()))
}

// heartBetween reports that the heart's centroid lies between the lungs' outer edges and in
// the part of their height where a heart can be.
func (q QualityLimits) heartBetween(p parts) bool {
	c, _ := p.heartL.Centroid()
	r, _ := p.rightL.Box()
	l, _ := p.leftL.Box()
	top, bottom := float64(min(r.Y0, l.Y0)), float64(max(r.Y1, l.Y1))
	if c.X < float64(min(r.X0, l.X0)) || c.X > float64(max(r.X1, l.X1)) || bottom == top {
		return false
	}
	at := (c.Y - top) / (bottom - top)
	return at >= q.HeartHeight[0] && at <= q.HeartHeight[1]
}
