package chexstruct

import (
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// absence is a change of the phantom and the reason it must give per task.
type absence struct {
	name  string
	apply func(p *phantom)
	want  map[Task]Reason
}

var absences = []absence{
	{"no picture", func(p *phantom) { p.Facts = nil }, map[Task]Reason{
		Inclusion: ReasonMissingImage, Cardiomegaly: ReasonMissingImage, MediastinalWidening: ReasonMissingImage, AscendingAortaEnlargement: ReasonMissingImage}},
	{"no boxes", func(p *phantom) { p.Boxes = nil }, map[Task]Reason{
		Cardiomegaly: ReasonMissingBox, MediastinalWidening: ReasonMissingBox, AscendingAortaEnlargement: ReasonMissingBox}},
	{"no mediastinum box", func(p *phantom) { delete(p.Boxes, BoxUpperMediastinum) }, map[Task]Reason{MediastinalWidening: ReasonMissingBox}},
	{"no view", func(p *phantom) { p.View = 0 }, map[Task]Reason{Cardiomegaly: ReasonView, MediastinalWidening: ReasonView, XRagent: ReasonView}},
	{"lateral view", func(p *phantom) { p.View = cxr.ViewLateral }, map[Task]Reason{Cardiomegaly: ReasonView, MediastinalWidening: ReasonView, XRagent: ReasonView}},
	{"AP view", func(p *phantom) { p.View = cxr.ViewAP }, map[Task]Reason{XRagent: ReasonView}},
	{"mirrored", ruleFailures[RuleOrientation].apply, everyTask(ReasonOrientation)},
	{"no heart", func(p *phantom) { p.clear(anatomy.Heart) }, map[Task]Reason{
		Cardiomegaly: ReasonMissingMask, AscendingAortaEnlargement: ReasonMissingMask, DescendingAortaEnlargement: ReasonMissingMask,
		DescendingAortaTortuous: ReasonMissingMask, XRagent: ReasonMaskQuality}},
	{"no left diaphragm", func(p *phantom) { p.clear(anatomy.LeftHemidiaphragm) }, map[Task]Reason{
		Inclusion: ReasonMissingMask, Cardiomegaly: ReasonMissingMask, MediastinalWidening: ReasonMissingMask, AscendingAortaEnlargement: ReasonMissingMask}},
	{"no right lung", func(p *phantom) { p.clear(anatomy.RightLung) }, map[Task]Reason{
		Inclusion: ReasonMissingMask, Inspiration: ReasonMissingMask, Rotation: ReasonMissingMask, Projection: ReasonMissingMask, Cardiomegaly: ReasonMissingMask,
		MediastinalWidening: ReasonMissingMask, AscendingAortaEnlargement: ReasonMissingMask, XRagent: ReasonMaskQuality}},
	{"nothing", func(p *phantom) { p.clear(anatomy.All()...) }, func() map[Task]Reason {
		m := everyTask(ReasonMissingMask)
		m[XRagent] = ReasonMaskQuality
		return m
	}()},
	{"black picture", func(p *phantom) { p.Facts.NonZero = mask.Empty(p.w(), p.h()) }, map[Task]Reason{
		Inclusion: ReasonApexEmpty, Cardiomegaly: ReasonSideEmpty, MediastinalWidening: ReasonSideEmpty, AscendingAortaEnlargement: ReasonSideEmpty}},
	{"lung columns never content", func(p *phantom) {
		// Black columns every fifth pixel leave no content row in any strip.
		p.Facts.NonZero = p.draw(func(x, y int) bool { return x%5 != 0 })
	}, map[Task]Reason{Inclusion: ReasonNoContent, MediastinalWidening: ReasonNoContent}},
	{"lung all below the diaphragm's columns", func(p *phantom) {
		p.set(anatomy.RightHemidiaphragm, p.rect(0, 0, 20, 20))
	}, map[Task]Reason{Inclusion: ReasonBaseEmpty, Inspiration: ReasonNoDiaphragmOnLine}},

	{"lung one column wide", func(p *phantom) { p.set(anatomy.RightLung, p.rect(100, 50, 100, 400)) }, map[Task]Reason{
		Inspiration: ReasonNoMidClavicularRow, Rotation: ReasonZeroWidth, XRagent: ReasonMaskQuality}},
	{"no ribs", func(p *phantom) {
		for n := 1; n <= ribCount; n++ {
			p.clear(anatomy.RightPosteriorRib(n))
		}
	}, map[Task]Reason{Inspiration: ReasonNoRibOnLine}},
	{"diaphragm above rib 1's end", func(p *phantom) {
		p.set(anatomy.RightHemidiaphragm, p.rect(48, 60, 222, 62))
	}, map[Task]Reason{Inspiration: ReasonNoRibOnLine}},
	{"only rib 9, inside the diaphragm", func(p *phantom) {
		for n := 1; n <= ribCount; n++ {
			p.clear(anatomy.RightPosteriorRib(n))
		}
		p.set(anatomy.RightPosteriorRib(9), p.rect(60, 380, 200, 384))
		// Rib 8 lies medial of the line and its lateral end hangs below the diaphragm's top.
		p.set(anatomy.RightPosteriorRib(8), p.rect(150, 100, 200, 102).Or(p.rect(150, 100, 150, 500)))
	}, map[Task]Reason{Inspiration: ReasonNoRibAbove}},
	{"ribs stop high", func(p *phantom) {
		for n := 5; n <= ribCount; n++ {
			p.clear(anatomy.RightPosteriorRib(n))
		}
	}, map[Task]Reason{Inspiration: ReasonRibGap}},
	{"upright clavicle", func(p *phantom) { p.set(anatomy.LeftClavicle, p.rect(300, 60, 300, 120)) }, map[Task]Reason{Rotation: ReasonClavicleVertical}},
	{"T4 to T7 lost, clavicles low", func(p *phantom) {
		p.clear(anatomy.VertebraT4, anatomy.VertebraT5, anatomy.VertebraT6, anatomy.VertebraT7)
		p.move(0, 40, anatomy.RightClavicle, anatomy.LeftClavicle)
	}, map[Task]Reason{Rotation: ReasonMissingVertebra, TracheaDeviation: ReasonMidlinePoints}},
	{"T1 and T2 merged in height", func(p *phantom) {
		for n := 1; n <= 7; n++ {
			p.set(anatomy.ThoracicVertebra(n), p.rect(240+n, 80, 260+n, 90))
		}
	}, map[Task]Reason{Rotation: ReasonZeroWidth, TracheaDeviation: ReasonMidlinePoints}},
	{"scapula above the lung", func(p *phantom) { p.set(anatomy.RightScapula, p.rect(20, 0, 140, 20)) }, map[Task]Reason{Projection: ReasonNoLungInBand}},
	{"heart below the lungs", func(p *phantom) { p.set(anatomy.Heart, p.rect(176, 480, 360, 511)) }, map[Task]Reason{
		Cardiomegaly: ReasonNoLungBelowHeartTop, DescendingAortaTortuous: ReasonNoHeartOverlap, DescendingAortaEnlargement: ReasonNoHeartOverlap, XRagent: ReasonNoLungBelowHeartTop}},
	{"mediastinum above the lungs", func(p *phantom) { p.set(anatomy.UpperMediastinum, p.rect(200, 0, 300, 10)) }, map[Task]Reason{MediastinalWidening: ReasonNoLungAtLevel}},
	{"lungs overlap at the level", func(p *phantom) {
		// Both lungs keep their sides by their lower parts; on row 128 they change places.
		p.crop(0, 140, 511, 511, lungs...)
		p.add(300, 128, 400, 140, anatomy.RightLung)
		p.add(150, 128, 300, 140, anatomy.LeftLung)
		p.add(150, 140, 222, 141, anatomy.RightLung)
		p.set(anatomy.UpperMediastinum, p.rect(150, 128, 350, 128))
		p.crop(0, 0, 511, 500, lungs...)
		p.add(222, 140, 330, 141, anatomy.RightLung)
		p.add(222, 140, 330, 141, anatomy.LeftLung)
	}, map[Task]Reason{MediastinalWidening: ReasonZeroWidth}},
	{"fork without a notch", func(p *phantom) { p.set(anatomy.TrachealBifurcation, p.rect(200, 181, 300, 240)) }, map[Task]Reason{CarinaAngle: ReasonNoNotch}},
	{"notch open at the top", func(p *phantom) {
		p.set(anatomy.TrachealBifurcation, p.rect(200, 181, 220, 240).Or(p.rect(280, 181, 300, 240)).Or(p.rect(200, 238, 300, 240)))
	}, map[Task]Reason{CarinaAngle: ReasonNoCarina}},
	{"notch shorter than the levels", func(p *phantom) {
		p.set(anatomy.TrachealBifurcation, p.rect(200, 181, 300, 240).AndNot(p.rect(240, 200, 260, 202)))
	}, map[Task]Reason{CarinaAngle: ReasonCarinaRows}},
	{"fork as high as the trachea", func(p *phantom) { p.add(240, 10, 250, 181, anatomy.TrachealBifurcation) }, map[Task]Reason{
		TracheaDeviation: ReasonTracheaEmpty, AorticKnobEnlargement: ReasonTracheaEmpty, AscendingAortaEnlargement: ReasonTracheaEmpty,
		DescendingAortaEnlargement: ReasonTracheaEmpty}},
	{"no T4", func(p *phantom) { p.clear(anatomy.VertebraT4) }, map[Task]Reason{TracheaDeviation: ReasonMidlinePoints}},
	{"aorta ends above the trachea's end", func(p *phantom) { p.crop(0, 0, 511, 179, anatomy.DescendingAorta) }, map[Task]Reason{
		AorticKnobEnlargement: ReasonDescAboveTrachea, DescendingAortaTortuous: ReasonNoHeartOverlap, DescendingAortaEnlargement: ReasonNoHeartOverlap}},
	{"aorta barely below the trachea's end", func(p *phantom) { p.crop(0, 0, 511, 182, anatomy.DescendingAorta) }, map[Task]Reason{
		AorticKnobEnlargement: ReasonDescPartEmpty, DescendingAortaTortuous: ReasonNoHeartOverlap, DescendingAortaEnlargement: ReasonNoHeartOverlap}},
	{"arch to the side", func(p *phantom) {
		p.crop(0, 0, 255, 511, anatomy.AorticArch)
		p.add(10, 100, 20, 120, anatomy.AorticArch)
	}, map[Task]Reason{
		AorticKnobEnlargement: ReasonNoArchOverDesc}},
	{"arch below the trachea", func(p *phantom) { p.set(anatomy.AorticArch, p.rect(270, 182, 304, 200)) }, map[Task]Reason{AorticKnobEnlargement: ReasonNoTracheaAtArch}},
	{"trachea one pixel wide", func(p *phantom) { p.crop(250, 0, 250, 511, anatomy.Trachea) }, map[Task]Reason{
		AorticKnobEnlargement: ReasonZeroWidth, DescendingAortaEnlargement: ReasonZeroWidth}},
	{"overlap on the aorta's first row", func(p *phantom) {
		p.set(anatomy.DescendingAorta, p.rect(280, 244, 300, 300))
		p.set(anatomy.Heart, p.rect(176, 200, 360, 244))
	}, map[Task]Reason{DescendingAortaTortuous: ReasonDescEmpty, DescendingAortaEnlargement: ReasonDescEmpty}},
	{"four rows of aorta above the heart", func(p *phantom) {
		p.set(anatomy.DescendingAorta, p.rect(280, 240, 300, 244))
		p.set(anatomy.Heart, p.rect(176, 200, 360, 244))
	}, map[Task]Reason{DescendingAortaTortuous: ReasonDescShort, DescendingAortaEnlargement: ReasonDescShort}},
	{"box without width", func(p *phantom) {
		p.Boxes[BoxUpperMediastinum] = geom.Box{X0: 200, Y0: 61, X1: 200, Y1: 204}
	}, map[Task]Reason{MediastinalWidening: ReasonZeroWidth}},
	{"heart and box of one pixel", func(p *phantom) {
		p.set(anatomy.Heart, p.rect(200, 300, 200, 300))
		p.Boxes[BoxCardiacSilhouette] = geom.Box{X0: 200, Y0: 300, X1: 200, Y1: 300}
	}, map[Task]Reason{Cardiomegaly: ReasonZeroWidth, AscendingAortaEnlargement: ReasonZeroWidth,
		DescendingAortaTortuous: ReasonNoHeartOverlap, DescendingAortaEnlargement: ReasonNoHeartOverlap, XRagent: ReasonMaskQuality}},
	{"small heart", func(p *phantom) { p.crop(200, 244, 230, 300, anatomy.Heart) }, map[Task]Reason{
		DescendingAortaTortuous: ReasonNoHeartOverlap, DescendingAortaEnlargement: ReasonNoHeartOverlap, XRagent: ReasonMaskQuality}},
	{"heart wider than the chest", func(p *phantom) { p.set(anatomy.Heart, p.rect(40, 300, 470, 340)) }, map[Task]Reason{XRagent: ReasonImplausibleValue}},
	{"neither trachea nor mediastinum", func(p *phantom) { p.clear(anatomy.Trachea, anatomy.UpperMediastinum) }, map[Task]Reason{
		MediastinalWidening: ReasonMissingMask, TracheaDeviation: ReasonMissingMask, AorticKnobEnlargement: ReasonMissingMask,
		AscendingAortaEnlargement: ReasonMissingMask, DescendingAortaEnlargement: ReasonMissingMask, XRagent: ReasonMissingMask}},
}

func everyTask(r Reason) map[Task]Reason {
	m := map[Task]Reason{XRagent: r}
	for _, t := range Tasks() {
		m[t] = r
	}
	return m
}

// TestReasons shows for every reason a picture that gives it, and that a task which is not
// evaluable has no label and no index. Tasks that are not listed stay evaluable.
func TestReasons(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	seen := map[Reason]bool{}
	for _, a := range absences {
		t.Run(a.name, func(t *testing.T) {
			p := newPhantom(t)
			a.apply(p)
			res := mustAssess(t, p.Input, rules)
			for _, f := range res.Findings {
				if want := a.want[f.Task]; f.Reason != want {
					t.Errorf("%s: reason %q (%s, failed %v), want %q", f.Task, f.Reason, f.Status, f.Failed(), want)
				}
				if (f.Reason != "") != (f.Status == StatusNotEvaluable) {
					t.Errorf("%s: status %s with reason %q", f.Task, f.Status, f.Reason)
				}
				if f.Reason != "" && (f.Label != "" || f.Index.Kind() != KindNone || f.Rounded.Kind() != KindNone) {
					t.Errorf("%s: a value although it is not evaluable", f.Task)
				}
				seen[f.Reason] = true
			}
			if want := a.want[XRagent]; want != "" && res.XRagent.Reason != want {
				t.Errorf("bundle: reason %q, want %q", res.XRagent.Reason, want)
			}
			if b := res.XRagent; b.Exposed != (b.Reason == "") || b.Exposed != (b.CTR != nil) {
				t.Errorf("bundle: exposed %v with reason %q", b.Exposed, b.Reason)
			}
			seen[res.XRagent.Reason] = true
		})
	}
	for _, r := range Reasons() {
		// A component of the aorta has no empty row, so a gap cannot arise; the check guards
		// the step against a change of that cleanup.
		if !seen[r] && r != ReasonDescGap {
			t.Errorf("no picture gives reason %s", r)
		}
	}
}
