package chexstruct

import (
	"math"

	"cxrepro/internal/geom"
)

// boxAgreement compares the box of a mask with a reference box: it accepts a high overlap
// with near centres, or a middling overlap with a looser distance, as found.
//
// Units: the distance of the centres is in image widths and heights.
// Special cases: ok is false when neither box has an area, the overlap being 0/0.
// Source: [official code]; [paper] names intersection over union and centroid.
func (c *assessment) boxAgreement(found, reference geom.Box) (pass bool, iou, distance float64, ok bool) {
	iou = found.IoU(reference)
	a, b := found.Centre(), reference.Centre()
	dx, dy := float64(a.X-b.X)/c.w(), float64(a.Y-b.Y)/c.h()
	distance = math.Sqrt(float64(dx*dx) + float64(dy*dy))
	high, near := c.holds(rowBoxIoUHigh, iou), c.holds(rowBoxDistHigh, distance)
	low, nearer := c.holds(rowBoxIoULow, iou), c.holds(rowBoxDistLow, distance)
	return (high && near) || (!high && low && nearer), iou, distance, found.Area()+reference.Area() > 0
}

// heartBox judges the heart mask against the cardiac silhouette box. The heart must not
// be empty.
func (c *assessment) heartBox() (pass bool, v Value, reason Reason) {
	box, ok := c.in.Boxes[BoxCardiacSilhouette]
	if !ok {
		return false, None(), ReasonMissingBox
	}
	heart, _ := c.heartPart().Box()
	pass, iou, d, ok := c.boxAgreement(heart, box)
	if !ok {
		return false, None(), ReasonZeroWidth
	}
	return pass, Pair(iou, d), ""
}

// balance returns the smaller over the larger of two half-widths.
//
// DEVIATION D3: the released program gives 0 for two equal ones; a switch (TestSwitches).
func (c *assessment) balance(wR, wL int) float64 {
	equal := c.number(rowEqualWidths)
	if wR == wL {
		return equal
	}
	return float64(min(wR, wL)) / float64(max(wR, wL))
}
