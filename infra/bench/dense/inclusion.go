package dense

import "cmp"

// side is what inclusion found in one lung.
type side struct {
	apex, flank, base  content
	apexAt, flankAt    point
	baseAt             point
	span               extent // of the lung without diaphragm and black pixels
	domeGap            float64
	apexIn, flankIn    bool
	baseIn, baseUnsure bool

	apexWhy, flankWhy, baseWhy reason
}

// inclusion holds both lungs, right then left; other tasks read it too. They need the
// lateral points only, so sideWhy may be empty where why is not.
type inclusion struct {
	why, sideWhy reason
	sides        [2]side
	width        float64
	widthGood    bool
}

func (sc *scene) included() *inclusion {
	if sc.inc == nil {
		sc.inc = &inclusion{}
		sc.inc.measure(sc)
	}
	return sc.inc
}

func (in *inclusion) measure(sc *scene) {
	r, l := &in.sides[0], &in.sides[1]
	switch {
	case sc.missing("right lung", "left lung", "right hemidiaphragm", "left hemidiaphragm"):
		in.why, in.sideWhy = "missing_mask", "missing_mask"
		return
	case sc.Picture == nil:
		in.why, in.sideWhy = "missing_image", "missing_image"
		return
	}
	lit := sc.Picture.nonZero()
	for i, name := range []string{"right", "left"} {
		s, lung, dome := &in.sides[i], sc.mask(name+" lung"), sc.mask(name+" hemidiaphragm")
		s.apexWhy = s.measureApex(sc, lit, lung)
		s.flankWhy = s.measureFlank(sc, lit, lung, dome, i == 0)
		s.baseWhy = s.measureBase(sc, lit, lung, dome, i == 0)
	}
	in.sideWhy = cmp.Or(r.flankWhy, l.flankWhy)
	in.why = cmp.Or(r.apexWhy, l.apexWhy, in.sideWhy, r.baseWhy, l.baseWhy)
	if in.sideWhy == "" {
		in.sideWidth(sc)
	}
}

func (s *side) measureApex(sc *scene, lit, lung *Plane) reason {
	a := and(lung, lit).largest()
	e, ok := a.box()
	if !ok {
		return "apex_empty"
	}
	xs := a.inRow(e.y0)
	s.apexAt = point{xs[len(xs)/2], e.y0}
	if s.apex = sc.Picture.contentAlongY(s.apexAt[0], s.apexAt[1]); s.apex.none() {
		return "no_content"
	}
	s.apexIn = s.apex.low() >= sc.n("inclusion.label_apex.included_min")
	return ""
}

func (s *side) measureFlank(sc *scene, lit, lung, dome *Plane, right bool) reason {
	flank := and(andNot(lung, dome), lit).largest()
	var ok bool
	if s.span, ok = flank.box(); !ok {
		return "side_empty"
	}
	x := s.span.x0
	if !right {
		x = s.span.x1
	}
	ys := flank.inColumn(x)
	s.flankAt = point{x, ys[len(ys)/2]}
	if s.flank = sc.Picture.contentAlongX(s.flankAt[0], s.flankAt[1]); s.flank.none() {
		return "no_content"
	}
	s.flankIn = s.sideRatio(right) >= sc.n("inclusion.label_side.included_min")
	return ""
}

// sideRatio is the distance to the lateral border of the content.
func (s *side) sideRatio(right bool) float64 {
	if right {
		return s.flank.low()
	}
	return s.flank.high()
}

func (s *side) measureBase(sc *scene, lit, lung, dome *Plane, right bool) reason {
	d, _ := dome.box()
	strip := lung.columns(d.x0, d.x1)
	b := and(andNot(strip, dome), lit).largest()
	c, ok := b.box()
	if !ok {
		return "base_empty"
	}
	third := b.columns((2*c.x1+c.x0)/3, sc.W-1)
	if !right {
		third = b.columns(0, (c.x1+2*c.x0)/3)
	}
	e, _ := third.box()
	first, last, _ := third.span(e.y1)
	s.baseAt = point{last, e.y1}
	if !right {
		s.baseAt[0] = first
	}
	if s.base = sc.Picture.contentAlongY(s.baseAt[0], s.baseAt[1]); s.base.none() {
		return "no_content"
	}
	s.baseIn = s.base.high() >= sc.n("inclusion.label_bottom.included_min")
	s.baseUnsure = !s.baseIn && s.base.high() >= sc.n("inclusion.label_bottom.excluded_below")

	label, _ := strip.parts()
	own := label[s.baseAt[1]*sc.W+s.baseAt[0]]
	lowest := s.baseAt[1]
	for y := range sc.H {
		if label[y*sc.W+s.baseAt[0]] == own {
			lowest = y
		}
	}
	s.domeGap = sc.shareH(lowest - s.baseAt[1])
	return ""
}

// sideWidth compares how far both lungs reach from their lateral points.
func (in *inclusion) sideWidth(sc *scene) {
	r, l := &in.sides[0], &in.sides[1]
	wr, wl := r.span.x1-r.flankAt[0], l.flankAt[0]-l.span.x0
	ratio := func(a, b int) float64 {
		if a <= 0 || b <= 0 {
			return 0
		}
		return float64(a) / float64(b)
	}
	limit := sc.n("inclusion.side_width.both_included_min")
	switch {
	case r.flankIn == l.flankIn:
		in.width = ratio(min(wr, wl), max(wr, wl))
		if !r.flankIn {
			limit = sc.n("inclusion.side_width.both_excluded_min")
		}
	case r.flankIn:
		in.width, limit = ratio(wr, wl), sc.n("inclusion.side_width.right_in_left_out_min")
	default:
		in.width, limit = ratio(wl, wr), sc.n("inclusion.side_width.right_out_left_in_min")
	}
	in.widthGood = in.width >= limit
}

// inclusionTask is inclusion.
func (sc *scene) inclusionTask(f *Finding) (reason, string) {
	in := sc.included()
	if in.why != "" {
		return in.why, ""
	}
	r, l := &in.sides[0], &in.sides[1]
	v := sc.shareH(abs(r.apexAt[1] - l.apexAt[1]))
	f.check("inclusion.apex_y_diff", v < sc.n("inclusion.apex_y_diff.max"), v)
	v = (r.apex.low() + l.apex.low()) / 2
	f.check("inclusion.apex_position", v >= 0 && v < sc.n("inclusion.apex_position.max"), v)
	v = sc.shareH(abs(r.baseAt[1] - l.baseAt[1]))
	f.check("inclusion.bottom_y_diff", v < sc.n("inclusion.bottom_y_diff.max"), v)
	v = (r.base.high() + l.base.high()) / 2
	f.check("inclusion.bottom_position", v >= 0 && v < sc.n("inclusion.bottom_position.max"), v)
	shallow := func(s *side) bool { return s.domeGap >= 0 && s.domeGap < sc.n("inclusion.bottom_dome_gap.max") }
	f.check("inclusion.bottom_dome_gap", shallow(r) && shallow(l), []float64{r.domeGap, l.domeGap})
	f.check("inclusion.side_width", in.widthGood, in.width)

	f.Parts = &Parts{}
	all, unsure := true, false
	for i, s := range []*side{r, l} {
		name := []string{"_right", "_left"}[i]
		f.Measurements["apex_ratio"+name], f.Measurements["apex_point"+name] = s.apex.low(), s.apexAt
		f.Measurements["side_ratio"+name], f.Measurements["side_point"+name] = s.sideRatio(i == 0), s.flankAt
		f.Measurements["bottom_ratio"+name], f.Measurements["bottom_point"+name] = s.base.high(), s.baseAt
		drop := float64((s.base.high() - sc.n("inclusion.cpa_display.offset")) * float64(s.base.last-s.base.first))
		f.Measurements["cpa_point"+name] = [2]any{s.flankAt[0], float64(s.base.last) - drop}
		f.Parts.Apex[i], f.Parts.Side[i], f.Parts.Bottom[i] = flag(s.apexIn), flag(s.flankIn), flag(s.baseIn)
		if s.baseUnsure {
			f.Parts.Bottom[i] = nil
		}
		unsure = unsure || s.baseUnsure
		all = all && s.apexIn && s.flankIn && s.baseIn
	}
	f.Measurements["inner_right"], f.Measurements["inner_left"] = r.span.x1, l.span.x0
	switch {
	case unsure:
		return "", ""
	case all:
		return "", "included"
	}
	return "", "excluded"
}

func flag(b bool) any {
	if b {
		return 1
	}
	return 0
}
