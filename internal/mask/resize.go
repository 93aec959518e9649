package mask

import "fmt"

// RuleNearest names the resize rule of [NearestIndex] in records.
const RuleNearest = "nearest-float32-floor"

// NearestIndex returns, for every output index d of an axis, the source index
// min(floor(d*s), in-1) with s = float32(in)/float32(out), the product taken in float32.
//
// This is the rule of the published segmentation pipeline in both directions (not the
// half-pixel-centre rule of most image libraries). Source: [official code].
func NearestIndex(in, out int) []int32 {
	table := make([]int32, out)
	s := float32(in) / float32(out)
	for d := range table {
		table[d] = int32(min(int(float32(float32(d)*s)), in-1))
	}
	return table
}

// Resizer maps masks of one grid to another by the nearest rule, on runs throughout.
// It holds index tables only and may be shared between goroutines.
type Resizer struct {
	w, h   int
	outW   int
	outH   int
	colAt  []int32 // colAt[c] = first output column whose source column is >= c
	source []int32 // source row of every output row
	rowAt  []int32 // rowAt[r] = first output row whose source row is >= r
}

// NewResizer prepares the mapping from w x h to outW x outH.
//
// Errors: a size below 1.
func NewResizer(w, h, outW, outH int) (*Resizer, error) {
	if w < 1 || h < 1 || outW < 1 || outH < 1 {
		return nil, fmt.Errorf("mask: resize %dx%d to %dx%d: every side must be at least 1", w, h, outW, outH)
	}
	source := NearestIndex(h, outH)
	return &Resizer{w: w, h: h, outW: outW, outH: outH, colAt: firstAt(NearestIndex(w, outW), w), source: source, rowAt: firstAt(source, h)}, nil
}

// firstAt inverts a non-decreasing index table: entry c is the first d with table[d] >= c.
func firstAt(table []int32, in int) []int32 {
	at := make([]int32, in+1)
	d := 0
	for c := range at {
		for d < len(table) && int(table[d]) < c {
			d++
		}
		at[c] = int32(d)
	}
	return at
}

// Resize maps one mask. Output pixel (x, y) is set exactly when its source pixel is.
//
// Errors: the mask's grid is not the one the resizer was made for.
func (z *Resizer) Resize(m Mask) (Mask, error) {
	if m.W != z.w || m.H != z.h {
		return Mask{}, fmt.Errorf("mask: resize of a %dx%d mask with tables for %dx%d", m.W, m.H, z.w, z.h)
	}
	m = m.Trim()
	if m.rowCount() == 0 {
		return Empty(z.outW, z.outH), nil
	}
	first, end := int(z.rowAt[m.Y0]), int(z.rowAt[m.Y0+m.rowCount()])
	if first == end {
		return Empty(z.outW, z.outH), nil
	}
	out := Mask{W: z.outW, H: z.outH, Y0: first, RowStart: make([]int32, 1, end-first+1)}
	out.Runs = make([]Run, 0, z.runCount(m))
	prev := int32(-1)
	var from int
	for y := first; y < end; y++ {
		if src := z.source[y]; src == prev {
			out.Runs = append(out.Runs, out.Runs[from:]...)
			from = int(out.RowStart[len(out.RowStart)-1])
		} else {
			prev, from = src, len(out.Runs)
			out.Runs = z.mapRow(out.Runs, m.Row(int(src)))
		}
		out.RowStart = append(out.RowStart, int32(len(out.Runs)))
	}
	return out.Trim(), nil
}

// runCount bounds the number of output runs.
func (z *Resizer) runCount(m Mask) int {
	n := 0
	for i := range m.rowCount() {
		y := m.Y0 + i
		n += int(m.RowStart[i+1]-m.RowStart[i]) * int(z.rowAt[y+1]-z.rowAt[y])
	}
	return n
}

// mapRow appends the runs of one source row in output columns. Runs that vanish when
// shrinking are dropped and runs whose gap vanishes are joined.
func (z *Resizer) mapRow(dst []Run, row []Run) []Run {
	start := len(dst)
	for _, r := range row {
		x0, x1 := z.colAt[r.X0], z.colAt[r.X1]
		if x0 >= x1 {
			continue
		}
		if n := len(dst); n > start && dst[n-1].X1 == x0 {
			dst[n-1].X1 = x1
			continue
		}
		dst = append(dst, Run{x0, x1})
	}
	return dst
}
