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
	case area(r) < 0.02 || area(l) < 0.02 || area(sc.mask("heart")) < 0.01:
		return withhold("mask_quality")
	}
	c, why := sc.ctr()
	if why != "" {
		return withhold(string(why))
	}
	if !inside(c.value(), 0.2, 0.95) {
		return withhold("implausible_value")
	}
	b := Bundle{Exposed: true}
	v := round(c.value(), 2)
	b.CTR = &Graded{Value: c.value(), Rounded: v, Category: grade(v, []string{"normal", "mild", "moderate", "severe"}, 0.5, 0.55, 0.6)}
	ar, al := float64(r.Area()), float64(l.Area())
	b.Asymmetry = graded((ar-al)/(ar+al), []string{"symmetric", "mild", "marked"}, 0.15, 0.25)
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
	g := graded(v, []string{"none", "mild", "marked"}, 0.03, 0.06)
	if g.Category != "none" {
		g.Direction = "right"
		if v > 0 {
			g.Direction = "left"
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
	i := 0
	for i < len(limits) && v >= limits[i] {
		i++
	}
	return names[i]
}
