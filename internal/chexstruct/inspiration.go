package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// inspiration counts the posterior ribs above the right hemidiaphragm on the
// mid-clavicular line: good from the ninth on.
//
// Source: [paper] for the idea, [official code] for the steps and figures.
func (c *assessment) inspiration(f *Finding) Reason {
	if c.missing(anatomy.RightLung, anatomy.RightHemidiaphragm) {
		return ReasonMissingMask
	}
	fraction := c.number(rowLateralFraction)
	lung, diaphragm := c.lung(right), c.mask(anatomy.RightHemidiaphragm)
	own, ok := midClavicular(lung, fraction)
	if !ok {
		return ReasonNoMidClavicularRow
	}
	row := own
	if second := c.in.CheXmaskRightLung; second != nil {
		lung = c.mask(anatomy.RightLung).Or(*second).Largest()
		diaphragm = diaphragm.AndNot(*second)
		if row, ok = midClavicular(lung, fraction); !ok {
			return ReasonNoMidClavicularRow
		}
	}
	c.judge(f, RuleLineAgreement, rowLineAgreement, math.Abs(float64(own.line-row.line))/c.w())
	onLine := diaphragm.Column(row.line)
	ly0, ly1, ok := lung.ColumnBounds(row.line)
	if !ok || len(onLine) == 0 {
		return ReasonNoDiaphragmOnLine
	}
	c.judgeOverlap(f, ly0, ly1, onLine)
	f.measure("line_x", Int(row.line))
	f.measure("line_x_cxas", Int(own.line))

	cage := c.ribCage(row.line)
	at, dtop, reason := c.cross(cage, onLine, row.line)
	if reason != "" {
		return reason
	}
	c.judgeRibs(f, cage, at.checkedTo, row)
	f.measure("rib", Int(at.answer))
	f.measure("checked_to", Int(at.checkedTo))
	f.mark("mid_clavicular_line", vec(row.line, ly0), vec(row.line, ly1))
	f.mark("diaphragm_top", vec(row.line, dtop))
	f.Index, f.Rounded = Int(at.answer), Int(at.answer)
	return ""
}

// judgeOverlap compares the extents of lung and diaphragm on the line.
func (c *assessment) judgeOverlap(f *Finding, ly0, ly1 int, diaphragm []mask.Run) {
	d0, d1 := int(diaphragm[0].X0), int(diaphragm[len(diaphragm)-1].X1)-1
	common := max(0, min(ly1, d1)-max(ly0, d0)+1)
	share := float64(common) / float64(ly1-ly0+1)
	above, below := c.holds(rowOverlapMin, share), c.holds(rowOverlapMax, share)
	f.check(RuleDiaphragmOverlap, above && below, Number(share))
}

// judgeRibs applies the rules to ribs 1..t. When one of them is missing only its absence
// is reported.
func (c *assessment) judgeRibs(f *Finding, cage *ribCage, t int, row lungRow) {
	scope := t
	if c.choice(rowRibScope) == choiceAll {
		scope = ribCount
	}
	found, complete := 0, true
	for n := 1; n <= scope; n++ {
		if cage[n].exists {
			found++
		} else if n <= t {
			complete = false
		}
	}
	f.check(RuleRibExist, found == scope, Int(found))
	if !complete {
		return
	}
	inside := 0
	for n := 1; n <= t; n++ {
		if row.x1 > cage[n].x0 && row.x0 < cage[n].x1 {
			inside++
		}
	}
	c.judge(f, RuleRibInLung, rowRibInLung, float64(inside)/float64(t))
	c.judgePairs(f, cage, t)
}

// pairVerdict tells which rules a pair of neighbouring ribs satisfies.
type pairVerdict struct{ spacing, iou, overlap, split, order bool }

func (c *assessment) judgePairs(f *Finding, cage *ribCage, t int) {
	extent := math.Abs(float64(cage[1].y1-cage[t].y1)) + 1
	all := pairVerdict{true, true, true, true, true}
	for n := 1; n < t; n++ {
		v := c.judgePair(&cage[n], &cage[n+1], n-1, extent)
		all.spacing = all.spacing && v.spacing
		all.iou = all.iou && v.iou
		all.overlap = all.overlap && v.overlap
		all.split = all.split && v.split
		all.order = all.order && v.order
	}
	f.check(RuleRibSpacing, all.spacing, None())
	f.check(RuleRibIoU, all.iou, None())
	f.check(RuleRibOverlap, all.overlap, None())
	f.check(RuleRibSplit, all.split, None())
	if c.choice(rowRibOrderCheck) == choiceOn {
		f.check(RuleRibOrder, all.order, None())
	}
}

// judgePair compares rib p with the next one, q; pair is their place in the limits.
//
// DEVIATION D5: the released program has no test of the order; a switch (TestSwitches).
func (c *assessment) judgePair(p, q *rib, pair int, extent float64) pairVerdict {
	within := func(id row, v int) bool { return float64(v) <= float64(100*c.value(id).list[pair]) }
	step := q.y1 - p.y1
	d := Trunc2(float64(step) / extent)
	common := p.part.AndArea(q.part)
	z := Trunc2(float64(common) / float64(min(p.area, q.area)))
	near, mid := within(rowRibOverlapNear, z), within(rowRibOverlapMid, z)
	gap, hit := ribSplit(p, q)
	return pairVerdict{
		spacing: within(rowRibSpacing, d),
		iou:     within(rowRibIoU, Trunc2(float64(common)/float64(p.area+q.area-common))),
		// Exactly 10 is exempt, as found.
		overlap: (d >= 10 || near) && (d <= 10 || d > 20 || mid),
		split:   !(within(rowRibSplit, Trunc2(float64(gap)/extent)) && hit),
		order:   c.holds(rowRibOrder, float64(step)),
	}
}

// ribSplit returns the vertical gap between the ends of two ribs that may be two pieces
// of one, and whether their columns fit that.
//
// Source: [official code].
func ribSplit(p, q *rib) (gap int, hit bool) {
	switch {
	case p.x1 > q.x1:
		return abs(p.y0 - q.y1), abs(q.x1-p.x1) >= abs(q.x1-p.x0) || abs(p.x0-q.x0) >= abs(p.x0-q.x1)
	case q.x1 > p.x1:
		return abs(q.y0 - p.y1), abs(p.x1-q.x1) >= abs(p.x1-q.x0) || abs(q.x0-p.x0) >= abs(q.x0-p.x1)
	}
	return abs(p.y1 - q.y1), abs(p.x0-q.x0) >= abs(p.x0-q.x1) || abs(q.x0-p.x0) >= abs(q.x0-p.x1)
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}
