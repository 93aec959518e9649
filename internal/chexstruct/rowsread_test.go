package chexstruct

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
)

// pool is every picture of the tests: the golden phantoms, the ones on which a rule fails,
// the ones that give a reason, and some that the switches tell apart.
func pool(t testing.TB) map[string]Input {
	t.Helper()
	m := map[string]Input{}
	for n := 1; n <= goldenCases; n++ {
		m[fmt.Sprintf("open_%02d", n)] = goldenCase(t, n).Input
	}
	add := func(name string, apply func(p *phantom)) {
		p := newPhantom(t)
		apply(p)
		m[name] = p.Input
	}
	for rule, c := range ruleFailures {
		add("rule "+rule.String(), c.apply)
	}
	for _, c := range absences {
		add("reason "+c.name, c.apply)
	}
	for _, c := range switchPictures {
		add("switch "+c.name, c.apply)
	}
	for _, c := range rowPictures {
		add("row "+c.name, c.apply)
	}
	return m
}

// rowPictures are pictures that single rows need to show themselves.
var rowPictures = []mutation{
	{"native width unknown", func(p *phantom) { p.NativeWidth = 0 }},
	{"bright edges", func(p *phantom) { p.Facts.GradientMean = 449 }},
	{"dull edges", func(p *phantom) { p.Facts.GradientMean = 8.5 }},
	{"right side cut", func(p *phantom) { p.content(48, 0, 511, 511) }},
	{"left side cut", func(p *phantom) { p.content(0, 0, 459, 511) }},
	{"both sides cut", func(p *phantom) { p.content(48, 0, 459, 511) }},
	{"AP", func(p *phantom) { p.View = cxr.ViewAP }},
	{"heart box half off", func(p *phantom) {
		b := p.Boxes[BoxCardiacSilhouette]
		b.X0, b.X1 = b.X0+55, b.X1+55
		p.Boxes[BoxCardiacSilhouette] = b
	}},
	{"ribs end above the diaphragm", func(p *phantom) {
		for n := 9; n <= ribCount; n++ {
			p.clear(anatomy.RightPosteriorRib(n))
		}
	}},
	{"severe heart", func(p *phantom) { p.add(100, 300, 370, 340, anatomy.Heart) }},
	{"small right lung", func(p *phantom) { p.crop(0, 0, 511, 280, anatomy.RightLung) }},
	{"native width unknown, trachea uneven", func(p *phantom) {
		p.NativeWidth = 0
		p.add(230, 150, 274, 180, anatomy.Trachea)
	}},
	{"large heart, box far off", func(p *phantom) {
		// IoU 210/390 = 0.54 at a distance of 90/512 = 0.18.
		p.set(anatomy.Heart, p.rect(100, 244, 400, 388))
		p.Boxes[BoxCardiacSilhouette] = geom.Box{X0: 190, Y0: 244, X1: 490, Y1: 388}
	}},
	{"ribs end just above the diaphragm", func(p *phantom) {
		for n := 9; n <= ribCount; n++ {
			p.clear(anatomy.RightPosteriorRib(n))
		}
		p.move(0, 20, anatomy.RightPosteriorRib(8))
	}},
	{"trachea to the left", func(p *phantom) { p.move(40, 0, anatomy.Trachea, anatomy.UpperMediastinum) }},
}

// TestRowsReadAtRunTime runs every section alone on every picture and preset and compares
// the rows it looked at with the rows it declares: no row unseen, none undeclared. Every
// access goes through one method, so a row that is not seen cannot change an outcome.
func TestRowsReadAtRunTime(t *testing.T) {
	inputs := pool(t)
	// These two presets differ in the only switch that a declaration depends on.
	for _, p := range []Preset{AsPublished, Corrected} {
		rules := mustRules(t, p, nil)
		for _, task := range Sections() {
			var seen [rowCount + 1]bool
			for _, in := range inputs {
				c := newAssessment(&in, rules)
				c.run([]Task{task})
				for id, s := range c.seen {
					seen[id] = seen[id] || s
				}
			}
			declared := rules.rowsOf(task)
			for id := row(1); id <= rowCount; id++ {
				if d := slices.Contains(declared, id); d != seen[id] {
					t.Errorf("%s, %s: row %s declared %v, read %v", p, task, rowSpecs[id].name, d, seen[id])
				}
			}
			if len(declared) != len(rules.RowsRead(task)) || len(declared) != len(rules.KeyParams(task)) {
				t.Errorf("%s, %s: a row is declared twice", p, task)
			}
		}
	}
	if got := mustRules(t, Corrected, nil).RowsRead(0); got != nil {
		t.Errorf("an invalid section reads %v", got)
	}
}

// touched is the rule of which rows several tasks share.
func TestTouchedTasks(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	readers := map[string][]Task{}
	for _, task := range Tasks() {
		for _, r := range rules.RowsRead(task) {
			readers[r.Name] = append(readers[r.Name], task)
		}
	}
	trachea := []Task{TracheaDeviation, AorticKnobEnlargement, AscendingAortaEnlargement, DescendingAortaEnlargement}
	inclusion := []Task{Inclusion, Cardiomegaly, MediastinalWidening, AscendingAortaEnlargement}
	descending := []Task{DescendingAortaTortuous, DescendingAortaEnlargement}
	for id := row(1); id <= rowCount; id++ {
		name := rowSpecs[id].name
		got := readers[name]
		var want []Task
		switch {
		case slices.Contains(rowsTrachea, id):
			want = trachea
		case slices.Contains(rowsInclusion, id):
			want = inclusion
		case slices.Contains(rowsHeartBox, id):
			want = []Task{Cardiomegaly, AscendingAortaEnlargement}
		case slices.Contains(rowsDescending, id):
			want = descending
		case id == rowNativeWidth:
			want = []Task{Rotation, TracheaDeviation, AorticKnobEnlargement, AscendingAortaEnlargement, DescendingAortaTortuous, DescendingAortaEnlargement}
		case id == rowLungOrder || id == rowOrientationCheck:
			want = Tasks()
		case id == rowEqualWidths:
			want = []Task{Cardiomegaly, MediastinalWidening}
		case id >= rowMaskCount && id <= rowGradientBounds, id >= rowGateView:
			want = nil
		default:
			if len(got) != 1 || got[0].String() != name[:len(got[0].String())] {
				t.Errorf("%s is read by %v", name, got)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is read by %v, want %v", name, got, want)
		}
	}
}

// rowTrials are values that must move something, for rows whose halves and doubles do not.
var rowTrials = map[row][]any{
	rowMaskCount: {98}, rowGradientBounds: {"max_only", "min_only"}, rowOrientationCheck: {"off"},
	rowRibScope: {"all"}, rowRibOrderCheck: {"off"}, rowCTRComparison: {">"}, rowEqualWidths: {0}, rowMediBoxRule: {"heart_box"},
	rowDerivative: {"int_trunc"}, rowAscVertical: {0}, rowGateView: {"AP"},
	rowTracheaPoints: {5}, rowTracheaMidline: {7}, rowCarinaLevels: {[]any{20, 30, 40}}, rowRibGood: {11},
	rowBottomMin: {0.3}, rowBottomExcluded: {0.005}, rowAscLineOrder: {100}, rowAscEnlarged: {0.19}, rowAscImplausible: {0.18},
	rowCarinaTopY: {0.1}, rowKnobWidth: {50}, rowRibOrder: {40}, rowDistancesNonneg: {30}, rowKnobX: {0.1}, rowOverlapMin: {0.5},
	rowCTRMild: {0.4}, rowCTRModerate: {0.4}, rowCTRSevere: {0.4}, rowAsymmetryMild: {0.005}, rowAsymmetryMarked: {0.005}, rowShiftMild: {0.001, 0}, rowShiftMarked: {0.001, 0},
	rowMCRPA: {0.2}, rowMCRAP: {0.2}, rowCTRPA: {0.4}, rowCTRAP: {0.45}, rowKnobEnlarged: {1.2}, rowDescEnlarged: {1.1}, rowTortuous: {0.00001},
	rowNotRotated: {0.95}, rowOverlapSplit: {0.03}, rowApexMin: {0.11}, rowSideMin: {0.1}, rowGateHeart: {0.5}, rowGateLung: {0.5},
	rowCarinaStd: {1}, rowRibGap: {0}, rowAbdominalRatio: {0.2},
	rowBoxIoULow: {0.55}, rowBoxDistLow: {0.01}, rowBoxIoUHigh: {0.4, 1.1}, rowBoxDistHigh: {0, -1},
}

// trials returns changed values of a row.
func trials(id row, r *Rules) []any {
	if list, ok := rowTrials[id]; ok {
		return list
	}
	v := r.values[id]
	switch rowSpecs[id].kind {
	case kindFixed:
		return nil
	case kindRange:
		lo, hi := v.list[0], v.list[1]
		span := hi - lo
		return []any{[]any{hi, hi + span}, []any{lo - span, lo}, []any{lo + 0.4*span, lo + 0.6*span}}
	case kindPairs:
		list := make([]any, len(v.list))
		for i := range list {
			list[i] = -1.0
		}
		high := make([]any, len(v.list))
		for i := range high {
			high[i] = 10.0
		}
		return []any{list, high}
	case kindFraction:
		return []any{v.num / 2, v.num * 2}
	}
	return []any{v.num / 10, v.num * 10, v.num / 2, v.num * 2}
}

// withoutEffect lists rows that a task's key holds because the task takes the whole
// inclusion result as an input, while only the side rows can change its outcome; for the
// ascending aorta, which demands both sides, only those of two included sides.
func withoutEffect(id row, task Task) bool {
	switch {
	case task == Inclusion || !slices.Contains(rowsInclusion, id):
		return false
	case task == AscendingAortaEnlargement:
		return id != rowSideMin && id != rowWidthBothIn
	}
	return id != rowSideMin && (id < rowWidthBothIn || id > rowWidthLeftIn)
}

// TestEveryRowMatters changes each row and finds, for every section that declares it, a
// picture whose outcome changes; and on these pictures no other section changes.
func TestEveryRowMatters(t *testing.T) {
	inputs := pool(t)
	names := sortedNames(inputs)
	base := mustRules(t, Corrected, nil)
	before := map[string]map[Task]string{}
	for _, n := range names {
		before[n] = outcomes(t, inputs[n], base, Sections())
	}
	for id := row(1); id <= rowCount; id++ {
		name := rowSpecs[id].name
		var pending []Task
		for _, task := range Sections() {
			if slices.Contains(base.rowsOf(task), id) && !withoutEffect(id, task) && rowSpecs[id].kind != kindFixed {
				pending = append(pending, task)
			}
		}
		for _, value := range trials(id, base) {
			rules := mustRules(t, Corrected, map[string]any{name: value})
			for _, n := range names {
				if len(pending) == 0 {
					break
				}
				for task, after := range outcomes(t, inputs[n], rules, pending) {
					if after != before[n][task] {
						pending = slices.DeleteFunc(pending, func(p Task) bool { return p == task })
						onlyDeclaredChange(t, inputs[n], id, rules, before[n])
					}
				}
			}
		}
		if len(pending) > 0 {
			t.Errorf("no picture shows that %s matters for %v (tried %v)", name, pending, trials(id, base))
		}
	}
}

// onlyDeclaredChange checks that sections which do not read the row stay as they were.
func onlyDeclaredChange(t *testing.T, in Input, id row, rules *Rules, before map[Task]string) {
	t.Helper()
	for task, after := range outcomes(t, in, rules, Sections()) {
		declared := slices.Contains(rules.rowsOf(task), id)
		if after != before[task] && !declared {
			t.Errorf("%s changes %s, which does not declare it", rowSpecs[id].name, task)
		}
	}
}

// outcomes returns the encoded sections.
func outcomes(t *testing.T, in Input, rules *Rules, sections []Task) map[Task]string {
	t.Helper()
	res := mustAssess(t, in, rules, sections...)
	m := map[Task]string{}
	put := func(task Task, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		m[task] = string(b)
	}
	for _, f := range res.Findings {
		put(f.Task, f)
	}
	if res.Global != nil {
		put(Global, res.Global)
	}
	if res.XRagent != nil {
		put(XRagent, res.XRagent)
	}
	return m
}
