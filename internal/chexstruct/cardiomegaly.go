package chexstruct

import (
	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// cardiothoracic is the heart's and the thorax' horizontal extent, in mask pixels.
type cardiothoracic struct {
	heartX0, heartX1 int
	lungX0, lungX1   int
}

// index returns the cardiothoracic ratio.
func (r cardiothoracic) index() float64 {
	return float64(r.heartX1-r.heartX0) / float64(r.lungX1-r.lungX0)
}

// cardiothoracicRatio measures the widest extent of the heart against that of both lungs
// from the heart's top row down.
//
// Special cases: the reason tells what is missing; extremes need not lie on one row.
// Source: [official code]; [paper] names both diameters.
func (c *assessment) cardiothoracicRatio() (r cardiothoracic, reason Reason) {
	heart, ok := c.heartPart().Box()
	if !ok || c.missing(anatomy.RightLung, anatomy.LeftLung) {
		return r, ReasonMissingMask
	}
	rightLung, okR := c.lung(right).Rows(heart.Y0, c.in.Masks.GridH-1).Box()
	leftLung, okL := c.lung(left).Rows(heart.Y0, c.in.Masks.GridH-1).Box()
	if !okR || !okL {
		return r, ReasonNoLungBelowHeartTop
	}
	r = cardiothoracic{heartX0: heart.X0, heartX1: heart.X1,
		lungX0: min(rightLung.X0, leftLung.X0), lungX1: max(rightLung.X1, leftLung.X1)}
	if r.lungX1 == r.lungX0 {
		return r, ReasonZeroWidth
	}
	return r, ""
}

// cardiomegaly labels the heart's size by the cardiothoracic ratio, rounded to two
// decimals: enlarged from 0.50 in PA and 0.55 in AP views.
//
// Source: [paper] for the index and the PA limit, [official code] for the rest.
func (c *assessment) cardiomegaly(f *Finding) Reason {
	if c.missing(anatomy.Heart, anatomy.RightLung, anatomy.LeftLung) {
		return ReasonMissingMask
	}
	side := c.inclusionPiece()
	if r := side.sideReason(); r != "" {
		return r
	}
	f.checkSides(side)
	pass, v, noBox := c.heartBox()
	if noBox == "" {
		f.check(RuleHeartBox, pass, v)
	}
	ratio, undefined := c.cardiothoracicRatio()
	if undefined == "" {
		b := c.balance(side.inner[right]-ratio.lungX0, ratio.lungX1-side.inner[left])
		c.judge(f, RuleLungBalance, rowCardiacBalance, b)
		f.measure("heart_xmin", Int(ratio.heartX0))
		f.measure("heart_xmax", Int(ratio.heartX1))
		f.measure("heart_width", Int(ratio.heartX1-ratio.heartX0))
		f.measure("lung_xmin", Int(ratio.lungX0))
		f.measure("lung_xmax", Int(ratio.lungX1))
		f.measure("lung_width", Int(ratio.lungX1-ratio.lungX0))
		c.markCardiothoracic(f, ratio)
	}
	_, ok := c.frontal()
	switch {
	case noBox == ReasonMissingBox:
		return noBox
	case !ok:
		return ReasonView
	case undefined != "" || noBox != "":
		return firstReason(undefined, noBox)
	}
	index := ratio.index()
	f.Index, f.Rounded = Number(index), Number(RoundDecimal(index, 2))
	return ""
}

// markCardiothoracic marks where the two extents are reached: the middle pixel of each
// extreme column, the patient's right first.
func (c *assessment) markCardiothoracic(f *Finding, r cardiothoracic) {
	heart := c.heartPart()
	box, _ := heart.Box()
	f.mark("heart_width", middleOfColumn(r.heartX0, heart), middleOfColumn(r.heartX1, heart))
	below := [2]mask.Mask{}
	for side := range below {
		below[side] = c.lung(side).Rows(box.Y0, c.in.Masks.GridH-1)
	}
	f.mark("thoracic_width", middleOfColumn(r.lungX0, below[right], below[left]), middleOfColumn(r.lungX1, below[left], below[right]))
}

// middleOfColumn returns the middle pixel of column x of the first mask that has one.
func middleOfColumn(x int, masks ...mask.Mask) geom.Vec {
	for _, m := range masks {
		if y, ok := m.MiddleOfColumn(x); ok {
			return vec(x, y)
		}
	}
	return vec(x, 0)
}

// cardiacEnlarged compares the rounded ratio with the limit of the view.
//
// The paper says "exceeding 0.50" in PA views, the released program includes equality
// (conflict C5): a switch.
func (c *assessment) cardiacEnlarged(view cxr.ViewPosition, rounded float64) bool {
	atPA, atAP := c.holds(rowCTRPA, rounded), c.holds(rowCTRAP, rounded)
	strict := c.choice(rowCTRComparison) == choiceAbove
	if view == cxr.ViewAP {
		return atAP
	}
	return atPA && !(strict && rounded == c.number(rowCTRPA))
}

// checkSides records the inclusion task's side rules for a task that builds on them.
func (f *Finding) checkSides(p *inclusionPart) {
	flag := func(in bool) float64 {
		if in {
			return 1
		}
		return 0
	}
	f.check(RuleSideLabel, p.sideIn[right] && p.sideIn[left], Pair(flag(p.sideIn[right]), flag(p.sideIn[left])))
	f.check(RuleSideWidth, p.widthPass, None())
}
