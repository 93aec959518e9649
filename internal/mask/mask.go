package mask

import (
	"fmt"
	"sort"

	"cxrepro/internal/geom"
)

// Run is a maximal row of set pixels: columns X0 up to, not including, X1.
type Run struct{ X0, X1 int32 }

// Mask is an immutable set of pixels on a W x H grid.
//
// The zero value is an empty mask on an empty grid. RowStart covers the rows Y0,
// Y0+1, ..., one entry each plus a final one: the runs of row Y0+i are
// Runs[RowStart[i]:RowStart[i+1]]. Rows outside are empty. The fields are exported for
// encoders and hot loops; writing to them is a mistake, build with [Builder] instead.
type Mask struct {
	W, H     int
	Y0       int
	RowStart []int32
	Runs     []Run
}

// Empty returns the mask without pixels on a w x h grid.
func Empty(w, h int) Mask { return Mask{W: w, H: h} }

// rowCount is the number of rows that RowStart covers.
func (m Mask) rowCount() int { return max(0, len(m.RowStart)-1) }

// Row returns the runs of row y; nil when it has none or lies outside.
func (m Mask) Row(y int) []Run {
	i := y - m.Y0
	if i < 0 || i >= len(m.RowStart)-1 {
		return nil
	}
	return m.Runs[m.RowStart[i]:m.RowStart[i+1]]
}

// IsEmpty reports whether no pixel is set.
func (m Mask) IsEmpty() bool {
	n := m.rowCount()
	return n == 0 || m.RowStart[0] == m.RowStart[n]
}

// runs returns the runs of all rows in raster order.
func (m Mask) runs() []Run {
	n := m.rowCount()
	if n == 0 {
		return nil
	}
	return m.Runs[m.RowStart[0]:m.RowStart[n]]
}

// Area returns the number of set pixels.
func (m Mask) Area() int {
	n := 0
	for _, r := range m.runs() {
		n += int(r.X1 - r.X0)
	}
	return n
}

// RunCount returns the number of runs.
func (m Mask) RunCount() int { return len(m.runs()) }

// At reports whether pixel (x, y) is set; positions outside the grid are not.
func (m Mask) At(x, y int) bool {
	_, ok := m.RunAt(x, y)
	return ok
}

// RunAt returns the run of row y that holds column x; ok is false when (x, y) is not set.
func (m Mask) RunAt(x, y int) (r Run, ok bool) {
	row := m.Row(y)
	i := firstEndingAfter(row, int32(x))
	if i < len(row) && row[i].X0 <= int32(x) {
		return row[i], true
	}
	return Run{}, false
}

// firstEndingAfter returns the index of the first run with X1 > x.
func firstEndingAfter(row []Run, x int32) int {
	if len(row) <= 8 {
		for i, r := range row {
			if r.X1 > x {
				return i
			}
		}
		return len(row)
	}
	return sort.Search(len(row), func(i int) bool { return row[i].X1 > x })
}

// RowBounds returns the first and last row with a set pixel; ok is false when empty.
func (m Mask) RowBounds() (y0, y1 int, ok bool) {
	t := m.Trim()
	if len(t.RowStart) == 0 {
		return 0, 0, false
	}
	return t.Y0, t.Y0 + t.rowCount() - 1, true
}

// Trim returns the same pixels with empty rows cut from both ends of the storage, the
// canonical form for comparing and encoding. It shares storage with m.
func (m Mask) Trim() Mask {
	if m.IsEmpty() {
		return Empty(m.W, m.H)
	}
	a, b := 0, m.rowCount()
	for m.RowStart[a] == m.RowStart[a+1] {
		a++
	}
	for m.RowStart[b] == m.RowStart[b-1] {
		b--
	}
	return Mask{W: m.W, H: m.H, Y0: m.Y0 + a, RowStart: m.RowStart[a : b+1], Runs: m.Runs}
}

// Box returns the bounding box; ok is false when the mask is empty.
func (m Mask) Box() (b geom.Box, ok bool) {
	y0, y1, ok := m.RowBounds()
	if !ok {
		return geom.Box{}, false
	}
	x0, x1 := int32(m.W), int32(0)
	for _, r := range m.runs() {
		x0, x1 = min(x0, r.X0), max(x1, r.X1)
	}
	return geom.Box{X0: int(x0), Y0: y0, X1: int(x1) - 1, Y1: y1}, true
}

// Centroid returns the mean x and mean y of the set pixels; ok is false when empty.
//
// The sums are exact integers, so the result does not depend on any order.
func (m Mask) Centroid() (c geom.Vec, ok bool) {
	var n, sx, sy int64
	for i := range m.rowCount() {
		var rowN int64
		for _, r := range m.Runs[m.RowStart[i]:m.RowStart[i+1]] {
			k := int64(r.X1 - r.X0)
			rowN += k
			sx += k * int64(r.X0+r.X1-1)
		}
		n += rowN
		sy += rowN * int64(m.Y0+i)
	}
	if n == 0 {
		return geom.Vec{}, false
	}
	return geom.Vec{X: float64(sx) / float64(2*n), Y: float64(sy) / float64(n)}, true
}

// Equal reports whether both masks have the same grid and the same pixels.
func (m Mask) Equal(o Mask) bool {
	if m.W != o.W || m.H != o.H {
		return false
	}
	a, b := m.Trim(), o.Trim()
	if a.Y0 != b.Y0 || len(a.RowStart) != len(b.RowStart) || a.RunCount() != b.RunCount() {
		return false
	}
	for i := 0; i+1 < len(a.RowStart); i++ {
		if a.RowStart[i+1]-a.RowStart[i] != b.RowStart[i+1]-b.RowStart[i] {
			return false
		}
	}
	br := b.runs()
	for i, r := range a.runs() {
		if r != br[i] {
			return false
		}
	}
	return true
}

// Validate checks every invariant of a mask whose fields came from elsewhere: rows
// inside the grid, ordered offsets, and runs that are non-empty, ordered, separated by
// at least one unset pixel and inside the row.
func (m Mask) Validate() error {
	if m.W < 0 || m.H < 0 {
		return fmt.Errorf("mask: negative size %dx%d", m.W, m.H)
	}
	if len(m.RowStart) == 0 {
		if len(m.Runs) != 0 {
			return fmt.Errorf("mask: %d runs but no rows", len(m.Runs))
		}
		return nil
	}
	if m.Y0 < 0 || m.Y0+m.rowCount() > m.H {
		return fmt.Errorf("mask: rows %d..%d outside height %d", m.Y0, m.Y0+m.rowCount()-1, m.H)
	}
	if m.RowStart[0] < 0 || int(m.RowStart[m.rowCount()]) > len(m.Runs) {
		return fmt.Errorf("mask: row offsets outside the %d runs", len(m.Runs))
	}
	for i := range m.rowCount() {
		if m.RowStart[i+1] < m.RowStart[i] || int(m.RowStart[i+1]) > len(m.Runs) {
			return fmt.Errorf("mask: row %d has a decreasing offset", m.Y0+i)
		}
		last := int32(-1)
		for _, r := range m.Row(m.Y0 + i) {
			if r.X0 <= last || r.X1 <= r.X0 || int(r.X1) > m.W {
				return fmt.Errorf("mask: row %d: run [%d, %d) is empty, out of order, touching or outside width %d", m.Y0+i, r.X0, r.X1, m.W)
			}
			last = r.X1
		}
	}
	return nil
}

func sameGrid(a, b Mask) {
	if a.W != b.W || a.H != b.H {
		panic(fmt.Sprintf("mask: set operation on grids %dx%d and %dx%d", a.W, a.H, b.W, b.H))
	}
}
