package dense

import "math"

// gap is a zero run between set pixels of one row, both ends included.
type gap struct{ g0, g1 int }

func gaps(p *Plane, y int) []gap {
	a, b, ok := p.span(y)
	if !ok {
		return nil
	}
	var out []gap
	for x := a; x <= b; x++ {
		if p.At(x, y) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].g1 == x-1 {
			out[n-1].g1 = x
		} else {
			out = append(out, gap{x, x})
		}
	}
	return out
}

// notch is the longest run of rows with one gap each that touch; the lower one wins ties.
func notch(p *Plane, e extent) (from int, first gap, ok bool) {
	best, length := 0, 0
	start := -1
	var last gap
	close := func(end int) {
		if start >= 0 && end-start >= length && end > start {
			best, length = start, end-start
		}
		start = -1
	}
	for y := e.y0; y <= e.y1; y++ {
		g := gaps(p, y)
		if len(g) != 1 {
			close(y)
			continue
		}
		if start >= 0 && (g[0].g0 > last.g1+1 || last.g0 > g[0].g1+1) {
			close(y)
		}
		if start < 0 {
			start = y
		}
		last = g[0]
	}
	close(e.y1 + 1)
	if length == 0 {
		return 0, gap{}, false
	}
	return best, gaps(p, best)[0], true
}

// carina is carina_angle.
func (sc *scene) carina(f *Finding) (reason, string) {
	if sc.missing("tracheal bifurcation") {
		return "missing_mask", ""
	}
	p := sc.la("tracheal bifurcation")
	e, _ := p.box()
	from, g, ok := notch(p, e)
	if !ok {
		return "no_notch", ""
	}
	xc, yc := (g.g0+g.g1)/2, from-1
	if !p.At(xc, yc) {
		return "no_carina", ""
	}
	var angles []float64
	var ax, ay, cx, cy float64
	for _, percent := range []int{10, 20, 30} {
		y := yc + ((e.y1-yc)*percent)/100
		g := gaps(p, y)
		if len(g) != 1 || g[0].g0 > xc || g[0].g1 < xc {
			return "carina_rows", ""
		}
		angles = append(angles, angle(xc, yc, g[0].g0, y, g[0].g1, y))
		ax, ay = ax+float64(g[0].g0), ay+float64(y)
		cx, cy = cx+float64(g[0].g1), cy+float64(y)
	}
	a := point{int(math.RoundToEven(ax / 3)), int(math.RoundToEven(ay / 3))}
	c := point{int(math.RoundToEven(cx / 3)), int(math.RoundToEven(cy / 3))}
	top := p.inRow(e.y0)
	xt := top[len(top)/2]
	v := sc.shareW(abs(xc - xt))
	f.check("carina_angle.top_x_diff", v <= sc.n("carina_angle.top_x_diff.max"), v)
	v = sc.shareH(yc - e.y0)
	f.check("carina_angle.top_y_diff", v > sc.n("carina_angle.top_y_diff.min_exclusive"), v)
	v = sc.shareW(e.width())
	f.check("carina_angle.mask_width", v >= sc.n("carina_angle.mask_width.min"), v)
	v = sc.shareH(e.height())
	f.check("carina_angle.mask_height", v >= sc.n("carina_angle.mask_height.min"), v)
	v = float64(xc-e.x0) / float64(e.width())
	f.check("carina_angle.position_x", sc.within("carina_angle.position_x.range", v), v)
	v = float64(yc-e.y0) / float64(e.height())
	f.check("carina_angle.position_y", sc.within("carina_angle.position_y.range", v), v)
	v = spread(angles)
	f.check("carina_angle.angle_std", v <= sc.n("carina_angle.angle_std.max"), v)
	m := f.Measurements
	m["point_a"], m["point_b"], m["point_c"] = a, point{xc, yc}, c
	m["x_top"], m["y_top"], m["angles"] = xt, e.y0, angles
	v = angle(xc, yc, a[0], a[1], c[0], c[1])
	rounded := round(v, 0)
	f.Index, f.IndexRounded = v, rounded
	if sc.inside("carina_angle.label.normal_range", rounded) {
		return "", "normal"
	}
	return "", "abnormal"
}

// angle at (x, y) between two points, in degrees.
func angle(x, y, ax, ay, cx, cy int) float64 {
	ux, uy, vx, vy := float64(ax-x), float64(ay-y), float64(cx-x), float64(cy-y)
	dot := float64(ux*vx) + float64(uy*vy)
	long := math.Sqrt(float64(ux*ux)+float64(uy*uy)) * math.Sqrt(float64(vx*vx)+float64(vy*vy))
	return math.Acos(min(1, max(-1, dot/long))) * 180 / math.Pi
}
