package viewcheck

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"testing"
)

func readGrey(t *testing.T, name string) Grey {
	t.Helper()
	f, err := os.Open("testdata/preprocess/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	g := Grey{Width: b.Dx(), Height: b.Dy()}
	_, deep := img.(*image.Gray16)
	for y := range g.Height {
		for x := range g.Width {
			v := float64(color.Gray16Model.Convert(img.At(x, y)).(color.Gray16).Y)
			if !deep {
				v /= 257
			}
			g.Pix = append(g.Pix, v)
		}
	}
	return g
}

// TestStepsGolden holds each step against the original code's output: 1 to 3 exact,
// 4 within 1e-9, 5 within one grey level (truncation below an integer).
func TestStepsGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/preprocess/index.json")
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		File      string
		Threshold float64
		Box       [4]int `json:"box_x0_x1_y0_y1_exclusive"`
		P1, P99   float64
		Placed    [4]int `json:"placed_x_y_w_h"`
		Sum       float64
		Samples   [][3]float64
	}
	var list []struct {
		Name, Input                       string
		Step1, Step2, Step3, Step4, Step5 step
		Step6                             struct{ Mean float64 }
	}
	if err := json.Unmarshal(data, &list); err != nil || len(list) != 4 {
		t.Fatal(len(list), err)
	}
	for _, r := range list {
		s, err := Prepare(readGrey(t, r.Input))
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if s.Box != r.Step2.Box || !near(s.Threshold, r.Step2.Threshold, 1e-9) || s.P1 != r.Step3.P1 || s.P99 != r.Step3.P99 || s.Placed != r.Step4.Placed {
			t.Errorf("%s: box %v, threshold %v, percentiles %v %v, placed %v; want %+v", r.Name, s.Box, s.Threshold, s.P1, s.P99, s.Placed, r)
		}
		for _, p := range []struct {
			file      string
			got       Grey
			tolerance float64
		}{{r.Step1.File, s.Stretched, 0}, {r.Step2.File, cut(s.Stretched, s.Box), 0}, {r.Step3.File, s.Clipped, 0}, {r.Step5.File, s.Final, 1}} {
			if n := differing(p.got, readGrey(t, p.file), p.tolerance); n != 0 {
				t.Errorf("%s: %d values differ", p.file, n)
			}
		}
		sum := 0.0
		for _, v := range s.Resized.Pix {
			sum += v
		}
		if !near(sum, r.Step4.Sum, 1e-9*max(1, r.Step4.Sum)) || len(r.Step4.Samples) == 0 {
			t.Errorf("%s: sum of step 4 is %v, want %v", r.Name, sum, r.Step4.Sum)
		}
		for _, p := range r.Step4.Samples {
			if got := s.Resized.at(int(p[0]), int(p[1])); !near(got, p[2], 1e-9) {
				t.Errorf("%s: %v: got %v", r.Name, p, got)
			}
		}
	}
}

func differing(a, b Grey, tolerance float64) int {
	if a.Width != b.Width || a.Height != b.Height {
		return -1
	}
	n := 0
	for i := range a.Pix {
		if !near(a.Pix[i], b.Pix[i], tolerance) {
			n++
		}
	}
	return n
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// BenchmarkPrepare prepares a film of the published size.
func BenchmarkPrepare(b *testing.B) {
	g := Grey{2544, 3056, make([]float64, 2544*3056)}
	for i := range g.Pix {
		g.Pix[i] = float64((i*7 + i/2544*13) % 251)
	}
	for b.Loop() {
		if _, err := Prepare(g); err != nil {
			b.Fatal(err)
		}
	}
}
