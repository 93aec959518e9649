package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
)

// Texts of switches that the code compares with.
const (
	choiceOn       = "on"
	choiceAll      = "all"
	choiceMinOnly  = "min_only"
	choiceMaxOnly  = "max_only"
	choiceAbove    = ">"
	choiceHeartBox = "heart_box"
	choiceIntTrunc = "int_trunc"
)

// orientedAs is the orientation with the distance between the lungs' centroids.
type orientedAs struct {
	orientation Orientation
	distance    float64
}

// orientation tells whether the right lung's centroid lies to the image left of the left
// lung's, and how far apart they are along x.
//
// DEVIATION D9: the released program does not look, a switch (TestSwitches).
// Source: [ours].
func (c *assessment) orientation() (Orientation, float64) {
	if c.orientedAs == nil {
		o := c.orient()
		c.orientedAs = &o
	}
	return c.orientedAs.orientation, c.orientedAs.distance
}

func (c *assessment) orient() orientedAs {
	c.value(rowLungOrder)
	if c.choice(rowOrientationCheck) != choiceOn {
		return orientedAs{OrientationOff, 0}
	}
	r, okR := c.lung(right).Centroid()
	l, okL := c.lung(left).Centroid()
	switch {
	case !okR || !okL:
		return orientedAs{OrientationUnknown, 0}
	case r.X < l.X:
		return orientedAs{OrientationOK, l.X - r.X}
	}
	return orientedAs{OrientationMirrored, l.X - r.X}
}

// filter runs the global filter. A rule whose input is missing is not evaluated and
// passes with an absent value.
//
// Source: [paper A.3.1] for the steps, [official code] for the limits.
func (c *assessment) filter() *FilterDecision {
	d := &FilterDecision{}
	add := func(rule Rule, pass bool, v Value) { d.Checks = append(d.Checks, Check{rule, pass, v}) }

	n := c.in.Masks.Present().And(anatomy.FilterSet()).Len()
	add(RuleMaskCount, c.holds(rowMaskCount, float64(n)), Int(n))

	pass, v := c.heartPosition(d)
	add(RuleHeartPosition, pass, v)

	pass, v = c.gradient()
	add(RuleGradient, pass, v)

	o, distance := c.orientation()
	d.Orientation = o
	switch o {
	case OrientationUnknown:
		add(RuleOrientation, true, None())
	case OrientationOK, OrientationMirrored:
		add(RuleOrientation, o == OrientationOK, Number(distance))
		r, _ := c.lung(right).Centroid()
		l, _ := c.lung(left).Centroid()
		d.mark("lung_centres", r, l)
	case OrientationOff:
	}
	return d
}

func (d *FilterDecision) mark(name string, pts ...geom.Vec) {
	d.Landmarks = append(d.Landmarks, Landmark{Name: name, Points: pts})
}

// heartPosition compares the space below the heart with the space above its lowest row,
// both up to the outermost content of the three middle columns.
func (c *assessment) heartPosition(d *FilterDecision) (pass bool, v Value) {
	_, y1, ok := c.mask(anatomy.Heart).Largest().RowBounds()
	if !ok || c.in.Facts == nil {
		c.value(rowAbdominalRatio)
		return true, None()
	}
	mid := c.in.Masks.GridW / 2
	first, last, ok := contentRows(c.in.Facts.NonZero, mid-1, mid+1)
	d.mark("heart_bottom", vec(mid, y1))
	if ok {
		d.mark("content_rows", vec(mid, first), vec(mid, last))
	}
	if !ok || y1 == first {
		c.value(rowAbdominalRatio)
		return false, None()
	}
	ratio := math.Abs(float64(last-y1)) / math.Abs(float64(y1-first))
	return c.holds(rowAbdominalRatio, ratio), Number(ratio)
}

// gradient compares the mean edge strength with one or both limits.
//
// DEVIATION D9: the released program drops strong edges only, the paper speaks of weak
// ones; a switch chooses, both by default (TestSwitches).
func (c *assessment) gradient() (pass bool, v Value) {
	bounds := c.choice(rowGradientBounds)
	c.value(rowSobelSize)
	if c.in.Facts == nil {
		return true, None()
	}
	g := c.in.Facts.GradientMean
	atLeast, below := c.holds(rowGradientMin, g), c.holds(rowGradientMax, g)
	switch bounds {
	case choiceMinOnly:
		return atLeast, Number(g)
	case choiceMaxOnly:
		return below, Number(g)
	}
	return atLeast && below, Number(g)
}
