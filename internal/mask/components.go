package mask

import (
	"slices"

	"cxrepro/internal/geom"
)

// Components is the division of a mask into its 4-connected parts, numbered 0, 1, ...
// in raster order of their first pixel.
type Components struct {
	m     Mask
	label []int32 // component of every run, in raster order of the runs
	parts []part
}

// part is what is known of one component without building its mask.
type part struct {
	area int
	box  geom.Box
}

// Components divides the mask.
func (m Mask) Components() *Components {
	m = m.Trim()
	runs := m.runs()
	c := &Components{m: m}
	if len(runs) == 0 {
		return c
	}
	parent := make([]int32, len(runs))
	for i := range parent {
		parent[i] = int32(i)
	}
	base := m.RowStart[0]
	for i := 1; i < m.rowCount(); i++ {
		joinRows(parent, runs, int(m.RowStart[i-1]-base), int(m.RowStart[i]-base), int(m.RowStart[i+1]-base))
	}
	c.number(parent, runs)
	return c
}

// joinRows unites the runs of row [mid, end) with those of the row above, [start, mid),
// that they touch. The smaller run number stays the root, so that a root is the run
// with the component's first pixel.
func joinRows(parent []int32, runs []Run, start, mid, end int) {
	a, b := start, mid
	for a < mid && b < end {
		if runs[a].X0 < runs[b].X1 && runs[b].X0 < runs[a].X1 {
			ra, rb := find(parent, int32(a)), find(parent, int32(b))
			if ra < rb {
				parent[rb] = ra
			} else if rb < ra {
				parent[ra] = rb
			}
		}
		if runs[a].X1 < runs[b].X1 {
			a++
		} else {
			b++
		}
	}
}

func find(parent []int32, i int32) int32 {
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// number turns roots into component numbers and collects area and box of each.
func (c *Components) number(parent []int32, runs []Run) {
	c.label = make([]int32, len(runs))
	k := 0
	for i := range c.m.rowCount() {
		y := c.m.Y0 + i
		for range c.m.RowStart[i+1] - c.m.RowStart[i] {
			r := runs[k]
			root := find(parent, int32(k))
			if int(root) == k {
				c.label[k] = int32(len(c.parts))
				c.parts = append(c.parts, part{box: geom.Box{X0: int(r.X0), Y0: y, X1: int(r.X1) - 1, Y1: y}})
			} else {
				c.label[k] = c.label[root]
			}
			p := &c.parts[c.label[k]]
			p.area += int(r.X1 - r.X0)
			p.box.X0 = min(p.box.X0, int(r.X0))
			p.box.X1 = max(p.box.X1, int(r.X1)-1)
			p.box.Y1 = y
			k++
		}
	}
}

// Len returns the number of components.
func (c *Components) Len() int { return len(c.parts) }

// Area returns the number of pixels of component i.
func (c *Components) Area(i int) int { return c.parts[i].area }

// Box returns the bounding box of component i.
func (c *Components) Box(i int) geom.Box { return c.parts[i].box }

// Mask returns component i alone.
func (c *Components) Mask(i int) Mask {
	return c.Select(func(k int) bool { return k == i })
}

// Select returns the union of the components for which keep reports true.
func (c *Components) Select(keep func(i int) bool) Mask {
	kept := make([]bool, len(c.parts))
	all, rows, last := true, c.m.H, 0
	for i := range kept {
		kept[i] = keep(i)
		all = all && kept[i]
		if kept[i] {
			rows, last = min(rows, c.parts[i].box.Y0), max(last, c.parts[i].box.Y1)
		}
	}
	if all {
		return c.m
	}
	b := NewBuilder(c.m.W, c.m.H)
	var row []Run
	for y := rows; y <= last; y++ {
		at := int(c.m.RowStart[y-c.m.Y0] - c.m.RowStart[0])
		row = row[:0]
		for k, r := range c.m.Row(y) {
			if kept[c.label[at+k]] {
				row = append(row, r)
			}
		}
		b.addRow(y, row)
	}
	return b.Mask()
}

// At returns the number of the component that holds pixel (x, y); ok is false when the
// pixel is not set.
func (c *Components) At(x, y int) (i int, ok bool) {
	row := c.m.Row(y)
	k := firstEndingAfter(row, int32(x))
	if k == len(row) || row[k].X0 > int32(x) {
		return 0, false
	}
	return int(c.label[int(c.m.RowStart[y-c.m.Y0]-c.m.RowStart[0])+k]), true
}

// largest returns the component with the largest size; the lowest number wins ties.
func (c *Components) largest(size func(p part) int) Mask {
	if len(c.parts) == 0 {
		return c.m
	}
	best := 0
	for i, p := range c.parts {
		if size(p) > size(c.parts[best]) {
			best = i
		}
	}
	return c.Mask(best)
}

// Largest returns the component with the most pixels; empty in, empty out.
func (m Mask) Largest() Mask {
	return m.Components().largest(func(p part) int { return p.area })
}

// Widest returns the component with the largest horizontal extent; empty in, empty out.
func (m Mask) Widest() Mask {
	return m.Components().largest(func(p part) int { return p.box.Width() })
}

// Tallest returns the component with the largest vertical extent; empty in, empty out.
func (m Mask) Tallest() Mask {
	return m.Components().largest(func(p part) int { return p.box.Height() })
}

// Touching returns the components that have a pixel in columns x0..x1, both inside.
func (m Mask) Touching(x0, x1 int) Mask {
	if x0 > x1 {
		return Empty(m.W, m.H)
	}
	c := m.Components()
	hit := make([]bool, c.Len())
	for k, r := range c.m.runs() {
		if int(r.X0) <= x1 && int(r.X1) > x0 {
			hit[c.label[k]] = true
		}
	}
	if !slices.Contains(hit, true) {
		return Empty(m.W, m.H)
	}
	return c.Select(func(i int) bool { return hit[i] })
}
