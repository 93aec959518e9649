package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
)

// vertebrae is the number of vertebra points, T1 to T7.
const vertebrae = 7

// vertebraPoints returns the centroids of the largest components of T1 to T7; a missing
// one lies at (+Inf, +Inf).
//
// DEVIATION D1: the released program takes a notch of the vertebra's contour as the
// spinous process, which depends on where the contour starts and finds nothing on masks
// without a notch. The centroid is the deterministic stand-in, in every preset.
func (c *assessment) vertebraPoints() *[vertebrae]geom.Vec {
	if c.vertebraeAt != nil {
		return c.vertebraeAt
	}
	var pts [vertebrae]geom.Vec
	for i := range pts {
		p, ok := c.mask(anatomy.ThoracicVertebra(i + 1)).Largest().Centroid()
		if !ok {
			p = geom.Vec{X: math.Inf(1), Y: math.Inf(1)}
		}
		pts[i] = p
	}
	c.vertebraeAt = &pts
	return &pts
}

// markVertebrae marks the vertebra points that exist.
func (f *Finding) markVertebrae(pts []geom.Vec) {
	var there []geom.Vec
	for _, p := range pts {
		if !math.IsInf(p.Y, 1) {
			there = append(there, p)
		}
	}
	f.mark("vertebrae", there...)
}

// midline is the line through vertebra points with the two figures that judge it, both in
// native pixels.
type midline struct {
	geom.Line
	residual, xStd float64
}

// fitMidline fits the line to finite points; the reason tells when it is undefined.
func (c *assessment) fitMidline(pts []geom.Vec) (m midline, reason Reason) {
	line, ok := geom.FitXOnY(pts)
	if !ok {
		return m, ReasonZeroWidth
	}
	d, ok := geom.ChordResidual(pts)
	if !ok {
		return m, ReasonZeroWidth
	}
	xs := make([]float64, len(pts))
	for i, p := range pts {
		xs[i] = p.X
	}
	s := c.scale()
	return midline{Line: line, residual: float64(d * s), xStd: float64(popStd(xs) * s)}, ""
}

// vec returns the centre of a pixel for a landmark.
func vec(x, y int) geom.Vec { return geom.Point{X: x, Y: y}.Vec() }
