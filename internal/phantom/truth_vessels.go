package phantom

import (
	"math"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
)

// trachea finds the part of the trachea above the bifurcation and its median width.
func (m *measure) trachea() bool {
	s := m.s[anatomy.Trachea]
	bif, _, okB := m.s[anatomy.TrachealBifurcation].bounds()
	top, last, okT := s.bounds()
	if !okB || !okT || top >= bif {
		return false
	}
	m.airTop, m.airEnd = top, min(last, bif-1)
	m.airCut = top + (m.airEnd-top)/4
	var widths []float64
	for r := m.airCut; r <= m.airEnd; r++ {
		if v, ok := s.span(r); ok {
			widths = append(widths, v.hi-v.lo)
		}
	}
	if len(widths) == 0 {
		return false
	}
	slices.Sort(widths)
	m.airWidth = widths[len(widths)/2]
	return m.airWidth > 0
}

// knob measures the aortic knob from the trachea's left wall, over the trachea's width.
func (m *measure) knob() {
	d, arch := m.s[anatomy.DescendingAorta], m.s[anatomy.AorticArch]
	top, last, ok := d.bounds()
	if !ok || last <= m.airEnd {
		return
	}
	y0 := max(top, m.airEnd)
	s1 := y0 + int(float64(0.3*float64(last-y0))) - 1
	v, loRow, _, ok := d.extent(y0, s1)
	edge, okD := d.span(loRow)
	b0, b1, okA := arch.bounds()
	b1 = min(b1, s1-1)
	a, _, _, okE := arch.extent(b0, b1)
	if !ok || !okD || !okA || !okE || a.lo > v.hi || a.hi < v.lo {
		return
	}
	sum, n := 0.0, 0
	for r := max(b0, m.airCut); r <= min(b1, m.airEnd); r++ {
		if w, ok := m.s[anatomy.Trachea].span(r); ok {
			sum += w.hi
			n++
		}
	}
	m.set("aortic_knob_enlargement", (max(a.hi, edge.hi)-sum/float64(n))/m.airWidth, n > 0)
}

// ascending measures the share of the ascending aorta beyond the line from the heart's
// right border to the trachea's right wall.
func (m *measure) ascending() {
	heart, row, _, ok := m.s[anatomy.Heart].whole()
	wall, okT := m.s[anatomy.Trachea].span(m.airEnd)
	s := m.s[anatomy.AscendingAorta]
	area := s.area()
	if !ok || !okT || area == 0 {
		return
	}
	yh, yt := s.y(row), s.y(m.airEnd)
	if wall.lo <= heart.lo || yt >= yh {
		return
	}
	beyond := 0.0
	for r, in := range s.rows {
		x := lerp(heart.lo, wall.lo, (yh-s.y(r))/(yh-yt))
		for _, v := range in {
			beyond += max(0, min(v.hi, x)-v.lo)
		}
	}
	m.set("ascending_aorta_enlargement", float64(beyond*sectionStep)/area, true)
}

// deviation tells on which side of the spine's line most of nine trachea rows lie.
func (m *measure) deviation() {
	at, seen := m.vertebrae()
	lo, hi := m.s[anatomy.Trachea].y(m.airCut), m.s[anatomy.Trachea].y(m.airEnd)
	var pts []geom.Vec
	for i, q := range at {
		if seen[i] && q.Y >= lo && q.Y <= hi {
			pts = append(pts, q)
		}
	}
	line, ok := geom.FitXOnY(pts)
	if !ok || len(pts) < 3 {
		return
	}
	votes := map[string]int{}
	for i := range 9 {
		y := lerp(lo, hi, float64(i)/8)
		v, ok := m.s[anatomy.Trachea].span(m.s[anatomy.Trachea].row(y))
		switch x := line.At(y); {
		case !ok:
			return
		case v.lo > x:
			votes["left"]++
		case v.hi < x:
			votes["right"]++
		default:
			votes["flat"]++
		}
	}
	for _, side := range []string{"flat", "left", "right"} {
		if votes[side] > 4 {
			m.t.Trachea = side
		}
	}
}

// descending measures width and curvature of the descending aorta above the heart's
// lower end.
func (m *measure) descending() {
	d := m.s[anatomy.DescendingAorta]
	top, _, ok := d.bounds()
	_, end, okH := d.and(m.s[anatomy.Heart]).bounds()
	if !ok || !okH || end <= top {
		return
	}
	a, b := float64(top), float64(end)
	trim := float64(0.05 * (b - a))
	widest := 0.0
	var xs, ys [6]float64
	for i := range 6 {
		v, ok := d.span(int(lerp(a+trim, b-trim, float64(i)/5)))
		if !ok {
			return
		}
		widest = max(widest, v.hi-v.lo)
		xs[i] = float64(v.hi * m.sx)
		ys[i] = float64(lerp(a+trim, b-trim, float64(i)/5) * sectionStep * m.sy)
	}
	m.set("descending_aorta_enlargement", widest/m.airWidth, m.airWidth > 0)
	m.set("descending_aorta_tortuous", meanCurvature(xs, ys), true)
}

// meanCurvature is the mean curvature of a line through six points by differences: one
// step at the ends, two inside.
func meanCurvature(xs, ys [6]float64) float64 {
	x1, y1 := differences(xs), differences(ys)
	x2, y2 := differences(x1), differences(y1)
	sum := 0.0
	for i := range xs {
		q := float64(x1[i]*x1[i]) + float64(y1[i]*y1[i])
		if q > 0 {
			sum += math.Abs(float64(x2[i]*y1[i])-float64(y2[i]*x1[i])) / float64(q*math.Sqrt(q))
		}
	}
	return sum / 6
}

func differences(v [6]float64) (d [6]float64) {
	d[0], d[5] = v[1]-v[0], v[5]-v[4]
	for i := 1; i < 5; i++ {
		d[i] = float64(0.5 * (v[i+1] - v[i-1]))
	}
	return d
}
