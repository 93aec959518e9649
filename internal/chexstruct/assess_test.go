package chexstruct

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"cxrepro/internal/geom"
)

// TestTasksAreIndependent: a task alone, in any company and in any order says the same.
func TestTasksAreIndependent(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	inputs := pool(t)
	for i, name := range sortedNames(inputs) {
		if i%3 != 0 {
			continue // every third picture is enough and keeps the test short
		}
		all := outcomes(t, inputs[name], rules, Sections())
		for _, task := range Sections() {
			if alone := outcomes(t, inputs[name], rules, []Task{task}); len(alone) != 1 || alone[task] != all[task] {
				t.Errorf("%s: %s alone says\n%s, among all\n%s", name, task, alone[task], all[task])
			}
		}
	}
	in := goldenCase(t, 1).Input
	backward := Sections()
	slices.Reverse(backward)
	a, _ := json.Marshal(mustAssess(t, in, rules))
	b, _ := json.Marshal(mustAssess(t, in, rules, backward...))
	if string(a) != string(b) {
		t.Error("the order asked for changes the result")
	}
}

// TestConcurrentAssess shares one input and one set of rules; the race detector watches.
func TestConcurrentAssess(t *testing.T) {
	in, rules := goldenCase(t, 1).Input, mustRules(t, Corrected, nil)
	want, _ := json.Marshal(mustAssess(t, in, rules))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			res, err := Assess(in, rules, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if got, _ := json.Marshal(res); string(got) != string(want) {
				t.Error("a concurrent call differs")
			}
		})
	}
	group.Wait()
}

// TestMirroredPictures: every golden phantom mirrored is refused as a whole.
func TestMirroredPictures(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	for n := 1; n <= goldenCases; n++ {
		p := &phantom{t, goldenCase(t, n).Input}
		p.mirror(p.Masks.Present().List()...)
		res := mustAssess(t, p.Input, rules)
		if failed := res.Global.Failed(); len(failed) != 1 || failed[0] != RuleOrientation || res.Global.Orientation != OrientationMirrored {
			t.Errorf("case %d: the filter failed %v", n, failed)
		}
		if !res.Global.Keep() {
			t.Errorf("case %d: orientation alone must not drop the image", n)
		}
		for _, f := range res.Findings {
			if f.Status != StatusNotEvaluable || f.Reason != ReasonOrientation || len(f.Checks) != 0 {
				t.Errorf("case %d: %s is %s %s", n, f.Task, f.Status, f.Reason)
			}
		}
		if res.XRagent.Exposed || (res.XRagent.Reason != ReasonOrientation && p.View.String() == "PA") {
			t.Errorf("case %d: bundle %+v", n, res.XRagent)
		}
	}
}

// TestShiftedDown moves masks, content and boxes together inside a taller picture: what
// does not compare with the picture's size stays, and landmarks move along.
func TestShiftedDown(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	const dy = 16
	in := goldenCase(t, 1).Input
	p := &phantom{t, goldenCase(t, 1).Input}
	p.move(0, dy, p.Masks.Present().List()...)
	p.Facts.NonZero = p.draw(func(x, y int) bool { return y >= dy })
	for name, b := range p.Boxes {
		p.Boxes[name] = geom.Box{X0: b.X0, Y0: b.Y0 + dy, X1: b.X1, Y1: b.Y1 + dy}
	}
	a, b := mustAssess(t, in, rules), mustAssess(t, p.Input, rules)
	for _, task := range []Task{Inspiration, Rotation, Projection, Cardiomegaly, MediastinalWidening, CarinaAngle, TracheaDeviation, AorticKnobEnlargement, DescendingAortaTortuous, DescendingAortaEnlargement} {
		fa, fb := a.Finding(task), b.Finding(task)
		if fa.Label != fb.Label {
			t.Errorf("%s: %s, shifted %s (%s %v)", task, fa.Label, fb.Label, fb.Reason, fb.Failed())
		}
		ja, _ := json.Marshal(fa.Rounded)
		jb, _ := json.Marshal(fb.Rounded)
		if string(ja) != string(jb) {
			t.Errorf("%s: index %s, shifted %s", task, ja, jb)
		}
	}
	va, _ := a.Finding(CarinaAngle).Measurement("point_b")
	vb, _ := b.Finding(CarinaAngle).Measurement("point_b")
	pa, _ := va.Vec()
	pb, _ := vb.Vec()
	if pb != (geom.Vec{X: pa.X, Y: pa.Y + dy}) {
		t.Errorf("carina %v, shifted %v", pa, pb)
	}
}

// TestNativeMeasurement stretches the golden phantoms to native size: the verdicts that
// depend on ratios alone stay as they are.
func TestNativeMeasurement(t *testing.T) {
	if testing.Short() {
		t.Skip("native masks take a moment")
	}
	rules := mustRules(t, Corrected, nil)
	for _, n := range []int{1, 4, 8, 12} {
		small := mustAssess(t, goldenCase(t, n).Input, rules)
		large := mustAssess(t, nativeInput(t, n), rules)
		for _, task := range []Task{Inclusion, Inspiration, Projection, Cardiomegaly, MediastinalWidening, AorticKnobEnlargement, DescendingAortaEnlargement} {
			a, b := small.Finding(task), large.Finding(task)
			if a.Label != b.Label || a.Status != b.Status {
				t.Errorf("case %d: %s is %s %q at 512, %s %q native (%s %v)", n, task, a.Status, a.Label, b.Status, b.Label, b.Reason, b.Failed())
			}
		}
	}
}

func ExampleAssess() {
	c, err := ReadCase(goldenFS, "open_04.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	rules, err := NewRules(Corrected, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := Assess(c.Input, rules, []Task{Cardiomegaly})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := result.Finding(Cardiomegaly)
	index, _ := f.Rounded.Float()
	fmt.Println(f.Status, f.Label, index)
	// Output: ok enlarged 0.57
}
