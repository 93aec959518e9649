package dense

import (
	"fmt"
	"math"
	"slices"
)

// rib is one posterior right rib.
type rib struct {
	mask           *Plane
	exists         bool
	area           int
	x0, x1, y0, y1 int   // lateral end (x0, y0), medial end (x1, y1)
	line           []int // rows on the mid-clavicular line
}

// clavicularLine is the x of the mid-clavicular line and the span it was taken from.
func (sc *scene) clavicularLine(lung *Plane) (x, a, b int, ok bool) {
	e, _ := lung.box()
	n := e.height() + 1
	sizes := [3]int{n / 3, n / 3, n / 3}
	for i := range n % 3 {
		sizes[i]++
	}
	var spans [][2]int
	for y := e.y0 + sizes[0]; y < e.y0+sizes[0]+sizes[1]; y++ {
		if l, r, _ := lung.span(y); l != r {
			spans = append(spans, [2]int{l, r})
		}
	}
	if len(spans) == 0 {
		return 0, 0, 0, false
	}
	s := spans[len(spans)/3]
	return s[0] + int(math.Floor(sc.n("inspiration.mid_clavicular.lateral_fraction")*float64(s[1]-s[0]))), s[0], s[1], true
}

// inspiration is inspiration.
func (sc *scene) inspiration(f *Finding) (reason, string) {
	if sc.missing("right lung", "right hemidiaphragm") {
		return "missing_mask", ""
	}
	alone := sc.la("right lung")
	lung, dome := alone, sc.mask("right hemidiaphragm")
	if sc.CheXmask != nil {
		lung, dome = or(sc.mask("right lung"), sc.CheXmask).largest(), andNot(dome, sc.CheXmask)
	}
	xc, _, _, ok1 := sc.clavicularLine(alone)
	x, a, b, ok2 := sc.clavicularLine(lung)
	if !ok1 || !ok2 {
		return "no_mid_clavicular_row", ""
	}
	v := sc.shareW(abs(xc - x))
	f.check("inspiration.line_agreement", v < sc.n("inspiration.line_agreement.max"), v)
	inLung, inDome := lung.inColumn(x), dome.inColumn(x)
	if len(inLung) == 0 || len(inDome) == 0 {
		return "no_diaphragm_on_line", ""
	}
	l0, l1, d0, d1 := inLung[0], inLung[len(inLung)-1], inDome[0], inDome[len(inDome)-1]
	v = float64(max(0, min(l1, d1)-max(l0, d0)+1)) / float64(l1-l0+1)
	f.check("inspiration.diaphragm_overlap", v > sc.n("inspiration.diaphragm_overlap.min_exclusive") && v < sc.n("inspiration.diaphragm_overlap.max"), v)

	ribs := sc.ribs(x)
	n, checked, why := sc.countRibs(ribs, inDome, x)
	if why != "" {
		return why, ""
	}
	sc.ribQC(f, ribs, checked, a, b)
	f.Measurements["line_x"], f.Measurements["line_x_cxas"] = x, xc
	f.Measurements["rib"], f.Measurements["checked_to"] = n, checked
	f.Index, f.IndexRounded = n, n
	if float64(n) >= sc.n("inspiration.label.good_min") {
		return "", "good"
	}
	return "", "poor"
}

// ribs are 1..11 at index 0..10.
func (sc *scene) ribs(x int) []rib {
	out := make([]rib, 11)
	for i, nth := range []string{"1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th"} {
		p := sc.lw(fmt.Sprintf("posterior %s rib right", nth))
		e, ok := p.box()
		out[i].mask, out[i].exists = p, ok
		if !ok {
			continue
		}
		lateral, medial := p.inColumn(e.x0), p.inColumn(e.x1)
		out[i].x0, out[i].x1 = e.x0, e.x1
		out[i].y0, out[i].y1 = lateral[len(lateral)-1], medial[0]
		out[i].line, out[i].area = p.inColumn(x), p.Area()
	}
	return out
}

// countRibs returns the answer and the rib up to which the rules look, both from 1.
func (sc *scene) countRibs(ribs []rib, dome []int, x int) (n, checked int, why reason) {
	under := -1
	for _, r := range ribs {
		if r.exists && r.y1 != 0 {
			under = r.y1
			break
		}
	}
	var dset []int
	if under >= 0 {
		for _, y := range dome {
			if y > under {
				dset = append(dset, y)
			}
		}
	}
	first := slices.IndexFunc(ribs, func(r rib) bool { return len(r.line) > 0 })
	if len(dset) == 0 || first < 0 {
		return 0, 0, "no_rib_on_line"
	}
	top := dset[0]
	meets := func(r rib) bool {
		return slices.ContainsFunc(r.line, func(y int) bool { return slices.Contains(dset, y) })
	}
	t := slices.IndexFunc(ribs, meets)
	if t >= 0 {
		n, why = crossing(ribs, t, top, x)
		return n, t + 1, why
	}
	height := top - ribs[first].line[0]
	if height <= 0 {
		return 0, 0, "no_rib_above"
	}
	k := -1
	for i, r := range ribs {
		if len(r.line) > 0 && r.line[len(r.line)-1] < top {
			k = i
		}
	}
	if k < 0 {
		return 0, 0, "no_rib_above"
	}
	bottom := ribs[k].line[len(ribs[k].line)-1]
	if float64(top-bottom)/float64(height) <= sc.n("inspiration.rib_gap.max") {
		return k + 1, k + 1, ""
	}
	return 0, 0, "rib_gap"
}

// crossing is the answer when rib t (from 0) is the first to meet the diaphragm.
func crossing(ribs []rib, t, top, x int) (int, reason) {
	if ribs[t].line[0] < top {
		return t + 1, ""
	}
	p := -1
	for i := range t {
		if len(ribs[i].line) > 0 {
			p = i
		}
	}
	if p >= 0 && p == t-1 {
		return p + 1, ""
	}
	for k := t - 1; k > p; k-- {
		if r := ribs[k]; r.exists && r.y1 < top && (r.x1 < x || r.y0 < top) {
			return k + 1, ""
		}
	}
	if p >= 0 {
		return p + 1, ""
	}
	return 0, "no_rib_above"
}

// trunc2 is the integer part of 100*v.
func trunc2(v float64) int { return int(100 * v) }

// ribQC adds the rules over ribs 1..t; a and b are the lung's span.
func (sc *scene) ribQC(f *Finding, ribs []rib, t, a, b int) {
	missing := func(r rib) bool { return !r.exists }
	scope := t
	if sc.AllRibs {
		scope = len(ribs)
	}
	found := scope
	for _, r := range ribs[:scope] {
		found -= count(missing(r))
	}
	f.check("inspiration.rib_exist", found == scope, found)
	if slices.ContainsFunc(ribs[:t], missing) {
		return
	}
	in := 0
	for _, r := range ribs[:t] {
		if b > r.x0 && a < r.x1 {
			in++
		}
	}
	v := float64(in) / float64(t)
	f.check("inspiration.rib_in_lung", v >= sc.n("inspiration.rib_in_lung.min"), v)
	order, spacing, iou, overlap, split := true, true, true, true, true
	s := float64(abs(ribs[0].y1-ribs[t-1].y1) + 1)
	for i := range t - 1 {
		p, q := ribs[i], ribs[i+1]
		order = order && float64(q.y1-p.y1) > sc.n("inspiration.rib_order.min_exclusive")
		d := trunc2(float64(q.y1-p.y1) / s)
		spacing = spacing && sc.atMost("inspiration.rib_spacing.max_per_pair", i, d)
		common := and(p.mask, q.mask).Area()
		iou = iou && sc.atMost("inspiration.rib_iou.max_per_pair", i, trunc2(float64(common)/float64(p.area+q.area-common)))
		z := trunc2(float64(common) / float64(min(p.area, q.area)))
		if d < 10 {
			overlap = overlap && sc.atMost("inspiration.rib_overlap_near.max_per_pair", i, z)
		} else if 10 < d && d <= 20 {
			overlap = overlap && sc.atMost("inspiration.rib_overlap_mid.max_per_pair", i, z)
		}
		gap, hit := cutRib(p, q)
		split = split && !(sc.atMost("inspiration.rib_split.max_per_pair", i, trunc2(float64(gap)/s)) && hit)
	}
	f.check("inspiration.rib_spacing", spacing, nil)
	f.check("inspiration.rib_iou", iou, nil)
	f.check("inspiration.rib_overlap", overlap, nil)
	f.check("inspiration.rib_split", split, nil)
	if sc.RibOrder {
		f.check("inspiration.rib_order", order, nil)
	}
}

// cutRib tells whether two masks look like the halves of one rib, and how far apart they are.
func cutRib(p, q rib) (gap int, hit bool) {
	switch {
	case p.x1 > q.x1:
		return abs(p.y0 - q.y1), abs(q.x1-p.x1) >= abs(q.x1-p.x0) || abs(p.x0-q.x0) >= abs(p.x0-q.x1)
	case q.x1 > p.x1:
		return abs(q.y0 - p.y1), abs(p.x1-q.x1) >= abs(p.x1-q.x0) || abs(q.x0-p.x0) >= abs(q.x0-p.x1)
	}
	return abs(p.y1 - q.y1), abs(p.x0-q.x0) >= abs(p.x0-q.x1) || abs(q.x0-p.x0) >= abs(q.x0-p.x1)
}
