package chexstruct

import (
	"math"
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/mask/masktest"
)

// padded puts the first golden phantom into the corner of a larger picture that is black
// elsewhere.
func padded(t *testing.T, w, h int) Input {
	t.Helper()
	in := goldenCase(t, 1).Input
	grow := func(m mask.Mask) mask.Mask {
		m.W, m.H = w, h
		return m
	}
	masks, err := anatomy.NewMasks(w, h, w, h, in.Masks.Declared)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range in.Masks.Present().List() {
		if err := masks.Put(s, grow(in.Masks.Mask(s))); err != nil {
			t.Fatal(err)
		}
	}
	in.NativeWidth = in.NativeWidth * w / in.Masks.GridW // the scale stays
	in.Masks = masks
	in.Facts.Width, in.Facts.Height, in.Facts.NonZero = w, h, grow(in.Facts.NonZero)
	return in
}

// TestFractions widens and heightens the picture around the phantom: a rule that is stated
// as a fraction of W follows the width, one of H the height, and the rest stays.
func TestFractions(t *testing.T) {
	ofW := map[Rule]bool{}
	for _, r := range []Rule{RuleLineAgreement, RuleClavicleGap, RuleScapulaWidthRight, RuleScapulaWidthLeft, RuleLungWidthRight, RuleLungWidthLeft,
		RuleTracheaWidthMedian, RuleCarinaTopXDiff, RuleCarinaMaskWidth, RuleKnobXAlignment, RuleDescendingWidthStd} {
		ofW[r] = true
	}
	ofH := map[Rule]bool{}
	for _, r := range []Rule{RuleApexYDiff, RuleBottomYDiff, RuleBottomDomeGap, RuleClavicleYDiff, RuleClavicleYPosition, RuleScapulaHeightRight,
		RuleScapulaHeightLeft, RuleLungHeightRight, RuleLungHeightLeft, RuleTracheaHeight, RuleCarinaTopYDiff, RuleCarinaMaskHeight,
		RuleKnobDescHeight, RuleKnobDescStartGap, RuleAscendingHeight, RuleAscendingVerticalOffset, RuleDescendingHeight} {
		ofH[r] = true
	}
	rules := mustRules(t, Corrected, nil)
	base := mustAssess(t, goldenCase(t, 1).Input, rules)
	for _, size := range [][2]int{{1024, 512}, {512, 1024}} {
		res := mustAssess(t, padded(t, size[0], size[1]), rules)
		for i, f := range res.Findings {
			for k, c := range f.Checks {
				want, factor := base.Findings[i].Checks[k], 1.0
				if ofW[c.Rule] {
					factor = 512 / float64(size[0])
				}
				if ofH[c.Rule] {
					factor = 512 / float64(size[1])
				}
				if c.Rule != want.Rule || !scaledBy(c.Value, want.Value, factor) {
					t.Errorf("%v: %s %s: %v, square %v, want %v of it", size, f.Task, c.Rule, c.Value, want.Value, factor)
				}
			}
		}
	}
}

// scaledBy compares values up to a factor; powers of two are exact.
func scaledBy(got, want Value, factor float64) bool {
	if g, ok := got.Float(); ok {
		w, _ := want.Float()
		return g == w*factor
	}
	if got.Len() != want.Len() {
		return false
	}
	for i := range got.Len() {
		if !scaledBy(got.At(i), want.At(i), factor) {
			return false
		}
	}
	return true
}

// TestHeartDistanceInFractions: the distance of the boxes' centres counts image widths and
// heights apart.
func TestHeartDistanceInFractions(t *testing.T) {
	in := padded(t, 1024, 512)
	c := newAssessment(&in, mustRules(t, Corrected, nil))
	a := geom.Box{X0: 0, Y0: 0, X1: 100, Y1: 100}
	_, _, dx, _ := c.boxAgreement(a, geom.Box{X0: 64, Y0: 0, X1: 164, Y1: 100})
	_, _, dy, _ := c.boxAgreement(a, geom.Box{X0: 0, Y0: 64, X1: 100, Y1: 164})
	_, _, both, _ := c.boxAgreement(a, geom.Box{X0: 384, Y0: 256, X1: 484, Y1: 356})
	if dx != 64.0/1024 || dy != 64.0/512 || both != 0.625 {
		t.Errorf("distances %v, %v, %v", dx, dy, both)
	}
}

// TestHeartBoxLimits: a high overlap wants near centres, a middling one may be looser.
func TestHeartBoxLimits(t *testing.T) {
	in := goldenCase(t, 1).Input
	for _, c := range []struct {
		high, distHigh, low, distLow float64
		want                         bool
	}{
		// IoU 84/116 = 0.724..., distance 16/512 = 0.03125.
		{84.0 / 116, 0.03125, 2, 0, true},
		{84.0 / 116, 0.03, 0, 1, false}, // high enough, but too far: the looser pair does not help
		{0.73, 1, 84.0 / 116, 0.03125, true},
		{0.73, 1, 84.0 / 116, 0.03, false},
		{0.73, 1, 0.73, 1, false},
	} {
		r := mustRules(t, Corrected, map[string]any{
			"cardiomegaly.heart_box.iou_high": c.high, "cardiomegaly.heart_box.dist_high": c.distHigh,
			"cardiomegaly.heart_box.iou_low": c.low, "cardiomegaly.heart_box.dist_low": c.distLow})
		pass, iou, d, _ := newAssessment(&in, r).boxAgreement(geom.Box{X0: 0, Y0: 0, X1: 100, Y1: 100}, geom.Box{X0: 16, Y0: 0, X1: 116, Y1: 100})
		if pass != c.want || iou != 84.0/116 || d != 0.03125 {
			t.Errorf("%+v: %v (IoU %v, distance %v)", c, pass, iou, d)
		}
	}
}

// TestBasePoint: the lowest pixel counts only in the medial third, and its column is the
// one nearest the heart.
func TestBasePoint(t *testing.T) {
	lung := masktest.Parse(t, `
		............
		.##########.
		.##########.
		.##########.
		.##########.
		.#....#####.
		.#.....##...
		.#..........
		............`)
	diaphragm := masktest.Parse(t, `
		............
		............
		............
		............
		............
		............
		.....#####..
		.#########..
		............`)
	nonZero := mask.FromFunc(12, 9, func(x, y int) bool { return true })
	// Columns 1..9 of the lung, minus the diaphragm: c0 = 1, c1 = 9. Right: x >= (18+1)/3 = 6,
	// lowest row 5, last column 9. In column 9 the lung goes on to row 5: gap 0.
	b, gap := basePoint(lung, diaphragm, nonZero, right)
	if b.at != (geom.Point{X: 9, Y: 5}) || gap != 0 || b.ratio != 3.0/8 {
		t.Errorf("right base %+v, gap %d", b, gap)
	}
	// Left: x <= (9+2)/3 = 3: lowest row 6 in column 1; below it row 7 of the lung, which the
	// diaphragm covers.
	b, gap = basePoint(lung, diaphragm, nonZero, left)
	if b.at != (geom.Point{X: 1, Y: 6}) || gap != 1 {
		t.Errorf("left base %+v, gap %d", b, gap)
	}
	// Another piece of lung below, in the same column, is no part of the gap.
	far := lung.Or(masktest.Parse(t, `
		............
		............
		............
		............
		............
		............
		............
		............
		.........#..`))
	if b, gap = basePoint(far, diaphragm, nonZero, right); b.at.X != 9 || gap != 0 {
		t.Errorf("detached piece: %+v, gap %d", b, gap)
	}
}

// TestApexAndSidePoints take the middle element of the extreme row and column.
func TestApexAndSidePoints(t *testing.T) {
	lung := masktest.Parse(t, `
		.......
		..#.##.
		..####.
		.######
		.###...
		.#.....
		.......`)
	nonZero := mask.FromFunc(7, 7, func(x, y int) bool { return y > 0 && x < 6 })
	// Row 1 holds 2 4 5: element 1 is 4. Content rows 1..6, so the apex lies on its border.
	if b := apexPoint(lung, nonZero); b.at != (geom.Point{X: 4, Y: 1}) || b.ratio != 0 {
		t.Errorf("apex %+v", b)
	}
	// Column 1 holds rows 3 4 5: row 4. Content columns 0..5.
	if b := sidePoint(lung, nonZero, right); b.at != (geom.Point{X: 1, Y: 4}) || b.ratio != 1.0/5 {
		t.Errorf("right side %+v", b)
	}
	// Column 6 holds row 3 only and is black: nothing at or after it, so the border is there.
	if b := sidePoint(lung, nonZero, left); b.at != (geom.Point{X: 6, Y: 3}) || b.ratio != 0 || b.border != (border{0, 6}) {
		t.Errorf("left side %+v", b)
	}
}

// TestSideFlagsReachOtherTasks: the tasks that build on the inclusion result report which
// side is cut.
func TestSideFlagsReachOtherTasks(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	for _, c := range []struct {
		first, last int
		want        [2]float64
	}{{48, 511, [2]float64{0, 1}}, {0, 459, [2]float64{1, 0}}, {48, 459, [2]float64{0, 0}}} {
		p := newPhantom(t)
		p.content(c.first, 0, c.last, 511)
		res := mustAssess(t, p.Input, rules)
		for _, task := range []Task{Cardiomegaly, MediastinalWidening} {
			k := res.Finding(task).Checks[0]
			v, ok := k.Value.Vec()
			if k.Rule != RuleSideLabel || k.Pass || !ok || v != (geom.Vec{X: c.want[0], Y: c.want[1]}) {
				t.Errorf("%s with content %d..%d: %+v, want %v", task, c.first, c.last, k, c.want)
			}
		}
		for _, k := range res.Finding(AscendingAortaEnlargement).Checks {
			if k.Rule == RuleHeartBox && k.Pass {
				t.Errorf("ascending aorta with content %d..%d passes", c.first, c.last)
			}
		}
	}
}

// TestBalance: half-widths of the lungs beside the heart.
func TestBalance(t *testing.T) {
	in := goldenCase(t, 1).Input
	for equal, want := range map[float64]float64{0: 0, 1: 1} {
		c := newAssessment(&in, mustRules(t, Corrected, map[string]any{"lung_balance.equal_widths.ratio": equal}))
		if got := c.balance(150, 150); got != want {
			t.Errorf("equal widths: %v, want %v", got, want)
		}
		if a, b := c.balance(7, 10), c.balance(10, 7); a != 0.7 || b != 0.7 {
			t.Errorf("7 to 10: %v, %v", a, b)
		}
		if got := c.balance(-5, 10); got != -0.5 {
			t.Errorf("a width that points the wrong way: %v", got)
		}
	}
}

// TestGrades walks the X-Ragent categories over their limits.
func TestGrades(t *testing.T) {
	in := goldenCase(t, 1).Input
	c := newAssessment(&in, mustRules(t, Corrected, nil))
	for v, want := range map[float64]string{0.494: "normal", 0.4951: "mild", 0.5: "mild", 0.544: "mild", 0.5451: "moderate", 0.594: "moderate", 0.5951: "severe", 0.9: "severe"} {
		if g := c.gradeCTR(v); g.Category != want || g.Value != v || math.Abs(g.Rounded-v) > 0.005 {
			t.Errorf("ratio %v is %s, want %s", v, g.Category, want)
		}
	}
	for v, want := range map[float64]string{0.144: "symmetric", -0.144: "symmetric", 0.15: "mild", -0.15: "mild", 0.244: "mild", 0.2451: "marked", -0.3: "marked"} {
		if got := c.grade(v, CategorySymmetric, rowAsymmetryMild, rowAsymmetryMarked); got != want {
			t.Errorf("asymmetry %v is %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0.024: "none", -0.0251: "mild", 0.05: "mild", 0.0551: "marked"} {
		if got := c.grade(v, CategoryNone, rowShiftMild, rowShiftMarked); got != want {
			t.Errorf("shift %v is %s, want %s", v, got, want)
		}
	}
}

// TestBundleSides: the smaller lung and the direction are named as the patient's sides.
func TestBundleSides(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	for _, c := range []struct {
		name            string
		apply           func(p *phantom)
		smaller, toward string
	}{
		{"right lung small", func(p *phantom) { p.crop(0, 0, 511, 270, anatomy.RightLung) }, "right", ""},
		{"left lung small", func(p *phantom) { p.crop(0, 0, 511, 270, anatomy.LeftLung) }, "left", ""},
		{"shifted to the image right", func(p *phantom) { p.move(40, 0, anatomy.Trachea, anatomy.UpperMediastinum) }, "", "left"},
		{"shifted to the image left", func(p *phantom) { p.move(-40, 0, anatomy.Trachea, anatomy.UpperMediastinum) }, "", "right"},
		{"only the trachea, shifted", func(p *phantom) { p.move(40, 0, anatomy.Trachea); p.clear(anatomy.UpperMediastinum) }, "", "left"},
	} {
		p := newPhantom(t)
		c.apply(p)
		b := mustAssess(t, p.Input, rules, XRagent).XRagent
		if !b.Exposed || b.Asymmetry.Side != c.smaller || b.Shift.Side != c.toward {
			t.Errorf("%s: %+v %+v %+v", c.name, b, b.Asymmetry, b.Shift)
		}
	}
}
