package xragent

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/phantom"
)

// TestViewCodes holds which reading gives which code, in the order of the codes.
func TestViewCodes(t *testing.T) {
	pa := [4]float64{0.9, 0.05, 0.03, 0.02}
	up := [4]float64{0.97, 0.01, 0.01, 0.01}
	for _, r := range []struct {
		name string
		rule ViewRule
		in   ViewReading
		want string
	}{
		{"pa", ViewRule{}, ViewReading{Type: pa, Turn: up}, ""},
		{"mirrored gates nothing", ViewRule{}, ViewReading{Type: pa, Turn: up, Mirrored: 1}, ""},
		{"ap", ViewRule{}, ViewReading{Type: [4]float64{0.4, 0.6}, Turn: up}, ReasonViewAP},
		{"ap admitted", ViewRule{AdmitAP: true}, ViewReading{Type: [4]float64{0.4, 0.6}, Turn: up}, ""},
		{"lateral", ViewRule{AdmitAP: true}, ViewReading{Type: [4]float64{0, 0, 1}, Turn: up}, ReasonViewLateral},
		{"not a chest film", ViewRule{}, ViewReading{Type: [4]float64{0, 0, 0, 1}, Turn: [4]float64{0, 1}, Inverted: 1}, ReasonViewNotCXR},
		{"a quarter turn", ViewRule{}, ViewReading{Type: pa, Turn: [4]float64{0.2, 0.8}, Inverted: 1}, ReasonViewRotated},
		{"half a turn", ViewRule{}, ViewReading{Type: pa, Turn: [4]float64{0, 0, 1}}, ReasonViewRotated},
		{"inverted", ViewRule{}, ViewReading{Type: pa, Turn: up, Inverted: 0.51}, ReasonViewInverted},
		{"inverted by half", ViewRule{}, ViewReading{Type: pa, Turn: up, Inverted: 0.5}, ""},
		{"a stricter limit", ViewRule{MaxInverted: 0.2}, ViewReading{Type: pa, Turn: up, Inverted: 0.3}, ReasonViewInverted},
		{"too little of pa", ViewRule{MinProbability: 0.95}, ViewReading{Type: pa, Turn: up}, ReasonViewAP},
		{"too little of pa, ap admitted", ViewRule{MinProbability: 0.95, AdmitAP: true}, ViewReading{Type: pa, Turn: up}, ReasonViewLateral},
		{"too little of upright", ViewRule{MinProbability: 0.6}, ViewReading{Type: pa, Turn: [4]float64{0.5, 0.3, 0.2}}, ReasonViewRotated},
	} {
		if got := r.rule.Decide(r.in); got != r.want {
			t.Errorf("%s: %q, want %q", r.name, got, r.want)
		}
	}
	for v, want := range map[cxr.ViewPosition]string{cxr.ViewPA: "", cxr.ViewAP: ReasonViewAP, cxr.ViewLateral: ReasonViewLateral, 0: ReasonViewNotCXR} {
		require.Equal(t, want, ViewRule{}.Decide(AssertedView(v)))
	}
	require.Error(t, ViewRule{MinProbability: 1.1}.Validate())
	require.Error(t, ViewRule{MaxInverted: math.NaN()}.Validate())
}

// chest is a set of rectangles on a 100 x 100 grid that passes every rule: x0, x1, y0, y1,
// ends exclusive.
func chest() map[anatomy.Structure][]([4]int) {
	return map[anatomy.Structure][][4]int{
		anatomy.RightLung: {{10, 42, 10, 80}}, anatomy.LeftLung: {{55, 85, 10, 80}}, anatomy.Heart: {{35, 69, 45, 75}},
		anatomy.Trachea: {{46, 50, 2, 30}}, anatomy.TrachealBifurcation: {{44, 52, 30, 36}},
	}
}

func masksFrom(t testing.TB, boxes map[anatomy.Structure][][4]int, declared anatomy.Set) *anatomy.Masks {
	t.Helper()
	m, err := anatomy.NewMasks(100, 100, 100, 100, declared)
	require.NoError(t, err)
	for s, list := range boxes {
		k := mask.Empty(100, 100)
		for _, b := range list {
			k = k.Or(mask.FromFunc(100, 100, func(x, y int) bool { return x >= b[0] && x < b[1] && y >= b[2] && y < b[3] }))
		}
		require.NoError(t, m.Put(s, k))
	}
	return m
}

var fiveStructures = anatomy.SetOf(anatomy.RightLung, anatomy.LeftLung, anatomy.Heart, anatomy.Trachea, anatomy.TrachealBifurcation)

func gateOf(t testing.TB, p Profile) Gate {
	t.Helper()
	g, err := DefaultGate(p)
	require.NoError(t, err)
	require.NoError(t, g.Validate())
	return g
}

// TestQualityCodes breaks one rule at a time.
func TestQualityCodes(t *testing.T) {
	type boxes = map[anatomy.Structure][][4]int
	g := gateOf(t, ProfileCalibrated)
	for _, r := range []struct {
		name     string
		change   func(boxes)
		declared anatomy.Set
		want     string
	}{
		{"sound", func(boxes) {}, fiveStructures, ""},
		{"no heart", func(b boxes) { delete(b, anatomy.Heart) }, fiveStructures, ReasonMissingClass},
		{"no left lung", func(b boxes) { delete(b, anatomy.LeftLung) }, fiveStructures, ReasonMissingClass},
		{"5 of 8 structures", func(boxes) {}, fiveStructures.With(anatomy.AorticArch).With(anatomy.RightClavicle).With(anatomy.LeftClavicle), ReasonFewStructures},
		{"5 of 7 structures", func(boxes) {}, fiveStructures.With(anatomy.AorticArch).With(anatomy.RightClavicle), ""},
		{"small lungs", func(b boxes) {
			b[anatomy.RightLung] = [][4]int{{30, 42, 30, 70}}
			b[anatomy.LeftLung] = [][4]int{{55, 67, 30, 70}}
		}, fiveStructures, ReasonAreaBounds},
		{"large heart", func(b boxes) { b[anatomy.Heart] = [][4]int{{12, 80, 20, 75}} }, fiveStructures, ReasonAreaBounds},
		{"one lung a seventh of the other", func(b boxes) { b[anatomy.LeftLung] = [][4]int{{75, 85, 10, 40}} }, fiveStructures, ReasonAreaBounds},
		{"heart in two parts", func(b boxes) { b[anatomy.Heart] = append(b[anatomy.Heart], [4]int{72, 82, 30, 50}) }, fiveStructures, ReasonFragmented},
		{"mirrored", func(b boxes) {
			b[anatomy.RightLung], b[anatomy.LeftLung] = b[anatomy.LeftLung], b[anatomy.RightLung]
		}, fiveStructures, ReasonLaterality},
		{"heart at the apices", func(b boxes) { b[anatomy.Heart] = [][4]int{{35, 69, 5, 35}} }, fiveStructures, ReasonHeartPosition},
		{"heart below the lungs", func(b boxes) { b[anatomy.Heart] = [][4]int{{35, 69, 70, 95}} }, fiveStructures, ReasonHeartPosition},
		{"heart beside the lungs", func(b boxes) { b[anatomy.Heart] = [][4]int{{88, 100, 40, 70}} }, fiveStructures, ReasonHeartPosition},
		{"lungs overlap", func(b boxes) { b[anatomy.RightLung] = [][4]int{{10, 57, 10, 80}} }, fiveStructures, ReasonOverlap},
		{"heart as wide as the chest", func(b boxes) { b[anatomy.Heart] = [][4]int{{10, 84, 45, 70}} }, fiveStructures, ReasonImplausibleValue},
		{"narrow heart", func(b boxes) { b[anatomy.Heart] = [][4]int{{45, 62, 45, 65}} }, fiveStructures, ReasonImplausibleValue},
		{"trachea in the lung", func(b boxes) { b[anatomy.Trachea] = [][4]int{{10, 14, 2, 30}} }, fiveStructures, ReasonImplausibleValue},
	} {
		b := chest()
		r.change(b)
		got, err := g.Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: masksFrom(t, b, r.declared)})
		require.NoError(t, err, r.name)
		require.Equal(t, r.want, got.Reason, r.name)
		require.Equal(t, r.want == "", got.Exposed(CTR), r.name)
	}
}

// TestCalibratedValues holds the three values by hand: the heart spans 35..68 of a chest
// from 10 to 84; lungs of 32 and 30 columns; the trachea's middle 47.5 against 47.
func TestCalibratedValues(t *testing.T) {
	b, err := gateOf(t, ProfileCalibrated).Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: masksFrom(t, chest(), fiveStructures)})
	require.NoError(t, err)
	require.Equal(t, Bundle{View: "PA", Values: [3]*Verified{{Value: 0.45, Category: "normal"}, {Value: 0.03, Category: "symmetric"}, {Value: 0.01, Category: "midline"}}}, b)

	no := chest()
	delete(no, anatomy.Trachea)
	b, err = gateOf(t, ProfileCalibrated).Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: masksFrom(t, no, fiveStructures)})
	require.NoError(t, err)
	require.Equal(t, "midline", b.Values[2].Category, "the bifurcation stands in")
	delete(no, anatomy.TrachealBifurcation)
	no[anatomy.AorticArch] = [][4]int{{1, 2, 1, 2}}
	b, err = gateOf(t, ProfileCalibrated).Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: masksFrom(t, no, fiveStructures.With(anatomy.AorticArch).Minus(anatomy.SetOf(anatomy.TrachealBifurcation)))})
	require.NoError(t, err)
	require.True(t, b.Exposed(CTR) && b.Exposed(LungAsymmetry) && !b.Exposed(ThoracicShift), "no airway blocks the shift alone")

	far := chest()
	far[anatomy.Trachea] = [][4]int{{54, 58, 2, 30}}
	b, err = gateOf(t, ProfileCalibrated).Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: masksFrom(t, far, fiveStructures)})
	require.NoError(t, err)
	require.Equal(t, Verified{Value: 0.11, Category: "shifted_left"}, *b.Values[2], "towards the picture's right is the patient's left")

	g := gateOf(t, ProfileCalibrated)
	g.View.AdmitAP = true
	wide := chest()
	wide[anatomy.Heart] = [][4]int{{33, 73, 45, 75}} // 39/74 = 0.53
	for v, want := range map[cxr.ViewPosition]string{cxr.ViewPA: "enlarged", cxr.ViewAP: "normal"} {
		b, err = g.Bundle(Evidence{View: AssertedView(v), Masks: masksFrom(t, wide, fiveStructures)})
		require.NoError(t, err)
		require.Equal(t, want, b.Values[0].Category)
		require.Equal(t, v.String(), b.View)
	}
}

// TestTableProfile holds that profile "table" is the block of an assess result.
func TestTableProfile(t *testing.T) {
	m := masksFrom(t, chest(), fiveStructures)
	g := gateOf(t, "")
	b, err := g.Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: m})
	require.NoError(t, err)
	r, err := chexstruct.Assess(chexstruct.Input{Masks: m, View: cxr.ViewPA}, g.Rules, []chexstruct.Task{chexstruct.XRagent})
	require.NoError(t, err)
	require.Equal(t, r.XRagent.CTR.Rounded, b.Values[0].Value)
	require.Equal(t, []string{r.XRagent.CTR.Category, r.XRagent.Asymmetry.Category, r.XRagent.Shift.Category}, []string{b.Values[0].Category, b.Values[1].Category, b.Values[2].Category})
	gone := chest()
	gone[anatomy.Heart] = [][4]int{{45, 50, 45, 50}}
	b, err = g.Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: masksFrom(t, gone, fiveStructures)})
	require.NoError(t, err)
	require.Equal(t, "mask_quality", b.Reason)
}

// TestGateOrder holds that the view comes first, that gate.off lifts it alone, and that
// several pictures are decided one by one.
func TestGateOrder(t *testing.T) {
	g := gateOf(t, ProfileCalibrated)
	m := masksFrom(t, chest(), fiveStructures)
	mirrored := chest()
	mirrored[anatomy.RightLung], mirrored[anatomy.LeftLung] = mirrored[anatomy.LeftLung], mirrored[anatomy.RightLung]
	bad := masksFrom(t, mirrored, fiveStructures)
	lateral := Evidence{View: AssertedView(cxr.ViewLateral)}
	b, err := g.Bundle(lateral)
	require.NoError(t, err)
	require.Equal(t, Bundle{Reason: ReasonViewLateral}, b)
	require.False(t, g.Needs(lateral.View))
	_, err = g.Bundle(Evidence{View: AssertedView(cxr.ViewPA)})
	require.ErrorContains(t, err, "no masks")

	off := g
	off.ViewOff = true
	require.True(t, off.Needs(lateral.View))
	b, err = off.Bundle(Evidence{View: lateral.View, Masks: m})
	require.NoError(t, err)
	require.Equal(t, "unchecked", b.View)
	require.True(t, b.Exposed(CTR))
	b, err = off.Bundle(Evidence{View: lateral.View, Masks: bad})
	require.NoError(t, err)
	require.Equal(t, ReasonLaterality, b.Reason, "the masks are checked all the same")

	good := Evidence{View: AssertedView(cxr.ViewPA), Masks: m}
	b, which, err := g.First([]Evidence{lateral, {View: AssertedView(cxr.ViewPA), Masks: bad}, good})
	require.NoError(t, err)
	require.Equal(t, 2, which)
	require.True(t, b.Exposed(CTR))
	b, which, err = g.First([]Evidence{lateral, {View: AssertedView(cxr.ViewPA), Masks: bad}})
	require.NoError(t, err)
	require.Equal(t, -1, which)
	require.Equal(t, ReasonViewLateral, b.Reason)
	_, _, err = g.First(nil)
	require.Error(t, err)
}

// TestRotatedPatientIsFlagged holds that a patient who stood rotated gets a flag beside the
// values, and no other patient does.
func TestRotatedPatientIsFlagged(t *testing.T) {
	g := gateOf(t, ProfileCalibrated)
	g.Calibration.Quality.HeartHeight = [2]float64{0, 1}
	seen := map[bool]int{}
	for i := 0; i < 40 && min(seen[true], seen[false]) < 3; i++ {
		p := phantom.New(7, i, phantom.Options{})
		if p.View() != cxr.ViewPA || p.Cropped() != "" {
			continue
		}
		pic, err := p.Picture(512, 512)
		require.NoError(t, err)
		b, err := g.Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: pic.Masks})
		require.NoError(t, err)
		if b.Reason != "" {
			continue
		}
		r, err := chexstruct.Assess(chexstruct.Input{Masks: pic.Masks, View: cxr.ViewPA, NativeWidth: 512}, g.Rules, []chexstruct.Task{chexstruct.Rotation})
		require.NoError(t, err)
		rotated := r.Finding(chexstruct.Rotation).Label == chexstruct.LabelRotated
		require.Equal(t, rotated, slices.Contains(b.Flags, FlagRotated), "phantom %d: %v", i, p.Findings())
		require.True(t, b.Exposed(CTR))
		seen[rotated]++
		data, err := json.Marshal(b)
		require.NoError(t, err)
		var back Bundle
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, b, back)
	}
	require.GreaterOrEqual(t, min(seen[true], seen[false]), 3, "%v", seen)
}

func TestCalibration(t *testing.T) {
	c := DefaultCalibration()
	data, err := c.Encode()
	require.NoError(t, err)
	back, err := DecodeCalibration(data)
	require.NoError(t, err)
	require.Equal(t, c, back)

	var list []Evidence
	for i := range 60 {
		b := chest()
		b[anatomy.LeftLung] = [][4]int{{60 - i%20, 85, 10, 80}}
		list = append(list, Evidence{Masks: masksFrom(t, b, fiveStructures)})
	}
	got, err := c.Calibrate(list, "sixty drawings")
	require.NoError(t, err)
	require.Equal(t, "sixty drawings", got.Source)
	require.Greater(t, got.Pictures, MinCalibration)
	require.InDelta(t, -0.16, got.AsymmetryMin, 0.02)
	require.InDelta(t, 0.12, got.AsymmetryMax, 0.02)
	require.Equal(t, c.ShiftMax, got.ShiftMax)
	_, err = c.Calibrate(list[:10], "few")
	require.ErrorContains(t, err, "at least 40")
	c.AsymmetryMin = 0.3
	require.Error(t, c.Validate())
	_, err = DecodeCalibration([]byte(`{"source":"x"}`))
	require.Error(t, err)
}

// randomMasks draws masks on a 48 x 48 grid: a jittered chest, or rectangles anywhere.
func randomMasks(r *rand.Rand) *anatomy.Masks {
	const n = 48
	m, err := anatomy.NewMasks(n, n, n, n, fiveStructures)
	if err != nil {
		panic(err)
	}
	wild := r.IntN(3) == 0
	boxes := chest()
	for _, s := range fiveStructures.List() {
		list := boxes[s]
		k := mask.Empty(n, n)
		for _, b := range append(list, list[0])[:1+r.IntN(8)/7] {
			var q [4]int
			for i := range q {
				q[i] = b[i]*n/100 + r.IntN(9) - 4
				if wild {
					q[i] = r.IntN(n + 1)
				}
			}
			k = k.Or(rectangle(n, min(q[0], q[1]), max(q[0], q[1]), min(q[2], q[3]), max(q[2], q[3])))
		}
		if r.IntN(40) == 0 {
			k = mask.Empty(n, n)
		}
		if err := m.Put(s, k); err != nil {
			panic(err)
		}
	}
	return m
}

func rectangle(n, x0, x1, y0, y1 int) mask.Mask {
	b := mask.NewBuilder(n, n)
	for y := max(y0, 0); y < min(y1, n); y++ {
		if a, z := max(x0, 0), min(x1, n); z > a {
			b.Add(y, a, z)
		}
	}
	return b.Mask()
}

// TestNoImplausibleRatioIsShown draws 10^5 random mask sets: no cardiothoracic ratio
// outside the profile's bounds ever stands in a turn-2 message, with the view gate on or
// off. That the masks offered such ratios is counted, so the test cannot hold by lack.
func TestNoImplausibleRatioIsShown(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	for _, p := range []Profile{ProfileTable, ProfileCalibrated} {
		bounds, err := p.Bounds()
		require.NoError(t, err)
		g, a := gateOf(t, p), Agent{Profile: p}
		shown, offered := 0, 0
		for i := range 50_000 {
			g.ViewOff = i%2 == 0
			m := randomMasks(r)
			if v, reason := chexstruct.CardiothoracicRatio(m); reason == "" && (v < bounds.CTR[0] || v > bounds.CTR[1]) {
				offered++
			}
			b, err := g.Bundle(Evidence{View: AssertedView(cxr.ViewPA), Masks: m})
			require.NoError(t, err)
			roll := Rollout{ID: "r", Question: Question{Type: YesNo, Key: "Yes"}, Pictures: onePicture, Turn1: &Turn{think + "<no_tool/>", "stop"}}
			roll, err = a.Measured(roll, b)
			require.NoError(t, err)
			step, err := a.Next(roll)
			require.NoError(t, err)
			if v, ok := shownRatio(t, step.Ask.Messages[3].Text()); ok {
				shown++
				if v < bounds.CTR[0] || v > bounds.CTR[1] {
					t.Fatalf("%s: %v is shown", p, v)
				}
			}
		}
		t.Logf("%s: %d of 50000 shown; %d ratios outside the bounds were on offer", p, shown, offered)
		require.Greater(t, shown, 1000)
		require.Greater(t, offered, 1000)
	}
}

// shownRatio reads the ratio out of the words of the message alone.
func shownRatio(t *testing.T, text string) (float64, bool) {
	t.Helper()
	_, after, ok := strings.Cut(text, `"ctr":{"value":`)
	if !ok {
		require.Contains(t, text, `"status":"withheld"`)
		return 0, false
	}
	var v float64
	require.NoError(t, json.Unmarshal([]byte(after[:strings.IndexAny(after, ",}")]), &v))
	return v, true
}
