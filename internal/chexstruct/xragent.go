package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
)

// Categories of the X-Ragent measurements.
const (
	CategoryNormal    = "normal"
	CategoryMild      = "mild"
	CategoryModerate  = "moderate"
	CategorySevere    = "severe"
	CategorySymmetric = "symmetric"
	CategoryMarked    = "marked"
	CategoryNone      = "none"
)

// CardiothoracicRatio returns the ratio that the cardiomegaly task and the X-Ragent bundle
// use, without quality control; the reason tells why it is not defined.
func CardiothoracicRatio(m *anatomy.Masks) (float64, Reason) {
	c := newAssessment(&Input{Masks: m}, nil)
	r, reason := c.cardiothoracicRatio()
	if reason != "" {
		return 0, reason
	}
	return r.index(), ""
}

// bundle computes the X-Ragent measurements behind their gate: a PA view, sound masks and
// a plausible cardiothoracic ratio. What the gate stops is withheld with a reason, never
// reported as normal.
//
// Source: [paper] for names and gate; formulas and categories are [ours], profile "table".
func (c *assessment) bundle() *Bundle {
	ratio, reason := c.gate()
	if reason != "" {
		return &Bundle{Reason: reason}
	}
	shift, reason := c.thoracicShift()
	if reason != "" {
		return &Bundle{Reason: reason}
	}
	return &Bundle{Exposed: true, CTR: c.gradeCTR(ratio), Asymmetry: c.lungAsymmetry(), Shift: shift}
}

// gate returns the cardiothoracic ratio when every condition holds.
func (c *assessment) gate() (ctr float64, reason Reason) {
	var want cxr.ViewPosition
	if err := want.UnmarshalText([]byte(c.choice(rowGateView))); err != nil || c.in.View != want {
		return 0, ReasonView
	}
	if o, _ := c.orientation(); o == OrientationMirrored {
		return 0, ReasonOrientation
	}
	pixels := c.w() * c.h()
	share := func(id row, area int) bool { return c.holds(id, float64(area)/pixels) }
	lungR, lungL := share(rowGateLung, c.lung(right).Area()), share(rowGateLung, c.lung(left).Area())
	heart := share(rowGateHeart, c.mask(anatomy.Heart).Area())
	if !lungR || !lungL || !heart {
		return 0, ReasonMaskQuality
	}
	r, reason := c.cardiothoracicRatio()
	if reason != "" {
		return 0, reason
	}
	ctr = r.index()
	if !c.holds(rowGateCTR, ctr) {
		return 0, ReasonImplausibleValue
	}
	return ctr, ""
}

func (c *assessment) gradeCTR(v float64) *Graded {
	g := &Graded{Value: v, Rounded: RoundDecimal(v, 2)}
	mild, moderate, severe := c.holds(rowCTRMild, g.Rounded), c.holds(rowCTRModerate, g.Rounded), c.holds(rowCTRSevere, g.Rounded)
	switch {
	case severe:
		g.Category = CategorySevere
	case moderate:
		g.Category = CategoryModerate
	case mild:
		g.Category = CategoryMild
	default:
		g.Category = CategoryNormal
	}
	return g
}

// lungAsymmetry compares the areas of the largest lung components; positive when the
// right lung is larger.
func (c *assessment) lungAsymmetry() *Graded {
	r, l := c.lung(right).Area(), c.lung(left).Area()
	v := float64(r-l) / float64(r+l)
	g := &Graded{Value: v, Rounded: RoundDecimal(v, 2)}
	g.Category = c.grade(v, CategorySymmetric, rowAsymmetryMild, rowAsymmetryMarked)
	if g.Category != CategorySymmetric {
		g.Side = sideLeft
		if v < 0 {
			g.Side = sideRight
		}
	}
	return g
}

// thoracicShift measures how far trachea and upper mediastinum lie from the middle of the
// thorax, as a share of its width; positive towards the patient's left.
func (c *assessment) thoracicShift() (*Graded, Reason) {
	sum, n := 0.0, 0
	for _, s := range []anatomy.Structure{anatomy.Trachea, anatomy.UpperMediastinum} {
		if p, ok := c.mask(s).Largest().Centroid(); ok {
			sum += p.X
			n++
		}
	}
	if n == 0 {
		return nil, ReasonMissingMask
	}
	rightLung, _ := c.lung(right).Box()
	leftLung, _ := c.lung(left).Box()
	xr, xl := float64(rightLung.X0), float64(leftLung.X1)
	if xl == xr {
		return nil, ReasonZeroWidth
	}
	v := (sum/float64(n) - (xr+xl)/2) / (xl - xr)
	g := &Graded{Value: v, Rounded: RoundDecimal(v, 2)}
	g.Category = c.grade(v, CategoryNone, rowShiftMild, rowShiftMarked)
	if g.Category != CategoryNone {
		g.Side = sideLeft
		if v < 0 {
			g.Side = sideRight
		}
	}
	return g, ""
}

// grade compares the size of a signed value, rounded to two decimals, with two limits.
func (c *assessment) grade(v float64, none string, mildRow, markedRow row) string {
	size := RoundDecimal(math.Abs(v), 2)
	mild, marked := c.holds(mildRow, size), c.holds(markedRow, size)
	switch {
	case marked:
		return CategoryMarked
	case mild:
		return CategoryMild
	}
	return none
}
