package differ

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/infra/bench/dense"
	"cxrepro/internal/chexstruct"
)

const goldenDir = "../../../internal/chexstruct/testdata/golden"

// bases are all golden cases and a few phantoms.
func bases(t *testing.T) []*dense.Case {
	t.Helper()
	golden, err := Golden(os.DirFS(goldenDir))
	if err != nil {
		t.Fatal(err)
	}
	phantoms, err := Phantoms(3, 3, 300)
	if err != nil {
		t.Fatal(err)
	}
	return append(golden, phantoms...)
}

func preset(t *testing.T, p chexstruct.Preset) (dense.Switches, *chexstruct.Rules) {
	t.Helper()
	sw, ok := dense.Preset(p.String())
	if !ok {
		t.Fatalf("the dense implementation lacks preset %s", p)
	}
	rules, err := chexstruct.NewRules(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sw, rules
}

func hard(list []Difference) []string {
	var out []string
	for _, d := range list {
		if !d.Soft {
			out = append(out, d.String())
		}
	}
	return out
}

// TestGoldenCases compares both implementations on the golden cases as they are, and the
// dense one with the published example in every field.
func TestGoldenCases(t *testing.T) {
	all := bases(t)
	sw, rules := preset(t, chexstruct.Corrected)
	for _, c := range all {
		list, _, err := Compare(c, sw, rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range hard(list) {
			t.Errorf("%s: %s", c.Name, d)
		}
	}
	text, err := os.ReadFile(filepath.Join(goldenDir, "example_result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got, err := plain(dense.Assess(all[0], sw))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diff("", got, want) {
		t.Errorf("example: %s", d)
	}
}

// TestGeneratedCases compares both implementations on awkward cases.
func TestGeneratedCases(t *testing.T) {
	all := bases(t)
	for p, n := range map[chexstruct.Preset]uint64{chexstruct.Corrected: 100, chexstruct.AsReleased: 30, chexstruct.AsPublished: 30} {
		sw, rules := preset(t, p)
		for i := range n {
			c, story := Make(all, 77, i, sw)
			own, with, err := sw, rules, error(nil)
			if i%3 == 0 {
				own, with, err = Override(c, p, sw, 77, i)
			}
			if err != nil {
				t.Fatal(err)
			}
			list, _, err := Compare(c, own, with)
			if err != nil {
				t.Fatal(err)
			}
			if h := hard(list); len(h) > 0 {
				t.Errorf("%s case %d of seed 77\n  %s\n  %s", p, i, strings.Join(story, "\n  "), strings.Join(h, "\n  "))
			}
		}
	}
}

// TestMakeIsDeterministic builds a case twice.
func TestMakeIsDeterministic(t *testing.T) {
	all := bases(t)
	sw, _ := preset(t, chexstruct.Corrected)
	for i := range uint64(10) {
		a, storyA := Make(all, 5, i, sw)
		b, storyB := Make(all, 5, i, sw)
		if strings.Join(storyA, "\n") != strings.Join(storyB, "\n") {
			t.Errorf("case %d has two stories", i)
		}
		x, err := plain(dense.Assess(a, sw))
		if err != nil {
			t.Fatal(err)
		}
		y, err := plain(dense.Assess(b, sw))
		if err != nil {
			t.Fatal(err)
		}
		if list := diff("", x, y); len(list) > 0 {
			t.Errorf("case %d: %v", i, list)
		}
	}
}

// TestDiffSees makes sure that a difference of each kind is reported.
func TestDiffSees(t *testing.T) {
	a := map[string]any{"n": 1.0, "s": "x", "l": []any{1.0, 2.0}, "b": true, "z": nil, "failed": []any{"p", "q"}}
	for _, b := range []map[string]any{
		{"n": 1.0 + 1e-8, "s": "x", "l": []any{1.0, 2.0}, "b": true, "failed": []any{"q", "p"}},
		{"n": 1.0, "s": "y", "l": []any{1.0, 2.0}, "b": true, "failed": []any{"q", "p"}},
		{"n": 1.0, "s": "x", "l": []any{1.0}, "b": true, "failed": []any{"q", "p"}},
		{"n": 1.0, "s": "x", "l": []any{1.0, 2.0}, "b": false, "failed": []any{"q", "p"}},
		{"n": 1.0, "s": "x", "l": []any{1.0, 2.0}, "b": true, "z": 0.0, "failed": []any{"q", "p"}},
		{"n": 1.0, "s": "x", "l": []any{1.0, 2.0}, "b": true, "failed": []any{"q", "r"}},
	} {
		if len(diff("t", a, b)) == 0 {
			t.Errorf("%v: no difference is seen", b)
		}
	}
	same := map[string]any{"n": 1.0 + 1e-13, "s": "x", "l": []any{1.0, 2.0}, "b": true, "failed": []any{"q", "p"}}
	if list := diff("t", a, same); len(list) != 0 {
		t.Errorf("equal results differ: %v", list)
	}
}
