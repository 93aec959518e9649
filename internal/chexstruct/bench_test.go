package chexstruct

import (
	"math/rand/v2"
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// Native size of a typical radiograph: 2544 columns, 3056 rows.
const (
	nativeW = 2544
	nativeH = 3056
)

// nativeInput stretches a golden case to native size by the nearest rule.
func nativeInput(tb testing.TB, n int) Input {
	tb.Helper()
	in := goldenCase(tb, n).Input
	w, h := in.Masks.GridW, in.Masks.GridH
	in.Masks.NativeW, in.Masks.NativeH = nativeW, nativeH
	native, err := in.Masks.Native()
	if err != nil {
		tb.Fatal(err)
	}
	z, err := mask.NewResizer(w, h, nativeW, nativeH)
	if err != nil {
		tb.Fatal(err)
	}
	content, err := z.Resize(in.Facts.NonZero)
	if err != nil {
		tb.Fatal(err)
	}
	boxes := map[string]geom.Box{}
	for name, b := range in.Boxes {
		boxes[name] = geom.Box{X0: b.X0 * nativeW / w, Y0: b.Y0 * nativeH / h, X1: b.X1 * nativeW / w, Y1: b.Y1 * nativeH / h}
	}
	in.Masks, in.Boxes, in.NativeWidth = native, boxes, nativeW
	in.Facts = &PixelFacts{Width: nativeW, Height: nativeH, GradientMean: in.Facts.GradientMean, NonZero: content}
	return in
}

func benchmarkTasks(b *testing.B, in Input) {
	rules := mustRules(b, Corrected, nil)
	tasks := Tasks()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Assess(in, rules, tasks); err != nil {
			b.Fatal(err)
		}
	}
}

// The twelve tasks on decoded pixels and stored runs: at most 3 ms at 512, 20 ms native.
func BenchmarkTasks512(b *testing.B)    { benchmarkTasks(b, goldenCase(b, 1).Input) }
func BenchmarkTasksNative(b *testing.B) { benchmarkTasks(b, nativeInput(b, 1)) }

// The same with the masks taken from the 512 grid to native runs each time.
func BenchmarkGridToNativeTasks(b *testing.B) {
	in := nativeInput(b, 1)
	grid := goldenCase(b, 1).Input.Masks
	grid.NativeW, grid.NativeH = nativeW, nativeH
	rules := mustRules(b, Corrected, nil)
	tasks := Tasks()
	b.ReportAllocs()
	for b.Loop() {
		native, err := grid.Native()
		if err != nil {
			b.Fatal(err)
		}
		in.Masks = native
		if _, err := Assess(in, rules, tasks); err != nil {
			b.Fatal(err)
		}
	}
}

func noise(w, h int) *cxr.Image {
	img := cxr.NewImage(w, h)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.UintN(256))
	}
	return img
}

// The exact gradient: at most 3 ms at 512, 60 ms native.
func BenchmarkGradient512(b *testing.B) {
	img := noise(512, 512)
	for b.Loop() {
		GradientMean(img)
	}
}

func BenchmarkGradientNative(b *testing.B) {
	img := noise(nativeW, nativeH)
	for b.Loop() {
		GradientMean(img)
	}
}

func BenchmarkNonZeroNative(b *testing.B) {
	img := noise(nativeW, nativeH)
	for b.Loop() {
		NonZero(img)
	}
}

func BenchmarkMasksDecode(b *testing.B) {
	data := goldenCase(b, 1).Input.Masks.Encode()
	b.ReportMetric(float64(len(data)), "bytes")
	for b.Loop() {
		if _, err := anatomy.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
