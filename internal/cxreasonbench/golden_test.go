package cxreasonbench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// load reads a reference file into a value of type T.
func load[T any](t testing.TB, name string) T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func rulesOf(t testing.TB, p Preset, overrides map[string]string) Rules {
	t.Helper()
	r, err := NewRules(p, overrides)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestJudgeGolden holds the substring reading, the vote and the message layout of the
// released programs.
func TestJudgeGolden(t *testing.T) {
	type golden struct {
		Single []struct {
			Text  string `json:"judge_text"`
			Score int    `json:"score"`
		} `json:"single"`
		Votes []struct {
			Scores []int  `json:"scores"`
			Major  int    `json:"major"`
			Kept   int    `json:"kept_index"`
			Error  string `json:"error"`
		} `json:"votes"`
		Layout []struct {
			Question bool   `json:"question_passed"`
			Extract  bool   `json:"value_extraction"`
			Message  string `json:"judge_user_message"`
		} `json:"message_layout"`
	}
	g := load[golden](t, "judge_golden.json")
	released := rulesOf(t, AsReleased, nil)
	for _, c := range g.Single {
		v, ok := ReadVerdict(released, JudgeInit, c.Text)
		if !ok || v.Score.Number() != c.Score {
			t.Errorf("text %q: got %v %v, want %d", c.Text, v.Score, ok, c.Score)
		}
	}
	for _, c := range g.Votes {
		scores := make([]Score, len(c.Scores))
		for i, n := range c.Scores {
			s, ok := ScoreOf(n)
			if !ok {
				t.Fatalf("no score has the number %d", n)
			}
			scores[i] = s
		}
		s, kept := Vote(scores)
		want, wantKept := c.Major, c.Kept
		if c.Error != "" { // the original fails; ours is wrong, first draw
			want, wantKept = 0, 0
		}
		if s.Number() != want || kept != wantKept {
			t.Errorf("vote %v: got %d kept %d, want %d kept %d", c.Scores, s.Number(), kept, want, wantKept)
		}
	}
	for _, c := range g.Layout {
		question, got := "", ""
		if c.Question {
			question = "Q1?"
		}
		if got = JudgeMessage(released, question, "(a) Yes", "resp"); c.Extract {
			got = ExtractMessage("resp")
		}
		if got != c.Message {
			t.Errorf("message %q, want %q", got, c.Message)
		}
	}
	if len(g.Single) == 0 || len(g.Votes) == 0 || len(g.Layout) == 0 {
		t.Error("the reference is empty")
	}
}

// TestVerdictWords holds the corrected reading: only a whole verdict word is a verdict.
func TestVerdictWords(t *testing.T) {
	corrected := rulesOf(t, Corrected, nil)
	for text, want := range map[string]Score{
		"True": Right, "true": Right, "TRUE": Right, "True.": Right, "'True'": Right, "**True**": Right, "True\n": Right,
		"IDK": Unknown, "Idk.": Unknown, "N/A": NoneOfAbove, "n/a": NoneOfAbove, "N/A.": NoneOfAbove,
		"False": Wrong, "FALSE.": Wrong, "Partial (1)": Wrong, "partial": Wrong, "Partial (2)": Wrong,
		"": 0, "   ": 0, "Untrue": 0, "Not true": 0, "True or False": 0, "False, not True": 0, "NA": 0, "IDK or True": 0,
		"The answers match.": 0, "Yes": 0, "1": 0, "Partial credit, true in part": 0, "I don't know": 0, `{"result": true}`: 0,
	} {
		v, ok := ReadVerdict(corrected, JudgeStructures, text)
		if v.Score != want || ok != want.Valid() {
			t.Errorf("text %q: got %v %v, want %v", text, v.Score, ok, want)
		}
	}
	if v, _ := ReadVerdict(corrected, JudgeFinal, "IDK"); v.Asked || v.Score != Unknown {
		t.Errorf("a word the prompt does not offer: %+v", v)
	}
	if v, _ := ReadVerdict(corrected, JudgeRefined, "IDK"); !v.Asked {
		t.Errorf("a word the prompt offers: %+v", v)
	}
}

// TestConsistencyGolden holds the worked cases of the value check.
func TestConsistencyGolden(t *testing.T) {
	type item struct {
		Task       Task   `json:"task"`
		Reference  string `json:"stage3_answer"`
		Reply      string `json:"stage4_response"`
		Note       string `json:"note"`
		Consistent bool   `json:"consistent"`
	}
	items := load[[]item](t, "consistency_golden.json")
	if len(items) < 30 {
		t.Fatalf("%d cases", len(items))
	}
	for _, p := range Presets() {
		r := rulesOf(t, p, nil)
		for _, c := range items {
			if got := Consistent(r, c.Task, c.Reference, c.Reply); got != c.Consistent {
				t.Errorf("%s, %s: %q against %q: got %v", c.Task, c.Note, c.Reply, c.Reference, got)
			}
		}
	}
	exponents := rulesOf(t, Corrected, map[string]string{string(NumberReading): Exponents})
	const reference = "(a) [5e-05 - 0.00035]"
	if Consistent(rulesOf(t, Corrected, nil), projection, reference, "0.0002") {
		t.Error("three bounds are needed for two sides")
	}
	tortuous := Tasks()[7]
	if !Consistent(exponents, tortuous, reference, "Value: 0.0002") {
		t.Error("an exponent in a bound is one number under score.numbers=exponents")
	}
	if Consistent(rulesOf(t, Corrected, nil), tortuous, reference, "Value: 0.0002") {
		t.Error("5e-05 is read as 5 and 05 as printed")
	}
}
