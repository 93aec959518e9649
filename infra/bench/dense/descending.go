package dense

import "math"

// descent is the descending aorta beside the heart.
type descent struct {
	rows          int // rows measured
	left, right   [6]point
	width         [6]int
	work, workInt float64 // curvature in 1/mask px, exact and with truncated derivatives
}

func (sc *scene) descent() (d descent, why reason) {
	if sc.missing("descending aorta", "heart") {
		return d, "missing_mask"
	}
	aorta := sc.mask("descending aorta")
	over, ok := and(aorta, sc.mask("heart")).tallest().box()
	if !ok {
		return d, "no_heart_overlap"
	}
	p := aorta.rows(0, over.y1).tallest()
	e, ok := p.box()
	if !ok {
		return d, "desc_empty"
	}
	trim := int(math.Floor(sc.n("descending_aorta.trim.fraction") * float64(e.height())))
	from, to := e.y0+trim, e.y1-trim
	d.rows = to - from
	if d.rows < 5 {
		return d, "desc_short"
	}
	at := [6]int{0: from, 5: to - 1}
	y := from
	for i := range 5 {
		at[i] = y
		y += d.rows / 5
		if i < d.rows%5 {
			y++
		}
	}
	for i, y := range at {
		a, b, ok := p.span(y)
		if !ok {
			return d, "desc_gap"
		}
		d.left[i], d.right[i], d.width[i] = point{a, y}, point{b, y}, b-a
	}
	d.work, d.workInt = curvature(d.right, false), curvature(d.right, true)
	return d, ""
}

// descentQC adds the rules of both tasks.
func (sc *scene) descentQC(f *Finding, d descent) {
	v := sc.shareH(d.rows)
	f.check("descending_aorta.height", v >= sc.n("descending_aorta.height.min"), v)
	v = spread(floats(d.width[:])) / float64(sc.W)
	f.check("descending_aorta.width_std", v <= sc.n("descending_aorta.width_std.max"), v)
}

// enlarged is descending_aorta_enlargement.
func (sc *scene) enlarged(f *Finding) (reason, string) {
	if sc.missing("trachea", "tracheal bifurcation") {
		return "missing_mask", ""
	}
	d, why := sc.descent()
	if why != "" {
		return why, ""
	}
	sc.descentQC(f, d)
	t := sc.windpipe()
	if t.why != "" {
		return t.why, ""
	}
	sc.tracheaQC(f)
	best := 0
	for i, w := range d.width {
		if w > d.width[best] {
			best = i
		}
	}
	if t.median == 0 {
		return "zero_width", ""
	}
	m := f.Measurements
	m["point_right"], m["point_left"] = d.right[best], d.left[best]
	m["width"], m["trachea_width"] = d.width[best], t.median
	ratio := float64(d.width[best]) / float64(t.median)
	rounded := round(ratio, 2)
	f.Index, f.IndexRounded = ratio, rounded
	return "", enlarged(rounded >= sc.n("descending_aorta_enlargement.label.enlarged_min"))
}

// tortuous is descending_aorta_tortuous.
func (sc *scene) tortuous(f *Finding) (reason, string) {
	d, why := sc.descent()
	if why != "" {
		return why, ""
	}
	sc.descentQC(f, d)
	m := f.Measurements
	m["points"] = d.right
	m["curvature_work"], m["curvature_int_trunc_work"] = d.work, d.workInt
	m["curvature_native"], m["curvature_int_trunc_native"] = d.work/sc.s, d.workInt/sc.s
	v := d.work / sc.s
	if sc.IntTrunc {
		v = d.workInt / sc.s
	}
	rounded := round(v, 4)
	f.Index, f.IndexRounded = v, rounded
	if rounded >= sc.n("descending_aorta_tortuous.label.tortuous_min") {
		return "", "tortuous"
	}
	return "", "normal"
}

// curvature is the mean over six points; whole truncates every derivative.
func curvature(p [6]point, whole bool) float64 {
	var x, y [6]float64
	for i, q := range p {
		x[i], y[i] = float64(q[0]), float64(q[1])
	}
	x1, y1 := derive(x, whole), derive(y, whole)
	x2, y2 := derive(x1, whole), derive(y1, whole)
	sum := 0.0
	for i := range p {
		speed := float64(x1[i]*x1[i]) + float64(y1[i]*y1[i])
		if speed == 0 {
			continue
		}
		cross := float64(x2[i]*y1[i]) - float64(y2[i]*x1[i])
		sum += math.Abs(cross) / math.Pow(speed, 1.5)
	}
	return sum / 6
}

func derive(v [6]float64, whole bool) (d [6]float64) {
	for i := range v {
		lo, hi := max(i-1, 0), min(i+1, 5)
		d[i] = (v[hi] - v[lo]) / float64(hi-lo)
		if whole {
			d[i] = math.Trunc(d[i])
		}
	}
	return d
}
