package dense

import "math"

// medialEnd is the medial end of a clavicle.
func medialEnd(clavicle, k *Plane, right bool) (point, reason) {
	e, _ := k.box()
	xa, xb := e.x0, e.x1
	if xa == xb {
		return point{}, "clavicle_vertical"
	}
	ya, yb := k.inColumn(xa)[0], k.inColumn(xb)[0]
	side := func(x, y int) int { return y*(xb-xa) - (yb-ya)*x }
	lo, hi := math.MaxInt, math.MinInt
	for y := e.y0; y <= e.y1; y++ {
		for x := e.x0; x <= e.x1; x++ {
			if k.At(x, y) {
				v := side(x, y)
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	best := point{-1, -1}
	for y := range clavicle.H {
		for x, v := range clavicle.row(y) {
			if v == 0 || side(x, y) < lo || side(x, y) > hi {
				continue
			}
			if best[0] < 0 || right && x > best[0] || !right && x < best[0] {
				best = point{x, y}
			}
		}
	}
	return best, ""
}

// widestRow is the first row with the most pixels, as its span.
func widestRow(p *Plane) (a, b int) {
	most, at := 0, 0
	for y := range p.H {
		n := 0
		for _, v := range p.row(y) {
			n += int(v)
		}
		if n > most {
			most, at = n, y
		}
	}
	a, b, _ = p.span(at)
	return a, b
}

// rotation is rotation.
func (sc *scene) rotation(f *Finding) (reason, string) {
	if sc.missing("clavicle right", "clavicle left", "right lung", "left lung") {
		return "missing_mask", ""
	}
	r, why := medialEnd(sc.mask("clavicle right"), sc.lw("clavicle right"), true)
	if why != "" {
		return why, ""
	}
	l, why := medialEnd(sc.mask("clavicle left"), sc.lw("clavicle left"), false)
	if why != "" {
		return why, ""
	}
	ra, rb := widestRow(sc.la("right lung"))
	la, lb := widestRow(sc.la("left lung"))
	if ra == rb || la == lb {
		return "zero_width", ""
	}
	qr := float64(r[0]-ra) / float64(rb-ra)
	ql := float64(lb-l[0]) / float64(lb-la)
	f.check("rotation.clavicle_x", sc.within("rotation.clavicle_x.range", qr) && sc.within("rotation.clavicle_x.range", ql), []float64{qr, ql})
	v := sc.shareW(l[0] - r[0])
	f.check("rotation.clavicle_gap", sc.within("rotation.clavicle_gap.range", v), v)
	v = sc.shareH(abs(r[1] - l[1]))
	f.check("rotation.clavicle_y_diff", v < sc.n("rotation.clavicle_y_diff.max"), v)
	v = float64(r[1]+l[1]) / 2 / float64(sc.H)
	f.check("rotation.clavicle_y_position", sc.within("rotation.clavicle_y_position.range", v), v)
	f.Measurements["medial_end_right"], f.Measurements["medial_end_left"] = r, l
	return sc.aroundMidline(f, r, l)
}

// aroundMidline measures both ends' distances from the line of vertebrae.
func (sc *scene) aroundMidline(f *Finding, r, l point) (reason, string) {
	all := sc.vertebrae()
	order := true
	for i := 1; i < len(all); i++ {
		order = order && all[i].y >= all[i-1].y
	}
	f.check("rotation.midline_order", order, nil)
	if !order {
		return "", ""
	}
	from, to := chosen(nearest(all, min(r[1], l[1])), nearest(all, max(r[1], l[1])))
	used := all[from : to+1]
	var indices []int
	for i := from; i <= to; i++ {
		if math.IsInf(all[i].y, 1) {
			return "missing_vertebra", ""
		}
		indices = append(indices, i)
	}
	m, b, ok := fit(used)
	if !ok {
		return "zero_width", ""
	}
	sc.midlineQC(f, "rotation", used)
	dr := float64(m*float64(r[1])) + b - float64(r[0])
	dl := float64(l[0]) - (float64(m*float64(l[1])) + b)
	least := sc.n("rotation.distances_nonneg.min")
	fair := dr >= least && dl >= least
	f.check("rotation.distances_nonneg", fair, []float64{dr, dl})
	f.Measurements["distance_right"], f.Measurements["distance_left"] = dr, dl
	f.Measurements["slope"], f.Measurements["intercept"], f.Measurements["vertebrae"] = m, b, indices
	if !fair {
		return "", ""
	}
	ratio := 1.0
	if high := max(dr, dl); high != 0 {
		ratio = min(dr, dl) / high
	}
	rounded := round(ratio, 2)
	f.Index, f.IndexRounded = ratio, rounded
	if rounded >= sc.n("rotation.label.not_rotated_min") {
		return "", "not_rotated"
	}
	return "", "rotated"
}

// nearest is the index of the point nearest in y; the lowest wins ties.
func nearest(p []vertebra, y int) int {
	best := 0
	for i, v := range p {
		if math.Abs(v.y-float64(y)) < math.Abs(p[best].y-float64(y)) {
			best = i
		}
	}
	return best
}

// chosen is the range of vertebrae for the nearest ones of both ends.
func chosen(i, j int) (from, to int) {
	switch {
	case i == j:
		from = min(max(i-1, 0), 4)
		return from, from + 2
	case j == i+1 && i == 0:
		return 0, 2
	case j == i+1 && j == 6:
		return 4, 6
	case j == i+1:
		return i - 1, j + 1
	}
	return i, j
}
