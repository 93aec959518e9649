package dense

import (
	"math"
	"slices"
)

// trachea is the piece that four tasks share.
type trachea struct {
	why      reason
	full     *Plane // before the upper quarter was cut
	trimmed  *Plane
	cut, end int
	widths   []int // rows cut..end
	median   int
	row      int // measurement row
}

// windpipe measures the trachea once.
func (sc *scene) windpipe() *trachea {
	if sc.trachea == nil {
		sc.trachea = sc.measureTrachea()
	}
	return sc.trachea
}

func (sc *scene) measureTrachea() *trachea {
	if sc.missing("trachea", "tracheal bifurcation") {
		return &trachea{why: "missing_mask"}
	}
	fork, _ := sc.mask("tracheal bifurcation").box()
	full := sc.mask("trachea").rows(0, fork.y0).largest()
	e, ok := full.box()
	if !ok {
		return &trachea{why: "trachea_empty"}
	}
	t := &trachea{full: full, end: e.y1}
	t.cut = e.y0 + int(math.Floor(sc.n("trachea.top_trim.fraction")*float64(e.y1-e.y0)))
	t.trimmed = full.rows(t.cut, sc.H)
	for y := t.cut; y <= t.end; y++ {
		a, b, _ := t.trimmed.span(y)
		t.widths = append(t.widths, b-a)
	}
	sorted := slices.Sorted(slices.Values(t.widths))
	t.median = sorted[len(sorted)/2]
	t.row = t.cut + slices.Index(t.widths, t.median)
	return t
}

// tracheaQC adds the three rules.
func (sc *scene) tracheaQC(f *Finding) {
	t := sc.windpipe()
	v := sc.shareH(t.end - t.cut)
	f.check("trachea.height", v >= sc.n("trachea.height.min"), v)
	v = sc.shareW(t.median)
	f.check("trachea.width_median", sc.inside("trachea.width_median.range", v), v)
	v = spread(floats(t.widths)) * sc.s
	f.check("trachea.width_std", v <= sc.n("trachea.width_std.max"), v)
}

// deviation is trachea_deviation.
func (sc *scene) deviation(f *Finding) (reason, string) {
	t := sc.windpipe()
	if t.why != "" {
		return t.why, ""
	}
	sc.tracheaQC(f)
	var used []vertebra
	last := -1
	for i, v := range sc.vertebrae() {
		if v.y < float64(t.cut) || v.y > float64(t.end) {
			continue
		}
		if len(used) > 0 && (i != last+1 || v.y <= used[len(used)-1].y) {
			return "midline_points", ""
		}
		used, last = append(used, v), i
	}
	if float64(len(used)) < sc.n("trachea_deviation.midline_points.min") {
		return "midline_points", ""
	}
	sc.midlineQC(f, "trachea_deviation", used)
	m, b, ok := fit(used)
	if !ok {
		return "zero_width", ""
	}
	var sides []string
	var points [][2]any
	for i := range 9 {
		y := t.cut + (i*(t.end-t.cut))/8
		x := float64(m*float64(y)) + b
		l, r, _ := t.trimmed.span(y)
		side := "flat"
		if float64(l) > x {
			side = "left"
		} else if float64(r) < x {
			side = "right"
		}
		sides = append(sides, side)
		points = append(points, [2]any{x, y})
	}
	direction := vote(sides)
	f.Measurements["points"], f.Measurements["sides"] = points, sides
	f.Measurements["slope"], f.Measurements["intercept"] = m, b
	f.Index = direction
	if direction == "flat" {
		return "", "not_deviated"
	}
	return "", "deviated"
}

// vote picks the label with the highest count. A tie is settled without the flat rows: the
// labels in the order in which they reach an even share.
func vote(sides []string) string {
	count := map[string]int{}
	for _, s := range sides {
		count[s]++
	}
	top, ties := "", 0
	for _, s := range []string{"flat", "left", "right"} {
		switch {
		case count[s] > count[top]:
			top, ties = s, 1
		case count[s] == count[top]:
			ties++
		}
	}
	if ties == 1 {
		return top
	}
	var rest []string
	for _, s := range sides {
		if s != "flat" {
			rest = append(rest, s)
		}
	}
	distinct := map[string]int{}
	for _, s := range rest {
		distinct[s]++
	}
	k := len(rest) / len(distinct)
	reached, out := map[string]int{}, ""
	for _, s := range rest {
		if reached[s]++; reached[s] == k {
			if out != "" {
				out += "&"
			}
			out += s
		}
	}
	return out
}
