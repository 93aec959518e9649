package phantom

import (
	"slices"

	"cxrepro/internal/cxr"
)

// exposure holds what tube, detector and processing do to a picture.
type exposure struct {
	mu       float64 // attenuation per cm of water
	scatter  float64
	low      float64 // percentile of attenuation shown black
	high     float64 // percentile shown white
	gamma    float64
	sigmoid  float64 // weight of an S-shaped curve
	equal    float64 // weight of histogram equalisation
	local    float64 // local contrast gain
	blur     float64 // point spread, film mm (one standard deviation)
	noise    float64 // grey levels
	grain    bool    // noise correlated between neighbours
	floor    float64 // darkest grey inside the field
	ceiling  float64
	texture  float64 // unevenness of the lung
	marker   int     // 0 none, 1 L, 2 R
	markerAt pt      // share of the film
	shade    pt      // brightness slope over the film
}

// exposureOf draws the exposure of a phantom; wide widens every range, for training.
func exposureOf(seed uint64, index int, view cxr.ViewPosition, wide bool) *exposure {
	s := newStream(seed, index, "exposure")
	e := &exposure{
		mu:      s.clamped(0.172, 0.01, 0.14, 0.2),
		scatter: s.uniform(0.004, 0.018),
		low:     s.uniform(0.01, 0.05),
		high:    s.uniform(0.93, 0.99),
		gamma:   s.clamped(1, 0.13, 0.7, 1.35),
		sigmoid: s.uniform(0, 0.5),
		equal:   s.uniform(0.1, 0.75),
		local:   s.uniform(0.15, 0.75),
		blur:    s.uniform(0.1, 0.35),
		noise:   s.uniform(0.6, 2.6),
		grain:   s.chance(0.5),
		floor:   s.uniform(4, 12),
		ceiling: s.uniform(238, 255),
		texture: s.uniform(0.004, 0.02),
	}
	if view == cxr.ViewAP {
		e.noise = float64(e.noise * 1.4)
		e.scatter = float64(e.scatter * 1.3)
	}
	if s.chance(0.8) {
		e.marker = 1 + s.intn(2)
		e.markerAt = pt{s.uniform(0.86, 0.94), s.uniform(0.03, 0.12)}
		if e.marker == 2 {
			e.markerAt.x = 1 - e.markerAt.x
		}
	}
	e.shade = pt{s.clamped(0, 0.02, -0.05, 0.05), s.clamped(0, 0.02, -0.05, 0.05)}
	if wide {
		e.widen(s)
	}
	return e
}

// widen spreads the exposure so that a network trained on it meets more kinds of film.
func (e *exposure) widen(s *stream) {
	e.gamma = s.clamped(1, 0.3, 0.5, 1.9)
	e.low = s.uniform(0, 0.1)
	e.high = s.uniform(0.88, 1)
	e.equal = s.uniform(0, 0.9)
	e.scatter = s.uniform(0.003, 0.03)
	e.noise = float64(s.uniform(0, 1)*s.uniform(0, 9)) + 0.3
	e.blur = s.uniform(0.05, 0.9)
	e.local = s.uniform(0, 1.2)
	e.floor = s.uniform(0, 40)
	e.ceiling = s.uniform(190, 255)
	e.shade = pt{s.clamped(0, 0.06, -0.15, 0.15), s.clamped(0, 0.06, -0.15, 0.15)}
}

// attenuation sums the canvas to a line integral per pixel, after scatter.
func (c *canvas) attenuation(e *exposure, s *stream) []float32 {
	out := make([]float32, c.w*c.h)
	mu := float32(e.mu)
	tex := c.texture(s)
	amp := float32(e.texture)
	ln := newLogTable(e.scatter)
	for i := range out {
		air := c.air[i]
		if air > 0 {
			air -= float32(c.solid[i])
			if air > 0 {
				air -= min(float32(3.2*c.vessel[i]), float32(0.75*air))
				air = float32(air * (1 - float32(amp*tex[i])))
			} else {
				air = 0
			}
		}
		water := c.body[i] - float32(0.78*air) + float32(0.24*c.dense[i])
		water -= float32(1.5 * (c.airway[i] + min(c.gas[i], float32(0.4*c.body[i]))))
		out[i] = ln.at(float32(mu*max(water, 0)) + c.bone[i])
	}
	return out
}

// texture is a smooth field of about unit amplitude.
func (c *canvas) texture(s *stream) []float32 {
	t := make([]float32, c.w*c.h)
	c.noiseField(t, s, false)
	r := max(1, int(float64(0.9*c.sx)))
	boxBlur(t, c.w, c.h, r)
	boxBlur(t, c.w, c.h, r)
	k := float32(1.5 * float64(2*r+1))
	for i := range t {
		t[i] = float32(t[i] * k)
	}
	return t
}

// noiseField fills t with noise of standard deviation one (sum of four bytes).
func (c *canvas) noiseField(t []float32, s *stream, grain bool) {
	const sd = 147.8 // of the sum of four uniform bytes
	for i := 0; i < len(t); i += 2 {
		v := s.pcg.Uint64()
		for k := i; k < min(i+2, len(t)); k++ {
			n := int(v&255) + int(v>>8&255) + int(v>>16&255) + int(v>>24&255) - 510
			t[k] = float32(n) / sd
			v >>= 32
		}
	}
	if grain {
		for i := len(t) - 1; i > 0; i-- {
			t[i] = float32(0.7 * (t[i] + t[i-1]))
		}
	}
}

// logTable evaluates -ln(exp(-v) + scatter) + ln(1 + scatter) for v in 0..12.
type logTable struct{ v [1538]float32 }

func newLogTable(scatter float64) *logTable {
	t := new(logTable)
	for i := range t.v {
		a := float64(i) / 128
		t.v[i] = float32(logarithm(1+scatter) - logarithm(exponential(-a)+scatter))
	}
	return t
}

func (t *logTable) at(v float32) float32 {
	f := float32(v * 128)
	if f <= 0 {
		return t.v[0]
	}
	if f >= 1536 {
		return t.v[1536]
	}
	i := int(f)
	return t.v[i] + float32((f-float32(i))*(t.v[i+1]-t.v[i]))
}

// boxBlur averages over a window of 2r+1 pixels in both directions, edges repeated.
func boxBlur(t []float32, w, h, r int) {
	line := make([]float32, max(w, h))
	inv := 1 / float32(2*r+1)
	for y := range h {
		row := t[y*w : (y+1)*w]
		copy(line, row)
		slide(line[:w], r, inv, func(i int, v float32) { row[i] = v })
	}
	acc := make([]float32, w)
	src := slices.Clone(t)
	at := func(y int) []float32 {
		y = max(0, min(h-1, y))
		return src[y*w : (y+1)*w]
	}
	for k := -r; k <= r; k++ {
		for x, v := range at(k) {
			acc[x] += v
		}
	}
	for y := range h {
		row := t[y*w : (y+1)*w]
		add, sub := at(y+r+1), at(y-r)
		for x := range row {
			row[x] = float32(acc[x] * inv)
			acc[x] += add[x] - sub[x]
		}
	}
}

func slide(line []float32, r int, inv float32, put func(int, float32)) {
	n := len(line)
	var acc float32
	for k := -r; k <= r; k++ {
		acc += line[max(0, min(n-1, k))]
	}
	for i := range n {
		put(i, float32(acc*inv))
		acc += line[min(n-1, i+r+1)] - line[max(0, i-r)]
	}
}

// binomial blurs by [1 2 1]/4 in both directions.
func binomial(t []float32, w, h int) {
	prev := make([]float32, w)
	cur := make([]float32, w)
	for y := range h {
		row := t[y*w : (y+1)*w]
		left := row[0]
		for x := range row {
			right := row[min(x+1, w-1)]
			v := row[x]
			row[x] = float32(0.25*(left+right)) + float32(0.5*v)
			left = v
		}
	}
	copy(prev, t[:w])
	for y := range h {
		row := t[y*w : (y+1)*w]
		next := t[min(y+1, h-1)*w:]
		copy(cur, row)
		for x := range row {
			row[x] = float32(0.25*(prev[x]+next[x])) + float32(0.5*cur[x])
		}
		prev, cur = cur, prev
	}
}

// spread blurs by a standard deviation of mm film millimetres in x and y. Pixels are
// nearly square at native size; at 512 the x figure counts.
func (c *canvas) spread(t []float32, mm float64) {
	px := float64(mm * c.sx)
	v := float64(px * px)
	// one binomial pass has variance 0.5
	n := int(v/0.5 + 0.5)
	if n <= 4 {
		for range n {
			binomial(t, c.w, c.h)
		}
		return
	}
	r := 1
	for float64(2*(r+1)*(r+2))/3 <= v {
		r++
	}
	boxBlur(t, c.w, c.h, r)
	boxBlur(t, c.w, c.h, r)
}

// window finds the attenuations at two shares of the sorted pixels inside the field.
func (c *canvas) window(t []float32, field [4]int, low, high float64) (lo, hi float32) {
	var hist [4096]int
	n := 0
	for y := field[1]; y < field[3]; y++ {
		for _, v := range t[y*c.w+field[0] : y*c.w+field[2]] {
			if v < 0.35 { // air beside the body
				continue
			}
			hist[min(4095, int(v*512))]++
			n++
		}
	}
	at := func(share float64) float32 {
		k := int(float64(n) * share)
		for i, m := range hist {
			if k -= m; k < 0 {
				return (float32(i) + 0.5) / 512
			}
		}
		return 8
	}
	return at(low), at(high)
}

// develop turns attenuation into 8-bit grey.
func (c *canvas) develop(t []float32, e *exposure, field [4]int, s *stream) []uint8 {
	lo, hi := c.window(t, field, e.low, e.high)
	inv := 1 / max(hi-lo, 0.2)
	for i := range t {
		t[i] = float32((t[i] - lo) * inv)
	}
	if e.local > 0 {
		base := make([]float32, len(t))
		for i, v := range t {
			base[i] = max(v, -0.2)
		}
		r := max(2, int(float64(13*c.sx)))
		boxBlur(base, c.w, c.h, r)
		boxBlur(base, c.w, c.h, r)
		k := float32(e.local)
		for i := range t {
			t[i] += float32(k * float32(0.8*(t[i]-base[i])))
		}
	}
	c.spread(t, e.blur)
	curve := e.curve(c.cumulative(t, field))
	noise := make([]float32, len(t))
	c.noiseField(noise, s, e.grain)
	out := make([]uint8, c.w*c.h)
	span := float32(e.ceiling - e.floor)
	for y := field[1]; y < field[3]; y++ {
		slopeY := float32(e.shade.y * (float64(2*y)/float64(c.h) - 1))
		for x := field[0]; x < field[2]; x++ {
			i := y*c.w + x
			v := t[i] + slopeY + float32(float32(e.shade.x)*(float32(2*x)/float32(c.w)-1))
			v = curve.at(v)
			g := float32(e.floor) + float32(span*v) + float32(float32(e.noise)*float32(noise[i]*(0.6+float32(0.8*v))))
			out[i] = uint8(max(1, min(255, g+0.5)))
		}
	}
	return out
}

// cumulative is the share of pixels of the body darker than each of 1025 levels in 0..1.
func (c *canvas) cumulative(t []float32, field [4]int) *[1025]float64 {
	var hist [1026]int
	n := 0
	for y := field[1]; y < field[3]; y++ {
		for _, v := range t[y*c.w+field[0] : y*c.w+field[2]] {
			if v <= 0 {
				continue
			}
			hist[min(1025, int(shoulder(v)*1024)+1)]++
			n++
		}
	}
	out := new([1025]float64)
	sum := 0
	for i := range out {
		sum += hist[i]
		out[i] = float64(sum) / float64(max(n, 1))
	}
	return out
}

// shoulder bends values above 0.7 towards one instead of clipping them.
func shoulder(v float32) float32 {
	if v <= 0.7 {
		return v
	}
	d := v - 0.7
	return 0.7 + float32(0.3*d)/(0.3+d)
}

// toneCurve maps 0..1 to 0..1 through a table.
type toneCurve struct{ v [1025]float32 }

func (e *exposure) curve(cdf *[1025]float64) *toneCurve {
	t := new(toneCurve)
	for i := range t.v {
		x := lerp(float64(float64(i)/1024), cdf[i], e.equal)
		s := float64(float64(x*x) * (3 - float64(2*x)))
		t.v[i] = float32(power(lerp(x, s, e.sigmoid), e.gamma))
	}
	return t
}

func (t *toneCurve) at(v float32) float32 {
	f := float32(shoulder(v) * 1024)
	if f <= 0 {
		return t.v[0]
	}
	if f >= 1024 {
		return t.v[1024]
	}
	i := int(f)
	return t.v[i] + float32((f-float32(i))*(t.v[min(i+1, 1024)]-t.v[i]))
}
