package phantom

import "slices"

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
