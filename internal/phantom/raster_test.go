package phantom

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/internal/mask"
)

func TestFillByPixelCentres(t *testing.T) {
	g := &grid{w: 6, h: 4, sx: 1, sy: 1}
	// the square [1, 4) x [1, 3) with edges on pixel borders
	square := polygon{{1, 1}, {4, 1}, {4, 3}, {1, 3}}
	got := g.fill(square, [4]int{0, 0, 6, 4})
	want := mask.FromFunc(6, 4, func(x, y int) bool { return x >= 1 && x < 4 && y >= 1 && y < 3 })
	if !got.Equal(want) {
		t.Errorf("runs %v, want %v", got.Runs, want.Runs)
	}
	// half a pixel to the right: the centre of column 1 lies outside, that of column 4 inside
	moved := square.each(func(q pt) pt { return pt{q.x + 0.6, q.y} })
	got = g.fill(moved, [4]int{0, 0, 6, 4})
	want = mask.FromFunc(6, 4, func(x, y int) bool { return x >= 2 && x < 5 && y >= 1 && y < 3 })
	if !got.Equal(want) {
		t.Errorf("moved: runs %v, want %v", got.Runs, want.Runs)
	}
	// the field cuts
	if got := g.fill(square, [4]int{2, 2, 6, 4}); got.Area() != 2 {
		t.Errorf("in the field: %d pixels, want 2", got.Area())
	}
}

// A filled outline and its cut by columns hold the same pixels as the even-odd rule says.
func TestFillAgainstEvenOdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 9).Draw(t, "n")
		var g polygon
		for range n {
			g = append(g, pt{rapid.Float64Range(-3, 20).Draw(t, "x"), rapid.Float64Range(-3, 20).Draw(t, "y")})
		}
		if touchesCentre(g, 17, 15) {
			t.Skip("an edge through a pixel's centre: the side is a matter of rounding")
		}
		c := &grid{w: 17, h: 15, sx: 1, sy: 1}
		got := c.fill(g, [4]int{0, 0, 17, 15})
		want := mask.FromFunc(17, 15, func(x, y int) bool { return inside(g, float64(x)+0.5, float64(y)+0.5) })
		if !got.Equal(want) {
			t.Fatalf("rows differ from the even-odd rule: %v, want %v", got.Runs, want.Runs)
		}
		area := 0
		c.scanColumns(g, func(_ int, in []interval) {
			for _, v := range in {
				a, b := v.pixels(15)
				area += max(0, b-a)
			}
		})
		if area != want.Area() {
			t.Fatalf("columns hold %d pixels, rows %d", area, want.Area())
		}
	})
}

func touchesCentre(g polygon, w, h int) bool {
	for i, p := range g {
		q := g[(i+1)%len(g)]
		d := q.sub(p)
		for k := range w * h {
			c := pt{float64(k%w) + 0.5, float64(k/w) + 0.5}.sub(p)
			if math.Abs(d.x*c.y-d.y*c.x) < 1e-9*(1+d.length()) {
				return true
			}
		}
	}
	return false
}

func inside(g polygon, x, y float64) bool {
	in := false
	for i, p := range g {
		q := g[(i+1)%len(g)]
		if (p.y > y) != (q.y > y) && x < p.x+(y-p.y)*(q.x-p.x)/(q.y-p.y) {
			in = !in
		}
	}
	return in
}

func TestSetBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(0, 64).Draw(t, "a")
		b := rapid.IntRange(a, 64).Draw(t, "b")
		line := make([]byte, 8)
		setBits(line, a, b)
		for i := range 64 {
			if got, want := line[i/8]>>(7-i%8)&1 == 1, i >= a && i < b; got != want {
				t.Fatalf("bits %d..%d: bit %d is %v", a, b, i, got)
			}
		}
	})
}

func TestBoxBlurKeepsConstantsAndSum(t *testing.T) {
	const w, h = 40, 30
	p := make([]float32, w*h)
	for i := range p {
		p[i] = 2
	}
	p[15*w+20] += 100
	boxBlur(p, w, h, 3)
	sum := 0.0
	for _, v := range p {
		sum += float64(v)
	}
	if math.Abs(sum-(2*w*h+100)) > 0.1 {
		t.Errorf("sum %v, want %v", sum, 2*w*h+100)
	}
	if got := p[15*w+20]; math.Abs(float64(got)-(2+100.0/49)) > 1e-3 {
		t.Errorf("centre %v, want %v", got, 2+100.0/49)
	}
}
