package viewcheck

import (
	"fmt"
	"math"
	"slices"
)

// Side is the side of the square that the view model reads, in pixels.
const Side = 256

// Grey is a picture of numbers, row-major; x grows to the right, y downwards.
type Grey struct {
	Width, Height int
	Pix           []float64
}

func (g Grey) at(x, y int) float64 { return g.Pix[y*g.Width+x] }

// Steps are the stages of the view check's preprocessing.
type Steps struct {
	Stretched Grey    // 1: smallest..largest value to 0..255, truncated
	Threshold float64 // 2: spread below which a line is border
	Box       [4]int  // 2: x0, x1, y0, y1 with exclusive ends, in Stretched
	P1, P99   float64 // 3: percentiles before truncation
	Clipped   Grey    // 3: the box, clipped
	Placed    [4]int  // 4: x, y, width and height of the picture in the square
	Resized   Grey    // 4: 256 x 256, smoothed, padded with 0
	Final     Grey    // 5: stretched again, truncated
}

// Input returns step 6: values in 0..1 of one channel, row-major; the model reads three
// equal channels, channel last.
func (s Steps) Input() []float32 {
	out := make([]float32, len(s.Final.Pix))
	for i, v := range s.Final.Pix {
		out[i] = float32(v / 255)
	}
	return out
}

// Luminance returns the grey value of a colour. [official code]
func Luminance(r, g, b float64) float64 {
	return float64(0.2125*r) + float64(0.7154*g) + float64(0.0721*b)
}

// Prepare runs the preprocessing of the OpenCXR image sorter on the raw grey values.
//
// Special cases: a constant picture becomes all zeros; the trimmed box loses one row at
// the bottom, as the original does.
// Source: steps and constants [official code].
func Prepare(in Grey) (Steps, error) {
	if in.Width < 2 || in.Height < 2 || len(in.Pix) != in.Width*in.Height {
		return Steps{}, fmt.Errorf("picture of %d x %d with %d values; hint: at least 2 x 2", in.Width, in.Height, len(in.Pix))
	}
	s := Steps{Stretched: stretch(in)}
	s.Threshold = 0.05 * deviation(s.Stretched.Pix)
	s.Box = trim(s.Stretched, s.Threshold)
	if s.Box[1]-s.Box[0] < 1 || s.Box[3]-s.Box[2] < 1 {
		return Steps{}, fmt.Errorf("picture of %d x %d is all border", in.Width, in.Height)
	}
	crop := cut(s.Stretched, s.Box)
	s.P1, s.P99 = percentile(crop.Pix, 1), percentile(crop.Pix, 99)
	low, high := math.Trunc(s.P1), math.Trunc(s.P99)
	for i, v := range crop.Pix {
		crop.Pix[i] = min(max(v, low), high)
	}
	s.Clipped = crop
	s.Resized, s.Placed = fit(crop)
	s.Final = stretch(s.Resized)
	return s, nil
}

// stretch maps the smallest..largest value to 0..255 and truncates.
func stretch(g Grey) Grey {
	low, high := slices.Min(g.Pix), slices.Max(g.Pix)
	out := Grey{g.Width, g.Height, make([]float64, len(g.Pix))}
	if high == low {
		return out
	}
	for i, v := range g.Pix {
		out.Pix[i] = math.Trunc((v - low) / (high - low) * 255)
	}
	return out
}

// deviation is the population standard deviation.
func deviation(v []float64) float64 {
	mean := 0.0
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	sum := 0.0
	for _, x := range v {
		d := x - mean
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(len(v)))
}

// trim drops homogeneous lines from the four sides until nothing changes. The innermost
// homogeneous line stays on every side, but the end of y is exclusive: its last row goes.
func trim(g Grey, threshold float64) [4]int {
	x0, x1, y0, y1 := 0, g.Width-1, 0, g.Height-1
	column := func(x int) bool {
		line := make([]float64, 0, y1-y0+1)
		for y := y0; y <= y1; y++ {
			line = append(line, g.at(x, y))
		}
		return deviation(line) < threshold
	}
	row := func(y int) bool { return deviation(g.Pix[y*g.Width+x0:y*g.Width+x1+1]) < threshold }
	for {
		before := [4]int{x0, x1, y0, y1}
		for x0+1 < x1 && column(x0) && column(x0+1) {
			x0++
		}
		for x1-1 > x0 && column(x1) && column(x1-1) {
			x1--
		}
		for y0+1 < y1 && row(y0) && row(y0+1) {
			y0++
		}
		for y1-1 > y0 && row(y1) && row(y1-1) {
			y1--
		}
		if before == [4]int{x0, x1, y0, y1} {
			return [4]int{x0, x1 + 1, y0, y1}
		}
	}
}

func cut(g Grey, b [4]int) Grey {
	out := Grey{Width: b[1] - b[0], Height: b[3] - b[2]}
	for y := b[2]; y < b[3]; y++ {
		out.Pix = append(out.Pix, g.Pix[y*g.Width+b[0]:y*g.Width+b[1]]...)
	}
	return out
}

// percentile interpolates linearly between the two nearest ranks of whole values 0..255.
func percentile(v []float64, p float64) float64 {
	var count [256]int
	for _, x := range v {
		count[int(x)]++
	}
	rank := func(k int) float64 {
		for x, n := range count {
			if k -= n; k < 0 {
				return float64(x)
			}
		}
		return 255
	}
	at := p / 100 * float64(len(v)-1)
	k := int(at)
	if k+1 >= len(v) {
		return rank(len(v) - 1)
	}
	low := rank(k)
	return low + float64((rank(k+1)-low)*(at-float64(k)))
}

// fit resizes so that the long side is [Side] and pads the short side with zeros.
func fit(g Grey) (Grey, [4]int) {
	scale := float64(Side) / float64(max(g.Width, g.Height))
	w, h := Side, Side
	if g.Width < g.Height {
		w = max(1, int(math.RoundToEven(float64(g.Width)*scale)))
	} else {
		h = max(1, int(math.RoundToEven(float64(g.Height)*scale)))
	}
	small := resize(g, w, h)
	x, y := int(math.RoundToEven(float64(Side-w)/2)), int(math.RoundToEven(float64(Side-h)/2))
	out := Grey{Side, Side, make([]float64, Side*Side)}
	for r := range h {
		copy(out.Pix[(y+r)*Side+x:], small.Pix[r*w:(r+1)*w])
	}
	return out, [4]int{x, y, w, h}
}

// resize smooths with a Gaussian of (factor-1)/2 per shrinking axis, cut at four sigma,
// samples linearly at (i+0.5)*factor-0.5, and clips to the input's range. Borders reflect
// without repeating the edge pixel.
func resize(g Grey, w, h int) Grey {
	low, high := slices.Min(g.Pix), slices.Max(g.Pix)
	tall := transpose(lines(transpose(g), h)) // height first
	out := lines(tall, w)
	for i, v := range out.Pix {
		out.Pix[i] = min(max(v, low), high)
	}
	return out
}

func transpose(g Grey) Grey {
	out := Grey{g.Height, g.Width, make([]float64, len(g.Pix))}
	for y := range g.Height {
		for x := range g.Width {
			out.Pix[x*g.Height+y] = g.Pix[y*g.Width+x]
		}
	}
	return out
}

// lines smooths and resamples every row to width w; only the places that are sampled are
// smoothed.
func lines(g Grey, w int) Grey {
	factor := float64(g.Width) / float64(w)
	kernel := gauss(max(0, (factor-1)/2))
	reach := len(kernel) - 1
	out := Grey{w, g.Height, make([]float64, w*g.Height)}
	wide := make([]float64, g.Width+2*reach) // the row, reflected at both ends
	for y := range g.Height {
		row := g.Pix[y*g.Width : (y+1)*g.Width]
		copy(wide[reach:], row)
		for k := 1; k <= reach; k++ {
			wide[reach-k] = row[mirror(-k, len(row))]
			wide[reach+len(row)-1+k] = row[mirror(len(row)-1+k, len(row))]
		}
		smooth := func(x int) float64 {
			x = reach + mirror(x, len(row))
			sum := float64(kernel[0] * wide[x])
			for k := 1; k <= reach; k++ {
				sum += float64(kernel[k] * (wide[x-k] + wide[x+k]))
			}
			return sum
		}
		for i := range w {
			at := float64((float64(i)+0.5)*factor) - 0.5
			k := math.Floor(at)
			f := at - k
			out.Pix[y*w+i] = float64(smooth(int(k))*(1-f)) + float64(smooth(int(k)+1)*f)
		}
	}
	return out
}

// gauss returns half a normalised kernel: the centre, then one side.
func gauss(sigma float64) []float64 {
	if sigma == 0 {
		return []float64{1}
	}
	k := make([]float64, int(4*sigma+0.5)+1)
	sum := 0.0
	for i := range k {
		k[i] = math.Exp(-0.5 / float64(sigma*sigma) * float64(i*i))
		sum += k[i]
		if i > 0 {
			sum += k[i]
		}
	}
	for i := range k {
		k[i] /= sum
	}
	return k
}

// mirror reflects an index into 0..n-1 without repeating the edges.
func mirror(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	i = ((i % period) + period) % period
	if i >= n {
		i = period - i
	}
	return i
}
