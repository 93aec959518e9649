package chexstruct

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	if TableVersion() != "1.0.0" {
		t.Errorf("version %q", TableVersion())
	}
	seen := map[string]bool{}
	for id := row(1); id <= rowCount; id++ {
		s := rowSpecs[id]
		if s.name == "" || seen[s.name] || kindText[s.kind] == "" || opText[s.op] == "" {
			t.Errorf("row %d is %+v", id, s)
		}
		seen[s.name] = true
	}
	rows := mustRules(t, Corrected, nil).Rows()
	if len(rows) != int(rowCount) {
		t.Errorf("%d rows, want %d", len(rows), rowCount)
	}
}

// Figures of the published table, one of each kind, and every switch of every preset.
func TestTableValues(t *testing.T) {
	want := map[string]any{
		"global.scale.native_width_default":                 2544.0,
		"global.mask_count.mask_num_min":                    70.0,
		"inclusion.label_side.included_min":                 0.005,
		"inspiration.rib_spacing.max_per_pair":              []any{0.25, 0.3, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25},
		"inspiration.rib_split.max_per_pair":                []any{0.0, 0.0, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05},
		"rotation.clavicle_gap.range":                       []any{-0.1, 0.3},
		"carina_angle.levels.percent":                       []any{10.0, 20.0, 30.0},
		"ascending_aorta_enlargement.vertical_offset.range": []any{-0.025, 0.075},
		"xragent.gate.view":                                 "PA",
		"global.gradient.sobel_ksize":                       5.0,
	}
	got := map[string]any{}
	for _, r := range mustRules(t, Corrected, nil).Rows() {
		got[r.Name] = r.Value
	}
	for name, w := range want {
		if !reflect.DeepEqual(got[name], w) {
			t.Errorf("%s is %v, want %v", name, got[name], w)
		}
	}
	switches := map[string][3]any{
		"global.gradient.bounds":                           {"min_only", "max_only", "both"},
		"global.orientation.check":                         {"off", "off", "on"},
		"inspiration.rib_exist.scope":                      {"all", "target", "target"},
		"inspiration.rib_order.check":                      {"on", "off", "on"},
		"cardiomegaly.label.PA_comparison":                 {">", ">=", ">="},
		"lung_balance.equal_widths.ratio":                  {1.0, 0.0, 1.0},
		"mediastinal_widening.medi_box.rule":               {"heart_box", "width_x_y", "width_x_y"},
		"descending_aorta_tortuous.derivative.mode":        {"float", "int_trunc", "float"},
		"ascending_aorta_enlargement.vertical_line.beyond": {1.0, 0.0, 1.0},
	}
	count := 0
	for id := row(1); id <= rowCount; id++ {
		w, isSwitch := switches[rowSpecs[id].name]
		if isSwitch != (rowSpecs[id].op == opSelect) {
			t.Errorf("%s: switch %v", rowSpecs[id].name, rowSpecs[id].op == opSelect)
		}
		if !isSwitch {
			// A limit is the same in every preset.
			for _, p := range Presets() {
				if r := mustRules(t, p, nil); !reflect.DeepEqual(r.rowValue(id), mustRules(t, Corrected, nil).rowValue(id)) {
					t.Errorf("%s differs under %s", rowSpecs[id].name, p)
				}
			}
			continue
		}
		count++
		for i, p := range Presets() {
			if v := mustRules(t, p, nil).rowValue(id).Value; v != w[i] {
				t.Errorf("%s under %s is %v, want %v", rowSpecs[id].name, p, v, w[i])
			}
		}
	}
	if count != len(switches) {
		t.Errorf("%d switches, want %d", count, len(switches))
	}
}

func TestLoadTableIsStrict(t *testing.T) {
	good := string(thresholdsYAML)
	change := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the table has no %q", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for name, c := range map[string]struct{ yaml, want string }{
		"unknown field": {change("unit: \"px\"", "units: \"px\""), "units"},
		"renamed row":   {change("row: trachea.height.min", "row: trachea.height.minimum"), "trachea.height.min"},
		"other kind":    {change("kind: positive", "kind: number"), "positive"},
		"other sign":    {change("compare: \">=\"", "compare: \">\""), ">="},
		"wrong type":    {change("value: 70", "value: many"), "global.mask_count.mask_num_min: want a whole number from 0, got the text \"many\""},
		"missing value": {change("    value: 70\n", ""), "got nothing"},
		"missing row":   {change("  - row: global.mask_count.mask_num_min\n    kind: count\n    compare: \">=\"\n    value: 70\n    unit: \"structures of 97\"\n    source: official_code\n    about: \"the paper says only that experts chose the limit\"\n", ""), "rows"},
		"preset lost":   {change("as_released: \"max_only\"", "as_issued: \"max_only\""), "got nothing"},
		"no yaml":       {"\t{", "table"},
	} {
		_, err := loadTable([]byte(c.yaml))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a word of %q", name, err, c.want)
		}
	}
}

func TestOverrides(t *testing.T) {
	good := map[string]any{
		"trachea.height.min":               0.12,
		"global.mask_count.mask_num_min":   uint64(25), // as YAML decodes it
		"rotation.clavicle_x.range":        []any{0.5, uint64(3)},
		"inspiration.rib_exist.scope":      "all",
		"lung_balance.equal_widths.ratio":  0,
		"global.gradient.sobel_ksize":      5, // the only one there is
		"inspiration.rib_iou.max_per_pair": []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		"trachea_deviation.points.n":       int64(15),
		"carina_angle.levels.percent":      []any{5, 50, 100},
		"descending_aorta.trim.fraction":   0.0,
	}
	r := mustRules(t, AsReleased, good)
	if r.Preset() != AsReleased || len(r.Overrides()) != len(good) {
		t.Errorf("%d overrides", len(r.Overrides()))
	}
	if !slices.IsSortedFunc(r.Overrides(), func(a, b RowValue) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("overrides are not in the order of names")
	}
	if v := r.values[rowMaskCount].num; v != 25 {
		t.Errorf("mask count %v", v)
	}
	if s := r.String(); !strings.HasPrefix(s, "as_released except D1, D4, D6, D7; ") || !strings.Contains(s, "trachea.height.min = 0.12") {
		t.Errorf("description %q", s)
	}

	for _, c := range []struct {
		row   string
		value any
		want  string
	}{
		{"trachea.height.min", "high", `threshold trachea.height.min: want a number, got the text "high"`},
		{"trachea.height.min", true, "want a number, got the truth value true"},
		{"trachea.height.min", nil, "want a number, got nothing"},
		{"trachea.height.min", []any{1.0}, "want a number, got the list [1]"},
		{"trachea.height.min", math.NaN(), "want a number"},
		{"trachea.height.min", math.Inf(1), "want a number"},
		{"global.scale.native_width_default", 0, "want a number above 0, got the number 0"},
		{"global.mask_count.mask_num_min", 69.5, "want a whole number from 0, got the number 69.5"},
		{"trachea.top_trim.fraction", 1.5, "want a number from 0 to 1"},
		{"trachea_deviation.points.n", 1, "want a whole number from 2 to 1000"},
		{"rotation.clavicle_x.range", 0.8, "want two numbers [low, high], got the number 0.8"},
		{"rotation.clavicle_x.range", []any{2, 1}, "want two numbers [low, high]"},
		{"rotation.clavicle_x.range", []any{"a", 1}, "want two numbers [low, high]"},
		{"inspiration.rib_iou.max_per_pair", []any{0.5}, "want a list of 10 numbers"},
		{"carina_angle.levels.percent", []any{0, 20, 30}, "want three whole percentages"},
		{"inspiration.rib_exist.scope", "some", "want one of target, all"},
		{"inspiration.rib_exist.scope", 3, "want one of target, all"},
		{"lung_balance.equal_widths.ratio", 2, "want one of 0, 1"},
		{"lung_balance.equal_widths.ratio", "1", "want one of 0, 1"},
		{"global.gradient.sobel_ksize", 3, "want 5, the only value this program implements"},
		{"global.orientation.lung_order", "none", "the only value this program implements"},
		{"global.orientation.lung_order", 5, "the only value this program implements"},
		{"global.orientation.lung_order", true, "want a text or a number"},
	} {
		_, err := NewRules(Corrected, map[string]any{c.row: c.value})
		var wrong *ThresholdError
		if !errors.As(err, &wrong) || wrong.Row != c.row || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: %v, want %q", c.row, c.value, err, c.want)
		}
	}

	_, err := NewRules(Corrected, map[string]any{"trachea.hight.min": 0.1})
	var unknown *UnknownRowError
	if !errors.As(err, &unknown) || unknown.Near[0] != "trachea.height.min" {
		t.Errorf("misspelt row: %v", err)
	}
	if _, err := NewRules(0, nil); err == nil {
		t.Error("no preset accepted")
	}
}

func TestParseOverride(t *testing.T) {
	for text, want := range map[string]any{
		"a.b.c=0.5": 0.5, "a.b.c=7": 7.0, "a.b.c=-1e-3": -0.001, "a.b.c=[0.1, 2]": []any{0.1, 2.0}, "a.b.c= [3] ": []any{3.0}, "a.b.c=int_trunc": "int_trunc",
		"a.b.c=on": "on", "a.b.c=>": ">", "a.b.c=>=": ">=", "a.b.c=": "", "a.b.c=true": "true", "a.b.c=x=y": "x=y",
	} {
		name, v, err := ParseOverride(text)
		if err != nil || name != "a.b.c" || !reflect.DeepEqual(v, want) {
			t.Errorf("%q: %q = %#v (%v), want %#v", text, name, v, err, want)
		}
	}
	for _, bad := range []string{"", "a.b.c", "=1", "a=[1", "a=[]", "a=[1, b]", "a=[[1]]"} {
		if _, _, err := ParseOverride(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

// singleRow are the rules that compare one value with one row; the boundary test moves
// the limit onto the measured value.
var singleRow = map[Rule]row{
	RuleMaskCount: rowMaskCount, RuleHeartPosition: rowAbdominalRatio,
	RuleApexYDiff: rowApexYDiff, RuleApexPosition: rowApexPosition, RuleBottomYDiff: rowBottomYDiff, RuleBottomPosition: rowBottomPosition,
	RuleSideWidth:     rowWidthBothIn,
	RuleLineAgreement: rowLineAgreement, RuleRibInLung: rowRibInLung,
	RuleClavicleGap: rowClavicleGap, RuleClavicleYDiff: rowClavicleYDiff, RuleClavicleYPosition: rowClavicleY,
	RuleMidlineResidual: rowMidlineResidual, RuleMidlineXStd: rowMidlineXStd,
	RuleScapulaWidthRight: rowScapulaWidth, RuleScapulaHeightRight: rowScapulaHeight, RuleLungWidthRight: rowLungWidth, RuleLungHeightRight: rowLungHeight,
	RuleScapulaWidthLeft: rowScapulaWidth, RuleScapulaHeightLeft: rowScapulaHeight, RuleLungWidthLeft: rowLungWidth, RuleLungHeightLeft: rowLungHeight,
	RuleLungBalance: rowCardiacBalance, RuleMediBoxWidth: rowMediBoxWidth, RuleMediBoxX: rowMediBoxX, RuleMediYPosition: rowMediY, RuleMediLungBalance: rowMediBalance,
	RuleTracheaHeight: rowTracheaHeight, RuleTracheaWidthMedian: rowTracheaWidth, RuleTracheaWidthStd: rowTracheaStd,
	RuleTrachealMidlineResidual: rowTracheaResidual, RuleTrachealMidlineXStd: rowTracheaXStd,
	RuleCarinaTopXDiff: rowCarinaTopX, RuleCarinaTopYDiff: rowCarinaTopY, RuleCarinaMaskWidth: rowCarinaWidth, RuleCarinaMaskHeight: rowCarinaHeight,
	RuleCarinaPositionX: rowCarinaX, RuleCarinaPositionY: rowCarinaY, RuleCarinaAngleStd: rowCarinaStd,
	RuleKnobDescHeight: rowKnobDescHeight, RuleKnobXAlignment: rowKnobX, RuleKnobDescStartGap: rowKnobGap, RuleKnobWidth: rowKnobWidth,
	RuleAscendingHeight: rowAscHeight, RuleAscendingVerticalOffset: rowAscOffset, RuleAscendingLineOrder: rowAscLineOrder,
	RuleDescendingHeight: rowDescHeight, RuleDescendingWidthStd: rowDescStd,
}

// TestBoundaries puts every limit exactly on, just above and just below the value that
// the phantom has, and checks the verdict against the comparison of the row.
func TestBoundaries(t *testing.T) {
	base := mustAssess(t, goldenCase(t, 2).Input, mustRules(t, Corrected, nil))
	for _, rule := range QualityRules() {
		id, ok := singleRow[rule]
		if !ok {
			continue
		}
		v, found := valueOfRule(base, rule)
		if !found {
			t.Errorf("%s has no value", rule)
			continue
		}
		// Above and below by one step; whole numbers by 1.
		up, down := math.Nextafter(v, math.Inf(1)), math.Nextafter(v, math.Inf(-1))
		if rowSpecs[id].kind == kindCount {
			up, down = v+1, v-1
		}
		var cases map[any]bool
		switch rowSpecs[id].op {
		case opAtLeast:
			cases = map[any]bool{v: true, up: false, down: true}
		case opAbove:
			cases = map[any]bool{v: false, up: false, down: true}
		case opBelow:
			cases = map[any]bool{v: false, up: true, down: false}
		case opAtMost:
			cases = map[any]bool{v: true, up: true, down: false}
		case opHalfOpen:
			cases = map[any]bool{[2]float64{v, v + 1}: true, [2]float64{up, v + 1}: false, [2]float64{v - 1, v}: false, [2]float64{v - 1, up}: true}
		case opClosed:
			cases = map[any]bool{[2]float64{v, v + 1}: true, [2]float64{up, v + 1}: false, [2]float64{v - 1, v}: true, [2]float64{v - 1, down}: false}
		default:
			t.Errorf("%s compares by %s", rule, opText[rowSpecs[id].op])
		}
		for limit, want := range cases {
			raw := limit
			if r, ok := limit.([2]float64); ok {
				raw = r[:]
			}
			rules := mustRules(t, Corrected, map[string]any{rowSpecs[id].name: raw})
			res := mustAssess(t, goldenCase(t, 2).Input, rules)
			for name, pass := range verdicts(res, rule) {
				if pass != want {
					t.Errorf("%s in %s: value %v, limit %v: %v, want %v", rule, name, v, raw, pass, want)
				}
			}
		}
	}
}

func valueOfRule(r *Result, rule Rule) (float64, bool) {
	lists := [][]Check{r.Global.Checks}
	for _, f := range r.Findings {
		lists = append(lists, f.Checks)
	}
	for _, list := range lists {
		for _, c := range list {
			if v, ok := c.Value.Float(); ok && c.Rule == rule {
				return v, true
			}
		}
	}
	return 0, false
}

// TestLabelBoundaries moves the label limits onto the rounded index: equality counts as
// reaching the limit.
func TestLabelBoundaries(t *testing.T) {
	for _, c := range []struct {
		task    Task
		row     string
		reached Label
		below   Label
	}{
		{Inspiration, "inspiration.label.good_min", LabelGood, LabelPoor},
		{Rotation, "rotation.label.not_rotated_min", LabelNotRotated, LabelRotated},
		{Cardiomegaly, "cardiomegaly.label.PA_min", LabelEnlarged, LabelNormal},
		{MediastinalWidening, "mediastinal_widening.label.PA_min", LabelEnlarged, LabelNormal},
		{AorticKnobEnlargement, "aortic_knob_enlargement.label.enlarged_min", LabelEnlarged, LabelNormal},
		{DescendingAortaEnlargement, "descending_aorta_enlargement.label.enlarged_min", LabelEnlarged, LabelNormal},
		{DescendingAortaTortuous, "descending_aorta_tortuous.label.tortuous_min", LabelTortuous, LabelNormal},
	} {
		in := goldenCase(t, 12).Input
		v, ok := mustAssess(t, in, mustRules(t, Corrected, nil), c.task).Finding(c.task).Rounded.Float()
		if !ok {
			t.Errorf("%s has no rounded index", c.task)
			continue
		}
		for limit, want := range map[float64]Label{v: c.reached, math.Nextafter(v, 1e9): c.below, math.Nextafter(v, -1): c.reached} {
			f := mustAssess(t, in, mustRules(t, Corrected, map[string]any{c.row: limit}), c.task).Finding(c.task)
			if f.Label != want {
				t.Errorf("%s: index %v, limit %v: %s, want %s", c.task, v, limit, f.Label, want)
			}
		}
	}
	// AP pictures use the AP limits.
	in := goldenCase(t, 5).Input
	for task, name := range map[Task]string{Cardiomegaly: "cardiomegaly.label.AP_min", MediastinalWidening: "mediastinal_widening.label.AP_min"} {
		v, _ := mustAssess(t, in, mustRules(t, Corrected, nil), task).Finding(task).Rounded.Float()
		for limit, want := range map[float64]Label{v: LabelEnlarged, math.Nextafter(v, 2): LabelNormal} {
			if f := mustAssess(t, in, mustRules(t, Corrected, map[string]any{name: limit}), task).Finding(task); f.Label != want {
				t.Errorf("%s AP: index %v, limit %v: %s, want %s", task, v, limit, f.Label, want)
			}
		}
	}
	// Both ends of the carina's range are normal.
	in = goldenCase(t, 12).Input
	v, _ := mustAssess(t, in, mustRules(t, Corrected, nil), CarinaAngle).Finding(CarinaAngle).Rounded.Float()
	for limits, want := range map[[2]float64]Label{{v, 180}: LabelNormal, {0, v}: LabelNormal, {v + 1, 180}: LabelAbnormal, {0, v - 1}: LabelAbnormal} {
		rules := mustRules(t, Corrected, map[string]any{"carina_angle.label.normal_range": limits[:]})
		if f := mustAssess(t, in, rules, CarinaAngle).Finding(CarinaAngle); f.Label != want {
			t.Errorf("carina %v in %v: %s, want %s", v, limits, f.Label, want)
		}
	}
	// Projection: both reach, neither, one of two.
	in = goldenCase(t, 15).Input // 0.41 and 0.39
	for limit, want := range map[float64]Label{0.39: LabelAP, 0.4: "", 0.41: "", 0.42: LabelPA} {
		f := mustAssess(t, in, mustRules(t, Corrected, map[string]any{"projection.label.overlap_split": limit}), Projection).Finding(Projection)
		if f.Label != want || (want == "") != (f.Status == StatusUndecided) {
			t.Errorf("projection at %v: %s (%s), want %q", limit, f.Label, f.Status, want)
		}
	}
	// Ascending aorta: 0.1865 lies between 0.1 and 0.3.
	in = goldenCase(t, 11).Input
	v, _ = mustAssess(t, in, mustRules(t, Corrected, nil), AscendingAortaEnlargement).Finding(AscendingAortaEnlargement).Index.Float()
	for _, c := range []struct {
		from, to float64
		want     Label
	}{{v, 1, LabelEnlarged}, {math.Nextafter(v, 1), 1, ""}, {0.1, v, ""}, {0.1, math.Nextafter(v, 1), LabelEnlarged}} {
		rules := mustRules(t, Corrected, map[string]any{
			"ascending_aorta_enlargement.label.enlarged_min": c.from, "ascending_aorta_enlargement.label.implausible_min": c.to})
		if f := mustAssess(t, in, rules, AscendingAortaEnlargement).Finding(AscendingAortaEnlargement); f.Label != c.want {
			t.Errorf("ascending %v in [%v, %v): %q, want %q", v, c.from, c.to, f.Label, c.want)
		}
	}
}

func ExampleNewRules() {
	rules, err := NewRules(Corrected, map[string]any{"trachea.height.min": 0.12})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rules.RowsRead(DescendingAortaTortuous) {
		fmt.Println(r.Name, "=", r.Value)
	}
	_, err = NewRules(Corrected, map[string]any{"trachea.height.min": "tall"})
	fmt.Println(err)
	// Output:
	// descending_aorta.height.min = 0.2
	// descending_aorta.trim.fraction = 0.05
	// descending_aorta.width_std.max = 0.01
	// descending_aorta_tortuous.derivative.mode = float
	// descending_aorta_tortuous.label.tortuous_min = 0.0009
	// global.orientation.check = on
	// global.orientation.lung_order = right lung centroid x < left lung centroid x
	// global.scale.native_width_default = 2544
	// chexstruct: threshold trachea.height.min: want a number, got the text "tall"
}
