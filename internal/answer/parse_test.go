package answer

import (
	"slices"
	"strings"
	"testing"
)

var (
	diagnosis = Question{Options: []Option{{"a", "Yes", Choice}, {"b", "No", Choice}, {"c", "I don't know", DontKnow}}}
	final     = Question{Options: []Option{{"a", "Yes", Choice}, {"b", "No", Choice}}}
	view      = Question{Options: []Option{{"a", "PA (Posteroanterior)", Choice}, {"b", "AP (Anteroposterior)", Choice}, {"c", "I don't know", DontKnow}}}
	ranges    = Question{Options: []Option{
		{"a", "[0.40 - 0.42]", Choice}, {"b", "[0.43 - 0.45]", Choice}, {"c", "[0.46 - 0.48]", Choice}, {"d", "[0.49 - 0.51]", Choice}, {"e", "[0.52 - 0.54]", Choice},
	}}
	images = Question{Several: true, Options: []Option{
		{"a", "1st image", Choice}, {"b", "2nd image", Choice}, {"c", "3rd image", Choice}, {"d", "4th image", Choice}, {"e", "Need new options", MoreOptions},
	}}
	criteria = Question{Options: []Option{
		{"a", "The widest horizontal extent of the heart over that of the thorax", Choice}, {"b", "The angle of the carina", Choice},
		{"c", "The width of the mediastinum", Choice}, {"d", "A bulge of the aortic knob", Choice}, {"e", "None of the above", None},
	}}
	sides = Question{Several: true, Options: []Option{
		{"a", "Right: [0.1 - 0.3]", Choice}, {"b", "Right: [0.31 - 0.51]", Choice}, {"c", "Right: [0.52 - 0.72]", Choice},
		{"f", "Left: [0.1 - 0.3]", Choice}, {"g", "Left: [0.31 - 0.51]", Choice}, {"h", "Left: [0.52 - 0.72]", Choice}, {"i", "Left: [0.73 - 0.93]", Choice},
	}}
	ribs = Question{Options: []Option{{"a", "7", Choice}, {"b", "8", Choice}, {"c", "9", Choice}, {"d", "10", Choice}, {"e", "11", Choice}}}
)

// say is an outcome in short: letters for a choice, "?" I don't know, "-" none of the above,
// "+" need new options, "refusal", "empty", "unparsable".
func say(o Outcome) string {
	switch o.Kind {
	case Chosen:
		return strings.Join(o.Letters, "")
	case Unknown:
		return "?"
	case NoneOfAbove:
		return "-"
	case NeedNew:
		return "+"
	}
	return o.Kind.String()
}

// TestTraps holds every way in which published evaluation programs were seen to read a reply
// wrongly, in groups; each group begins with what went wrong there.
func TestTraps(t *testing.T) {
	letters := Question{Options: []Option{{"A", "Heart", Choice}, {"B", "Lung", Choice}, {"C", "Trachea", Choice}, {"D", "Carina", Choice}, {"I", "Clavicle", Choice}, {"T", "Rib", Choice}}}
	for _, c := range []struct {
		trap  int
		q     Question
		reply string
		want  string
	}{
		// 48: emphasis around the letter.
		{48, letters, "ANSWER: **A**", "a"},
		{48, letters, "**Answer:** `B`", "b"},
		{48, letters, "__FINAL ANSWER__: *C*", "c"},
		// 49: letters out of words.
		{49, letters, "The correct answer is (B)", "b"},
		{49, letters, "Based on the image, nothing can be said.", "unparsable"},
		{49, letters, "The correct answer is not given.", "unparsable"},
		// 50: the first match wins; other languages.
		{50, letters, "Antwort A wäre falsch, denn die Trachea ist gemeint.\nAntwort: C", "c"},
		{50, letters, "Die richtige Antwort ist (B).", "b"},
		{50, letters, "At first I thought: Answer: A. But then the heart is excluded.\nAnswer: D", "d"},
		// 51: letters out of a formula.
		{51, letters, "P(A) = P(A|B)P(B) = 0.3, and (C - D) / B = 2.\nFINAL ANSWER: (B) Lung", "b"},
		{51, letters, "With A = 120 and B = 240 the ratio A/B is 0.5.\nFINAL ANSWER: C", "c"},
		{51, letters, "f(A) + f(B) = 1", "unparsable"},
		// 52: the explanation overwrites the answer; the word "I".
		{52, letters, "FINAL ANSWER: (B) Lung\nExplanation: (A) would need a heart, and (C) a trachea.", "b"},
		{52, letters, "I think that I cannot see it well.", "unparsable"},
		{52, letters, "FINAL ANSWER: I think it is not visible.", "unparsable"},
		{52, letters, "FINAL ANSWER: I", "i"},
		{52, letters, "FINAL ANSWER: (I) Clavicle", "i"},
		// 53: any letter anywhere, also in an error.
		{53, letters, "Error: rate limited", "unparsable"},
		{53, letters, "A. patient with a cough was seen", "unparsable"},
		{53, letters, "A patient with a cough", "unparsable"},
		{53, letters, "Both A and C look plausible to me.", "unparsable"},
		// 54: words inside words; verbose replies.
		{54, final, "I notice a large heart.", "unparsable"},
		{54, final, "FINAL ANSWER: Not sure", "unparsable"},
		{54, final, "FINAL ANSWER: nothing fits", "unparsable"},
		{54, final, "The cardiothoracic ratio, measured at the widest level, is 0.45, so the heart is not enlarged.\n\nFINAL ANSWER: (b) No\nValue: 0.45", "b"},
		// 57: what is no answer is never one.
		{57, final, "", "empty"},
		{57, final, "   \n\t ", "empty"},
		{57, final, "{\"error\": \"internal\"}", "unparsable"},
	} {
		if o := Parse(c.q, c.reply); say(o) != c.want {
			t.Errorf("trap %d, %q: got %s (%s), want %s", c.trap, c.reply, say(o), o.Rule, c.want)
		}
	}
}

// TestReplies holds the forms in which models answer the benchmark's questions.
func TestReplies(t *testing.T) {
	for _, c := range []struct {
		q     Question
		reply string
		want  string
	}{
		{diagnosis, "FINAL ANSWER: (a) Yes", "a"},
		{diagnosis, "FINAL ANSWER: [a]", "a"},
		{diagnosis, "FINAL ANSWER: [(b) No]", "b"},
		{diagnosis, "FINAL ANSWER: [B + No]", "b"},
		{diagnosis, "final answer: b", "b"},
		{diagnosis, "Final Answer:\n\n(b) No", "b"},
		{diagnosis, "FINAL ANSWER: B. No", "b"},
		{diagnosis, "FINAL ANSWER: B) No.", "b"},
		{diagnosis, "FINAL ANSWER: b - no", "b"},
		{diagnosis, "FINAL ANSWER: No", "b"},
		{diagnosis, "FINAL ANSWER: No, since option (a) would need more.", "b"},
		{diagnosis, "FINAL ANSWER: No because the ratio is small", "b"},
		{diagnosis, "FINAL ANSWER: (c) I don’t know", "?"},
		{diagnosis, "FINAL ANSWER: I do not know.", "?"},
		{diagnosis, "I don't know.", "?"},
		{diagnosis, "(c)", "?"},
		{diagnosis, "FINAL ANSWER: (a) No", "unparsable"},
		{diagnosis, "FINAL ANSWER: (d) Maybe", "unparsable"},
		{diagnosis, "FINAL ANSWER: (a) Yes, (b) No", "ab"},
		{diagnosis, "FINAL ANSWER: (a) or (b)", "ab"},
		{diagnosis, "(b) No\n\nThe heart is slim.", "b"},
		{diagnosis, "b", "b"},
		{diagnosis, "Yes.", "a"},
		{diagnosis, "Yes, the heart is enlarged.", "a"},
		{diagnosis, "The heart is slim.\n\n**(b) No**", "b"},
		{diagnosis, "The answer is: No.", "b"},
		{diagnosis, "My final answer is (a).", "a"},
		{diagnosis, "The final answer is therefore (a) Yes", "a"},
		{diagnosis, `Therefore \boxed{b}`, "b"},
		{diagnosis, `The result is $\boxed{\text{(a) Yes}}$.`, "a"},
		{diagnosis, "<think>FINAL ANSWER: (a) Yes?</think>FINAL ANSWER: (b) No", "b"},
		{diagnosis, "<think>still thinking, (a) perhaps", "empty"},
		{diagnosis, "FINAL ANSWER: [letter + option]\n\nFINAL ANSWER: (b) No", "b"},
		{diagnosis, "FINAL ANSWER: (a) Yes\nOn reflection that was hasty.\nFINAL ANSWER: (b) No", "b"},
		{diagnosis, "FINAL ANSWER: the patient has (a) Yes", "a"},
		{diagnosis, "FINAL ANSWER: it is not (a)", "unparsable"},
		{diagnosis, "I'm sorry, but I can't help with interpreting medical images.", "refusal"},
		{diagnosis, "As an AI, I cannot provide a diagnosis.", "refusal"},
		{diagnosis, "I'm sorry for the delay. FINAL ANSWER: (b) No", "b"},
		{view, "FINAL ANSWER: (a) PA (Posteroanterior)", "a"},
		{view, "FINAL ANSWER: (b) AP", "b"},
		{view, "FINAL ANSWER: AP (Anteroposterior)", "b"},
		{ranges, "FINAL ANSWER: (d) [0.49 - 0.51]", "d"},
		{ranges, "FINAL ANSWER: (d) 0.49-0.51", "d"},
		{ranges, "FINAL ANSWER: [0.49 – 0.51]", "d"},
		{ranges, "FINAL ANSWER: 0.49-0.51", "d"},
		{ranges, "FINAL ANSWER: (a) [0.49 - 0.51]", "unparsable"},
		{ranges, "FINAL ANSWER: 0.5", "unparsable"},
		{ribs, "FINAL ANSWER: (c) 9", "c"},
		{ribs, "FINAL ANSWER: 10", "d"},
		{ribs, "FINAL ANSWER: (c) 9th rib", "c"},
		{criteria, "FINAL ANSWER: (b) The angle of the carina", "b"},
		{criteria, "FINAL ANSWER: (e) None of the above. I used the shape of the aorta.", "-"},
		{criteria, "FINAL ANSWER: None of the above", "-"},
		{criteria, "FINAL ANSWER: (e)", "-"},
		{criteria, "FINAL ANSWER: the angle of the carina.", "b"},
		{images, "FINAL ANSWER: (e) Need new options.", "+"},
		{images, "FINAL ANSWER: Need new option", "+"},
		{images, "FINAL ANSWER: (a) 1st image, (c) 3rd image", "ac"},
		{images, "FINAL ANSWER: (c) 3rd image and (a) 1st image", "ac"},
		{images, "FINAL ANSWER: a, c", "ac"},
		{images, "FINAL ANSWER: A and C", "ac"},
		{images, "FINAL ANSWER: (a), (c), (e) Need new options", "ace"},
		{images, "FINAL ANSWER:\n- (a) 1st image\n- (c) 3rd image\n\nThe 2nd image shows a lung.", "ac"},
		{images, "FINAL ANSWER: (a) 1st image and a lung is shown in (b)", "a"},
		{images, "FINAL ANSWER: 1st image, 3rd image", "ac"},
		{images, "FINAL ANSWER: (a) 1st image\nExplanation: (b) 2nd image shows a lung.", "a"},
		{images, "FINAL ANSWER: (a), (a), (c)", "ac"},
		{sides, "FINAL ANSWER: (b) Right: [0.31 - 0.51], (g) Left: [0.31 - 0.51]", "bg"},
		{sides, "FINAL ANSWER: Right: (b), Left: (i)", "bi"},
		{sides, "FINAL ANSWER: Right: [0.1 - 0.3], Left: [0.73 - 0.93]", "ai"},
		{sides, "FINAL ANSWER:\n(a) Right: [0.1 - 0.3]\n(g) Left: [0.31 - 0.51]", "ag"},
	} {
		if o := Parse(c.q, c.reply); say(o) != c.want {
			t.Errorf("%q: got %s (%s), want %s", c.reply, say(o), o.Rule, c.want)
		}
	}
}

// TestKinds: the outcomes are closed, zero is invalid, and only four say what was answered.
func TestKinds(t *testing.T) {
	if (Outcome{}).Kind.Valid() || (Outcome{}).Kind.Scorable() {
		t.Error("the zero outcome is valid")
	}
	scorable := 0
	for _, k := range Kinds() {
		b, err := k.MarshalText()
		var back Kind
		if err != nil || back.UnmarshalText(b) != nil || back != k {
			t.Errorf("%s does not survive its text", k)
		}
		if k.Scorable() {
			scorable++
		}
	}
	if scorable != 4 || len(Kinds()) != 8 {
		t.Errorf("%d of %d kinds can be scored", scorable, len(Kinds()))
	}
	if Parse(Question{}, "(a)").Kind != Unparsable || Parse(Question{Options: []Option{{"a", "x", 0}, {"A", "y", 0}}}, "(a)").Kind != Unparsable {
		t.Error("a question that cannot be read against")
	}
}

// FuzzParse: never panics; the outcome is one of the kinds that Parse may return, its letters
// are the question's, sorted and distinct, there exactly where an option was read.
func FuzzParse(f *testing.F) {
	questions := []Question{diagnosis, view, ranges, images, criteria, sides, ribs}
	for i, s := range []string{
		"FINAL ANSWER: (a) Yes", "ANSWER: **A**", `\boxed{\text{(b)}}`, "<think>x</think>b", "(a), (b) and\n- (c)", "I don't know", "é\u0301(a)[", "\\boxed{", "FINAL ANSWER",
	} {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, reply string, which uint8) {
		q := questions[int(which)%len(questions)]
		o := Parse(q, reply)
		if !o.Kind.Valid() || o.Kind == Infrastructure {
			t.Fatalf("%q: %v", reply, o)
		}
		if !slices.IsSorted(o.Letters) || len(slices.Compact(slices.Clone(o.Letters))) != len(o.Letters) {
			t.Fatalf("%q: letters %v", reply, o.Letters)
		}
		for _, l := range o.Letters {
			if !slices.ContainsFunc(q.Options, func(p Option) bool { return strings.EqualFold(p.Letter, l) }) {
				t.Fatalf("%q: letter %q is none of the question's", reply, l)
			}
		}
		if o.Kind == Chosen && len(o.Letters) == 0 || !o.Kind.Scorable() && len(o.Letters) > 0 || len(o.Letters) > 0 && o.Rule == 0 {
			t.Fatalf("%q: %+v", reply, o)
		}
		if again := Parse(q, reply); !again.Same(o) {
			t.Fatalf("%q: %+v, then %+v", reply, o, again)
		}
	})
}
