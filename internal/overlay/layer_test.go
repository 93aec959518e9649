package overlay

import (
	"bytes"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"

	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// scene draws something of everything on a canvas.
func scene(c *Canvas) {
	disc := mask.FromFunc(400, 500, func(x, y int) bool { return (x-200)*(x-200)+(y-250)*(y-250) < 120*120 })
	c.Tint(disc, Red, 0.3)
	c.Outline(disc, Stroke{Colour: Green, Width: 2})
	c.Span(geom.Vec{X: 80, Y: 250}, geom.Vec{X: 320, Y: 250}, Stroke{Colour: Blue, Width: 5})
	c.Segment(geom.Vec{X: 10, Y: 10}, geom.Vec{X: 390, Y: 490}, Stroke{Colour: Amber, Width: 3, Dash: 9})
	c.Box(geom.Box{X0: 60, Y0: 120, X1: 340, Y1: 380}, Stroke{Colour: Violet, Width: 2})
	c.Dot(geom.Vec{X: 200, Y: 130}, 6, White)
	c.Cross(geom.Vec{X: 100, Y: 100}, 8, Stroke{Colour: White, Width: 3})
	c.Tag(geom.Vec{X: 200, Y: 250}, Above, "width 240 px", Text{Size: 24, Colour: White, Bold: true})
}

func ramp(w, h int) *cxr.Image {
	img := cxr.NewImage(w, h)
	for i := range img.Pix {
		img.Pix[i] = uint8(i % w * 255 / w)
	}
	return img
}

// TestLayer holds that drawing on a layer and laying it over the picture is the same as
// drawing on the picture, and that both give the same bytes each time.
func TestLayer(t *testing.T) {
	base, err := Reduce(ramp(400, 500), Size{MaxSide: 500})
	if err != nil {
		t.Fatal(err)
	}
	direct, layer, laid := base.Canvas(), base.Layer(), base.Canvas()
	scene(direct)
	scene(layer)
	if err := laid.Lay(layer); err != nil {
		t.Fatal(err)
	}
	for i := range direct.rgba.Pix {
		// Two roundings to eight bits lie between the two ways.
		if d := math.Abs(float64(direct.rgba.Pix[i]) - float64(laid.rgba.Pix[i])); d > 3 {
			t.Fatalf("byte %d: direct %d, laid %d", i, direct.rgba.Pix[i], laid.rgba.Pix[i])
		}
	}
	for name, encode := range map[string]func(*Canvas) ([]byte, error){"PNG": (*Canvas).PNG, "LayerPNG": (*Canvas).LayerPNG} {
		again := base.Layer()
		scene(again)
		a, err := encode(layer)
		if err != nil {
			t.Fatal(err)
		}
		b, err := encode(again)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the same drawing gave other bytes (%v)", name, err)
		}
	}
	small, err := layer.LayerPNG()
	if err != nil {
		t.Fatal(err)
	}
	full, err := layer.PNG()
	if err != nil {
		t.Fatal(err)
	}
	if len(small)*2 > len(full) {
		t.Errorf("layer in 256 colours takes %d bytes, in full %d", len(small), len(full))
	}
	got, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	far := 0
	for y := range 500 {
		for x := range 400 {
			r, g, b, a := got.At(x, y).RGBA()
			w := layer.rgba.RGBAAt(x, y)
			for i, v := range []uint32{r, g, b, a} {
				if d := math.Abs(float64(v>>8) - float64([]uint8{w.R, w.G, w.B, w.A}[i])); d > 16 {
					far++
				}
			}
		}
	}
	if far > 200 { // a thousandth of the pixels
		t.Errorf("%d values of 200000 pixels differ visibly in 256 colours", far)
	}
}

// TestPNG holds that a canvas decodes to its own pixels.
func TestPNG(t *testing.T) {
	base, err := Reduce(ramp(311, 200), Size{MaxSide: 311})
	if err != nil {
		t.Fatal(err)
	}
	c := base.Canvas()
	scene(c)
	data, err := c.PNG()
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(data))
	if err != nil || got.Bounds() != c.rgba.Rect {
		t.Fatalf("%v, %v", got, err)
	}
	for y := range 200 {
		for x := range 311 {
			r, g, b, a := got.At(x, y).RGBA()
			if w := c.rgba.RGBAAt(x, y); uint8(r>>8) != w.R || uint8(g>>8) != w.G || uint8(b>>8) != w.B || a != 0xffff {
				t.Fatalf("(%d, %d): decoded %d %d %d, drawn %v", x, y, r>>8, g>>8, b>>8, w)
			}
		}
	}
}

// TestPart holds that a part shows the same as cutting it out of the whole.
func TestPart(t *testing.T) {
	img := ramp(400, 500)
	for y := range 500 {
		for x := range 400 {
			img.Pix[y*400+x] = uint8((x ^ y) & 255)
		}
	}
	full, err := Reduce(img, Size{MaxSide: 500})
	if err != nil {
		t.Fatal(err)
	}
	part := geom.Box{X0: 100, Y0: 150, X1: 249, Y1: 349}
	cut, err := ReducePart(img, part, Size{MaxSide: 200})
	if err != nil {
		t.Fatal(err)
	}
	if w, h := cut.Bounds(); w != 150 || h != 200 {
		t.Fatalf("part is %d x %d, want 150 x 200", w, h)
	}
	a, b := full.Canvas(), cut.Canvas()
	disc := mask.FromFunc(200, 250, func(x, y int) bool { return (x-90)*(x-90)+(y-120)*(y-120) < 40*40 })
	for _, c := range []*Canvas{a, b} {
		c.Tint(disc, Red, 0.4)
		c.Dot(geom.Vec{X: 180, Y: 240}, 5, Blue)
	}
	for y := range 200 {
		for x := range 150 {
			if got, want := b.rgba.RGBAAt(x, y), a.rgba.RGBAAt(x+100, y+150); got != want {
				t.Fatalf("(%d, %d) of the part is %v, of the whole %v", x, y, got, want)
			}
		}
	}
}

func TestReduceAverages(t *testing.T) {
	img := &cxr.Image{Width: 4, Height: 2, Pix: []uint8{0, 100, 10, 20, 200, 100, 30, 40}}
	b, err := Reduce(img, Size{MaxSide: 16})
	if err != nil {
		t.Fatal(err)
	}
	if w, h := b.Bounds(); w != 4 || h != 2 {
		t.Errorf("a small picture became %d x %d without Enlarge", w, h)
	}
	big := cxr.NewImage(64, 32)
	for i := range big.Pix {
		big.Pix[i] = uint8(i % 2 * 200)
	}
	b, err = Reduce(big, Size{MaxSide: 16})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range b.grey.Pix {
		if g != 100 {
			t.Fatalf("pixel %d of the average is %d, want 100", i, g)
		}
	}
}

func TestBadSizes(t *testing.T) {
	img := ramp(40, 50)
	if _, err := Reduce(img, Size{MaxSide: 8}); err == nil {
		t.Error("a side of 8 was accepted")
	}
	if _, err := Reduce(&cxr.Image{}, Size{MaxSide: 64}); err == nil {
		t.Error("a picture without pixels was accepted")
	}
	if _, err := ReducePart(img, geom.Box{X0: 50, Y0: 10, X1: 60, Y1: 20}, Size{MaxSide: 64}); err == nil {
		t.Error("a part outside the picture was accepted")
	}
	a, _ := Reduce(img, Size{MaxSide: 50})
	b, _ := Reduce(img, Size{MaxSide: 25})
	if err := a.Canvas().Lay(b.Layer()); err == nil {
		t.Error("a layer of another size was laid over")
	}
}

// BenchmarkRender is a radiograph of the published size, decoded, to a picture of 1024
// pixels with everything drawn on it.
func BenchmarkRender(b *testing.B) {
	img := ramp(2544, 3056)
	rng := rand.New(rand.NewPCG(1, 1)) // film noise: it is what a picture's bytes consist of
	for i := range img.Pix {
		img.Pix[i] = uint8(max(0, min(255, float64(img.Pix[i])+14*rng.NormFloat64())))
	}
	for b.Loop() {
		c, err := New(img, Size{MaxSide: 1024})
		if err != nil {
			b.Fatal(err)
		}
		scene(c)
		if _, err := c.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}
