package chexstruct

import (
	"testing"

	"cxrepro/internal/mask"
)

func rowsOf(y0, y1 int) []mask.Run { return []mask.Run{{X0: int32(y0), X1: int32(y1 + 1)}} }

// cageOf places ribs on the line; a rib with no rows lies off the line.
func cageOf(ribs map[int]rib) *ribCage {
	var cage ribCage
	for n, r := range ribs {
		r.exists = true
		cage[n] = r
	}
	return &cage
}

// TestCrossing covers every way in which the ribs can meet the diaphragm; the line is
// column 100.
func TestCrossing(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	diaphragm := rowsOf(300, 360)
	for _, c := range []struct {
		name   string
		ribs   map[int]rib
		want   crossing
		reason Reason
	}{
		{"crosses the top", map[int]rib{8: {y1: 200, line: rowsOf(250, 260)}, 9: {y1: 250, line: rowsOf(295, 305)}}, crossing{9, 9}, ""},
		{"starts exactly at the top: the one before counts", map[int]rib{8: {y1: 200, line: rowsOf(250, 260)}, 9: {y1: 250, line: rowsOf(300, 310)}}, crossing{8, 9}, ""},
		{"ends exactly at the top", map[int]rib{8: {y1: 200, line: rowsOf(250, 260)}, 9: {y1: 250, line: rowsOf(290, 300)}}, crossing{9, 9}, ""},
		{"two cross: the lower number", map[int]rib{8: {y1: 200, line: rowsOf(290, 302)}, 9: {y1: 250, line: rowsOf(295, 310)}}, crossing{8, 8}, ""},

		// Rib 9 lies inside the diaphragm; ribs between it and the last one on the line count
		// when their medial end is above and they lie lateral, or their lateral end is above.
		{"next one off the line, lateral", map[int]rib{7: {y1: 200, line: rowsOf(250, 260)}, 8: {y1: 299, x1: 99, y0: 400}, 9: {y1: 250, line: rowsOf(310, 320)}}, crossing{8, 9}, ""},
		{"next one off the line, ends above", map[int]rib{7: {y1: 200, line: rowsOf(250, 260)}, 8: {y1: 299, x1: 100, y0: 299}, 9: {y1: 250, line: rowsOf(310, 320)}}, crossing{8, 9}, ""},
		{"next one off the line, neither", map[int]rib{7: {y1: 200, line: rowsOf(250, 260)}, 8: {y1: 299, x1: 100, y0: 300}, 9: {y1: 250, line: rowsOf(310, 320)}}, crossing{7, 9}, ""},
		{"next one off the line, medial end too low", map[int]rib{7: {y1: 200, line: rowsOf(250, 260)}, 8: {y1: 300, x1: 99, y0: 200}, 9: {y1: 250, line: rowsOf(310, 320)}}, crossing{7, 9}, ""},
		{"the nearest of several", map[int]rib{5: {y1: 100, line: rowsOf(150, 160)}, 6: {y1: 150, x1: 90}, 7: {y1: 200, x1: 90}, 9: {y1: 250, line: rowsOf(310, 320)}}, crossing{7, 9}, ""},
		{"no rib before it on the line", map[int]rib{1: {y1: 200, x1: 90}, 3: {y1: 310, x1: 90}, 4: {y1: 250, line: rowsOf(310, 320)}}, crossing{1, 4}, ""},
		{"nothing before it", map[int]rib{3: {y1: 299, x1: 100, y0: 300}, 4: {y1: 250, line: rowsOf(311, 320)}}, crossing{}, ReasonNoRibAbove},

		// No rib meets it: the last one above, unless too far. Height 300 - 100 = 200.
		{"just above", map[int]rib{1: {y1: 90, line: rowsOf(100, 110)}, 11: {y1: 250, line: rowsOf(270, 290)}}, crossing{11, 11}, ""},
		{"gap exactly a tenth", map[int]rib{1: {y1: 90, line: rowsOf(100, 110)}, 8: {y1: 250, line: rowsOf(270, 280)}}, crossing{8, 8}, ""},
		{"gap above a tenth", map[int]rib{1: {y1: 90, line: rowsOf(100, 110)}, 8: {y1: 250, line: rowsOf(270, 279)}}, crossing{}, ReasonRibGap},
		{"the last one ends below", map[int]rib{1: {y1: 90, line: rowsOf(100, 110)}, 8: {y1: 250, line: rowsOf(270, 290)}, 9: {y1: 260, line: rowsOf(370, 380)}}, crossing{8, 8}, ""},
		{"all start below", map[int]rib{1: {y1: 90, line: rowsOf(370, 380)}}, crossing{}, ReasonNoRibAbove},
		{"spans the diaphragm without touching", map[int]rib{1: {y1: 90, line: []mask.Run{{X0: 280, X1: 290}, {X0: 370, X1: 380}}}}, crossing{}, ReasonNoRibAbove},

		{"no rib on the line", map[int]rib{1: {y1: 90, x1: 90}}, crossing{}, ReasonNoRibOnLine},
		{"first rib's end below the diaphragm", map[int]rib{1: {y1: 360, line: rowsOf(100, 110)}}, crossing{}, ReasonNoRibOnLine},
		{"medial end on row 0 is skipped", map[int]rib{1: {y1: 0, line: rowsOf(0, 5)}, 2: {y1: 200, line: rowsOf(295, 305)}}, crossing{2, 2}, ""},
		{"only a medial end on row 0", map[int]rib{1: {y1: 0, line: rowsOf(0, 305)}}, crossing{}, ReasonNoRibOnLine},
	} {
		in := goldenCase(t, 1).Input
		got, _, reason := newAssessment(&in, rules).cross(cageOf(c.ribs), diaphragm, 100)
		if reason != c.reason || (reason == "" && got != c.want) {
			t.Errorf("%s: %+v %q, want %+v %q", c.name, got, reason, c.want, c.reason)
		}
	}
}

// The diaphragm counts only strictly below the medial end of the first rib.
func TestDiaphragmBelowFirstRib(t *testing.T) {
	got := rowsBelow([]mask.Run{{X0: 10, X1: 20}, {X0: 30, X1: 40}}, 34)
	if len(got) != 1 || got[0] != (mask.Run{X0: 35, X1: 40}) {
		t.Errorf("rows below 34: %v", got)
	}
	if got = rowsBelow([]mask.Run{{X0: 10, X1: 20}}, 19); len(got) != 0 {
		t.Errorf("rows below 19: %v", got)
	}
}

// TestPairRules puts every pair limit on the value that a pair has.
func TestPairRules(t *testing.T) {
	in := goldenCase(t, 1).Input
	box := func(x0, y0, x1, y1 int) rib {
		m := (&phantom{t, in}).rect(x0, y0, x1, y1)
		return rib{exists: true, part: m, area: m.Area(), x0: x0, x1: x1, y0: y1, y1: y0}
	}
	// 100 and 100 pixels with 40 in common: IoU 40/160 = 0.25, overlap 0.40; ends at rows 50
	// and 53.
	p, q := box(100, 50, 109, 59), box(106, 50, 115, 59)
	q.y1 = 53
	judge := func(extent float64, limits map[string]any) pairVerdict {
		c := newAssessment(&in, mustRules(t, Corrected, limits))
		return c.judgePair(&p, &q, 4, extent)
	}
	all := func(v float64) []any {
		list := make([]any, ribPairs)
		for i := range list {
			list[i] = 0.0
		}
		list[4] = v // only the pair's own limit counts
		return list
	}
	const spacing, iou = "inspiration.rib_spacing.max_per_pair", "inspiration.rib_iou.max_per_pair"
	const near, mid = "inspiration.rib_overlap_near.max_per_pair", "inspiration.rib_overlap_mid.max_per_pair"
	for _, c := range []struct {
		name   string
		extent float64
		limits map[string]any
		look   func(pairVerdict) bool
		want   bool
	}{
		{"spacing 3/12 on its limit", 12, map[string]any{spacing: all(0.25)}, func(v pairVerdict) bool { return v.spacing }, true},
		{"spacing above its limit", 12, map[string]any{spacing: all(0.24)}, func(v pairVerdict) bool { return v.spacing }, false},
		{"truncation forgives", 11.6, map[string]any{spacing: all(0.25)}, func(v pairVerdict) bool { return v.spacing }, true},
		{"IoU on its limit", 12, map[string]any{iou: all(0.25)}, func(v pairVerdict) bool { return v.iou }, true},
		{"IoU above its limit", 12, map[string]any{iou: all(0.24)}, func(v pairVerdict) bool { return v.iou }, false},
		// Spacing 3/31 = 0.096 -> 9: near. 3/30 = 0.1 -> 10: exempt. 3/27 = 0.11: mid.
		{"near, on its limit", 31, map[string]any{near: all(0.4), mid: all(0)}, func(v pairVerdict) bool { return v.overlap }, true},
		{"near, above", 31, map[string]any{near: all(0.39), mid: all(1)}, func(v pairVerdict) bool { return v.overlap }, false},
		{"exactly 10 is exempt", 30, map[string]any{near: all(0), mid: all(0)}, func(v pairVerdict) bool { return v.overlap }, true},
		{"mid, on its limit", 27, map[string]any{near: all(0), mid: all(0.4)}, func(v pairVerdict) bool { return v.overlap }, true},
		{"mid, above", 27, map[string]any{near: all(1), mid: all(0.39)}, func(v pairVerdict) bool { return v.overlap }, false},
		{"20 still is mid", 15, map[string]any{near: all(1), mid: all(0)}, func(v pairVerdict) bool { return v.overlap }, false},
		{"21 is far", 14, map[string]any{near: all(0), mid: all(0)}, func(v pairVerdict) bool { return v.overlap }, true},
	} {
		if got := c.look(judge(c.extent, c.limits)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// Order: strictly increasing.
	for y, want := range map[int]bool{51: true, 50: false, 49: false} {
		q.y1 = y
		if got := judge(12, nil).order; got != want {
			t.Errorf("medial ends at 50 and %d in order: %v, want %v", y, got, want)
		}
	}
}
