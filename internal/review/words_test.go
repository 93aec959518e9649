package review

import (
	"strings"
	"testing"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

func rulesOf(t testing.TB, p chexstruct.Preset, overrides map[string]any) *chexstruct.Rules {
	t.Helper()
	r, err := chexstruct.NewRules(p, overrides)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEverythingHasWords holds that no rule, reason, label or task is shown without words,
// under any preset.
func TestEverythingHasWords(t *testing.T) {
	for _, p := range chexstruct.Presets() {
		l := limits{rulesOf(t, p, nil)}
		for _, r := range chexstruct.QualityRules() {
			w := ruleText[r]
			if w.What == "" || l.must(r) == "" || strings.Contains(l.must(r), "%") {
				t.Errorf("%s under %s: %q must be %q", r, p, w.What, l.must(r))
			}
		}
		for _, task := range chexstruct.Tasks() {
			for _, view := range []cxr.ViewPosition{0, cxr.ViewPA, cxr.ViewAP, cxr.ViewLateral} {
				if l.limit(task, view) == "" {
					t.Errorf("%s has no limit in words", task)
				}
			}
			for _, row := range labelRows[task] {
				if _, ok := l.rules.Limit(row); !ok {
					t.Errorf("%s: no row %s", task, row)
				}
			}
		}
	}
	for _, r := range chexstruct.Reasons() {
		if reasonText[r] == "" {
			t.Errorf("reason %s has no words", r)
		}
	}
	for _, task := range chexstruct.Tasks() {
		w, fig := taskText[task], figures[task]
		if w.Title == "" || w.Question == "" || w.How == "" || len(w.Legend) == 0 || fig.draw == nil || fig.part == nil {
			t.Errorf("%s lacks words or a drawing", task)
		}
		for _, label := range chexstruct.Labels(task) {
			if badge, tone := stratumWords(task, string(label)); badge == "" || tone == "" {
				t.Errorf("label %s of %s has no badge", label, task)
			}
		}
		if _, ok := officialTables[task]; !ok {
			t.Errorf("%s has no table of released columns", task)
		}
	}
	for _, r := range filterRules {
		if filterText[r].Title == "" || filterFigures[r] == nil {
			t.Errorf("filter step %s lacks words or a drawing", r)
		}
	}
}

func TestLimitsFollowTheRules(t *testing.T) {
	for _, c := range []struct {
		name      string
		preset    chexstruct.Preset
		overrides map[string]any
		got       func(l limits) string
		want      string
	}{
		{"table", chexstruct.Corrected, nil, func(l limits) string { return l.limit(chexstruct.Cardiomegaly, cxr.ViewPA) }, "enlarged: CTR at least 0.5 in a PA view"},
		{"override", chexstruct.Corrected, map[string]any{"cardiomegaly.label.PA_min": 0.55}, func(l limits) string { return l.limit(chexstruct.Cardiomegaly, cxr.ViewPA) }, "enlarged: CTR at least 0.55 in a PA view"},
		{"strict", chexstruct.AsPublished, nil, func(l limits) string { return l.limit(chexstruct.Cardiomegaly, cxr.ViewPA) }, "enlarged: CTR more than 0.5 in a PA view"},
		{"both bounds", chexstruct.Corrected, nil, func(l limits) string { return l.must(chexstruct.RuleGradient) }, "at least 8 and below 450"},
		{"upper bound", chexstruct.AsReleased, nil, func(l limits) string { return l.must(chexstruct.RuleGradient) }, "below 450"},
		{"range", chexstruct.Corrected, nil, func(l limits) string { return l.must(chexstruct.RuleClavicleX) }, "0.8 or more and below 2"},
		{"closed range", chexstruct.Corrected, nil, func(l limits) string { return l.must(chexstruct.RuleTracheaWidthMedian) }, "0.03 to 0.08"},
		{"two pairs", chexstruct.Corrected, nil, func(l limits) string { return l.must(chexstruct.RuleHeartBox) }, "overlap at least 0.6 with distance at most 0.15, or overlap at least 0.5 with distance at most 0.2"},
	} {
		if got := c.got(limits{rulesOf(t, c.preset, c.overrides)}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestVerdictsSpeak holds that every labelled golden case names its measurement in words,
// every failed one its rule with value and limit, every other one its reason.
func TestVerdictsSpeak(t *testing.T) {
	l := limits{rulesOf(t, chexstruct.Corrected, nil)}
	for _, s := range golden(t, 20) {
		r, err := chexstruct.Assess(s.input, l.rules, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			v := l.verdict(f, s.input.View)
			switch f.Status {
			case chexstruct.StatusOK, chexstruct.StatusUndecided:
				if v.Measured == "" || v.Limit == "" {
					t.Errorf("case %d %s: %+v says nothing of what was measured", s.entry.Case, f.Task, v)
				}
			case chexstruct.StatusQCFailed:
				if v.Failed == 0 || v.Checks[0].Pass || v.Checks[0].Must == "" {
					t.Errorf("case %d %s: the failed rule does not come first: %+v", s.entry.Case, f.Task, v.Checks)
				}
			case chexstruct.StatusNotEvaluable:
				if v.Why == "" || v.Why == string(f.Reason) {
					t.Errorf("case %d %s: reason %q is not in words", s.entry.Case, f.Task, f.Reason)
				}
			}
		}
	}
}

func TestFigureText(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 9: "9", 0.5: "0.5", 0.0009: "0.0009", 0.21374: "0.214", 12.34: "12.3", 1530.6: "1531", -0.02: "-0.02", 2.5: "2.5", 1.005: "1"} {
		if got := figureText(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
