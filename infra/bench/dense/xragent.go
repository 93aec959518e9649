package dense

import "math"

// xragent is the block of three graded values, or the reason for withholding it.
func (sc *scene) xragent(mirrored bool) Bundle {
	withhold := func(r string) Bundle { return Bundle{Reason: r} }
	area := func(p *Plane) float64 { return float64(p.Area()) / float64(sc.W*sc.H) }
	r, l := sc.la("right lung"), sc.la("left lung")
	switch {
	case sc.View != "PA":
		return withhold("view")
	case mirrored:
		return withhold("orientation")
	case area(r) < sc.n("xragent.gate.lung_area_min") || area(l) < sc.n("xragent.gate.lung_area_min") || area(sc.mask("heart")) < sc.n("xragent.gate.heart_area_min"):
		return withhold("mask_quality")
	}
	c, why := sc.ctr()
	if why != "" {
		return withhold(string(why))
	}
	if !sc.inside("xragent.gate.ctr_range", c.value()) {
		return withhold("implausible_value")
	}
	b := Bundle{Exposed: true}
	v := round(c.value(), 2)
	b.CTR = &Graded{Value: c.value(), Rounded: v, Category: grade(v, []string{"normal", "mild", "moderate", "severe"}, sc.n("xragent.ctr.enlarged_min"), sc.n("xragent.ctr.moderate_min"), sc.n("xragent.ctr.severe_min"))}
	ar, al := float64(r.Area()), float64(l.Area())
	b.Asymmetry = graded((ar-al)/(ar+al), []string{"symmetric", "mild", "marked"}, sc.n("xragent.asymmetry.mild_min"), sc.n("xragent.asymmetry.marked_min"))
	if b.Asymmetry.Category != "symmetric" {
		b.Asymmetry.Smaller = "left"
		if ar < al {
			b.Asymmetry.Smaller = "right"
		}
	}
	if b.Shift, why = sc.shift(r, l); why != "" {
		return withhold(string(why))
	}
	return b
}

// shift is the thoracic shift.
func (sc *scene) shift(r, l *Plane) (*Graded, reason) {
	var sum, n float64
	for _, name := range []string{"trachea", "upper mediastinum"} {
		if x, _, ok := sc.la(name).centroid(); ok {
			sum, n = sum+x, n+1
		}
	}
	re, _ := r.box()
	le, _ := l.box()
	if n == 0 {
		return nil, "missing_mask"
	}
	if re.x0 == le.x1 {
		return nil, "zero_width"
	}
	v := (sum/n - float64(re.x0+le.x1)/2) / float64(le.x1-re.x0)
	g := graded(v, []string{"none", "mild", "marked"}, sc.n("xragent.shift.mild_min"), sc.n("xragent.shift.marked_min"))
	if g.Category != "none" {
		g.Direction = "left"
		if v < 0 {
			g.Direction = "right"
		}
	}
	return g, ""
}

// graded rounds to two decimals and puts the absolute value into a category.
func graded(v float64, names []string, limits ...float64) *Graded {
	rounded := round(v, 2)
	return &Graded{Value: v, Rounded: rounded, Category: grade(math.Abs(rounded), names, limits...)}
}

func grade(v float64, names []string, limits ...float64) string {
	for i := len(limits); i > 0; i-- {
		if v >= limits[i-1] {
			return names[i]
		}
	}
	return names[0]
}
