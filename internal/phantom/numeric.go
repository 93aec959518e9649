package phantom

import "math"

// The functions here give the same bits on every machine: the standard library's
// versions may use other instructions on other processors. Products that feed a sum
// carry an explicit conversion, which forbids fused multiply-add.

const (
	pi      = 3.14159265358979323846
	radians = pi / 180
	ln2     = 0.69314718055994530942
)

// sine returns the sine of a (radians) for |a| <= 8 with an error below 1e-9.
func sine(a float64) float64 {
	for a > pi {
		a -= 2 * pi
	}
	for a < -pi {
		a += 2 * pi
	}
	if a > pi/2 {
		a = pi - a
	} else if a < -pi/2 {
		a = -pi - a
	}
	q := float64(a * a)
	term, sum := a, a
	for k := 2; k <= 16; k += 2 {
		term = float64(-term*q) / float64(k*(k+1))
		sum += term
	}
	return sum
}

// cosine returns the cosine of a (radians), as sine.
func cosine(a float64) float64 { return sine(a + pi/2) }

// tangent returns the tangent of a (radians) for |a| < pi/2.
func tangent(a float64) float64 { return sine(a) / cosine(a) }

// exponential returns e^v for |v| <= 40.
func exponential(v float64) float64 {
	k := math.Floor(v/ln2 + 0.5)
	r := v - float64(k*ln2)
	term, sum := 1.0, 1.0
	for i := 1; i <= 14; i++ {
		term = float64(term*r) / float64(i)
		sum += term
	}
	return math.Ldexp(sum, int(k))
}

// logarithm returns ln v for v > 0 by Newton steps on exponential.
func logarithm(v float64) float64 {
	frac, exp := math.Frexp(v)
	x := float64(float64(exp)*ln2) + (frac - 1)
	for range 6 {
		e := exponential(-x)
		x += float64(v*e) - 1
		if v*e == 1 {
			break
		}
	}
	return x
}

// power returns v^p for v >= 0.
func power(v, p float64) float64 {
	if v <= 0 {
		return 0
	}
	return exponential(float64(p * logarithm(v)))
}

func lerp(a, b, t float64) float64 { return a + float64((b-a)*t) }

// smooth is the cubic step: 0 at or below lo, 1 at or above hi.
func smooth(v, lo, hi float64) float64 {
	t := clamp((v-lo)/(hi-lo), 0, 1)
	return float64(float64(t*t) * (3 - 2*t))
}

// table is a piecewise linear function given by knots of increasing x.
type table []pt

func (t table) at(x float64) float64 {
	if x <= t[0].x {
		return t[0].y
	}
	for i := 1; i < len(t); i++ {
		if x <= t[i].x {
			return lerp(t[i-1].y, t[i].y, (x-t[i-1].x)/(t[i].x-t[i-1].x))
		}
	}
	return t[len(t)-1].y
}

// spline is a smooth function through knots of increasing x (cubic Hermite, slopes by
// central differences), linear beyond the ends.
type spline []pt

func (s spline) slope(i int) float64 {
	j, k := max(i-1, 0), min(i+1, len(s)-1)
	return (s[k].y - s[j].y) / (s[k].x - s[j].x)
}

func (s spline) at(x float64) float64 {
	n := len(s)
	if x <= s[0].x {
		return s[0].y + float64(s.slope(0)*(x-s[0].x))
	}
	if x >= s[n-1].x {
		return s[n-1].y + float64(s.slope(n-1)*(x-s[n-1].x))
	}
	i := 1
	for x > s[i].x {
		i++
	}
	h := s[i].x - s[i-1].x
	t := (x - s[i-1].x) / h
	t2 := float64(t * t)
	t3 := float64(t2 * t)
	h00 := float64(2*t3) - float64(3*t2) + 1
	h10 := t3 - float64(2*t2) + t
	h01 := float64(3*t2) - float64(2*t3)
	h11 := t3 - t2
	return float64(h00*s[i-1].y) + float64(float64(h10*h)*s.slope(i-1)) + float64(h01*s[i].y) + float64(float64(h11*h)*s.slope(i))
}
