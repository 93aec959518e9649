package chexstruct

import (
	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// ribCount is how many posterior ribs the inspiration task looks at.
const ribCount = 11

// rib is the widest component of one right posterior rib. The lateral end lies at the
// image left.
type rib struct {
	exists bool
	part   mask.Mask
	area   int
	x0, x1 int        // lateral and medial column
	y0     int        // lowest pixel of the lateral column
	y1     int        // highest pixel of the medial column
	line   []mask.Run // rows on the mid-clavicular line
}

// onLine reports whether the rib has a pixel on the line.
func (r *rib) onLine() bool { return len(r.line) > 0 }

// top and bottom are the first and last row on the line.
func (r *rib) top() int    { return int(r.line[0].X0) }
func (r *rib) bottom() int { return int(r.line[len(r.line)-1].X1) - 1 }

// ribCage holds ribs 1 to 11 at their own numbers; entry 0 is unused.
type ribCage [ribCount + 1]rib

func (c *assessment) ribCage(line int) *ribCage {
	var cage ribCage
	for n := 1; n <= ribCount; n++ {
		part := c.mask(anatomy.RightPosteriorRib(n)).Widest()
		box, ok := part.Box()
		if !ok {
			continue
		}
		r := &cage[n]
		*r = rib{exists: true, part: part, area: part.Area(), x0: box.X0, x1: box.X1, line: part.Column(line)}
		_, r.y0, _ = part.ColumnBounds(box.X0)
		r.y1, _, _ = part.ColumnBounds(box.X1)
	}
	return &cage
}

// firstOnLine returns the lowest-numbered rib on the line, 0 for none.
func (cage *ribCage) firstOnLine() int {
	for n := 1; n <= ribCount; n++ {
		if cage[n].onLine() {
			return n
		}
	}
	return 0
}

// crossing is where the ribs meet the diaphragm: the answer n, and the rib up to which
// the quality rules look.
type crossing struct{ answer, checkedTo int }

// cross finds the lowest rib above the diaphragm on the line.
//
// Source: [official code].
func (c *assessment) cross(cage *ribCage, diaphragm []mask.Run, line int) (x crossing, dtop int, reason Reason) {
	limit := c.number(rowRibGap)
	first := cage.firstOnLine()
	if first == 0 {
		return x, 0, ReasonNoRibOnLine
	}
	below := -1
	for n := 1; n <= ribCount; n++ {
		if cage[n].exists && cage[n].y1 != 0 {
			below = cage[n].y1
			break
		}
	}
	set := rowsBelow(diaphragm, below)
	if below < 0 || len(set) == 0 {
		return x, 0, ReasonNoRibOnLine
	}
	dtop = int(set[0].X0)
	for n := 1; n <= ribCount; n++ {
		if cage[n].onLine() && len(mask.IntersectRows(cage[n].line, set)) > 0 {
			x, reason = cage.above(n, dtop, line)
			return x, dtop, reason
		}
	}
	x, reason = cage.gap(first, dtop, limit)
	return x, dtop, reason
}

// rowsBelow returns the runs of rows strictly below y.
func rowsBelow(rows []mask.Run, y int) []mask.Run {
	var out []mask.Run
	for _, r := range rows {
		if r.X0 = max(r.X0, int32(y+1)); r.X0 < r.X1 {
			out = append(out, r)
		}
	}
	return out
}

// reaches reports whether a rib off the line still counts as lying above the diaphragm;
// line is the column of the line.
func (r *rib) reaches(dtop, line int) bool {
	return r.exists && r.y1 < dtop && (r.x1 < line || r.y0 < dtop)
}

// above answers when rib t meets the diaphragm: t itself when it starts above it, else
// the nearest rib before it that does.
func (cage *ribCage) above(t, dtop, line int) (crossing, Reason) {
	if cage[t].top() < dtop {
		return crossing{answer: t, checkedTo: t}, ""
	}
	p := 0
	for n := t - 1; n >= 1 && p == 0; n-- {
		if cage[n].onLine() {
			p = n
		}
	}
	for k := t - 1; k > p; k-- {
		if cage[k].reaches(dtop, line) {
			return crossing{answer: k, checkedTo: t}, ""
		}
	}
	if p == 0 {
		return crossing{}, ReasonNoRibAbove
	}
	return crossing{answer: p, checkedTo: t}, ""
}

// gap answers when no rib meets the diaphragm on the line: the last rib that ends above
// it, unless the space between them is too large.
func (cage *ribCage) gap(first, dtop int, limit float64) (crossing, Reason) {
	height := dtop - cage[first].top()
	if height <= 0 {
		return crossing{}, ReasonNoRibAbove
	}
	k := 0
	for n := first; n <= ribCount; n++ {
		if cage[n].onLine() && cage[n].bottom() < dtop {
			k = n
		}
	}
	if k == 0 {
		return crossing{}, ReasonNoRibAbove
	}
	if float64(dtop-cage[k].bottom())/float64(height) > limit {
		return crossing{}, ReasonRibGap
	}
	return crossing{answer: k, checkedTo: k}, ""
}
