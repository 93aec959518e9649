package phantom

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// tolerance of a measurement on pixels against the continuous truth, at about 1024 pixels
// over 356 mm. One pixel is 0.35 mm: 2 % of a trachea's width, 0.3 % of a heart's. The
// carina reads low by the grid (3 degrees at 1024).
var tolerance = map[string]float64{
	"cardiomegaly": 0.005, "mediastinal_widening": 0.006, "projection_right": 0.002, "projection_left": 0.002,
	"rotation": 0.05, "carina_angle": 6, "inspiration": 0.1, "ascending_aorta_enlargement": 0.03,
	"aortic_knob_enlargement": 0.15, "descending_aorta_enlargement": 0.12, "descending_aorta_tortuous": 1.5e-4,
}

// The measurement code knows nothing of outlines and the truth knows nothing of pixels:
// where both give a figure they must agree.
func TestTruthAgreesWithMeasuredMasks(t *testing.T) {
	rules, err := chexstruct.NewRules(chexstruct.Corrected, nil)
	require.NoError(t, err)
	compared := map[string]int{}
	sides := 0
	for i := range 40 {
		p := New(7, i, Options{})
		truth := p.Truth(nativeSize(p))
		res := assessed(t, rules, p)
		for _, f := range res.Findings {
			for name, got := range figures(t, f) {
				want, ok := truth.Index[name]
				if !ok {
					continue
				}
				compared[name]++
				require.InDelta(t, want, got, tolerance[name], "%s of phantom %d (%v, cropped %q)", name, i, truth.Findings, truth.Cropped)
			}
			if f.Task == chexstruct.TracheaDeviation && f.Status != chexstruct.StatusNotEvaluable && truth.Trachea != "" {
				sides++
				require.Equal(t, truth.Trachea, text(t, f.Index), "trachea of phantom %d", i)
			}
		}
	}
	for name := range tolerance {
		require.Greater(t, compared[name], 30, "%s", name)
	}
	require.Greater(t, sides, 30)
}

// assessed measures a phantom's true masks at native size. Only the exposed field is not
// black.
func assessed(t *testing.T, rules *chexstruct.Rules, p *Phantom) *chexstruct.Result {
	t.Helper()
	w, h := nativeSize(p)
	m, field := masksAt(t, p, w, h)
	exposed := mask.FromFunc(w, h, func(x, y int) bool { return x >= field[0] && x < field[2] && y >= field[1] && y < field[3] })
	boxes := map[string]geom.Box{}
	if b, ok := m.Mask(anatomy.Heart).Box(); ok {
		boxes[chexstruct.BoxCardiacSilhouette] = b
	}
	if b, ok := m.Mask(anatomy.UpperMediastinum).Box(); ok {
		boxes[chexstruct.BoxUpperMediastinum] = geom.Box{X0: b.X0 - 10, Y0: b.Y0, X1: b.X1 + 10, Y1: b.Y1}
	}
	facts := chexstruct.PixelFacts{Width: w, Height: h, NonZero: exposed}
	res, err := chexstruct.Assess(chexstruct.Input{Masks: m, Facts: &facts, View: p.View(), Boxes: boxes, NativeWidth: w}, rules, chexstruct.Tasks())
	require.NoError(t, err)
	return res
}

// A small data set of the default seed exercises every task: most measurements pass the
// quality rules, some fail, and every task meets both of its classes.
func TestSmallSetCoversAllTasks(t *testing.T) {
	rules, err := chexstruct.NewRules(chexstruct.Corrected, nil)
	require.NoError(t, err)
	labels := map[chexstruct.Task]map[chexstruct.Label]int{}
	ok, failed := 0, 0
	for i := range 24 {
		for _, f := range assessed(t, rules, New(1, i, Options{})).Findings {
			if labels[f.Task] == nil {
				labels[f.Task] = map[chexstruct.Label]int{}
			}
			switch f.Status {
			case chexstruct.StatusOK:
				labels[f.Task][f.Label]++
				ok++
			case chexstruct.StatusQCFailed:
				failed++
			}
		}
	}
	for _, task := range chexstruct.Tasks() {
		for _, l := range chexstruct.Labels(task) {
			require.Positive(t, labels[task][l], "%s never is %s", task, l)
		}
	}
	require.Greater(t, ok, 24*12*8/10, "labels among 288")
	require.Positive(t, failed, "quality rules fail sometimes")
}

// figures are the measured indices of a finding by the truth's names.
func figures(t *testing.T, f chexstruct.Finding) map[string]float64 {
	t.Helper()
	if f.Status == chexstruct.StatusNotEvaluable {
		return nil
	}
	switch f.Task {
	case chexstruct.Inclusion, chexstruct.TracheaDeviation:
		return nil
	case chexstruct.Projection:
		var v [2]float64
		decode(t, f.Index, &v)
		return map[string]float64{"projection_right": v[0], "projection_left": v[1]}
	}
	var v *float64
	decode(t, f.Index, &v)
	if v == nil {
		return nil
	}
	return map[string]float64{f.Task.String(): *v}
}

func TestInclusionTruth(t *testing.T) {
	cut := 0
	for i := range 120 {
		p := New(7, i, Options{})
		truth := p.Truth(nativeSize(p))
		switch truth.Cropped {
		case "right side":
			require.Less(t, truth.Inclusion["side_right"], 0.005, "phantom %d", i)
			cut++
		case "left side":
			require.Less(t, truth.Inclusion["side_left"], 0.005, "phantom %d", i)
			cut++
		case "":
			require.Greater(t, truth.Inclusion["apex_right"], 0.0, "phantom %d", i)
			require.Greater(t, truth.Inclusion["base_right"], 0.03, "phantom %d", i)
		}
	}
	require.Greater(t, cut, 2)
}

// Turning the patient moves the clavicles, not the true carina angle.
func TestTruthFollowsParameters(t *testing.T) {
	still := New(9, 1, Options{})
	still.patient.turn, still.patient.tilt, still.patient.curve, still.patient.lean = 0, 0, 0, 0
	still.patient.clavMedialR, still.patient.clavMedialL = 20, 20
	p := &Phantom{Seed: 9, Index: 1, patient: still.patient, exposure: still.exposure}
	at := func(turn float64) *Truth {
		p.patient.turn = turn
		p.frame = frameOf(9, 1, p.patient, Options{})
		p.body = build(p.patient, p.frame)
		return p.Truth(1024, 1228)
	}
	straight, turned := at(0), at(6)
	require.InDelta(t, 1, straight.Index["rotation"], 0.02)
	require.Less(t, turned.Index["rotation"], 0.4)
	require.Equal(t, straight.Index["carina_angle"], turned.Index["carina_angle"])
	// a rotation of the front by 6 degrees moves the clavicle ends by 100 mm * sin 6 against the spine
	require.Greater(t, straight.Index["rotation"]-turned.Index["rotation"], 0.5)
}

func TestSectionsAlgebra(t *testing.T) {
	p := New(7, 2, Options{})
	lung, dome := p.cut(anatomy.RightLung), p.cut(anatomy.RightHemidiaphragm)
	require.InDelta(t, lung.area(), lung.and(dome).area()+lung.minus(dome).area(), 1e-6)
	require.InDelta(t, 0, lung.minus(dome).and(dome).area(), 1e-9)
	// area by sections against area by the outline's corners
	g := p.body.outline[anatomy.RightLung]
	double := 0.0
	for i, a := range g {
		b := g[(i+1)%len(g)]
		double += a.x*b.y - b.x*a.y
	}
	require.InEpsilon(t, math.Abs(double)/2, lung.area(), 1e-3)
}
