package mask

// And returns the pixels set in both masks.
func (m Mask) And(o Mask) Mask {
	sameGrid(m, o)
	b := NewBuilder(m.W, m.H)
	y0 := max(m.Y0, o.Y0)
	y1 := min(m.Y0+m.rowCount(), o.Y0+o.rowCount())
	if y1 > y0 {
		b.Reserve(y1-y0, min(m.RunCount(), o.RunCount()))
	}
	var row []Run
	for y := y0; y < y1; y++ {
		row = andRow(row[:0], m.Row(y), o.Row(y))
		b.addRow(y, row)
	}
	return b.Mask()
}

// Or returns the pixels set in either mask.
func (m Mask) Or(o Mask) Mask {
	sameGrid(m, o)
	if m.IsEmpty() {
		return o
	}
	if o.IsEmpty() {
		return m
	}
	b := NewBuilder(m.W, m.H)
	y0 := min(m.Y0, o.Y0)
	y1 := max(m.Y0+m.rowCount(), o.Y0+o.rowCount())
	b.Reserve(y1-y0, m.RunCount()+o.RunCount())
	var row []Run
	for y := y0; y < y1; y++ {
		row = orRow(row[:0], m.Row(y), o.Row(y))
		b.addRow(y, row)
	}
	return b.Mask()
}

// AndNot returns the pixels set in m and not in o.
func (m Mask) AndNot(o Mask) Mask {
	sameGrid(m, o)
	if m.IsEmpty() || o.IsEmpty() {
		return m
	}
	b := NewBuilder(m.W, m.H)
	b.Reserve(m.rowCount(), m.RunCount()+o.RunCount())
	var row []Run
	for i := range m.rowCount() {
		y := m.Y0 + i
		row = andNotRow(row[:0], m.Row(y), o.Row(y))
		b.addRow(y, row)
	}
	return b.Mask()
}

func andRow(dst, a, b []Run) []Run {
	for len(a) > 0 && len(b) > 0 {
		x0, x1 := max(a[0].X0, b[0].X0), min(a[0].X1, b[0].X1)
		if x0 < x1 {
			dst = append(dst, Run{x0, x1})
		}
		if a[0].X1 < b[0].X1 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return dst
}

func orRow(dst, a, b []Run) []Run {
	for len(a) > 0 || len(b) > 0 {
		var r Run
		if len(b) == 0 || (len(a) > 0 && a[0].X0 <= b[0].X0) {
			r, a = a[0], a[1:]
		} else {
			r, b = b[0], b[1:]
		}
		if n := len(dst); n > 0 && r.X0 <= dst[n-1].X1 {
			dst[n-1].X1 = max(dst[n-1].X1, r.X1)
		} else {
			dst = append(dst, r)
		}
	}
	return dst
}

func andNotRow(dst, a, b []Run) []Run {
	for _, r := range a {
		for len(b) > 0 && b[0].X1 <= r.X0 {
			b = b[1:]
		}
		x := r.X0
		for k := 0; k < len(b) && b[k].X0 < r.X1; k++ {
			if x < b[k].X0 {
				dst = append(dst, Run{x, b[k].X0})
			}
			x = max(x, b[k].X1)
		}
		if x < r.X1 {
			dst = append(dst, Run{x, r.X1})
		}
	}
	return dst
}

// AndArea returns the number of pixels set in both masks, without building anything.
func (m Mask) AndArea(o Mask) int {
	sameGrid(m, o)
	n := 0
	for y := max(m.Y0, o.Y0); y < min(m.Y0+m.rowCount(), o.Y0+o.rowCount()); y++ {
		a, b := m.Row(y), o.Row(y)
		for len(a) > 0 && len(b) > 0 {
			if d := min(a[0].X1, b[0].X1) - max(a[0].X0, b[0].X0); d > 0 {
				n += int(d)
			}
			if a[0].X1 < b[0].X1 {
				a = a[1:]
			} else {
				b = b[1:]
			}
		}
	}
	return n
}

// Rows returns the pixels of rows y0..y1, both inside. It is a view: no copy is made.
func (m Mask) Rows(y0, y1 int) Mask {
	a := max(y0-m.Y0, 0)
	b := min(y1-m.Y0+1, m.rowCount())
	if a >= b {
		return Empty(m.W, m.H)
	}
	return Mask{W: m.W, H: m.H, Y0: m.Y0 + a, RowStart: m.RowStart[a : b+1], Runs: m.Runs}
}

// Columns returns the pixels of columns x0..x1, both inside.
func (m Mask) Columns(x0, x1 int) Mask {
	lo, hi := int32(max(x0, 0)), int32(min(x1, m.W-1))+1
	b := NewBuilder(m.W, m.H)
	if lo >= hi {
		return b.Mask()
	}
	b.Reserve(m.rowCount(), m.RunCount())
	var row []Run
	for i := range m.rowCount() {
		row = row[:0]
		for _, r := range m.Row(m.Y0 + i) {
			if c := (Run{max(r.X0, lo), min(r.X1, hi)}); c.X0 < c.X1 {
				row = append(row, c)
			}
		}
		b.addRow(m.Y0+i, row)
	}
	return b.Mask()
}

// IntersectRows returns the runs set in both rows, in a new slice.
func IntersectRows(a, b []Run) []Run { return andRow(nil, a, b) }
