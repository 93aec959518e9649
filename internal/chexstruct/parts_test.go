package chexstruct

import (
	"testing"

	"cxrepro/internal/anatomy"
)

// TestInclusionParts excludes each of the six parts alone: the picture's content ends
// where that part lies.
func TestInclusionParts(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	in, out, mixed := FlagIncluded, FlagExcluded, FlagMixed
	all := Parts{[2]Flag{in, in}, [2]Flag{in, in}, [2]Flag{in, in}}
	with := func(f func(p *Parts)) Parts { p := all; f(&p); return p }
	for _, c := range []struct {
		name   string
		black  func(x, y int) bool
		parts  Parts
		label  Label
		status Status
	}{
		{"all inside", func(x, y int) bool { return false }, all, LabelIncluded, StatusOK},
		// Right apex at (135, 54), left at (373, 56).
		{"right apex", func(x, y int) bool { return x < 200 && y < 54 }, with(func(p *Parts) { p.Apex[right] = out }), LabelExcluded, StatusOK},
		{"left apex", func(x, y int) bool { return x > 300 && y < 56 }, with(func(p *Parts) { p.Apex[left] = out }), LabelExcluded, StatusOK},
		// Right side at (48, 302), left at (459, 302).
		{"right side", func(x, y int) bool { return x < 48 }, with(func(p *Parts) { p.Side[right] = out }), LabelExcluded, StatusOK},
		{"left side", func(x, y int) bool { return x > 459 }, with(func(p *Parts) { p.Side[left] = out }), LabelExcluded, StatusOK},
		// Right base at (222, 383), left at (287, 396). Content that ends 15 rows below the
		// right base is 15/398 = 0.038 of it: mixed.
		{"right base", func(x, y int) bool { return x > 200 && x < 260 && y > 388 }, with(func(p *Parts) { p.Bottom[right] = out }), LabelExcluded, StatusOK},
		{"left base", func(x, y int) bool { return x > 260 && x < 320 && y > 400 }, with(func(p *Parts) { p.Bottom[left] = out }), LabelExcluded, StatusOK},
		{"right base mixed", func(x, y int) bool { return x > 200 && x < 260 && y > 398 }, with(func(p *Parts) { p.Bottom[right] = mixed }), "", StatusUndecided},
		{"left base mixed, right side out", func(x, y int) bool { return x < 48 || (x > 260 && x < 320 && y > 411) },
			with(func(p *Parts) { p.Bottom[left], p.Side[right] = mixed, out }), "", StatusUndecided},
	} {
		p := newPhantom(t)
		p.Facts.NonZero = p.draw(func(x, y int) bool { return !c.black(x, y) })
		f := mustAssess(t, p.Input, rules, Inclusion).Finding(Inclusion)
		if f.Parts == nil || *f.Parts != c.parts || f.Label != c.label || f.Status != c.status {
			t.Errorf("%s: %s %q %v %v, want %s %q %v", c.name, f.Status, f.Label, f.Parts, f.Failed(), c.status, c.label, c.parts)
		}
	}
	// Ratios on their limits: reaching them includes, and below excluded_below excludes.
	golden := goldenCase(t, 1).Input
	base := mustAssess(t, golden, rules, Inclusion).Finding(Inclusion)
	for _, c := range []struct {
		row, ratio string
		flag       func(p *Parts) Flag
		on         Flag
	}{
		{"inclusion.label_apex.included_min", "apex_ratio_right", func(p *Parts) Flag { return p.Apex[right] }, in},
		{"inclusion.label_side.included_min", "side_ratio_left", func(p *Parts) Flag { return p.Side[left] }, in},
		{"inclusion.label_bottom.included_min", "bottom_ratio_left", func(p *Parts) Flag { return p.Bottom[left] }, in},
	} {
		m, _ := base.Measurement(c.ratio)
		v, _ := m.Float()
		f := mustAssess(t, golden, mustRules(t, Corrected, map[string]any{c.row: v}), Inclusion).Finding(Inclusion)
		if got := c.flag(f.Parts); got != c.on {
			t.Errorf("%s on %s: %v, want %v", c.row, c.ratio, got, c.on)
		}
	}
	m, _ := base.Measurement("bottom_ratio_left")
	v, _ := m.Float()
	f := mustAssess(t, golden, mustRules(t, Corrected, map[string]any{
		"inclusion.label_bottom.included_min": 1, "inclusion.label_bottom.excluded_below": v}), Inclusion).Finding(Inclusion)
	if f.Parts.Bottom[left] != mixed {
		t.Errorf("a ratio on excluded_below is %v, want mixed", f.Parts.Bottom[left])
	}
}

// TestSideWidths covers the four ways of comparing the lungs' widths.
func TestSideWidths(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	for _, c := range []struct {
		name        string
		rightWidth  int // of the right lung, whose side lies at x 48
		leftWidth   int // of the left lung, whose side lies at x 459
		first, last int // content columns
		value       float64
		pass        bool
	}{
		{"both in, balanced", 140, 200, 0, 511, 0.7, true},
		{"both in, right narrow", 139, 200, 0, 511, 139.0 / 200, false},
		{"both in, left narrow", 200, 139, 0, 511, 139.0 / 200, false},
		{"both out", 120, 200, 48, 459, 0.6, true},
		{"both out, narrower", 119, 200, 48, 459, 119.0 / 200, false},
		{"right in, left out", 140, 200, 0, 459, 0.7, true},
		{"right in, left out, right narrow", 139, 200, 0, 459, 139.0 / 200, false},
		{"right in, left out, left narrow is fine", 200, 100, 0, 459, 2, true},
		{"right out, left in", 200, 140, 48, 511, 0.7, true},
		{"right out, left in, left narrow", 200, 139, 48, 511, 139.0 / 200, false},
		{"right out, left in, right narrow is fine", 100, 200, 48, 511, 2, true},
		{"no width", 0, 200, 0, 511, 0, false},
	} {
		p := newPhantom(t)
		p.set(anatomy.RightLung, p.rect(48, 60, 48+c.rightWidth, 400))
		p.set(anatomy.LeftLung, p.rect(459-c.leftWidth, 60, 459, 400))
		p.set(anatomy.RightHemidiaphragm, p.rect(48, 380, 222, 420))
		p.set(anatomy.LeftHemidiaphragm, p.rect(287, 380, 459, 420))
		p.content(c.first, 0, c.last, 511)
		f := mustAssess(t, p.Input, rules, Inclusion).Finding(Inclusion)
		for _, k := range f.Checks {
			if v, _ := k.Value.Float(); k.Rule == RuleSideWidth && (v != c.value || k.Pass != c.pass) {
				t.Errorf("%s: ratio %v, %v, want %v, %v", c.name, v, k.Pass, c.value, c.pass)
			}
		}
	}
}

// TestCleanup adds pieces that are largest by the other measures: a wide thin line, a tall
// thin line, a block. Each structure keeps the component that its step names, so that no
// finding changes.
func TestCleanup(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	in := newPhantom(t).Input
	lungMask := in.Masks.Mask(anatomy.RightLung)
	lungBox, _ := lungMask.Box()
	for _, c := range []struct {
		name  string
		apply func(p *phantom)
		tasks []Task
	}{
		{"right lung: a wide line below", func(p *phantom) { p.add(1, 505, 250, 505, anatomy.RightLung) }, []Task{Inclusion, Inspiration, Rotation, Cardiomegaly, MediastinalWidening, Global, XRagent}},
		{"left lung: a tall line at the edge", func(p *phantom) { p.add(508, 0, 508, 511, anatomy.LeftLung) }, []Task{Rotation, Cardiomegaly, MediastinalWidening, Global, XRagent}},
		{"heart: a block of larger area", func(p *phantom) { p.add(380, 60, 511, 400, anatomy.Heart) }, []Task{Cardiomegaly, AscendingAortaEnlargement}},
		{"heart: a tall line", func(p *phantom) { p.add(500, 0, 500, 511, anatomy.Heart) }, []Task{Cardiomegaly, AscendingAortaEnlargement, Global}},
		{"upper mediastinum: a tall block", func(p *phantom) { p.add(400, 0, 470, 511, anatomy.UpperMediastinum) }, []Task{MediastinalWidening}},
		{"trachea: a wide line above", func(p *phantom) { p.add(0, 2, 300, 2, anatomy.Trachea) }, []Task{TracheaDeviation, AorticKnobEnlargement, DescendingAortaEnlargement}},
		{"bifurcation: a wide line below", func(p *phantom) { p.add(0, 500, 300, 500, anatomy.TrachealBifurcation) }, []Task{CarinaAngle, TracheaDeviation}},
		{"right clavicle: a block of larger area, lateral", func(p *phantom) { p.add(2, 200, 80, 300, anatomy.RightClavicle) }, []Task{Rotation}},
		{"right scapula: a wide line", func(p *phantom) { p.add(0, 505, 400, 505, anatomy.RightScapula) }, []Task{Projection}},
		{"T1: a wide line", func(p *phantom) { p.add(300, 500, 330, 500, anatomy.VertebraT1) }, []Task{Rotation, TracheaDeviation}},
		{"rib 3: a block of larger area", func(p *phantom) { p.add(400, 400, 440, 440, anatomy.RightPosteriorRib(3)) }, []Task{Inspiration}},
		{"descending aorta: a wide block below the heart", func(p *phantom) { p.add(400, 450, 511, 511, anatomy.DescendingAorta) }, []Task{DescendingAortaTortuous, DescendingAortaEnlargement}},
		{"ascending aorta: a wide line", func(p *phantom) { p.add(0, 20, 150, 20, anatomy.AscendingAorta) }, []Task{AscendingAortaEnlargement}},
	} {
		p := newPhantom(t)
		c.apply(p)
		before, after := outcomes(t, in, rules, c.tasks), outcomes(t, p.Input, rules, c.tasks)
		for _, task := range c.tasks {
			if before[task] != after[task] {
				t.Errorf("%s: %s changed from\n%s to\n%s", c.name, task, before[task], after[task])
			}
		}
	}
	if lungBox.Width() >= 249 {
		t.Errorf("the lung is %d wide: the line in the first case must be wider", lungBox.Width())
	}
}
