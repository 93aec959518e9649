package dense

import "math"

// ratioCTR is the cardiothoracic ratio with its bounds.
type ratioCTR struct {
	heart        extent
	lung0, lung1 int
}

func (c ratioCTR) value() float64 { return float64(c.heart.width()) / float64(c.lung1-c.lung0) }

// ctr measures heart and thorax.
func (sc *scene) ctr() (c ratioCTR, why reason) {
	if sc.missing("heart", "right lung", "left lung") {
		return c, "missing_mask"
	}
	c.heart, _ = sc.lw("heart").box()
	r, ok1 := sc.la("right lung").rows(c.heart.y0, sc.H).box()
	l, ok2 := sc.la("left lung").rows(c.heart.y0, sc.H).box()
	if !ok1 || !ok2 {
		return c, "no_lung_below_heart_top"
	}
	c.lung0, c.lung1 = min(r.x0, l.x0), max(r.x1, l.x1)
	if c.lung0 == c.lung1 {
		return c, "zero_width"
	}
	return c, ""
}

// boxAgrees compares a mask's bounding box with the data set's.
func (sc *scene) boxAgrees(e extent, b [4]int) (pass bool, iou, dist float64, ok bool) {
	o := extent{b[0], b[1], b[2], b[3]}
	w := max(0, min(e.x1, o.x1)-max(e.x0, o.x0))
	h := max(0, min(e.y1, o.y1)-max(e.y0, o.y0))
	union := e.width()*e.height() + o.width()*o.height() - w*h
	if union <= 0 {
		return false, 0, 0, false
	}
	iou = float64(w*h) / float64(union)
	dx := sc.shareW((e.x0+e.x1)>>1 - (o.x0+o.x1)>>1) // a box may begin outside the picture
	dy := sc.shareH((e.y0+e.y1)>>1 - (o.y0+o.y1)>>1)
	dist = math.Sqrt(float64(dx*dx) + float64(dy*dy))
	pass = iou >= sc.n("cardiomegaly.heart_box.iou_high") && dist <= sc.n("cardiomegaly.heart_box.dist_high") || sc.n("cardiomegaly.heart_box.iou_low") <= iou && iou < sc.n("cardiomegaly.heart_box.iou_high") && dist <= sc.n("cardiomegaly.heart_box.dist_low")
	return pass, iou, dist, true
}

// sideRules adds the two rules that come from inclusion.
func (sc *scene) sideRules(f *Finding, in *inclusion) {
	r, l := in.sides[0].flankIn, in.sides[1].flankIn
	f.check("inclusion.side_label", r && l, []any{flag(r), flag(l)})
	f.check("inclusion.side_width", in.widthGood, nil)
}

// balance compares the widths of both lungs.
func (sc *scene) balance(wr, wl int) (v float64, ok bool) {
	switch {
	case wr == wl:
		return sc.EqualBalance, true
	case max(wr, wl) == 0:
		return 0, false
	}
	return float64(min(wr, wl)) / float64(max(wr, wl)), true
}

// frontal tells whether the view allows a ratio of widths.
func (sc *scene) frontal() bool { return sc.View == "PA" || sc.View == "AP" }

// cardiomegaly is cardiomegaly.
func (sc *scene) cardiomegaly(f *Finding) (reason, string) {
	if sc.missing("heart", "right lung", "left lung") {
		return "missing_mask", ""
	}
	in := sc.included()
	if in.sideWhy != "" {
		return in.sideWhy, ""
	}
	sc.sideRules(f, in)
	b, ok := sc.Boxes["cardiac silhouette"]
	if !ok {
		return "missing_box", ""
	}
	if !sc.frontal() {
		return "view", ""
	}
	c, why := sc.ctr()
	if why != "" {
		return why, ""
	}
	pass, iou, dist, ok := sc.boxAgrees(c.heart, b)
	if !ok {
		return "zero_width", ""
	}
	f.check("cardiomegaly.heart_box", pass, []float64{iou, dist})
	v, ok := sc.balance(in.sides[0].span.x1-c.lung0, c.lung1-in.sides[1].span.x0)
	if !ok {
		return "zero_width", ""
	}
	f.check("cardiomegaly.lung_balance", v >= sc.n("cardiomegaly.lung_balance.min"), v)
	m := f.Measurements
	m["heart_xmin"], m["heart_xmax"], m["heart_width"] = c.heart.x0, c.heart.x1, c.heart.width()
	m["lung_xmin"], m["lung_xmax"], m["lung_width"] = c.lung0, c.lung1, c.lung1-c.lung0
	rounded := round(c.value(), 2)
	f.Index, f.IndexRounded = c.value(), rounded
	large := rounded >= sc.n("cardiomegaly.label.AP_min")
	if sc.View == "PA" {
		large = rounded >= sc.n("cardiomegaly.label.PA_min")
		if sc.StrictPA {
			large = rounded > sc.n("cardiomegaly.label.PA_min")
		}
	}
	return "", enlarged(large)
}

func enlarged(b bool) string {
	if b {
		return "enlarged"
	}
	return "normal"
}

// mediastinum is mediastinal_widening.
func (sc *scene) mediastinum(f *Finding) (reason, string) {
	if sc.missing("upper mediastinum", "right lung", "left lung") {
		return "missing_mask", ""
	}
	in := sc.included()
	if in.sideWhy != "" {
		return in.sideWhy, ""
	}
	sc.sideRules(f, in)
	b, ok := sc.Boxes["upper mediastinum"]
	if !ok {
		return "missing_box", ""
	}
	if !sc.frontal() {
		return "view", ""
	}
	p := sc.lw("upper mediastinum")
	y, x0, x1 := -1, 0, 0
	for j := range sc.H {
		if a, b, ok := p.span(j); ok && (y < 0 || b-a > x1-x0) {
			y, x0, x1 = j, a, b
		}
	}
	r0, _, ok1 := sc.la("right lung").span(y)
	_, l1, ok2 := sc.la("left lung").span(y)
	if !ok1 || !ok2 {
		return "no_lung_at_level", ""
	}
	if l1-r0 <= 0 {
		return "zero_width", ""
	}
	if why := sc.mediastinalBox(f, p, b, y, x0, x1, l1-r0); why != "" {
		return why, ""
	}
	v, ok := sc.balance(in.sides[0].span.x1-r0, l1-in.sides[1].span.x0)
	if !ok {
		return "zero_width", ""
	}
	f.check("mediastinal_widening.lung_balance", v >= sc.n("mediastinal_widening.lung_balance.min"), v)
	m := f.Measurements
	m["y"], m["mediastinum_xmin"], m["mediastinum_xmax"], m["mediastinum_width"] = y, x0, x1, x1-x0
	m["lung_xmin"], m["lung_xmax"], m["lung_width"] = r0, l1, l1-r0
	mcr := float64(x1-x0) / float64(l1-r0)
	rounded := round(mcr, 2)
	f.Index, f.IndexRounded = mcr, rounded
	if sc.View == "PA" {
		return "", enlarged(rounded >= sc.n("mediastinal_widening.label.PA_min"))
	}
	return "", enlarged(rounded >= sc.n("mediastinal_widening.label.AP_min"))
}

// mediastinalBox adds the rules that compare the mediastinum with its box.
func (sc *scene) mediastinalBox(f *Finding, p *Plane, b [4]int, y, x0, x1, thorax int) reason {
	if sc.MediastinalBox {
		e, _ := p.box()
		pass, iou, dist, ok := sc.boxAgrees(e, b)
		if !ok {
			return "zero_width"
		}
		f.check("mediastinal_widening.medi_box", pass, []float64{iou, dist})
		return ""
	}
	if b[2] == b[0] {
		return "zero_width"
	}
	v := float64(x1-x0) / float64(b[2]-b[0])
	f.check("mediastinal_widening.medi_box_width", sc.within("mediastinal_widening.medi_box_width.range", v), v)
	v = math.Abs(float64(b[0]+b[2])/2-float64(x0+x1)/2) / float64(thorax)
	f.check("mediastinal_widening.medi_box_x", v < sc.n("mediastinal_widening.medi_box_x.max"), v)
	c := sc.Picture.contentAlongY((x0+x1)/2, y)
	if c.none() {
		return "no_content"
	}
	f.check("mediastinal_widening.medi_y_position", sc.within("mediastinal_widening.medi_y_position.range", c.low()), c.low())
	return ""
}
