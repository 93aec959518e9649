package geom

// Line is x = Slope*y + Intercept: the natural form for structures that run down the
// picture, such as the spine.
type Line struct{ Slope, Intercept float64 }

// At returns the x of the line on height y.
func (l Line) At(y float64) float64 { return float64(l.Slope*y) + l.Intercept }

// FitXOnY returns the least-squares line of x on y.
//
// Special cases: ok is false for fewer than two points or when all share one y.
func FitXOnY(pts []Vec) (line Line, ok bool) {
	if len(pts) < 2 {
		return Line{}, false
	}
	n := float64(len(pts))
	var sx, sy float64
	for _, p := range pts {
		sx += p.X
		sy += p.Y
	}
	mx, my := sx/n, sy/n
	var sxy, syy float64
	for _, p := range pts {
		dx, dy := p.X-mx, p.Y-my
		sxy += float64(dx * dy)
		syy += float64(dy * dy)
	}
	if syy == 0 {
		return Line{}, false
	}
	m := sxy / syy
	return Line{Slope: m, Intercept: mx - float64(m*my)}, true
}

// ChordResidual returns the largest perpendicular distance of the inner points to the
// straight line through the first and the last point.
//
// Special cases: no inner points give 0; ok is false when first and last coincide.
func ChordResidual(pts []Vec) (distance float64, ok bool) {
	if len(pts) < 2 {
		return 0, false
	}
	a, b := pts[0], pts[len(pts)-1]
	d := b.Sub(a)
	n := d.Length()
	if n == 0 {
		return 0, false
	}
	for _, p := range pts[1 : len(pts)-1] {
		q := p.Sub(a)
		cross := float64(d.X*q.Y) - float64(d.Y*q.X)
		if cross < 0 {
			cross = -cross
		}
		distance = max(distance, cross/n)
	}
	return distance, true
}
