package cxreasonbench

import (
	"encoding"
	"testing"

	"cxrepro/internal/chexstruct"
)

// TestClosed: every closed type has an invalid zero value, and each value survives its text.
func TestClosed(t *testing.T) {
	type text interface {
		encoding.TextMarshaler
		String() string
	}
	check := func(v text, back encoding.TextUnmarshaler, got func() any) {
		t.Helper()
		b, err := v.MarshalText()
		if err == nil {
			err = back.UnmarshalText(b)
		}
		if err != nil || got() != any(v) || v.String() != string(b) {
			t.Errorf("%s does not survive its text %q: %v", v, b, err)
		}
	}
	for _, v := range Paths() {
		var b Path
		check(v, &b, func() any { return b })
	}
	for _, v := range Scores() {
		var b Score
		check(v, &b, func() any { return b })
	}
	for _, v := range JudgePrompts() {
		var b JudgePrompt
		check(v, &b, func() any { return b })
	}
	for _, v := range Presets() {
		var b Preset
		check(v, &b, func() any { return b })
	}
	for _, v := range Samplings() {
		var b Sampling
		check(v, &b, func() any { return b })
	}
	for _, v := range Terminals() {
		var b Terminal
		check(v, &b, func() any { return b })
	}
	for _, v := range Ends() {
		var b End
		check(v, &b, func() any { return b })
	}
	for _, v := range Entries() {
		var b Entry
		check(v, &b, func() any { return b })
	}
	for _, p := range Paths() {
		for _, s := range Stages() {
			for round := range 3 {
				k := Key{p, s, round}
				if !k.Valid() {
					if _, err := k.MarshalText(); err == nil {
						t.Errorf("%v encodes", k)
					}
					continue
				}
				var b Key
				check(k, &b, func() any { return b })
			}
		}
	}
	for _, bad := range []string{"", "criteria", "criteria_", "criteria_01", "criteria_-1", "init_0", "guidance-init", "review-custom_criteria", "final ", "guidance-guidance-final"} {
		if k, ok := ParseKey(bad); ok {
			t.Errorf("%q is read as %v", bad, k)
		}
	}
	for _, zero := range []encoding.TextMarshaler{Path(0), Score(0), JudgePrompt(0), Preset(0), Sampling(0), Key{}} {
		if b, err := zero.MarshalText(); err == nil {
			t.Errorf("the zero %T encodes as %q", zero, b)
		}
	}
}

// TestRules: presets, overrides and what is refused; every switch has a value in every preset.
func TestRules(t *testing.T) {
	for _, p := range Presets() {
		r := rulesOf(t, p, nil)
		for _, s := range Switches() {
			x, _ := settingOf(s)
			if !contains(x.values, r.Value(s)) {
				t.Errorf("%s: %s is %q, none of %v", p, s, r.Value(s), x.values)
			}
		}
		if r.String() != p.String() {
			t.Errorf("%s prints as %s", p, r)
		}
	}
	r := rulesOf(t, Corrected, map[string]string{string(ReviewRounds): AskAll, string(JudgeLayout): Glued})
	if r.String() != "corrected with dialogue.review_rounds=ask_all" || len(r.Overrides()) != 1 {
		t.Errorf("prints as %s", r)
	}
	for name, value := range map[string]string{"dialogue.unknown": "x", string(ReviewRounds): "x"} {
		if _, err := NewRules(Corrected, map[string]string{name: value}); err == nil {
			t.Errorf("%s=%s is accepted", name, value)
		}
	}
	if _, err := NewRules(0, nil); err == nil {
		t.Error("the zero preset is accepted")
	}
}

// TestValueForms holds how final replies tell a value, and that terminal draws are counted.
func TestValueForms(t *testing.T) {
	for _, c := range []struct {
		task  Task
		reply string
		want  ValueForm
	}{
		{chexstruct.Cardiomegaly, "Value: 0.50", OneNumber},
		{chexstruct.Cardiomegaly, "Value: 0.50 (range 0.49 - 0.51)", OneNumber},
		{chexstruct.Cardiomegaly, "Value: 0.49 - 0.51", RangeOnly},
		{chexstruct.Cardiomegaly, "Value: 0.50, limit 0.55", SeveralNumbers},
		{chexstruct.Cardiomegaly, "FINAL ANSWER: (b) No", NoNumber},
		{chexstruct.Projection, "Value: Right - 0.2, Left - 0.5", OneNumber},
		{chexstruct.Projection, "Value: Right - 0.2", SeveralNumbers},
		{chexstruct.Projection, "Value: Right - [0.1 - 0.3], Left - [0.4 - 0.6]", RangeOnly},
	} {
		if got := FormOf(c.task, c.reply); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.task, c.reply, got, c.want)
		}
	}
	s := start(t, rulesOf(t, Corrected, nil), chexstruct.Rotation, Shape{1, 1}, 3)
	s, _, err := Next(s, Outcome{Draws: []Draw{{Score: Wrong, Terminal: Refusal}, {Score: Right}, {Score: Wrong, Terminal: Refusal}}})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[TerminalPlace]int{}
	CountTerminals(s, counts)
	if len(counts) != 1 || counts[TerminalPlace{Path1, StageInit, Refusal}] != 2 {
		t.Errorf("terminal outcomes %v", counts)
	}
}

// BenchmarkScore scores 40,000 cases of Path 1.
func BenchmarkScore(b *testing.B) {
	rules := rulesOf(b, Corrected, nil)
	cases := map[Task][]CaseScores{}
	for _, t := range Tasks() {
		for range 40000 / 12 {
			c := CaseScores{Scores: map[Key]Score{}, Consistent: map[Path]bool{Path1: true}}
			for _, s := range path1Stages(t) {
				c.Scores[Key{Path: Path1, Stage: s}] = Right
			}
			cases[t] = append(cases[t], c)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		ScorePath(rules, Path1, cases)
	}
}
