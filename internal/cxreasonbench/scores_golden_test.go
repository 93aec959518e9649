package cxreasonbench

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"cxrepro/internal/stats"
)

// TestWilsonTable holds every reported value up to 120 cases, and the centre it comes from.
func TestWilsonTable(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "wilson_table.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 7000 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	rules := rulesOf(t, Corrected, nil)
	for _, r := range rows[1:] {
		x, _ := strconv.Atoi(r[0])
		n, _ := strconv.Atoi(r[1])
		f := proportion(rules, x, n, WhyNothingAsked)
		if r[2] == "" {
			if f.Known || f.Why == "" {
				t.Errorf("%d of %d: %+v, want a figure without value", x, n, f)
			}
			continue
		}
		want, _ := strconv.ParseFloat(r[2], 64)
		centre, _ := strconv.ParseFloat(r[3], 64)
		got, _, _ := stats.Proportion{K: x, N: n}.WilsonCentre(paperZ)
		if !f.Known || f.Value != want || got != centre {
			t.Errorf("%d of %d: got %v, centre %v, want %v, %v", x, n, f.Value, got, want, centre)
		}
	}
	formula := rulesOf(t, Corrected, map[string]string{string(NothingRight): Formula})
	if f := proportion(formula, 0, 10, ""); f.Value <= 0 {
		t.Errorf("formula (4) of the paper at 0 of 10: %v", f.Value)
	}
}

type goldenSet struct {
	Results map[string]goldenPath                 `json:"results"`
	Counts  map[Task]map[string]*int              `json:"counts"`
	Votes   map[Task]map[string]map[string][2]int `json:"votes"`
	Ties    map[string]map[string][]string        `json:"exact_ties_in_group_means"`
}

type goldenPath struct {
	Tasks  map[string]map[string]*float64 `json:"tasks"`
	Groups map[string]map[string]*float64 `json:"groups"`
}

type inputCase struct {
	ID     string                        `json:"id"`
	Source Entry                         `json:"src"`
	Scores map[string]int                `json:"s"`
	Judge  map[string][]string           `json:"j"`
	Values map[string][2]json.RawMessage `json:"v"`
}

type inputSet struct {
	ID    string               `json:"id"`
	Path  string               `json:"path"`
	Tasks map[Task][]inputCase `json:"tasks"`
}

// scores turns a case of a result set into what scoring takes, and the votes it implies.
func (c inputCase) scores(t *testing.T, rules Rules, task Task) (CaseScores, map[string][2]int) {
	t.Helper()
	out := CaseScores{Case: c.ID, Entry: c.Source, Scores: map[Key]Score{}, Consistent: map[Path]bool{}}
	kept := map[string][2]int{}
	for name, n := range c.Scores {
		k, ok := ParseKey(name)
		s, known := ScoreOf(n)
		if !ok || !known {
			t.Fatalf("%s: %s = %d", c.ID, name, n)
		}
		out.Scores[k] = s
	}
	for name, texts := range c.Judge {
		k, ok := ParseKey(name)
		if !ok {
			t.Fatalf("%s: %s", c.ID, name)
		}
		var draws []Score
		for _, text := range texts {
			v, _ := ReadVerdict(rules, JudgementOf(rules, task, k).Prompt, text)
			draws = append(draws, v.Score)
		}
		s, i := Vote(draws)
		out.Scores[k] = s
		kept[name] = [2]int{s.Number(), i}
	}
	for name, v := range c.Values {
		path := map[string]Path{"final": Path1, "guidance": Path2, "review": RePath1}[name]
		out.Consistent[path] = Consistent(rules, task, text(t, v[0], 0), text(t, v[1], kept[Key{Path: path, Stage: StageFinal}.String()][1]))
	}
	return out, kept
}

// text is a JSON text, or the one at an index of a list.
func text(t *testing.T, raw json.RawMessage, at int) string {
	t.Helper()
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list[at]
}

func sets(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "s[0-9][0-9].input.json"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d result sets: %v", len(files), err)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(filepath.Base(f), ".input.json")
	}
	return names
}

// TestScoreGolden holds every task and group figure of every result set to the last digit.
func TestScoreGolden(t *testing.T) {
	rules := rulesOf(t, AsReleased, nil)
	cells := 0
	for _, name := range sets(t) {
		in, want := load[inputSet](t, name+".input.json"), load[goldenSet](t, name+".golden.json")
		cases := map[Task][]CaseScores{}
		for task, list := range in.Tasks {
			for _, c := range list {
				s, kept := c.scores(t, rules, task)
				cases[task] = append(cases[task], s)
				if v := want.Votes[task][c.ID]; len(kept) > 0 && !reflect.DeepEqual(kept, v) {
					t.Errorf("%s %s: votes %v, want %v", name, c.ID, kept, v)
				}
			}
		}
		for key, g := range want.Results {
			var path Path
			if err := path.UnmarshalText([]byte(key)); err != nil {
				t.Fatal(err)
			}
			got := ScorePath(rules, path, cases)
			for _, task := range Tasks() {
				cells += sameRow(t, name+" "+key+" "+task.String(), got.Tasks[task], path, g.Tasks[task.String()], nil)
				checkCounts(t, name+" "+task.String(), got.Counts[task], path, want.Counts[task], KindOf(task))
			}
			for _, group := range Groups() {
				cells += sameRow(t, name+" "+key+" "+group.String(), got.Groups[group], path, g.Groups[group.String()], want.Ties[key][group.String()])
			}
		}
	}
	if cells < 4800 {
		t.Errorf("only %d cells compared", cells)
	}
}

// sameRow compares a row cell by cell and returns how many there were. Exact decimal ties may
// be a hundredth apart.
func sameRow(t *testing.T, where string, row ScoreRow, path Path, want map[string]*float64, ties []string) int {
	t.Helper()
	n := 0
	check := func(name string, f Figure) {
		n++
		w, present := want[name]
		switch {
		case !present:
			t.Errorf("%s: no %s in the reference", where, name)
		case w == nil && (f.Known || f.Why == ""):
			t.Errorf("%s %s: got %+v, want none with a reason", where, name, f)
		case w != nil && !f.Known:
			t.Errorf("%s %s: got none (%s), want %v", where, name, f.Why, *w)
		case w != nil && f.Value != *w:
			if d := f.Value - *w; contains(ties, name) && d < 0.0101 && d > -0.0101 {
				t.Logf("%s %s: tie, %v against %v", where, name, f.Value, *w)
				return
			}
			t.Errorf("%s %s: got %v, want %v", where, name, f.Value, *w)
		}
	}
	for _, c := range row.Cells {
		check(c.Column.String(), c.Plain)
		if Refines(path, c.Column) {
			check(c.Column.String()+"_refined", c.Refined)
		}
	}
	if n != len(want) {
		t.Errorf("%s: %d figures, the reference has %d", where, n, len(want))
	}
	return n
}

// checkCounts compares ours with the counts that the original program keeps; one it does not
// have is zero.
func checkCounts(t *testing.T, where string, c Counts, path Path, want map[string]*int, kind Kind) {
	t.Helper()
	if want == nil {
		return
	}
	ours := map[string]int{}
	switch path {
	case Path1:
		ours = map[string]int{
			"flag_num_correct_init_pass": c.Entered, "flag_num_correct_init_idk": c.Unknown, "flag_num_correct_custom_idk": c.Rejected,
			"num_correct_criteria": c.Right[0], "num_correct_bodypart": c.Right[1], "num_correct_measurement": c.Right[2],
			"num_correct_final": c.Right[3], "num_correct_consistency": c.Aligned, "num_conquer_stage": c.Remaining(),
		}
		if kind == Measurement {
			ours["num_correct_measurement_matching"], ours["num_correct_final_refined"] = c.Consistent, c.RightConsistent
		}
	case Path2:
		ours = map[string]int{
			"num_idk_for_guidance": c.Entered, "num_correct_g_bodypart": c.Right[0], "num_correct_g_measurement": c.Right[1], "num_correct_g_final": c.Right[2],
		}
		if kind == Measurement {
			ours["num_correct_g_measurement_matching"], ours["num_correct_g_final_refined"] = c.Consistent, c.RightConsistent
		}
	case RePath1:
		ours = map[string]int{
			"num_correct_r_init": c.Entered, "num_correct_r_criteria": c.Right[0], "num_correct_r_bodypart": c.Right[1],
			"num_correct_r_measurement": c.Right[2], "num_correct_r_final": c.Right[3], "num_correct_r_consistency": c.Aligned,
		}
		if kind == Measurement {
			ours["num_correct_r_measurement_matching"], ours["num_correct_r_final_refined"] = c.Consistent, c.RightConsistent
		}
	}
	for name, got := range ours {
		w := 0
		if p := want[name]; p != nil {
			w = *p
		}
		if got != w {
			t.Errorf("%s %s: got %d, want %d", where, name, got, w)
		}
	}
}
