package chexstruct

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// naiveGradient follows the definition pixel by pixel with the whole 5x5 kernel.
func naiveGradient(img *cxr.Image) float64 {
	derive, smooth := [5]int{-1, -2, 0, 2, 1}, [5]int{1, 4, 6, 4, 1}
	at := func(x, y int) int { return int(img.At(mirror(x, img.Width), mirror(y, img.Height))) }
	total := 0.0
	for y := range img.Height {
		row := 0.0
		for x := range img.Width {
			gx, gy := 0, 0
			for j := range 5 {
				for i := range 5 {
					v := at(x+i-2, y+j-2)
					gx += derive[i] * smooth[j] * v
					gy += smooth[i] * derive[j] * v
				}
			}
			row += math.Sqrt(float64(gx*gx + gy*gy))
		}
		total += row
	}
	return total / float64(img.Width*img.Height)
}

func TestGradientMatchesDefinition(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 6}, {6, 1}, {2, 2}, {2, 5}, {3, 3}, {4, 7}, {33, 20}} {
		img := noise(size[0], size[1])
		if got, want := GradientMean(img), naiveGradient(img); got != want {
			t.Errorf("%dx%d: %v, want %v", size[0], size[1], got, want)
		}
	}
	if got := GradientMean(&cxr.Image{}); got != 0 {
		t.Errorf("no pixels: %v", got)
	}
}

// A ramp of k grey levels per column: inside, gx = 16 * 8k = 128k and gy = 0. Mirroring
// changes the two columns at each end.
func TestGradientOfRamp(t *testing.T) {
	const w, h, k = 60, 9, 4
	img := cxr.NewImage(w, h)
	for y := range h {
		for x := range w {
			img.Pix[y*w+x] = uint8(k * x)
		}
	}
	// Column 0 sees values at -2..2 of 2k, k, 0, k, 2k: derivative 0. Column 1 sees k, 0, k,
	// 2k, 3k: -k - 0 + 4k + 3k = 6k, times 16. The right end is alike.
	want := (float64(w-4)*128*k + 2*16*6*k) / w
	if got := GradientMean(img); math.Abs(got-want) > 1e-9 {
		t.Errorf("ramp scores %v, want %v", got, want)
	}
	if mirror(-2, 5) != 2 || mirror(6, 5) != 2 || mirror(-1, 1) != 0 || mirror(3, 2) != 1 || mirror(-2, 2) != 0 {
		t.Error("mirrored indices")
	}
}

func TestNonZero(t *testing.T) {
	img := &cxr.Image{Width: 5, Height: 3, Pix: []uint8{0, 1, 2, 0, 9, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7}}
	want := mask.FromFunc(5, 3, func(x, y int) bool { return img.At(x, y) != 0 })
	if got := NonZero(img); !got.Equal(want) || got.Area() != 8 {
		t.Errorf("non-zero pixels %v", got)
	}
	big := noise(257, 31)
	want = mask.FromFunc(257, 31, func(x, y int) bool { return big.At(x, y) != 0 })
	if !NonZero(big).Equal(want) {
		t.Error("non-zero pixels of noise")
	}
}

func TestFactsStoredForm(t *testing.T) {
	for _, img := range []*cxr.Image{noise(40, 30), cxr.NewImage(3, 2), noise(1, 1)} {
		f := Facts(img)
		b := f.Encode()
		back, err := DecodeFacts(b)
		if err != nil {
			t.Fatal(err)
		}
		if back.Width != img.Width || back.Height != img.Height || back.GradientMean != f.GradientMean || !back.NonZero.Equal(f.NonZero) {
			t.Errorf("facts changed: %+v", back)
		}
		for i := range b {
			if _, err := DecodeFacts(b[:i]); !errors.Is(err, ErrFacts) {
				t.Fatalf("%d of %d bytes: %v", i, len(b), err)
			}
		}
		if _, err := DecodeFacts(append(b, 0)); !errors.Is(err, ErrFacts) {
			t.Errorf("one byte more: %v", err)
		}
	}
	// Pinned: a change of the stored form needs a new version byte.
	f := PixelFacts{Width: 4, Height: 2, GradientMean: 1.5, NonZero: mask.FromFunc(4, 2, func(x, y int) bool { return x > 0 })}
	const want = "cxfacts\x01\x04\x02\x3f\xf8\x00\x00\x00\x00\x00\x00\x02\x00\x01\x01\x01\x03"
	if got := string(f.Encode()); got != want {
		t.Errorf("stored form %q, want %q", got, want)
	}
	f.GradientMean = math.NaN()
	if _, err := DecodeFacts(f.Encode()); !errors.Is(err, ErrFacts) {
		t.Errorf("no number: %v", err)
	}
}

func FuzzDecodeFacts(f *testing.F) {
	f.Add(Facts(noise(9, 4)).Encode())
	f.Add(Facts(cxr.NewImage(1, 1)).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, err := DecodeFacts(data)
		if err != nil {
			return
		}
		if !bytes.Equal(facts.Encode(), data) {
			t.Fatal("facts are read that are not written like this")
		}
	})
}

func TestRoundDecimal(t *testing.T) {
	for _, c := range []struct {
		v    float64
		d    int
		want float64
	}{
		{0.495, 2, 0.49}, // the double lies below 0.495
		{0.125, 2, 0.12}, // exact tie, to even
		{0.375, 2, 0.38}, // exact tie, to even
		{0.625, 2, 0.62},
		{0.505, 2, 0.51}, // the double lies above 0.505
		{2.495, 2, 2.5},  // above
		{2.675, 2, 2.67}, // below
		{-0.125, 2, -0.12},
		{52.5, 0, 52}, {53.5, 0, 54}, {39.5, 0, 40}, {80.5, 0, 80}, {-0.4, 0, 0},
		{0.00085, 4, 0.0008}, // below
		{0.00095, 4, 0.0009}, // below
		{0.1, 4, 0.1},
	} {
		if got := RoundDecimal(c.v, c.d); got != c.want {
			t.Errorf("%v to %d decimals is %v, want %v", c.v, c.d, got, c.want)
		}
	}
}

func TestTrunc2(t *testing.T) {
	for v, want := range map[float64]int{0: 0, 0.099999: 9, 0.1: 10, 0.2: 20, 0.209: 20, 0.29: 28, 0.3: 30, 1: 100, -0.019: -1, -0.5: -50} {
		if got := Trunc2(v); got != want {
			t.Errorf("%v truncates to %d, want %d", v, got, want)
		}
	}
}
