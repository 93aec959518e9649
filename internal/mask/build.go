package mask

import "fmt"

// Builder collects runs in raster order into a [Mask].
//
// Rows must not go back and, within a row, runs must not start before the end of the
// one before; touching runs are joined and empty ones dropped. Breaking the order or
// leaving the grid is a programming error and panics. A Builder must not be used after
// [Builder.Mask].
type Builder struct {
	m Mask
	y int // row being filled
}

// NewBuilder starts an empty mask on a w x h grid.
func NewBuilder(w, h int) *Builder { return &Builder{m: Mask{W: w, H: h}} }

// Reserve makes room for the given numbers of rows and runs; a hint, never needed.
func (b *Builder) Reserve(rows, runs int) {
	if b.m.RowStart == nil {
		b.m.RowStart = make([]int32, 0, rows+1)
		b.m.Runs = make([]Run, 0, runs)
	}
}

// Add sets columns x0 up to, not including, x1 of row y.
func (b *Builder) Add(y, x0, x1 int) {
	if x0 >= x1 {
		return
	}
	if y < 0 || y >= b.m.H || x0 < 0 || x1 > b.m.W {
		panic(fmt.Sprintf("mask: run [%d, %d) of row %d outside %dx%d", x0, x1, y, b.m.W, b.m.H))
	}
	b.row(y)
	if n := len(b.m.Runs); n > int(b.m.RowStart[len(b.m.RowStart)-1]) {
		last := &b.m.Runs[n-1]
		if int32(x0) < last.X1 {
			panic(fmt.Sprintf("mask: run [%d, %d) of row %d before the end %d of the last one", x0, x1, y, last.X1))
		}
		if int32(x0) == last.X1 {
			last.X1 = int32(x1)
			return
		}
	}
	b.m.Runs = append(b.m.Runs, Run{int32(x0), int32(x1)})
}

// row moves on to row y; RowStart then ends with the start of that row.
func (b *Builder) row(y int) {
	if len(b.m.RowStart) == 0 {
		b.m.Y0, b.y = y, y
		b.m.RowStart = append(b.m.RowStart, 0)
		return
	}
	if y < b.y {
		panic(fmt.Sprintf("mask: row %d after row %d", y, b.y))
	}
	for ; b.y < y; b.y++ {
		b.m.RowStart = append(b.m.RowStart, int32(len(b.m.Runs)))
	}
}

// addRow appends a whole canonical row; the caller guarantees order and range.
func (b *Builder) addRow(y int, row []Run) {
	if len(row) == 0 {
		return
	}
	b.row(y)
	b.m.Runs = append(b.m.Runs, row...)
}

// Mask returns what was collected.
func (b *Builder) Mask() Mask {
	if len(b.m.RowStart) == 0 {
		return Empty(b.m.W, b.m.H)
	}
	b.m.RowStart = append(b.m.RowStart, int32(len(b.m.Runs)))
	return b.m
}

// FromFunc returns the mask of the pixels for which set reports true.
func FromFunc(w, h int, set func(x, y int) bool) Mask {
	b := NewBuilder(w, h)
	for y := range h {
		for x := 0; x < w; x++ {
			if !set(x, y) {
				continue
			}
			x0 := x
			for x < w && set(x, y) {
				x++
			}
			b.Add(y, x0, x)
		}
	}
	return b.Mask()
}

// FromDense returns the mask of the non-zero bytes of a row-major plane of w*h bytes.
//
// Errors: the plane's length is not w*h.
func FromDense(w, h int, plane []uint8) (Mask, error) {
	if w < 0 || h < 0 || len(plane) != w*h {
		return Mask{}, fmt.Errorf("mask: plane of %d bytes for size %dx%d", len(plane), w, h)
	}
	return FromFunc(w, h, func(x, y int) bool { return plane[y*w+x] != 0 }), nil
}

// Dense returns the mask as a row-major plane of W*H bytes, 1 where set.
func (m Mask) Dense() []uint8 {
	plane := make([]uint8, m.W*m.H)
	for i := range m.rowCount() {
		base := (m.Y0 + i) * m.W
		for _, r := range m.Runs[m.RowStart[i]:m.RowStart[i+1]] {
			for x := r.X0; x < r.X1; x++ {
				plane[base+int(x)] = 1
			}
		}
	}
	return plane
}
