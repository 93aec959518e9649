package bench

import (
	"testing"

	"cxrepro/internal/xragent"
)

var six = xragent.Question{Type: xragent.Lettered, Text: "What?", Key: "B",
	Options: []string{"Effusion", "Pleural effusion", "Pneumothorax", "Chest wall mass", "Rib fracture", "No abnormality"}}

// TestStrict goes through every rule, with what must not be read by it. Cases of the requirements:
// the last tag counts, an unreadable tag ends the search, "A chest ..." is no letter.
func TestStrict(t *testing.T) {
	yes := xragent.Question{Type: xragent.YesNo, Text: "Is it?", Key: "No"}
	closed := xragent.Question{Type: xragent.Closed, Text: "Which side?", Key: "Left lung"}
	for _, c := range []struct {
		q      xragent.Question
		reply  string
		answer string
		rule   Rule
	}{
		{six, "<think>x</think><answer>B</answer>", "B", RuleTag},
		{six, "<answer>A</answer> no: <answer>b) pleural effusion</answer>", "B", RuleTag},
		{six, "<answer>A or B</answer>", "", RuleBadTag},
		{six, "The answer is B <answer>", "", RuleBadTag},
		{six, "B</answer><answer>G</answer>", "", RuleBadTag},
		{six, "B", "B", RuleBare},
		{six, " (b). ", "B", RuleBare},
		{six, "**B**", "B", RuleBare},
		{six, "<think>Not A.</think>\nB", "B", RuleBare},
		{six, "B) Pleural effusion", "B", RuleMarked},
		{six, "B. Because of the meniscus.", "B", RuleMarked},
		{six, "(C): pneumothorax", "C", RuleMarked},
		{six, "B Pleural effusion", "B", RuleLetterText},
		{six, "A pneumothorax", "C", RuleOptionText},
		{six, "A chest film.", "", RuleNothing},
		{six, "It is a chest film.", "", RuleNothing},
		{six, "I think the answer is B.", "B", RuleAnswerIs},
		{six, "The answer is: option (b)", "", RuleNothing},
		{six, "The answer is: option (B)", "B", RuleAnswerIs},
		{six, "The answer is B) Pleural effusion", "B", RuleAnswerIs},
		{six, "The answer is A chest that is normal", "", RuleNothing},
		{six, "The answer is B. Then again the answer is C.", "", RuleAmbiguous},
		{six, "This shows a pleural effusion on the left.", "B", RuleOptionText},
		{six, "An effusion, not pleural.", "A", RuleOptionText},
		{six, "Pneumothorax and rib fracture.", "", RuleAmbiguous},
		{six, "G", "", RuleNothing},
		{six, "", "", RuleNothing},
		{six, "Because of that.", "", RuleNothing},
		{yes, "<answer>no.</answer>", "No", RuleTag},
		{yes, "<answer>none</answer>", "", RuleBadTag},
		{yes, "No", "No", RuleBare},
		{yes, "No, the heart is normal.", "No", RuleMarked},
		{yes, "The answer is no", "No", RuleAnswerIs},
		{yes, "There is no pneumothorax.", "", RuleNothing},
		{yes, "Not sure", "", RuleNothing},
		{closed, "<answer>left  LUNG.</answer>", "left lung", RuleTag},
		{closed, "Left lung", "left lung", RuleWhole},
		{closed, "<answer></answer>", "", RuleBadTag},
		{closed, " ", "", RuleNothing},
	} {
		got := Strict.Score(c.q, c.reply, Cascade)
		key, _ := xragent.ReadAnswer(c.q, c.q.Key)
		want := Read{Answer: c.answer, Unparsed: c.answer == "", Correct: c.answer == key, Rule: c.rule}
		if got != want {
			t.Errorf("%q: got %+v, want %+v", c.reply, got, want)
		}
	}
	for _, reply := range []string{"B", "The answer is B", "B) Pleural effusion"} {
		if got := Strict.Score(six, reply, TagOnly); !got.Unparsed || got.Correct {
			t.Errorf("without a tag %q was read as %+v", reply, got)
		}
	}
}

// TestMedRAXCompat shows the luck that the compatible scorer credits, and that strict does not.
func TestMedRAXCompat(t *testing.T) {
	for _, c := range []struct {
		reply, answer string
		rule          Rule
	}{
		{"B", "B", RuleBare},
		{"b) x", "B", RuleMarked},
		{"A chest film", "A", RuleMarked},
		{"This is a film", "A", RuleStandAlone},
		{"The film", "E", RuleFirst},
		{"no idea", "D", RuleFirst},
		{"<think>a</think><answer>B</answer>", "B", RuleBare},
		{"12 + 7", "", RuleNothing},
	} {
		got := MedRAXCompat.Score(six, c.reply, Cascade)
		if got.Answer != c.answer || got.Rule != c.rule || got.Correct != (c.answer == "B") {
			t.Errorf("%q: got %+v, want %s by %s", c.reply, got, c.answer, c.rule)
		}
	}
	if r := Strict.Score(six, "The film", Cascade); !r.Unparsed {
		t.Errorf("strict read %+v", r)
	}
}

// TestScorerNames: every scorer is found by its name, with and without version.
func TestScorerNames(t *testing.T) {
	for _, s := range Scorers() {
		for _, name := range []string{s.String(), scorers[s].name} {
			if got, err := ParseScorer(name); err != nil || got != s {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
	if _, err := ParseScorer("lenient"); err == nil {
		t.Error("lenient was taken")
	}
}

// FuzzStrict: reading never panics, and what it reads is an answer to the question.
func FuzzStrict(f *testing.F) {
	f.Add("The answer is B.")
	f.Add("<answer>B</answer>")
	f.Add("b")
	f.Fuzz(func(t *testing.T, reply string) {
		for _, s := range Scorers() {
			for _, form := range []Form{TagOnly, Cascade} {
				r := s.Score(six, reply, form)
				if r.Unparsed != (r.Answer == "") || r.Correct && r.Answer != "B" {
					t.Errorf("%q: %+v", reply, r)
				}
				if _, ok := xragent.ReadAnswer(six, r.Answer); !ok && !r.Unparsed {
					t.Errorf("%q: %+v is no answer", reply, r)
				}
			}
		}
	})
}
