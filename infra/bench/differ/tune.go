package differ

import (
	"math"
	"slices"
	"strings"

	"cxrepro/infra/bench/dense"
)

// limit is one bound that a rule's value is compared with, and what scales the value: the
// grid's height or width, or the native width.
type limit struct {
	rule string
	by   byte // 'H', 'W' or 'N'
	at   []float64
}

var limits = []limit{
	{"inclusion.apex_y_diff", 'H', []float64{0.05}}, {"inclusion.bottom_y_diff", 'H', []float64{0.05}}, {"inclusion.bottom_dome_gap", 'H', []float64{0.25}},
	{"inspiration.line_agreement", 'W', []float64{0.15}},
	{"rotation.clavicle_gap", 'W', []float64{-0.1, 0.3}}, {"rotation.clavicle_y_diff", 'H', []float64{0.05}}, {"rotation.clavicle_y_position", 'H', []float64{0.05, 0.5}},
	{"rotation.midline_residual", 'N', []float64{20}}, {"rotation.midline_x_std", 'N', []float64{30}},
	{"projection.scapula_width_", 'W', []float64{0.2, 0.5, 0.45}}, {"projection.scapula_height_", 'H', []float64{0.3, 0.5, 0.45}},
	{"projection.lung_width_", 'W', []float64{0.2}}, {"projection.lung_height_", 'H', []float64{0.2}},
	{"trachea.height", 'H', []float64{0.1}}, {"trachea.width_median", 'W', []float64{0.03, 0.08}}, {"trachea.width_std", 'N', []float64{20}},
	{"trachea_deviation.midline_residual", 'N', []float64{20}}, {"trachea_deviation.midline_x_std", 'N', []float64{30}},
	{"carina_angle.top_x_diff", 'W', []float64{0.03}}, {"carina_angle.mask_width", 'W', []float64{0.175}}, {"carina_angle.mask_height", 'H', []float64{0.075}},
	{"aortic_knob_enlargement.desc_height", 'H', []float64{0.07}}, {"aortic_knob_enlargement.x_alignment", 'W', []float64{-0.02}},
	{"aortic_knob_enlargement.desc_start_gap", 'H', []float64{0.09}},
	{"ascending_aorta_enlargement.height", 'H', []float64{0.15}}, {"ascending_aorta_enlargement.vertical_offset", 'H', []float64{-0.025, 0.075}},
	{"descending_aorta.height", 'H', []float64{0.2}}, {"descending_aorta.width_std", 'W', []float64{0.01}},
}

// tune changes the grid or the native width so that a rule's value falls on its limit or
// one step beside it.
func (m *mutator) tune() {
	task, rule, v := m.anyValue()
	if task == "" || v == 0 {
		return
	}
	i := slices.IndexFunc(limits, func(l limit) bool { return strings.HasPrefix(rule, l.rule) })
	if i < 0 {
		return
	}
	l := limits[i]
	at := l.at[m.IntN(len(l.at))]
	nudge := []int{0, 0, 0, -1, 1}[m.IntN(5)]
	scale := func(n int) int { return int(math.Round(v*float64(n)/at)) + nudge }
	switch l.by {
	case 'H':
		if h := scale(m.c.H); h >= 1 && h <= 3*m.c.H && h <= 700 {
			m.frame(0, 0, m.c.W, h)
			m.say("height %d for %s at %v", h, rule, at)
		}
	case 'W':
		if w := scale(m.c.W); w >= 1 && w <= 3*m.c.W && w <= 700 {
			m.frame(0, 0, w, m.c.H)
			m.say("width %d for %s at %v", w, rule, at)
		}
	case 'N':
		native := m.c.NativeWidth
		if native == 0 {
			native = 2544
		}
		if n := int(math.Round(at*float64(native)/v)) + nudge; n > 0 && n < 1_000_000 {
			m.c.NativeWidth = n
			m.say("native width %d for %s at %v", n, rule, at)
		}
	}
}

// anyValue picks a rule of the current case that has a single value.
func (m *mutator) anyValue() (task, rule string, v float64) {
	res := dense.Assess(m.c, m.sw)
	task = dense.Tasks[m.IntN(len(dense.Tasks))]
	var rules []string
	for name := range res.Tasks[task].QC {
		rules = append(rules, name)
	}
	if len(rules) == 0 {
		return "", "", 0
	}
	slices.Sort(rules)
	rule = rules[m.IntN(len(rules))]
	switch x := res.Tasks[task].QC[rule].Value.(type) {
	case float64:
		return task, rule, x
	case []float64:
		return task, rule, x[0]
	}
	return "", "", 0
}
