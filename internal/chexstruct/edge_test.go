package chexstruct

import (
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/mask/masktest"
)

// TestScapulaOverBoundary: both extents on the limit fail, one of them below passes.
func TestScapulaOverBoundary(t *testing.T) {
	rules := mustRules(t, Corrected, map[string]any{"projection.scapula_over.limit": 230.0 / 512})
	for _, c := range []struct {
		width, height int
		want          bool
	}{{230, 230, false}, {229, 230, true}, {230, 229, true}, {231, 231, false}} {
		p := newPhantom(t)
		p.set(anatomy.RightScapula, p.rect(2, 60, 2+c.width, 60+c.height))
		if got := verdicts(mustAssess(t, p.Input, rules, Projection, Global), RuleScapulaOverRight)["projection"]; got != c.want {
			t.Errorf("%d x %d: %v, want %v", c.width, c.height, got, c.want)
		}
	}
}

// TestMidlineWithin: vertebrae exactly on the first and the last row of the trachea count.
func TestMidlineWithin(t *testing.T) {
	in := goldenCase(t, 1).Input
	p := &phantom{t, in}
	for i, y := range []int{50, 75, 100, 150, 180, 181, 200} {
		p.set(anatomy.ThoracicVertebra(i+1), p.rect(250, y, 252, y))
	}
	c := newAssessment(&p.Input, mustRules(t, Corrected, nil))
	pts, ok := c.midlineWithin(75, 180)
	if !ok || len(pts) != 4 || pts[0].Y != 75 || pts[3].Y != 180 {
		t.Errorf("points %v (%v)", pts, ok)
	}
	if pts, ok = c.midlineWithin(76, 179); ok || len(pts) != 2 {
		t.Errorf("two points are enough: %v", pts)
	}
	// Equal heights are no descent, and a number that is left out breaks the chain.
	p.set(anatomy.VertebraT4, p.rect(250, 100, 252, 100))
	c = newAssessment(&p.Input, mustRules(t, Corrected, nil))
	if pts, ok = c.midlineWithin(75, 180); ok {
		t.Errorf("equal heights accepted: %v", pts)
	}
	p.clear(anatomy.VertebraT4)
	c = newAssessment(&p.Input, mustRules(t, Corrected, nil))
	if pts, ok = c.midlineWithin(60, 190); ok {
		t.Errorf("a gap in the numbers accepted: %v", pts)
	}
}

// TestWidestRow: most pixels, not the widest span, and the first of equals.
func TestWidestRow(t *testing.T) {
	m := masktest.Parse(t, `
		#......#.
		.####....
		..####...
		.#######.
		#.#.#.#.#`)
	// 2, 4, 4, 7, 5 pixels; the last row has the widest span.
	if outer, inner := widestRow(m, right); outer != 1 || inner != 7 {
		t.Errorf("right lung %d to %d", outer, inner)
	}
	if outer, inner := widestRow(m, left); outer != 7 || inner != 1 {
		t.Errorf("left lung %d to %d", outer, inner)
	}
	if outer, inner := widestRow(m.Rows(0, 2), right); outer != 1 || inner != 4 {
		t.Errorf("first of two equal rows: %d to %d", outer, inner)
	}
}

// TestMedialEndOfSteepChord: the chord joins the first pixels of the outermost columns.
func TestMedialEndOfSteepChord(t *testing.T) {
	m := masktest.Parse(t, `
		#......
		##.....
		###....
		..####.
		....#..
		.....#.`)
	band := chordBand{dx: 5, dy: 3}
	band.fit(m.Widest())
	// Widest piece: x 0..5; chord from (0,0) to (5,3): f = 5y - 3x, least 0 at (0,0) and
	// (5,3), most 10 at (0,2); 8 at (4,4).
	if band.lo != 0 || band.hi != 10 {
		t.Errorf("band %d..%d", band.lo, band.hi)
	}
	// (5,5) has 25 - 15 = 10: inside, no further medial than (5,3), and not first.
	if p, ok := medialEnd(m, right); !ok || p != (geom.Point{X: 5, Y: 3}) {
		t.Errorf("medial end %v", p)
	}
}

// TestGridsMustMatch: either side alone is a mismatch.
func TestGridsMustMatch(t *testing.T) {
	for _, size := range [][2]int{{511, 512}, {512, 511}} {
		in := goldenCase(t, 1).Input
		other := mask.Empty(size[0], size[1])
		in.CheXmaskRightLung = &other
		if in.Check() == nil {
			t.Errorf("a second lung of %v is accepted", size)
		}
		in = goldenCase(t, 1).Input
		in.Facts.NonZero = other
		if in.Check() == nil {
			t.Errorf("pixels of %v are accepted", size)
		}
		in = goldenCase(t, 1).Input
		in.Facts.Width, in.Facts.Height = size[0], size[1]
		if in.Check() == nil {
			t.Errorf("a picture of %v is accepted", size)
		}
	}
}
