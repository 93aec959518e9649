package cxreasonbench

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

func nan() float64 { return math.NaN() }

type goldenValue struct {
	Task     Task              `json:"task"`
	View     cxr.ViewPosition  `json:"view"`
	Value    json.RawMessage   `json:"value"`
	Accepted []string          `json:"accepted"`
	Answer   string            `json:"answer"`
	Correct  []json.RawMessage `json:"correct"`
	Windows  json.RawMessage   `json:"windows"`
	Error    string            `json:"error"`
}

// ownOverlays are the pictures that a case of a task always has.
func ownOverlays(task Task) []Overlay {
	var list []Overlay
	for _, s := range Structures(task) {
		list = append(list, Overlay{task, s})
	}
	return list
}

// TestValuesGolden holds reference answers, true options and every legal window of options on
// and around thresholds, range limits and rounding ties.
func TestValuesGolden(t *testing.T) {
	rules := rulesOf(t, AsReleased, nil)
	for _, g := range loadLines[goldenValue](t, "qa/values.jsonl") {
		s := Source{Task: g.Task, Case: "probe", View: g.View, Reading: goldenReading(t, g.Task, g.Value), Overlays: ownOverlays(g.Task)}
		b := &builder{rules: rules, seed: 1, pack: Prompts(), s: s, path: Path1}
		q := b.initial()
		if !slices.Equal(q.Accepted, g.Accepted) || q.Answer != g.Answer {
			t.Errorf("%s %s %s: accepted %v (%s), want %v (%s)", g.Task, g.View, g.Value, q.Accepted, q.Answer, g.Accepted, g.Answer)
		}
		err := s.checkReading(rules)
		if (err != nil) != (g.Error != "") {
			t.Errorf("%s %s: refused: %v; the released program: %q", g.Task, g.Value, err, g.Error)
		}
		if err != nil || g.Error != "" {
			continue
		}
		var want []string
		for _, raw := range g.Correct {
			want = append(want, goldenMeans(t, g.Task, raw))
		}
		checkMeans(t, g.Task.String()+" "+string(g.Value), b.measurement(rand.New(rand.NewPCG(1, 1))), want)
		if string(g.Windows) == "null" || g.Windows == nil {
			continue
		}
		checkWindows(t, g, s)
	}
}

// checkWindows compares the set of all windows with the reference's.
func checkWindows(t *testing.T, g goldenValue, s Source) {
	t.Helper()
	type windowRef struct {
		Options []json.RawMessage `json:"options"`
		Correct []string          `json:"correct"`
	}
	rules := rulesOf(t, AsReleased, nil)
	join := func(means []string, letter string) string { return strings.Join(means, " ") + " " + letter }
	compare := func(what string, want, got []string) {
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(slices.Compact(want), slices.Compact(got)); d != "" {
			t.Errorf("%s %s%s: windows (-reference +ours):\n%s", g.Task, g.Value, what, d)
		}
	}
	ladder := func(v float64) (list []string) {
		row, _ := RowOf(g.Task)
		ranges, holds := Ranges(rules, row, v)
		for place := range optionCount {
			from, to := windowAt(len(ranges), holds, place)
			var means []string
			for _, r := range ranges[from:to] {
				means = append(means, r.means())
			}
			list = append(list, join(means, letter(holds-from)))
		}
		return list
	}
	if g.Task == chexstruct.Projection {
		var sides map[string][][][2]string
		if err := json.Unmarshal(g.Windows, &sides); err != nil {
			t.Fatal(err)
		}
		for side, v := range map[string]float64{"right": s.Reading.Right, "left": s.Reading.Left} {
			var want, got []string
			for _, w := range sides[side] {
				var means []string
				for _, r := range w {
					means = append(means, r[0]+".."+r[1])
				}
				want = append(want, strings.Join(means, " "))
			}
			for _, x := range ladder(v) {
				got = append(got, x[:len(x)-2])
			}
			compare(" "+side, want, got)
		}
		return
	}
	var windows []windowRef
	if err := json.Unmarshal(g.Windows, &windows); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, w := range windows {
		var means []string
		for _, raw := range w.Options {
			means = append(means, strings.TrimPrefix(goldenMeans(t, g.Task, raw), "range:"))
		}
		want = append(want, join(means, w.Correct[0]))
	}
	switch g.Task {
	case chexstruct.Inspiration, chexstruct.AscendingAortaEnlargement:
		b := &builder{rules: rules, seed: 1, pack: Prompts(), s: s, path: Path1}
		for seed := range uint64(160) {
			q := b.measurement(rand.New(rand.NewPCG(seed, 1)))
			got = append(got, join(meanings(q), q.Accepted[0]))
		}
	default:
		got = ladder(s.Reading.Number)
	}
	compare("", want, got)
}

// TestFormatsGolden holds the format of every position of a case list.
func TestFormatsGolden(t *testing.T) {
	want := load[map[string]map[string][]string](t, "qa/formats.json")
	for i := range officialCases {
		for kind, task := range map[string]Task{"stage2_single": chexstruct.CarinaAngle, "stage2_multi": chexstruct.Cardiomegaly} {
			f := officialFormats(task, i)
			for path, got := range map[string]Formats{"path1": f.Path1, "re-path1": f.RePath1} {
				if w := want[path]; got.Criteria.String() != w["stage1"][i] || got.Structures.String() != w[kind][i] {
					t.Errorf("%s %s position %d: %s and %s, want %s and %s", path, kind, i, got.Criteria, got.Structures, w["stage1"][i], w[kind][i])
				}
			}
		}
	}
}
