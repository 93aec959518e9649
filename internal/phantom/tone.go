package phantom

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
