package mask

import "fmt"

// Transpose returns the mask mirrored at the diagonal: pixel (x, y) becomes (y, x).
// Column-major run lengths of m are row-major run lengths of its transpose.
func (m Mask) Transpose() Mask {
	t := Mask{W: m.H, H: m.W}
	if m.IsEmpty() {
		return t
	}
	events := m.columnEvents()
	b := NewBuilder(t.W, t.H)
	col := make([]Run, 0, 8) // runs of the column at hand, as rows
	var next []Run
	for x := 0; x < m.W; x++ {
		toggled := events.at(x)
		if len(toggled) > 0 {
			next = toggle(next[:0], col, toggled)
			col, next = next, col
		}
		b.addRow(x, col)
	}
	return b.Mask()
}

// columnEvents holds, for every column x, the rows where pixel (x, y) differs from
// (x-1, y), ascending.
type columnEvents struct {
	start []int32
	rows  []int32
}

func (e *columnEvents) at(x int) []int32 { return e.rows[e.start[x]:e.start[x+1]] }

// columnEvents sorts the run ends by column with one counting pass; rows stay in order
// because runs come in raster order.
func (m Mask) columnEvents() *columnEvents {
	e := &columnEvents{start: make([]int32, m.W+2), rows: make([]int32, 2*m.RunCount())}
	for _, r := range m.runs() {
		e.start[r.X0+1]++
		e.start[r.X1+1]++
	}
	for x := 1; x < len(e.start); x++ {
		e.start[x] += e.start[x-1]
	}
	fill := make([]int32, m.W+1)
	copy(fill, e.start)
	for i := range m.rowCount() {
		for _, r := range m.Row(m.Y0 + i) {
			e.rows[fill[r.X0]] = int32(m.Y0 + i)
			fill[r.X0]++
			e.rows[fill[r.X1]] = int32(m.Y0 + i)
			fill[r.X1]++
		}
	}
	return e
}

// toggle appends to dst the runs of col with the given ascending rows flipped.
func toggle(dst []Run, col []Run, rows []int32) []Run {
	// Walk both boundary lists: a set's boundaries after flipping single rows are the
	// symmetric difference of the boundaries of the set and of the flipped rows.
	open := int32(-1)
	emit := func(p int32) {
		if open < 0 {
			open = p
			return
		}
		dst = append(dst, Run{open, p})
		open = -1
	}
	ci, ri := 0, 0 // boundary counters: 2 per run, 2 per flipped row
	for ci < 2*len(col) || ri < 2*len(rows) {
		switch {
		case ri == 2*len(rows) || (ci < 2*len(col) && runBound(col, ci) < rowBound(rows, ri)):
			emit(runBound(col, ci))
			ci++
		case ci == 2*len(col) || rowBound(rows, ri) < runBound(col, ci):
			emit(rowBound(rows, ri))
			ri++
		default: // both change here: they cancel
			ci++
			ri++
		}
		// Two flipped rows in sequence share a boundary, which cancels too.
		for ri > 0 && ri+1 < 2*len(rows) && ri%2 == 1 && rowBound(rows, ri) == rowBound(rows, ri+1) {
			ri += 2
		}
	}
	return dst
}

func runBound(col []Run, i int) int32 {
	if i%2 == 0 {
		return col[i/2].X0
	}
	return col[i/2].X1
}

func rowBound(rows []int32, i int) int32 { return rows[i/2] + int32(i%2) }

// Counts returns COCO's uncompressed run lengths: column by column, alternating unset
// and set, starting with the number of unset pixels (0 when the first pixel is set).
// They sum to W*H.
func (m Mask) Counts() []int {
	t := m.Transpose()
	var counts []int
	pos := 0   // position up to which counts reach
	end := -1  // end of an open set run
	open := -1 // start of it
	flush := func() {
		if open < 0 {
			return
		}
		counts = append(counts, open-pos, end-open)
		pos = end
		open = -1
	}
	for i := range t.rowCount() {
		base := (t.Y0 + i) * t.W
		for _, r := range t.Row(t.Y0 + i) {
			x0, x1 := base+int(r.X0), base+int(r.X1)
			if x0 != end {
				flush()
				open = x0
			}
			end = x1
		}
	}
	flush()
	if pos < m.W*m.H || len(counts) == 0 {
		counts = append(counts, m.W*m.H-pos)
	}
	return counts
}

// FromCounts reads COCO's uncompressed run lengths of a w x h picture.
//
// Errors: a negative count, or counts that do not sum to w*h.
func FromCounts(w, h int, counts []int) (Mask, error) {
	if w < 0 || h < 0 {
		return Mask{}, fmt.Errorf("mask: counts for size %dx%d", w, h)
	}
	total := 0
	for i, c := range counts {
		if c < 0 || c > w*h-total {
			return Mask{}, fmt.Errorf("mask: count %d is %d, which leaves the range of %dx%d = %d pixels", i, c, w, h, w*h)
		}
		total += c
	}
	if total != w*h {
		return Mask{}, fmt.Errorf("mask: counts sum to %d, want %dx%d = %d", total, w, h, w*h)
	}
	b := NewBuilder(h, w)
	pos := 0
	for i, c := range counts {
		if i%2 == 1 {
			addColumns(b, h, pos, pos+c)
		}
		pos += c
	}
	return b.Mask().Transpose(), nil
}

// addColumns adds positions p0 up to p1 of a scan whose lines have length n.
func addColumns(b *Builder, n, p0, p1 int) {
	for p0 < p1 {
		line := p0 / n
		end := min(p1, (line+1)*n)
		b.Add(line, p0-line*n, end-line*n)
		p0 = end
	}
}
