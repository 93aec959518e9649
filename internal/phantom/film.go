package phantom

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
