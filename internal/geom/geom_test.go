package geom

import (
	"math"
	"testing"
)

func TestBox(t *testing.T) {
	b := Box{X0: 2, Y0: 1, X1: 6, Y1: 4}
	if b.Width() != 4 || b.Height() != 3 || b.Area() != 12 {
		t.Errorf("width %d, height %d, area %d", b.Width(), b.Height(), b.Area())
	}
	// (2+6)/2 = 4, (1+4)/2 = 2.5 rounded down.
	if c := b.Centre(); c != (Point{4, 2}) {
		t.Errorf("centre %v", c)
	}
	if c := (Box{X0: -4, X1: 1, Y0: -1, Y1: -2}).Centre(); c != (Point{-2, -2}) {
		t.Errorf("centre of negative indices %v, want rounding down", c)
	}
}

func TestIoU(t *testing.T) {
	a := Box{0, 0, 10, 10}
	for _, c := range []struct {
		name string
		b    Box
		want float64
	}{
		{"same", a, 1},
		{"half", Box{0, 0, 5, 10}, 0.5},
		{"quarter shift", Box{5, 0, 15, 10}, 50.0 / 150},
		{"touching", Box{10, 0, 20, 10}, 0},
		{"apart", Box{30, 30, 40, 40}, 0},
		{"line", Box{5, 0, 5, 10}, 0},
	} {
		if got := a.IoU(c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if got := c.b.IoU(a); got != c.want {
			t.Errorf("%s, swapped: %v, want %v", c.name, got, c.want)
		}
	}
	if got := (Box{1, 1, 1, 1}).IoU(Box{1, 1, 1, 1}); got != 0 {
		t.Errorf("two points: %v", got)
	}
}

func TestAngleAt(t *testing.T) {
	const (
		tol  = 1e-9 // degrees: a few roundings of the cosine
		flat = 2e-6 // near 0 and 180 acos turns a rounding e into sqrt(e)
	)
	for _, c := range []struct {
		a, b      Vec
		want, tol float64
	}{
		{Vec{1, 0}, Vec{0, 1}, 90, tol},
		{Vec{-3, 3}, Vec{3, 3}, 90, tol},
		{Vec{1, 0}, Vec{-2, 0}, 180, flat},
		{Vec{1, 1}, Vec{2, 2}, 0, flat},
		{Vec{-1, math.Sqrt(3)}, Vec{1, math.Sqrt(3)}, 60, tol},
	} {
		got, ok := AngleAt(Vec{5, 7}, Vec{5 + c.a.X, 7 + c.a.Y}, Vec{5 + c.b.X, 7 + c.b.Y})
		if !ok || math.Abs(got-c.want) > c.tol {
			t.Errorf("angle of %v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if _, ok := AngleAt(Vec{1, 1}, Vec{1, 1}, Vec{2, 2}); ok {
		t.Error("angle at a repeated point")
	}
}

func TestFitXOnY(t *testing.T) {
	// x = 3 - 2y exactly.
	l, ok := FitXOnY([]Vec{{3, 0}, {1, 1}, {-1, 2}, {-3, 3}})
	if !ok || l.Slope != -2 || l.Intercept != 3 || l.At(10) != -17 {
		t.Errorf("line %v", l)
	}
	// Residuals +1 -2 +1 about x = 2 on y = 0, 1, 2: slope 0, mean 2.
	if l, ok = FitXOnY([]Vec{{3, 0}, {0, 1}, {3, 2}}); !ok || l.Slope != 0 || l.Intercept != 2 {
		t.Errorf("line %v", l)
	}
	if _, ok = FitXOnY([]Vec{{1, 4}, {2, 4}}); ok {
		t.Error("points of one height have no line")
	}
	if _, ok = FitXOnY([]Vec{{1, 4}}); ok {
		t.Error("one point has no line")
	}
}

func TestChordResidual(t *testing.T) {
	// The chord (0,0)-(6,8) has length 10; the point (0, 5) lies
	// |6*5 - 8*0| / 10 = 3 beside it, the point (3, 4) on it.
	d, ok := ChordResidual([]Vec{{0, 0}, {0, 5}, {3, 4}, {6, 8}})
	if !ok || d != 3 {
		t.Errorf("distance %v, want 3", d)
	}
	if d, ok = ChordResidual([]Vec{{0, 0}, {6, 8}}); !ok || d != 0 {
		t.Errorf("no inner points: %v", d)
	}
	if _, ok = ChordResidual([]Vec{{1, 1}, {5, 5}, {1, 1}}); ok {
		t.Error("a chord without length")
	}
}
