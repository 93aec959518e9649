package phantom

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The library's own functions are the reference: they are good to one unit in the last
// place everywhere.
func TestNumericAgainstLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(-7, 7).Draw(t, "angle")
		near(t, "sine", sine(a), math.Sin(a), 1e-9)
		near(t, "cosine", cosine(a), math.Cos(a), 1e-9)
		v := rapid.Float64Range(-12, 12).Draw(t, "exponent")
		near(t, "exponential", exponential(v)/math.Exp(v), 1, 1e-13)
		x := rapid.Float64Range(1e-4, 1e4).Draw(t, "x")
		near(t, "logarithm", logarithm(x), math.Log(x), 1e-12)
		p := rapid.Float64Range(0.3, 2.5).Draw(t, "p")
		near(t, "power", power(x, p)/math.Pow(x, p), 1, 1e-11)
	})
}

func near(t *rapid.T, what string, got, want, tol float64) {
	if math.Abs(got-want) > tol {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func TestNormalDraws(t *testing.T) {
	s := newStream(1, 2, "test")
	const n = 20000
	sum, square := 0.0, 0.0
	for range n {
		v := s.normal(3, 2)
		sum += v
		square += (v - 3) * (v - 3)
	}
	if m := sum / n; math.Abs(m-3) > 0.05 { // three standard errors are 0.042
		t.Errorf("mean %v, want 3", m)
	}
	if sd := math.Sqrt(square / n); math.Abs(sd-2) > 0.05 {
		t.Errorf("standard deviation %v, want 2", sd)
	}
}

func TestStreamsAreIndependent(t *testing.T) {
	a, b, c := newStream(1, 2, "x"), newStream(1, 2, "y"), newStream(1, 3, "x")
	u, v, w := a.float(), b.float(), c.float()
	if u == v || u == w {
		t.Errorf("streams repeat each other: %v %v %v", u, v, w)
	}
	if got := newStream(1, 2, "x").float(); got != u {
		t.Errorf("same stream gives %v, then %v", u, got)
	}
}

func TestSplinePassesItsKnots(t *testing.T) {
	for _, q := range wallShape {
		if got := wallShape.at(q.x); math.Abs(got-q.y) > 1e-12 {
			t.Errorf("at %v: %v, want %v", q.x, got, q.y)
		}
	}
}
