package phantom

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
)

// TruthFormat names the layout of [Truth] as JSON.
const TruthFormat = "phantom-truth-1"

// Truth is what is known of a phantom without looking at its picture. All figures come
// from the continuous outlines (or, for the carina, from the angle they were built with);
// none is rounded to pixels.
//
// Index holds one entry per task whose figure exists, by the task's text, with
// "projection_right" and "projection_left" for the two sides; an absent entry means that
// a structure it needs lies outside the exposed film. Units: ratios without unit, carina
// angle in degrees, curvature in 1/native pixel of the given picture size, inspiration a
// rib number.
type Truth struct {
	Format     string             `json:"format"`
	ID         string             `json:"dicom_id,omitempty"`
	Seed       uint64             `json:"seed"`
	Number     int                `json:"number"`
	Appearance int                `json:"appearance_version"`
	View       string             `json:"view"`
	Size       [2]int             `json:"size"`    // width, height in pixels
	FilmMM     [2]float64         `json:"film_mm"` // width, height
	Findings   []string           `json:"findings"`
	Cropped    string             `json:"cropped,omitempty"`
	Index      map[string]float64 `json:"index"`
	// Trachea is the majority side of the trachea against the spine: flat, left or right;
	// empty where it cannot be told.
	Trachea string `json:"trachea,omitempty"`
	// Inclusion holds, per part, the distance to the edge of the exposed film as a share
	// of it: apex, side and base of right and left lung.
	Inclusion map[string]float64 `json:"inclusion"`
}

// Truth measures the phantom for a picture of w x h pixels.
func (p *Phantom) Truth(w, h int) *Truth {
	t := &Truth{
		Format: TruthFormat, Seed: p.Seed, Number: p.Index, Appearance: AppearanceVersion, View: p.View().String(),
		Size: [2]int{w, h}, FilmMM: [2]float64{p.frame.width, p.frame.height},
		Findings: append([]string{}, p.patient.findings...), Cropped: p.frame.cropped,
		Index: map[string]float64{}, Inclusion: map[string]float64{},
	}
	m := &measure{p: p, t: t, sx: float64(w) / p.frame.width, sy: float64(h) / p.frame.height}
	for _, s := range Structures() {
		if s != anatomy.Cardiomediastinum {
			m.s[s] = p.cut(s)
		}
	}
	m.lungs()
	m.mediastinum()
	m.rotation()
	m.inspiration()
	if m.trachea() {
		m.knob()
		m.ascending()
		m.deviation()
	}
	m.descending()
	return t
}

// measure is one pass over the sections of a phantom.
type measure struct {
	p      *Phantom
	t      *Truth
	s      [anatomy.Count + 1]*sections
	sx, sy float64 // pixels per millimetre

	airTop, airCut, airEnd int // rows of the trachea: top, after the upper quarter, last
	airWidth               float64
}

// set stores an index when the condition holds.
func (m *measure) set(name string, v float64, ok bool) {
	if ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
		m.t.Index[name] = v
	}
}

// lungs measures the cardiothoracic ratio, the scapulae over the lungs and what the film
// includes.
func (m *measure) lungs() {
	heart, _, _, ok := m.s[anatomy.Heart].whole()
	top, _, _ := m.s[anatomy.Heart].bounds()
	end := len(m.s[anatomy.Heart].rows)
	r, _, _, okR := m.s[anatomy.RightLung].extent(top, end)
	l, _, _, okL := m.s[anatomy.LeftLung].extent(top, end)
	m.set("cardiomegaly", (heart.hi-heart.lo)/(l.hi-r.lo), ok && okR && okL)

	over := func(scapula, lung anatomy.Structure) (float64, bool) {
		a := m.s[scapula].area()
		return m.s[scapula].and(m.s[lung]).area() / a, a > 0
	}
	v, ok := over(anatomy.RightScapula, anatomy.RightLung)
	m.set("projection_right", v, ok)
	v, ok = over(anatomy.LeftScapula, anatomy.LeftLung)
	m.set("projection_left", v, ok)
	for side, name := range [2]string{"right", "left"} {
		m.inclusion(side, name)
	}
}

// inclusion measures how far apex, side and base of a lung stay from the film's edge.
func (m *measure) inclusion(side int, name string) {
	lung, dome := m.s[anatomy.RightLung], m.s[anatomy.RightHemidiaphragm]
	if side == 1 {
		lung, dome = m.s[anatomy.LeftLung], m.s[anatomy.LeftHemidiaphragm]
	}
	f := m.p.frame
	left, top := max(f.field[0], 0), max(f.field[1], 0)
	right, bottom := min(f.field[2], f.width), min(f.field[3], f.height)
	first, _, ok := lung.bounds()
	if !ok {
		return
	}
	// the first row lies half a step inside; a cut lung starts on the edge itself
	m.t.Inclusion["apex_"+name] = max(0, lung.y(first)-0.5*sectionStep-top) / (bottom - top)
	free := lung.minus(dome)
	v, _, _, ok := free.whole()
	if !ok {
		return
	}
	d := v.lo - left
	if side == 1 {
		d = right - v.hi
	}
	m.t.Inclusion["side_"+name] = d / (right - left)
	c, _, _, ok := dome.whole()
	if !ok {
		return
	}
	third := interval{lerp(c.lo, c.hi, 2.0/3), c.hi}
	if side == 1 {
		third = interval{c.lo, lerp(c.lo, c.hi, 1.0/3)}
	}
	for r := len(free.rows) - 1; r >= 0; r-- {
		for _, v := range free.rows[r] {
			if max(v.lo, third.lo) < min(v.hi, third.hi) {
				m.t.Inclusion["base_"+name] = (bottom - free.y(r)) / (bottom - top)
				return
			}
		}
	}
}

// mediastinum measures the mediastinal ratio and states the carina's angle.
func (m *measure) mediastinum() {
	s := m.s[anatomy.UpperMediastinum]
	best, row := -1.0, 0
	for r := range s.rows {
		if v, ok := s.span(r); ok && v.hi-v.lo > best {
			best, row = v.hi-v.lo, r
		}
	}
	r, okR := m.s[anatomy.RightLung].span(row)
	l, okL := m.s[anatomy.LeftLung].span(row)
	m.set("mediastinal_widening", best/(l.hi-r.lo), best > 0 && okR && okL)

	in := true
	f := m.p.frame
	for _, q := range m.p.body.outline[anatomy.TrachealBifurcation] {
		in = in && q.x > max(f.field[0], 0) && q.x < min(f.field[2], f.width) && q.y > max(f.field[1], 0) && q.y < min(f.field[3], f.height)
	}
	m.set("carina_angle", m.p.patient.carinaAngle, in)
}

// vertebrae returns the centres of T1..T7 and whether each lies wholly on the film.
func (m *measure) vertebrae() (at [7]geom.Vec, seen [7]bool) {
	for i := range at {
		q := m.p.body.spineMid[firstThoracic+i]
		at[i] = geom.Vec{X: q.x, Y: q.y}
		s := m.s[anatomy.ThoracicVertebra(i+1)]
		first, last, ok := s.bounds()
		lo, hi := m.p.body.outline[anatomy.ThoracicVertebra(i+1)].bounds()
		seen[i] = ok && s.y(first)-lo.y < 2*sectionStep && hi.y-s.y(last) < 2*sectionStep
	}
	return at, seen
}

// rotation measures the ratio of the clavicle distances from the spine.
func (m *measure) rotation() {
	r, _, rowR, okR := m.s[anatomy.RightClavicle].whole()
	l, rowL, _, okL := m.s[anatomy.LeftClavicle].whole()
	if !okR || !okL {
		return
	}
	yR, yL := m.s[anatomy.RightClavicle].y(rowR), m.s[anatomy.LeftClavicle].y(rowL)
	at, seen := m.vertebrae()
	nearest := func(y float64) int {
		best := 0
		for i := range at {
			if math.Abs(at[i].Y-y) < math.Abs(at[best].Y-y) {
				best = i
			}
		}
		return best
	}
	i, j := nearest(min(yR, yL)), nearest(max(yR, yL))
	switch {
	case i == j:
		i = max(0, min(4, i-1))
		j = i + 2
	case j == i+1 && i == 0:
		j = 2
	case j == i+1 && j == 6:
		i = 4
	case j == i+1:
		i, j = i-1, j+1
	}
	for k := i; k <= j; k++ {
		if !seen[k] {
			return
		}
	}
	line, ok := geom.FitXOnY(at[i : j+1])
	if !ok {
		return
	}
	dR, dL := line.At(yR)-r.hi, l.lo-line.At(yL)
	m.set("rotation", min(dR, dL)/max(dR, dL), dR > 0 && dL > 0)
}

// inspiration counts the ribs above the right dome on the mid-clavicular line.
func (m *measure) inspiration() {
	lung := m.s[anatomy.RightLung]
	first, last, ok := lung.bounds()
	if !ok {
		return
	}
	n := last - first + 1
	v, ok := lung.span(first + n/3 + n/9)
	if !ok {
		return
	}
	x := lerp(v.lo, v.hi, 0.4)
	dome, _, ok := m.s[anatomy.RightHemidiaphragm].columnRows(x)
	if !ok {
		return
	}
	count := 0
	for i := 1; i <= 11; i++ {
		if top, _, ok := m.s[anatomy.RightPosteriorRib(i)].columnRows(x); ok && top < dome {
			count = i
		}
	}
	m.set("inspiration", float64(count), count > 0)
}
