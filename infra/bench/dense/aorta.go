package dense

import "math"

// knob is aortic_knob_enlargement.
func (sc *scene) knob(f *Finding) (reason, string) {
	if sc.missing("trachea", "tracheal bifurcation", "descending aorta", "aortic arch") {
		return "missing_mask", ""
	}
	t := sc.windpipe()
	if t.why != "" {
		return t.why, ""
	}
	sc.tracheaQC(f)
	d := sc.mask("descending aorta").rows(t.end, sc.H)
	e, ok := d.box()
	if !ok {
		return "desc_above_trachea_end", ""
	}
	d = d.rows(0, e.y0+int(math.Floor(sc.n("aortic_knob_enlargement.desc_part.fraction")*float64(e.height())))).widest()
	if e, ok = d.box(); !ok {
		return "desc_part_empty", ""
	}
	_, xd, _ := d.span(d.inColumn(e.x0)[0])
	arch := sc.mask("aortic arch").rows(0, e.y1)
	label, list := arch.parts()
	touches := make([]bool, len(list))
	for i, n := range label {
		if x := i % sc.W; n != 0 && e.x0 <= x && x <= e.x1 {
			touches[n-1] = true
		}
	}
	kept, ok := arch.only(label, func(n int) bool { return touches[n] }).box()
	if !ok {
		return "no_arch_over_desc", ""
	}
	sum, n := 0, 0
	for y := kept.y0; y <= kept.y1; y++ {
		if _, b, ok := t.trimmed.span(y); ok {
			sum, n = sum+b, n+1
		}
	}
	if n == 0 {
		return "no_trachea_at_arch", ""
	}
	xt := float64(sum) / float64(n)
	width := float64(max(kept.x1, xd)) - xt
	v := sc.shareH(e.height())
	f.check("aortic_knob_enlargement.desc_height", v >= sc.n("aortic_knob_enlargement.desc_height.min"), v)
	v = sc.shareW(kept.x1 - xd)
	f.check("aortic_knob_enlargement.x_alignment", v >= sc.n("aortic_knob_enlargement.x_alignment.min"), v)
	v = sc.shareH(e.y0 - t.end)
	f.check("aortic_knob_enlargement.desc_start_gap", v <= sc.n("aortic_knob_enlargement.desc_start_gap.max"), v)
	f.check("aortic_knob_enlargement.knob_width", width > sc.n("aortic_knob_enlargement.knob_width.min_exclusive"), width)
	if t.median == 0 {
		return "zero_width", ""
	}
	m := f.Measurements
	m["knob_xmin"], m["knob_xmax"], m["knob_width"], m["trachea_width"] = xt, max(kept.x1, xd), width, t.median
	m["arch_xmax"], m["desc_xmax"] = kept.x1, xd
	ratio := width / float64(t.median)
	rounded := round(ratio, 2)
	f.Index, f.IndexRounded = ratio, rounded
	return "", enlarged(rounded >= sc.n("aortic_knob_enlargement.label.enlarged_min"))
}

// ascending is ascending_aorta_enlargement.
func (sc *scene) ascending(f *Finding) (reason, string) {
	if sc.missing("trachea", "tracheal bifurcation", "ascending aorta", "heart") {
		return "missing_mask", ""
	}
	t := sc.windpipe()
	if t.why != "" {
		return t.why, ""
	}
	sc.tracheaQC(f)
	in := sc.included()
	if in.sideWhy != "" {
		return in.sideWhy, ""
	}
	b, ok := sc.Boxes["cardiac silhouette"]
	if !ok {
		return "missing_box", ""
	}
	heart := sc.lw("heart")
	h, _ := heart.box()
	pass, _, _, ok := sc.boxAgrees(h, b)
	if !ok {
		return "zero_width", ""
	}
	f.check("cardiomegaly.heart_box", pass && in.widthGood && in.sides[0].flankIn && in.sides[1].flankIn, nil)

	a := sc.la("ascending aorta")
	e, _ := a.box()
	heartAt := point{h.x0, heart.inColumn(h.x0)[0]}
	left, _, _ := t.full.span(t.end)
	tracheaAt := point{left, t.end}
	v := sc.shareH(e.height())
	f.check("ascending_aorta_enlargement.height", v >= sc.n("ascending_aorta_enlargement.height.min"), v)
	v = sc.shareH(e.y0 - tracheaAt[1])
	f.check("ascending_aorta_enlargement.vertical_offset", sc.inside("ascending_aorta_enlargement.vertical_offset.range", v), v)
	dx := tracheaAt[0] - heartAt[0]
	ordered := float64(dx) >= sc.n("ascending_aorta_enlargement.line_order.min")
	f.check("ascending_aorta_enlargement.line_order", ordered, dx)
	f.Measurements["heart_point"], f.Measurements["trachea_point"] = heartAt, tracheaAt
	if !ordered || dx < 0 { // a lower limit does not define a share for such a line
		return "", ""
	}
	ratio := sc.beyond(a, heartAt, tracheaAt)
	f.Index = ratio
	switch {
	case ratio == 0:
		return "", "normal"
	case sc.n("ascending_aorta_enlargement.label.enlarged_min") <= ratio && ratio < sc.n("ascending_aorta_enlargement.label.implausible_min"):
		return "", "enlarged"
	}
	return "", ""
}

// beyond is the share of the aorta on the far side of the line from heart to trachea.
func (sc *scene) beyond(a *Plane, h, t point) float64 {
	dx, dy := t[0]-h[0], t[1]-h[1]
	var above, upTo, below, leftOf, on, n int
	for y := range a.H {
		for x, v := range a.row(y) {
			if v == 0 {
				continue
			}
			n++
			if dx == 0 {
				leftOf += count(x < h[0])
				on += count(x == h[0])
				continue
			}
			k := (y-h[1])*dx - dy*(x-h[0])
			above, upTo, below = above+count(k < 0), upTo+count(k <= 0), below+count(k > 0)
		}
	}
	switch {
	case dx == 0 && on > 0:
		return float64(leftOf) / float64(n)
	case dx == 0 && leftOf == n:
		return sc.VerticalLine
	case dx == 0 || above == 0:
		return 0
	case dy <= 0:
		return float64(upTo) / float64(n)
	}
	return float64(below) / float64(n)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
