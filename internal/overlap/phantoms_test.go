package overlap_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"cxrepro/internal/cxr"
	"cxrepro/internal/overlap"
	"cxrepro/internal/phantom"
)

// copies are ways in which one film is found in two data sets, with the least share of copies
// within the limit.
var copies = []struct {
	name  string
	make  func(*testing.T, *cxr.Image) *cxr.Image
	share float64
}{
	{"JPEG of quality 90", jpeg(90), 1},
	{"JPEG of quality 50", jpeg(50), 1},
	{"half size", half, 1},
	{"a fifth brighter", grey(func(v float64) float64 { return v * 1.2 }), 1},
	{"contrast 0.7", grey(func(v float64) float64 { return 0.15 + 0.7*v }), 1},
	{"gamma 0.8", grey(func(v float64) float64 { return math.Pow(v, 0.8) }), 1},
	{"gamma 1.25", grey(func(v float64) float64 { return math.Pow(v, 1.25) }), 1},
	{"window 5 to 95 %", grey(func(v float64) float64 { return (v - 0.05) / 0.9 }), 1},
	{"noise of 6 grey levels", noisy, 1},
	{"a marker of 8 % burned in", marked, 0},
	{"1 % cut off each side", cut(0.01), 0.5},
	{"2 % cut off each side", cut(0.02), 0},
	{"5 % cut off each side", cut(0.05), 0},
	{"turned by 1 degree", turned(1), 0.7},
	{"turned by 3 degrees", turned(3), 0},
}

// TestPerceptualOnPhantoms measures what docs/design/0017 prints: how near distorted copies of
// a film lie, and how near different films. CXREPRO_PHANTOMS says of how many; 40 by default.
func TestPerceptualOnPhantoms(t *testing.T) {
	n := 40
	if s := os.Getenv("CXREPRO_PHANTOMS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	films, hashes := make([]*cxr.Image, n), make([]overlap.Hash, n)
	for i := range n {
		pic, err := phantom.New(4711, i, phantom.Options{}).Picture(256, 312)
		if err != nil {
			t.Fatal(err)
		}
		films[i], hashes[i] = pic.Image, hash(t, pic.Image)
	}
	for _, c := range copies {
		var d []int
		for i, film := range films {
			d = append(d, distance(hashes[i], hash(t, c.make(t, film))))
		}
		share := within(d, overlap.Limit)
		t.Logf("%-26s median %3d, 95 %% %3d, most %3d; within %d: %.3f, 32: %.3f, 40: %.3f", c.name, at(d, 0.5), at(d, 0.95), at(d, 1), overlap.Limit, share, within(d, 32), within(d, 40))
		if share < c.share {
			t.Errorf("%s: %.3f of the copies lie within the limit, want %.2f", c.name, share, c.share)
		}
	}
	var d []int
	for i := range films {
		for k := range i {
			d = append(d, distance(hashes[i], hashes[k]))
		}
	}
	t.Logf("%d pairs of different films: nearest %d, 1 %% %d, median %d", len(d), at(d, 0), at(d, 0.01), at(d, 0.5))
	for limit := 16; limit <= 80; limit += 4 {
		t.Logf("within %2d bits: %.6f of the pairs, and %.3f of the films have such a neighbour", limit, within(d, limit), neighbours(hashes, limit))
	}
	if f := within(d, overlap.Limit); f > 0 {
		t.Errorf("%.6f of the pairs of different films lie within the limit", f)
	}
}

func distance(a, b overlap.Hash) int { return a.Distance(&b) }

func neighbours(h []overlap.Hash, limit int) float64 {
	n := 0
	for i := range h {
		for k := range h {
			if i != k && h[i].Distance(&h[k]) <= limit {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(h))
}

func within(d []int, limit int) float64 {
	n := 0
	for _, v := range d {
		if v <= limit {
			n++
		}
	}
	return float64(n) / float64(len(d))
}

func at(d []int, share float64) int {
	s := slices.Sorted(slices.Values(d))
	return s[int(share*float64(len(s)-1))]
}

func hash(t *testing.T, m *cxr.Image) overlap.Hash {
	t.Helper()
	h, err := overlap.Perceptual(m)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func jpeg(quality int) func(*testing.T, *cxr.Image) *cxr.Image {
	return func(t *testing.T, m *cxr.Image) *cxr.Image {
		data, err := cxr.EncodeJPEG(m, quality)
		if err != nil {
			t.Fatal(err)
		}
		out, err := cxr.Decode(data, cxr.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func half(_ *testing.T, m *cxr.Image) *cxr.Image {
	out := cxr.NewImage(m.Width/2, m.Height/2)
	for y := range out.Height {
		for x := range out.Width {
			out.Pix[y*out.Width+x] = uint8((int(m.At(2*x, 2*y)) + int(m.At(2*x+1, 2*y)) + int(m.At(2*x, 2*y+1)) + int(m.At(2*x+1, 2*y+1)) + 2) / 4)
		}
	}
	return out
}

func level(v float64) uint8 { return uint8(math.Round(255 * min(1, max(0, v)))) }

func grey(curve func(float64) float64) func(*testing.T, *cxr.Image) *cxr.Image {
	return func(_ *testing.T, m *cxr.Image) *cxr.Image {
		out := cxr.NewImage(m.Width, m.Height)
		for i, p := range m.Pix {
			out.Pix[i] = level(curve(float64(p) / 255))
		}
		return out
	}
}

func noisy(_ *testing.T, m *cxr.Image) *cxr.Image {
	rng := rand.New(rand.NewPCG(1, 2))
	out := cxr.NewImage(m.Width, m.Height)
	for i, p := range m.Pix {
		out.Pix[i] = level((float64(p) + 6*rng.NormFloat64()) / 255)
	}
	return out
}

// marked has a white square in the upper corner, as letters of a film have.
func marked(_ *testing.T, m *cxr.Image) *cxr.Image {
	out := cxr.NewImage(m.Width, m.Height)
	copy(out.Pix, m.Pix)
	side := m.Width * 8 / 100
	for y := side / 2; y < side/2+side; y++ {
		for x := m.Width - 2*side; x < m.Width-side; x++ {
			out.Pix[y*m.Width+x] = 255
		}
	}
	return out
}

func cut(share float64) func(*testing.T, *cxr.Image) *cxr.Image {
	return func(_ *testing.T, m *cxr.Image) *cxr.Image {
		dx, dy := int(math.Round(share*float64(m.Width))), int(math.Round(share*float64(m.Height)))
		out := cxr.NewImage(m.Width-2*dx, m.Height-2*dy)
		for y := range out.Height {
			copy(out.Row(y), m.Row(y + dy)[dx:dx+out.Width])
		}
		return out
	}
}

func turned(degrees float64) func(*testing.T, *cxr.Image) *cxr.Image {
	return func(_ *testing.T, m *cxr.Image) *cxr.Image {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		out := cxr.NewImage(m.Width, m.Height)
		cx, cy := float64(m.Width-1)/2, float64(m.Height-1)/2
		for y := range m.Height {
			for x := range m.Width {
				dx, dy := float64(x)-cx, float64(y)-cy
				out.Pix[y*m.Width+x] = m.At(int(math.Round(cx+cos*dx-sin*dy)), int(math.Round(cy+sin*dx+cos*dy)))
			}
		}
		return out
	}
}
