package xragent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"
)

// rows reads a golden file of one JSON object a line.
func rows[T any](t testing.TB, name string, want int) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var row T
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, row)
	}
	if len(out) != want {
		t.Fatalf("%s: %d rows, want %d", name, len(out), want)
	}
	return out
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestPhrasesGolden(t *testing.T) {
	type row struct {
		ID          string
		Measurement Measurement
		Category    Category
		Value       float64
		Text, Why   string
		S           int
	}
	for _, r := range rows[row](t, "phrases.jsonl", 60) {
		got := 0
		if Compare(r.Measurement, r.Category, r.Value, r.Text) == Agrees {
			got = 1
		}
		if got != r.S {
			t.Errorf("%s %s %s %v: %q: s %d, want %d (%s)", r.ID, r.Measurement, r.Category, r.Value, r.Text, got, r.S, r.Why)
		}
	}
}

func TestAdvantagesGolden(t *testing.T) {
	type row struct {
		ID         string
		Rewards    []float64
		Degenerate bool
		StdEps     []float64 `json:"std_eps"`
		Unscaled   []float64
	}
	for _, r := range rows[row](t, "advantages.jsonl", 20) {
		if got := Degenerate(r.Rewards); got != r.Degenerate {
			t.Errorf("%s: degenerate %v", r.ID, got)
		}
		for i, got := range Advantages(r.Rewards, true) {
			if !near(got, r.StdEps[i], 1e-8) {
				t.Errorf("%s: scaled %d: got %v, want %v", r.ID, i, got, r.StdEps[i])
			}
		}
		for i, got := range Advantages(r.Rewards, false) {
			if !near(got, r.Unscaled[i], 1e-8) {
				t.Errorf("%s: unscaled %d: got %v, want %v", r.ID, i, got, r.Unscaled[i])
			}
		}
	}
}

func TestSimilarityGolden(t *testing.T) {
	type row struct {
		ID, Kind, Rationale, Findings string
		Expected                      struct {
			Similarity
			Verdict string
		}
	}
	for _, r := range rows[row](t, "similarity.jsonl", 30) {
		got, want := ComputeSimilarity(r.Rationale, r.Findings), r.Expected.Similarity
		if got.Rationale != want.Rationale || got.Findings != want.Findings || !near(got.Ratio, want.Ratio, 1e-9) ||
			!near(got.Jaccard, want.Jaccard, 1e-9) || !near(got.RougeLF, want.RougeLF, 1e-9) || !near(got.FourGramShare, want.FourGramShare, 1e-9) {
			t.Errorf("%s (%s): got %+v, want %+v", r.ID, r.Kind, got, want)
		}
		if got.Rejected() != (r.Expected.Verdict == "reject") {
			t.Errorf("%s: verdict", r.ID)
		}
	}
}

// settings are the two weightings of the reward goldens.
var settings = map[string]Weights{"default": DefaultWeights(), "strong": {Evidence: 0.5, Cost: 0.15}}

type goldenReward struct {
	Setting   string
	Gated     bool
	Malformed bool `json:"malformed_counts_as_wrong"`
	Value
}

func TestRewardsGolden(t *testing.T) {
	type row struct {
		ID           string
		Contracts    map[string]bool
		Calls        int
		Correct      bool `json:"answer_correct"`
		Measurements map[Measurement]struct{ Relevant, Exposed, S float64 }
		Terms        struct {
			CXR        float64 `json:"R_CXR"`
			Eligible   int
			WellFormed bool `json:"well_formed"`
		}
		Expected []goldenReward
	}
	for _, r := range rows[row](t, "rewards.jsonl", 200) {
		terms := Terms{Correct: r.Correct, WellFormed: true, Calls: r.Calls}
		for _, kept := range r.Contracts {
			terms.WellFormed = terms.WellFormed && kept
		}
		for _, m := range Measurements() {
			v := r.Measurements[m]
			terms.CXR[m.index()] = Term{v.Relevant == 1, v.Exposed == 1, v.S}
		}
		cxr, eligible := terms.Evidence()
		if !near(cxr, r.Terms.CXR, 1e-9) || eligible != r.Terms.Eligible || terms.WellFormed != r.Terms.WellFormed {
			t.Errorf("%s: R_CXR %v of %d, want %+v", r.ID, cxr, eligible, r.Terms)
		}
		if len(r.Expected) != 8 {
			t.Fatalf("%s: %d expected rows", r.ID, len(r.Expected))
		}
		for _, want := range r.Expected {
			got := Reward{settings[want.Setting], want.Gated, want.Malformed}.Value(terms)
			if got.Acc != want.Acc || got.Format != want.Format || !near(got.R, want.R, 1e-9) {
				t.Errorf("%s %+v: got %+v", r.ID, want, got)
			}
		}
	}
}

func TestRawGolden(t *testing.T) {
	type row struct {
		Trajectory
		Rule     string
		Expected struct {
			Verdict  string
			Reasons  []Reason
			Plan     []Call
			Answer   *string
			Correct  bool `json:"answer_correct"`
			Relevant map[Measurement]int
			Exposed  int
			S        map[Measurement]float64
			Eligible int
			CXR      float64 `json:"R_CXR"`
			Calls    int     `json:"R_tool"`
			Rewards  []goldenReward
		}
	}
	for _, r := range rows[row](t, "raw.jsonl", 40) {
		got, want := Judge(r.Trajectory, DefaultPhrases()), r.Expected
		slices.Sort(want.Reasons)
		reasons := slices.Clone(got.Reasons)
		slices.Sort(reasons)
		if !slices.Equal(reasons, want.Reasons) || got.WellFormed() != (want.Verdict == "ok") {
			t.Errorf("%s (%s): reasons %v, want %v", r.ID, r.Rule, reasons, want.Reasons)
		}
		if !samePlan(got.Plan, want.Plan) {
			t.Errorf("%s: plan %s, want %s", r.ID, got.Plan, want.Plan)
		}
		answer := ""
		if want.Answer != nil {
			answer = *want.Answer
		}
		if got.Answer != answer || got.Correct != want.Correct || got.Calls != want.Calls {
			t.Errorf("%s: answer %q %v, calls %d; want %q %v %d", r.ID, got.Answer, got.Correct, got.Calls, answer, want.Correct, want.Calls)
		}
		for _, m := range Measurements() {
			i := m.index()
			if got.Relevant[i] != (want.Relevant[m] == 1) || got.Exposed[i] != (want.Exposed == 1) || got.S[i] != want.S[m] {
				t.Errorf("%s %s: r %v b %v s %v, want %v %v %v", r.ID, m, got.Relevant[i], got.Exposed[i], got.S[i], want.Relevant[m], want.Exposed, want.S[m])
			}
		}
		if cxr, n := got.Terms().Evidence(); !near(cxr, want.CXR, 1e-9) || n != want.Eligible {
			t.Errorf("%s: R_CXR %v of %d, want %v of %d", r.ID, cxr, n, want.CXR, want.Eligible)
		}
		for _, w := range want.Rewards {
			v := Reward{DefaultWeights(), w.Gated, w.Malformed}.Value(got.Terms())
			if v.Acc != w.Acc || v.Format != w.Format || !near(v.R, w.R, 1e-9) {
				t.Errorf("%s %+v: got %+v", r.ID, w, v)
			}
		}
	}
}

func samePlan(a, b []Call) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		var x, y any
		if json.Unmarshal(a[i].Arguments, &x) != nil || json.Unmarshal(b[i].Arguments, &y) != nil ||
			a[i].Name != b[i].Name || !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}
