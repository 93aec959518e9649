package geom

import "math"

// Point is a pixel.
type Point struct{ X, Y int }

// Vec is a position or difference with sub-pixel coordinates.
type Vec struct{ X, Y float64 }

// Vec returns the centre of the pixel.
func (p Point) Vec() Vec { return Vec{float64(p.X), float64(p.Y)} }

// Sub returns v - w.
func (v Vec) Sub(w Vec) Vec { return Vec{v.X - w.X, v.Y - w.Y} }

// Box is an upright box given by its first and last pixel column and row, both inside.
type Box struct{ X0, Y0, X1, Y1 int }

// Width is X1 - X0: a difference of indices, not a count of columns.
func (b Box) Width() int { return b.X1 - b.X0 }

// Height is Y1 - Y0: a difference of indices, not a count of rows.
func (b Box) Height() int { return b.Y1 - b.Y0 }

// Area is Width * Height; boxes of one column or row have area 0.
func (b Box) Area() int { return b.Width() * b.Height() }

// Centre returns the middle column and row, rounded down.
func (b Box) Centre() Point { return Point{floorHalf(b.X0 + b.X1), floorHalf(b.Y0 + b.Y1)} }

// IoU returns the intersection over the union of two boxes with areas as in [Box.Area].
//
// Special cases: two boxes without any area give 0.
func (b Box) IoU(o Box) float64 {
	w := min(b.X1, o.X1) - max(b.X0, o.X0)
	h := min(b.Y1, o.Y1) - max(b.Y0, o.Y0)
	inter := 0
	if w > 0 && h > 0 {
		inter = w * h
	}
	union := b.Area() + o.Area() - inter
	if union <= 0 {
		return 0
	}
	return float64(inter) / float64(union)
}

// floorHalf divides by two towards minus infinity.
func floorHalf(v int) int { return v >> 1 }

// Length returns the Euclidean length of v.
func (v Vec) Length() float64 { return math.Sqrt(float64(v.X*v.X) + float64(v.Y*v.Y)) }

// AngleAt returns the angle a-apex-c in degrees, in [0, 180].
//
// Special cases: ok is false when a or c coincides with the apex.
func AngleAt(apex, a, c Vec) (degrees float64, ok bool) {
	u, v := a.Sub(apex), c.Sub(apex)
	n := u.Length() * v.Length()
	if n == 0 {
		return 0, false
	}
	dot := float64(u.X*v.X) + float64(u.Y*v.Y)
	cos := math.Max(-1, math.Min(1, dot/n))
	return float64(math.Acos(cos) * (180 / math.Pi)), true
}
