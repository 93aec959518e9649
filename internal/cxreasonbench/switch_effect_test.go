package cxreasonbench

import (
	"math"
	"testing"

	"cxrepro/internal/chexstruct"
)

// TestSwitchEffects: every switch says how far back it reaches, and With sets exactly one.
func TestSwitchEffects(t *testing.T) {
	for _, p := range Presets() {
		rules, err := NewRules(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range Switches() {
			if s.Effect() == 0 || s.Effect().String() == "invalid effect" {
				t.Errorf("%s does not say what it changes", s)
			}
			for _, v := range s.Values() {
				changed, err := rules.With(s, v)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range Switches() {
					want := rules.Value(o)
					if o == s {
						want = v
					}
					if changed.Value(o) != want {
						t.Errorf("%s=%s: %s is %s, want %s", s, v, o, changed.Value(o), want)
					}
				}
				if back, err := changed.With(s, rules.Value(s)); err != nil || back.String() != rules.String() {
					t.Errorf("%s=%s and back: %s, %v", s, v, back, err)
				}
			}
		}
	}
	if Switch("build.nothing").Effect() != 0 || Switch("none").Effect() != 0 {
		t.Error("a switch that does not exist has an effect")
	}
	if _, err := (Rules{}).With("none", "x"); err == nil {
		t.Error("an unknown switch was set")
	}
}

// TestScoreSwitches: the readings of figures beside the paper's, counted by hand. Two tasks:
// carina angle 1 of 2 right with a consistent value, rotation 3 of 4 with two consistent of
// three; inclusion 1 of 1; no other task was asked.
func TestScoreSwitches(t *testing.T) {
	counts := map[Task]Counts{
		chexstruct.CarinaAngle: {Entered: 2, Right: [4]int{2, 2, 2, 1}, Checked: 2, Consistent: 1, RightConsistent: 1},
		chexstruct.Rotation:    {Entered: 4, Right: [4]int{4, 4, 3, 3}, Checked: 3, Consistent: 2, RightConsistent: 2},
		chexstruct.Inclusion:   {Entered: 1, Right: [4]int{1, 1, 1, 1}},
	}
	for _, c := range []struct {
		set            map[string]string
		group          Group
		column         Column
		plain, refined float64 // NaN: no value
		formula        string
	}{
		{map[string]string{"score.formula": "share"}, Overall, Completion, 75, math.NaN(), FormulaMean}, // (50 + 75 + 100) / 3
		{map[string]string{"score.formula": "share", "score.mean": "cases"}, Overall, Completion, 71.43, math.NaN(), FormulaShare},
		{map[string]string{"score.formula": "share", "score.mean": "cases"}, MeasurementTasks, Completion, 66.67, 40, FormulaShare}, // 4 of 6, times 3 of 5
		{map[string]string{"score.mean": "cases"}, Overall, Depth, 3.57, 3.14, FormulaDepth},                                        // 25 / 7, and 22 / 7
		{map[string]string{"score.formula": "share", "score.without_value": "zero"}, Overall, Completion, 18.75, math.NaN(), FormulaMeanOfAll},
		{map[string]string{"score.formula": "share", "score.without_value": "zero"}, MeasurementTasks, Consistency, 14.58, math.NaN(), FormulaMeanOfAll}, // (50 + 66.67) / 8
		{map[string]string{"score.formula": "share", "score.without_value": "zero"}, RecognitionTasks, Consistency, math.NaN(), math.NaN(), FormulaMeanOfAll},
	} {
		rules, err := NewRules(Corrected, c.set)
		if err != nil {
			t.Fatal(err)
		}
		cell, _ := ScoreCounts(rules, Path1, counts).Groups[c.group].Cell(c.column)
		if cell.Plain.Known == math.IsNaN(c.plain) || cell.Plain.Known && cell.Plain.Value != c.plain || cell.Plain.Formula != c.formula {
			t.Errorf("%v, %s %s: %+v, want %v by %s", c.set, c.group, c.column, cell.Plain, c.plain, c.formula)
		}
		if !math.IsNaN(c.refined) && (!cell.Refined.Known || cell.Refined.Value != c.refined) {
			t.Errorf("%v, refined %s %s: %+v, want %v", c.set, c.group, c.column, cell.Refined, c.refined)
		}
	}
}
