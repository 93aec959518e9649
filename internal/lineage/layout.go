package lineage

import (
	"cmp"
	"slices"
)

// box is a group, or a point on the way of an edge that passes a rank (group < 0).
type box struct {
	group      int
	w, h       float64
	x, y       float64 // centre
	rank, slot int
	above      []int // boxes one rank higher that it is joined to
	below      []int
}

// drawing is a layered drawing: what depends is above what it depends on.
type drawing struct {
	boxes []box
	ranks [][]int
	// paths are the boxes that each edge passes, its ends included.
	paths  [][]int
	edges  []GroupEdge
	width  float64
	height float64
}

const (
	gapX = 28
	gapY = 64
	// pass is the room that an edge takes in a rank that it passes.
	pass = 14
)

// layOut gives every group a place. Ranks are longest ways from the top; the order within a rank
// follows the middle of what a box is joined to, swept down and up a few times.
func layOut(sizes [][2]float64, edges []GroupEdge) *drawing {
	d := &drawing{}
	rank := ranks(len(sizes), edges)
	for i, s := range sizes {
		d.boxes = append(d.boxes, box{group: i, w: s[0], h: s[1], rank: rank[i]})
	}
	for _, e := range edges {
		if rank[e.From] == rank[e.To] {
			continue
		}
		d.route(e)
	}
	for i := range d.boxes {
		for len(d.ranks) <= d.boxes[i].rank {
			d.ranks = append(d.ranks, nil)
		}
		d.ranks[d.boxes[i].rank] = append(d.ranks[d.boxes[i].rank], i)
	}
	d.order()
	d.place()
	return d
}

// ranks returns the length of the longest way to each group from one that nothing depends on. An
// edge that closes a circle does not count.
func ranks(n int, edges []GroupEdge) []int {
	below := make([][]int, n)
	for _, e := range edges {
		below[e.From] = append(below[e.From], e.To)
	}
	rank, state := make([]int, n), make([]int, n)
	var order []int
	var visit func(i int)
	visit = func(i int) {
		state[i] = 1
		for _, k := range below[i] {
			if state[k] == 0 {
				visit(k)
			}
		}
		state[i] = 2
		order = append(order, i)
	}
	for i := range n {
		if state[i] == 0 {
			visit(i)
		}
	}
	at := make([]int, n)
	for i, v := range order {
		at[v] = len(order) - i
	}
	for i := len(order) - 1; i >= 0; i-- {
		for _, k := range below[order[i]] {
			if at[k] > at[order[i]] {
				rank[k] = max(rank[k], rank[order[i]]+1)
			}
		}
	}
	return rank
}

// route joins two boxes by way of a point in every rank between them.
func (d *drawing) route(e GroupEdge) {
	top, bottom := e.From, e.To
	if d.boxes[top].rank > d.boxes[bottom].rank {
		top, bottom = bottom, top
	}
	path := []int{top}
	for r := d.boxes[top].rank + 1; r < d.boxes[bottom].rank; r++ {
		d.boxes = append(d.boxes, box{group: -1, w: pass, rank: r})
		path = append(path, len(d.boxes)-1)
	}
	path = append(path, bottom)
	for i := 1; i < len(path); i++ {
		d.boxes[path[i-1]].below = append(d.boxes[path[i-1]].below, path[i])
		d.boxes[path[i]].above = append(d.boxes[path[i]].above, path[i-1])
	}
	d.paths, d.edges = append(d.paths, path), append(d.edges, e)
}

const sweeps = 8

func (d *drawing) order() {
	for s := range sweeps {
		for k := range d.ranks {
			row, side := d.ranks[k], func(b *box) []int { return b.above }
			if s%2 == 1 {
				row, side = d.ranks[len(d.ranks)-1-k], func(b *box) []int { return b.below }
			}
			middle := map[int]float64{}
			for slot, i := range row {
				joined := side(&d.boxes[i])
				middle[i] = float64(slot) / float64(max(1, len(row)-1))
				if len(joined) == 0 {
					continue
				}
				sum := 0.0
				for _, j := range joined {
					sum += float64(d.boxes[j].slot) / float64(max(1, len(d.ranks[d.boxes[j].rank])-1))
				}
				middle[i] = sum / float64(len(joined))
			}
			slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
			for slot, i := range row {
				d.boxes[i].slot = slot
			}
		}
	}
}

// place puts ranks below each other, each as close to the middle of what it is joined to as its
// neighbours let it.
func (d *drawing) place() {
	widest := 0.0
	for _, row := range d.ranks {
		w := -float64(gapX)
		for _, i := range row {
			w += d.boxes[i].w + gapX
		}
		widest = max(widest, w)
	}
	y := 0.0
	for _, row := range d.ranks {
		h := 0.0
		for _, i := range row {
			h = max(h, d.boxes[i].h)
		}
		w := -float64(gapX)
		for _, i := range row {
			w += d.boxes[i].w + gapX
		}
		x := (widest - w) / 2
		for _, i := range row {
			b := &d.boxes[i]
			if b.group < 0 {
				b.h = h // an edge passes between the boxes of a rank, not below them
			}
			b.x, b.y = x+b.w/2, y+h/2
			x += b.w + gapX
		}
		y += h + gapY
	}
	d.width, d.height = widest, y-gapY
	for range 4 {
		for k := range d.ranks {
			d.straighten(d.ranks[k])
		}
		for k := len(d.ranks) - 1; k >= 0; k-- {
			d.straighten(d.ranks[k])
		}
	}
}

// straighten moves the boxes of a rank towards the middle of what they are joined to, as far as
// their neighbours and the edge of the drawing let them.
func (d *drawing) straighten(row []int) {
	for slot, i := range row {
		b := &d.boxes[i]
		joined := append(append([]int{}, b.above...), b.below...)
		if len(joined) == 0 {
			continue
		}
		want := 0.0
		for _, j := range joined {
			want += d.boxes[j].x
		}
		want /= float64(len(joined))
		low, high := b.w/2, d.width-b.w/2
		if slot > 0 {
			l := &d.boxes[row[slot-1]]
			low = l.x + l.w/2 + gapX + b.w/2
		}
		if slot < len(row)-1 {
			r := &d.boxes[row[slot+1]]
			high = r.x - r.w/2 - gapX - b.w/2
		}
		if low <= high {
			b.x = min(max(want, low), high)
		}
	}
}
