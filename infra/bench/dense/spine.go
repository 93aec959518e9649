package dense

import (
	"fmt"
	"math"
)

// vertebra is the centre of one vertebra; both coordinates are +inf when it is missing.
type vertebra struct{ x, y float64 }

// vertebrae are T1..T7.
func (sc *scene) vertebrae() []vertebra {
	if sc.vertebra == nil {
		for i := 1; i <= 7; i++ {
			x, y, ok := sc.la(fmt.Sprintf("vertebrae T%d", i)).centroid()
			if !ok {
				x, y = math.Inf(1), math.Inf(1)
			}
			sc.vertebra = append(sc.vertebra, vertebra{x, y})
		}
	}
	return sc.vertebra
}

// fit is the least-squares line x = m*y + b; ok is false when all y are equal.
func fit(p []vertebra) (m, b float64, ok bool) {
	var mx, my, sxy, syy float64
	for _, v := range p {
		mx, my = mx+v.x, my+v.y
	}
	mx, my = mx/float64(len(p)), my/float64(len(p))
	for _, v := range p {
		dy := v.y - my
		sxy += float64(dy * (v.x - mx))
		syy += float64(dy * dy)
	}
	if syy == 0 {
		return 0, 0, false
	}
	m = sxy / syy
	return m, mx - float64(m*my), true
}

// midlineQC adds residual and spread, both in native pixels.
func (sc *scene) midlineQC(f *Finding, task string, p []vertebra) {
	first, last := p[0], p[len(p)-1]
	dx, dy := last.x-first.x, last.y-first.y
	long := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	var far float64
	for _, v := range p[1 : len(p)-1] {
		cross := float64((v.x-first.x)*dy) - float64((v.y-first.y)*dx)
		far = max(far, math.Abs(cross)/long)
	}
	far *= sc.s
	f.check(task+".midline_residual", far < sc.n(task+".midline_residual.max"), far)
	var xs []float64
	for _, v := range p {
		xs = append(xs, v.x)
	}
	std := spread(xs) * sc.s
	f.check(task+".midline_x_std", std < sc.n(task+".midline_x_std.max"), std)
}
