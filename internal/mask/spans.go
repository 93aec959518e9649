package mask

// Span returns the first and last set column of row y; ok is false when the row is
// empty. Holes inside the row do not matter.
func (m Mask) Span(y int) (x0, x1 int, ok bool) {
	row := m.Row(y)
	if len(row) == 0 {
		return 0, 0, false
	}
	return int(row[0].X0), int(row[len(row)-1].X1) - 1, true
}

// RowArea returns the number of set pixels of row y.
func (m Mask) RowArea(y int) int {
	n := 0
	for _, r := range m.Row(y) {
		n += int(r.X1 - r.X0)
	}
	return n
}

// MiddleOfRow returns element n div 2 of the n set columns of row y, in ascending
// order; ok is false when the row is empty.
func (m Mask) MiddleOfRow(y int) (x int, ok bool) { return middle(m.Row(y)) }

// Column returns the vertical runs of column x, top to bottom: Run holds rows here,
// X0 up to, not including, X1.
func (m Mask) Column(x int) []Run {
	var col []Run
	for i := range m.rowCount() {
		y := int32(m.Y0 + i)
		if !m.At(x, int(y)) {
			continue
		}
		if n := len(col); n > 0 && col[n-1].X1 == y {
			col[n-1].X1++
		} else {
			col = append(col, Run{y, y + 1})
		}
	}
	return col
}

// MiddleOfColumn returns element n div 2 of the n set rows of column x, in ascending
// order; ok is false when the column is empty.
func (m Mask) MiddleOfColumn(x int) (y int, ok bool) { return middle(m.Column(x)) }

// ColumnBounds returns the first and last set row of column x; ok is false when the
// column is empty.
func (m Mask) ColumnBounds(x int) (y0, y1 int, ok bool) {
	n := m.rowCount()
	i, j := 0, n-1
	for i < n && !m.At(x, m.Y0+i) {
		i++
	}
	if i == n {
		return 0, 0, false
	}
	for !m.At(x, m.Y0+j) {
		j--
	}
	return m.Y0 + i, m.Y0 + j, true
}

// middle returns position n div 2 of the n positions that the runs cover.
func middle(runs []Run) (int, bool) {
	n := int32(0)
	for _, r := range runs {
		n += r.X1 - r.X0
	}
	if n == 0 {
		return 0, false
	}
	k := n / 2
	for _, r := range runs {
		if d := r.X1 - r.X0; k >= d {
			k -= d
			continue
		}
		return int(r.X0 + k), true
	}
	return 0, false
}
