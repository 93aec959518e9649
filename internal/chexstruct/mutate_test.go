package chexstruct

import (
	"slices"
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// phantom is a golden case under change: the first one, a normal PA picture of 512 x 512
// pixels that passes every rule. Landmarks that the changes below aim at:
// lungs x 48..222 and 287..459, apices y 54 and 56; heart box x 176..360, y 244..388;
// medial clavicle ends (232, 88) and (278, 88); upper mediastinum row 128, x 211..295;
// trachea x 237..266, ends y 180; carina (252, 204), top y 181; mid-clavicular line x 117.
type phantom struct {
	tb testing.TB
	Input
}

func newPhantom(tb testing.TB) *phantom {
	tb.Helper()
	return &phantom{tb, goldenCase(tb, 1).Input}
}

func (p *phantom) w() int { return p.Masks.GridW }
func (p *phantom) h() int { return p.Masks.GridH }

// set replaces a mask.
func (p *phantom) set(s anatomy.Structure, m mask.Mask) {
	p.tb.Helper()
	if err := p.Masks.Put(s, m); err != nil {
		p.tb.Fatal(err)
	}
}

// edit replaces the masks of structures by a function of themselves.
func (p *phantom) edit(f func(m mask.Mask) mask.Mask, list ...anatomy.Structure) {
	p.tb.Helper()
	for _, s := range list {
		p.set(s, f(p.Masks.Mask(s)))
	}
}

// clear empties masks.
func (p *phantom) clear(list ...anatomy.Structure) {
	p.edit(func(m mask.Mask) mask.Mask { return mask.Empty(m.W, m.H) }, list...)
}

// move shifts masks; pixels that leave the picture are lost.
func (p *phantom) move(dx, dy int, list ...anatomy.Structure) {
	p.edit(func(m mask.Mask) mask.Mask {
		b := mask.NewBuilder(m.W, m.H)
		for y := max(dy, 0); y < min(m.H+dy, m.H); y++ {
			for _, r := range m.Row(y - dy) {
				b.Add(y, max(int(r.X0)+dx, 0), min(int(r.X1)+dx, m.W))
			}
		}
		return b.Mask()
	}, list...)
}

// mirror turns masks left to right.
func (p *phantom) mirror(list ...anatomy.Structure) {
	p.edit(func(m mask.Mask) mask.Mask {
		b := mask.NewBuilder(m.W, m.H)
		for y := range m.H {
			for _, r := range slices.Backward(m.Row(y)) {
				b.Add(y, m.W-int(r.X1), m.W-int(r.X0))
			}
		}
		return b.Mask()
	}, list...)
}

// crop keeps the part of masks inside a rectangle, ends included.
func (p *phantom) crop(x0, y0, x1, y1 int, list ...anatomy.Structure) {
	p.edit(func(m mask.Mask) mask.Mask { return m.Rows(y0, y1).Columns(x0, x1) }, list...)
}

// add joins a rectangle to masks.
func (p *phantom) add(x0, y0, x1, y1 int, list ...anatomy.Structure) {
	p.edit(func(m mask.Mask) mask.Mask { return m.Or(p.rect(x0, y0, x1, y1)) }, list...)
}

// rect is a filled rectangle, ends included.
func (p *phantom) rect(x0, y0, x1, y1 int) mask.Mask {
	b := mask.NewBuilder(p.w(), p.h())
	for y := max(y0, 0); y <= min(y1, p.h()-1); y++ {
		b.Add(y, max(x0, 0), min(x1+1, p.w()))
	}
	return b.Mask()
}

// draw is the mask of a condition.
func (p *phantom) draw(f func(x, y int) bool) mask.Mask { return mask.FromFunc(p.w(), p.h(), f) }

// content makes a rectangle the only non-black part of the picture.
func (p *phantom) content(x0, y0, x1, y1 int) { p.Facts.NonZero = p.rect(x0, y0, x1, y1) }

var lungs = []anatomy.Structure{anatomy.RightLung, anatomy.LeftLung}

// fork draws a bifurcation whose stem spans rows top..carina and whose gap below it is
// bounded by left(y) and right(y), for rows down to bottom; arms are 12 columns wide.
func (p *phantom) fork(top, carina, bottom int, left, right func(y int) int) mask.Mask {
	return p.draw(func(x, y int) bool {
		switch {
		case y < top || y > bottom:
			return false
		case y <= carina:
			return x >= 240 && x <= 265
		}
		l, r := left(y), right(y)
		return (x >= l-60 && x < l) || (x > r && x <= r+60)
	})
}

// mutation is a change of the phantom and what it must bring about.
type mutation struct {
	name  string
	apply func(p *phantom)
}

// ruleFailures make every quality rule fail at least once.
var ruleFailures = map[Rule]mutation{
	RuleMaskCount: {"28 structures lost", func(p *phantom) {
		n := 0
		for _, s := range anatomy.FilterStructures() {
			if !anatomy.TaskSet().Has(s) && n < 28 {
				p.clear(s)
				n++
			}
		}
	}},
	RuleHeartPosition: {"heart ends high", func(p *phantom) { p.crop(0, 0, 511, 255, anatomy.Heart) }},
	RuleGradient:      {"blurred", func(p *phantom) { p.Facts.GradientMean = 7.99 }},
	RuleOrientation: {"lungs swapped", func(p *phantom) {
		r, l := p.Masks.Mask(anatomy.RightLung), p.Masks.Mask(anatomy.LeftLung)
		p.set(anatomy.RightLung, l)
		p.set(anatomy.LeftLung, r)
	}},

	RuleApexYDiff:      {"left apex low", func(p *phantom) { p.crop(0, 80, 511, 511, anatomy.LeftLung) }},
	RuleApexPosition:   {"both apices low", func(p *phantom) { p.crop(0, 320, 511, 511, lungs...) }},
	RuleBottomYDiff:    {"left base high", func(p *phantom) { p.crop(0, 0, 511, 340, anatomy.LeftLung) }},
	RuleBottomPosition: {"both bases high", func(p *phantom) { p.crop(0, 0, 511, 290, lungs...) }},
	RuleBottomDomeGap:  {"lung far below the base", func(p *phantom) { p.add(48, 200, 222, 420, anatomy.RightHemidiaphragm) }},
	RuleSideWidth:      {"right lung narrow", func(p *phantom) { p.crop(0, 0, 160, 511, anatomy.RightLung) }},
	RuleSideLabel:      {"picture ends at the lung", func(p *phantom) { p.content(48, 0, 511, 511) }},

	RuleLineAgreement: {"second opinion much wider", func(p *phantom) {
		m := p.rect(200, 100, 511, 400)
		p.CheXmaskRightLung = &m
	}},
	RuleDiaphragmOverlap: {"diaphragm fills the lung", func(p *phantom) { p.add(48, 120, 222, 420, anatomy.RightHemidiaphragm) }},
	RuleRibExist:         {"rib 3 lost", func(p *phantom) { p.clear(anatomy.RightPosteriorRib(3)) }},
	RuleRibInLung: {"ribs 1 to 3 beside the lung", func(p *phantom) {
		p.move(-200, 0, anatomy.RightPosteriorRib(1), anatomy.RightPosteriorRib(2), anatomy.RightPosteriorRib(3))
		for n := 1; n <= 3; n++ {
			p.set(anatomy.RightPosteriorRib(n), p.rect(2, 60+20*n, 40, 65+20*n))
		}
	}},
	RuleRibSpacing: {"rib 2 far below", func(p *phantom) { p.move(0, 60, anatomy.RightPosteriorRib(2)) }},
	RuleRibIoU:     {"rib 3 twice", func(p *phantom) { p.set(anatomy.RightPosteriorRib(4), p.Masks.Mask(anatomy.RightPosteriorRib(3))) }},
	RuleRibOverlap: {"rib 4 inside rib 3", func(p *phantom) { p.set(anatomy.RightPosteriorRib(4), p.Masks.Mask(anatomy.RightPosteriorRib(3))) }},
	RuleRibSplit: {"rib 4 in two pieces", func(p *phantom) {
		m := p.Masks.Mask(anatomy.RightPosteriorRib(4))
		b, _ := m.Box()
		mid := (b.X0 + b.X1) / 2
		p.set(anatomy.RightPosteriorRib(4), m.Columns(b.X0, mid))
		p.set(anatomy.RightPosteriorRib(5), m.Columns(mid+1, b.X1))
	}},
	RuleRibOrder: {"ribs 3 and 4 swapped", func(p *phantom) {
		a, b := p.Masks.Mask(anatomy.RightPosteriorRib(3)), p.Masks.Mask(anatomy.RightPosteriorRib(4))
		p.set(anatomy.RightPosteriorRib(3), b)
		p.set(anatomy.RightPosteriorRib(4), a)
	}},

	RuleClavicleX:         {"right clavicle lateral", func(p *phantom) { p.move(-60, 0, anatomy.RightClavicle) }},
	RuleClavicleGap:       {"clavicles far apart", func(p *phantom) { p.move(-55, 0, anatomy.RightClavicle); p.move(55, 0, anatomy.LeftClavicle) }},
	RuleClavicleYDiff:     {"left clavicle low", func(p *phantom) { p.move(0, 26, anatomy.LeftClavicle) }},
	RuleClavicleYPosition: {"clavicles low", func(p *phantom) { p.move(0, 170, anatomy.RightClavicle, anatomy.LeftClavicle) }},
	RuleMidlineOrder: {"T2 and T3 swapped", func(p *phantom) {
		a, b := p.Masks.Mask(anatomy.VertebraT2), p.Masks.Mask(anatomy.VertebraT3)
		p.set(anatomy.VertebraT2, b)
		p.set(anatomy.VertebraT3, a)
	}},
	RuleMidlineResidual: {"T2 beside the line", func(p *phantom) { p.move(8, 0, anatomy.VertebraT2) }},
	RuleMidlineXStd:     {"slanted spine", func(p *phantom) { p.move(-10, 0, anatomy.VertebraT1); p.move(10, 0, anatomy.VertebraT3) }},
	RuleDistancesNonneg: {"clavicles left of the spine", func(p *phantom) { p.move(40, 0, anatomy.RightClavicle, anatomy.LeftClavicle) }},

	RuleScapulaWidthRight:  {"narrow", func(p *phantom) { p.crop(0, 0, 60, 511, anatomy.RightScapula) }},
	RuleScapulaWidthLeft:   {"narrow", func(p *phantom) { p.crop(440, 0, 511, 511, anatomy.LeftScapula) }},
	RuleScapulaHeightRight: {"short", func(p *phantom) { p.crop(0, 0, 511, 180, anatomy.RightScapula) }},
	RuleScapulaHeightLeft:  {"short", func(p *phantom) { p.crop(0, 0, 511, 180, anatomy.LeftScapula) }},
	RuleScapulaOverRight:   {"large", func(p *phantom) { p.set(anatomy.RightScapula, p.rect(2, 50, 2+231, 50+231)) }},
	RuleScapulaOverLeft:    {"large", func(p *phantom) { p.set(anatomy.LeftScapula, p.rect(279, 50, 279+231, 50+231)) }},
	RuleLungWidthRight:     {"narrow lung", func(p *phantom) { p.crop(0, 0, 140, 511, anatomy.RightLung) }},
	RuleLungWidthLeft:      {"narrow lung", func(p *phantom) { p.crop(370, 0, 511, 511, anatomy.LeftLung) }},
	RuleLungHeightRight:    {"low lung", func(p *phantom) { p.crop(0, 200, 511, 511, anatomy.RightLung) }},
	RuleLungHeightLeft:     {"low lung", func(p *phantom) { p.crop(0, 200, 511, 511, anatomy.LeftLung) }},

	RuleHeartBox:    {"box elsewhere", func(p *phantom) { p.Boxes[BoxCardiacSilhouette] = geom.Box{X0: 20, Y0: 20, X1: 100, Y1: 100} }},
	RuleLungBalance: {"left lung wide of the heart only", func(p *phantom) { p.crop(0, 0, 511, 300, anatomy.LeftLung); p.crop(340, 0, 511, 511, anatomy.LeftLung) }},

	RuleMediBoxWidth:    {"narrow box", func(p *phantom) { p.Boxes[BoxUpperMediastinum] = geom.Box{X0: 212, Y0: 61, X1: 294, Y1: 204} }},
	RuleMediBoxX:        {"box beside", func(p *phantom) { p.Boxes[BoxUpperMediastinum] = geom.Box{X0: 250, Y0: 61, X1: 356, Y1: 204} }},
	RuleMediYPosition:   {"mediastinum low", func(p *phantom) { p.set(anatomy.UpperMediastinum, p.rect(211, 300, 295, 310)) }},
	RuleMediLungBalance: {"left lung starts late", func(p *phantom) { p.crop(340, 0, 511, 511, anatomy.LeftLung) }},

	RuleTracheaHeight:      {"short", func(p *phantom) { p.crop(0, 130, 511, 511, anatomy.Trachea) }},
	RuleTracheaWidthMedian: {"narrow", func(p *phantom) { p.crop(245, 0, 255, 511, anatomy.Trachea) }},
	RuleTracheaWidthStd:    {"widens", func(p *phantom) { p.add(220, 140, 280, 180, anatomy.Trachea) }},
	RuleTrachealMidlineResidual: {"T4 beside the line", func(p *phantom) {
		p.move(8, 0, anatomy.VertebraT3, anatomy.VertebraT4)
	}},
	RuleTrachealMidlineXStd: {"slanted spine", func(p *phantom) {
		for n := 1; n <= 7; n++ {
			p.move(8*(n-4), 0, anatomy.ThoracicVertebra(n))
		}
	}},

	RuleCarinaTopXDiff:   {"stem leans", func(p *phantom) { p.add(200, 180, 252, 182, anatomy.TrachealBifurcation) }},
	RuleCarinaTopYDiff:   {"no stem", func(p *phantom) { p.crop(0, 204, 511, 511, anatomy.TrachealBifurcation) }},
	RuleCarinaMaskWidth:  {"narrow", func(p *phantom) { p.crop(210, 0, 290, 511, anatomy.TrachealBifurcation) }},
	RuleCarinaMaskHeight: {"short", func(p *phantom) { p.crop(0, 190, 511, 226, anatomy.TrachealBifurcation) }},
	RuleCarinaPositionX:  {"one short arm", func(p *phantom) { p.crop(236, 0, 511, 511, anatomy.TrachealBifurcation) }},
	RuleCarinaPositionY:  {"no stem", func(p *phantom) { p.crop(0, 204, 511, 511, anatomy.TrachealBifurcation) }},
	RuleCarinaAngleStd: {"bell-shaped notch", func(p *phantom) {
		p.set(anatomy.TrachealBifurcation, p.fork(150, 200, 240,
			func(y int) int { return 252 - bell(y-200) }, func(y int) int { return 252 + bell(y-200) }))
	}},

	RuleKnobDescHeight:   {"aorta short", func(p *phantom) { p.crop(0, 0, 511, 280, anatomy.DescendingAorta) }},
	RuleKnobXAlignment:   {"arch inside", func(p *phantom) { p.crop(0, 0, 280, 511, anatomy.AorticArch) }},
	RuleKnobDescStartGap: {"aorta starts low", func(p *phantom) { p.crop(0, 240, 511, 511, anatomy.DescendingAorta) }},
	RuleKnobWidth: {"trachea outside", func(p *phantom) {
		p.move(80, 0, anatomy.Trachea)
	}},

	RuleAscendingHeight:         {"short", func(p *phantom) { p.crop(0, 0, 511, 220, anatomy.AscendingAorta) }},
	RuleAscendingVerticalOffset: {"low", func(p *phantom) { p.move(0, 40, anatomy.AscendingAorta) }},
	RuleAscendingLineOrder:      {"heart left of the trachea", func(p *phantom) { p.crop(240, 0, 511, 511, anatomy.Heart) }},

	RuleDescendingHeight:   {"heart starts high", func(p *phantom) { p.crop(0, 0, 511, 260, anatomy.Heart) }},
	RuleDescendingWidthStd: {"widens", func(p *phantom) { p.add(240, 300, 330, 340, anatomy.DescendingAorta) }},

	RuleMediBox: {"box elsewhere", func(p *phantom) { p.Boxes[BoxUpperMediastinum] = geom.Box{X0: 20, Y0: 20, X1: 100, Y1: 100} }},
}

// bell is half a gap width that opens slowly and then suddenly.
func bell(d int) int {
	if d < 8 {
		return d / 8
	}
	return 3 * (d - 7)
}

// TestEveryRuleFails shows for each quality rule a picture on which it fails, where the
// unchanged phantom passes it, and that no label is given then.
func TestEveryRuleFails(t *testing.T) {
	corrected, published := mustRules(t, Corrected, nil), mustRules(t, AsPublished, nil)
	if len(ruleFailures) != len(QualityRules()) {
		t.Errorf("%d rules have a failing picture, there are %d", len(ruleFailures), len(QualityRules()))
	}
	for _, rule := range QualityRules() {
		t.Run(rule.String(), func(t *testing.T) {
			rules, unchanged := corrected, newPhantom(t)
			if rule == RuleMediBox {
				rules = published
				unchanged.Boxes[BoxUpperMediastinum], _ = unchanged.Masks.Mask(anatomy.UpperMediastinum).Box()
			}
			before := verdicts(mustAssess(t, unchanged.Input, rules), rule)
			p := newPhantom(t)
			ruleFailures[rule].apply(p)
			res := mustAssess(t, p.Input, rules)
			after := verdicts(res, rule)
			for name, pass := range before {
				if !pass {
					t.Errorf("%s fails on the unchanged phantom", name)
				}
			}
			failedOnce := false
			for name, pass := range after {
				if pass {
					continue
				}
				failedOnce = true
				if f := res.Finding(taskNamed(t, name)); f != nil && (f.Label != "" || f.Status == StatusOK || f.Status == StatusUndecided) {
					t.Errorf("%s: status %s, label %q although a rule failed", name, f.Status, f.Label)
				}
			}
			if !failedOnce {
				t.Errorf("%s does not fail when: %s (it was judged in %v)", rule, ruleFailures[rule].name, after)
				for _, f := range res.Findings {
					t.Logf("%s: %s %s %v", f.Task, f.Status, f.Reason, f.Failed())
				}
			}
		})
	}
}

// verdicts returns how each section that judged a rule found it.
func verdicts(r *Result, rule Rule) map[string]bool {
	out := map[string]bool{}
	look := func(name string, list []Check) {
		for _, c := range list {
			if c.Rule == rule {
				out[name] = c.Pass
			}
		}
	}
	look("global", r.Global.Checks)
	for _, f := range r.Findings {
		look(f.Task.String(), f.Checks)
	}
	return out
}

func taskNamed(t *testing.T, name string) Task {
	t.Helper()
	task, ok := ParseTask(name)
	if !ok {
		t.Fatalf("no task %q", name)
	}
	return task
}
