package xragent

import (
	"slices"
	"testing"

	"cxrepro/internal/chexstruct"
)

const (
	think = "<think>a</think>"
	crop  = `<tool_call>{"name":"roi_crop","arguments":{"bbox":[1,2,3,4]}}</tool_call>`
	part  = `<tool_call>{"name":"region_parse","arguments":{"target":"heart"}}</tool_call>`
)

func callText(name, args string) string {
	return `<tool_call>{"name":"` + name + `","arguments":` + args + `}</tool_call>`
}

// TestTurn1 holds the grammar of turn 1: the broken contracts and R_tool.
func TestTurn1(t *testing.T) {
	for _, r := range []struct {
		text    string
		calls   int
		reasons []Reason
	}{
		{think + "<no_tool/>", 0, nil},
		{" \n" + think + "\n" + crop + "\n" + part + "\n", 2, nil},
		{think + part + callText(ToolCrop, `{"region":"#1"}`), 2, nil},
		{think + callText(ToolCrop, `{"region":"#2"}`) + part, 2, []Reason{BadArguments}},
		{think + crop + callText(ToolCrop, `{"region":"#1"}`), 2, []Reason{BadArguments}},
		{think + part + callText(ToolCrop, `{"region":"#0"}`), 2, []Reason{BadArguments}},
		{think + callText(ToolCrop, `{"region":"heart","bbox":[1,2,3,4]}`), 1, []Reason{BadArguments}},
		{think + callText(ToolCrop, `{"image":0}`), 1, []Reason{BadArguments}},
		{think + callText(ToolCrop, `{"bbox":[1.0,2,3,4]}`), 1, []Reason{BadArguments}},
		{think + callText(ToolCrop, `{"bbox":[1,2,1,4]}`), 1, []Reason{BadArguments}},
		{think + callText(ToolCrop, `{"bbox":[1,2,3,4],"zoom":2}`), 1, []Reason{BadArguments}},
		{think + callText(ToolParse, `{"target":" "}`), 1, []Reason{BadArguments}},
		{think + callText(ToolLookup, `{"conditions":[]}`), 1, []Reason{BadArguments}},
		{think + callText(ToolLookup, `{"conditions":["a","b","c","d","e"]}`), 1, []Reason{BadArguments}},
		{think + callText(ToolLookup, `{"conditions":["a",""]}`), 1, []Reason{BadArguments}},
		{think + `<tool_call>{"name":"region_parse"}</tool_call>`, 1, []Reason{BadArguments}},
		{think + `<tool_call>[]</tool_call>`, 0, []Reason{BadJSON}},
		{think + `<tool_call></tool_call>`, 0, []Reason{BadJSON}},
		{think + callText("measure", `{}`), 0, []Reason{UnknownTool}},
		{think + "<no_tool />", 0, []Reason{PlanMissing, StrayText}},
		{think + "<no_tool/><no_tool/>", 0, []Reason{PlanConflict}},
		{think, 0, []Reason{PlanMissing}},
		{think + think + "<no_tool/>", 0, []Reason{ThinkDuplicated}},
		{"<think> \n</think><no_tool/>", 0, []Reason{ThinkEmpty}},
		{"<THINK>a</THINK><no_tool/>", 0, []Reason{StrayText, ThinkMissing}},
		{"<think>a < b, <i>c</i></think><no_tool/>", 0, nil},
		{think + crop + crop + crop + crop + crop, 5, nil},
		{think + crop + crop + crop + crop + crop + crop + crop, 7, []Reason{OverBudget}},
	} {
		p := Parse(Trajectory{Question: Question{Type: YesNo, Key: "Yes"}, Turn1: &Turn{r.text, "stop"}, Turn2: &Turn{think + "<answer>Yes</answer>", "stop"}})
		got := slices.Clone(p.Reasons)
		slices.Sort(got)
		slices.Sort(r.reasons)
		if !slices.Equal(got, r.reasons) || p.Calls != r.calls {
			t.Errorf("%s: %v and %d calls, want %v and %d", r.text, got, p.Calls, r.reasons, r.calls)
		}
	}
}

func TestAnswers(t *testing.T) {
	mcq := Question{Type: Lettered, Options: []string{"Heart failure", "A mass"}}
	for _, r := range []struct {
		q    Question
		in   string
		want string
		ok   bool
	}{
		{mcq, "b", "B", true}, {mcq, " A)\n", "A", true}, {mcq, "a: heart failure.", "A", true}, {mcq, "A Heart failure", "A", true},
		{mcq, "A mass", "", false}, {mcq, "A) A mass", "", false}, {mcq, "C", "", false}, {mcq, "(A)", "", false}, {mcq, "A or B", "", false}, {mcq, "Heart failure", "", false},
		{Question{Type: YesNo}, "YES!", "Yes", true}, {Question{Type: YesNo}, "Yes, it is", "", false}, {Question{Type: YesNo}, "y", "", false},
		{Question{Type: Closed}, " Left  Lung. ", "left lung", true}, {Question{Type: Closed}, " ", "", false},
	} {
		if got, ok := ReadAnswer(r.q, r.in); got != r.want || ok != r.ok {
			t.Errorf("%s %q: got %q %v, want %q %v", r.q.Type, r.in, got, ok, r.want, r.ok)
		}
	}
}

func TestTruncationOfCompleteText(t *testing.T) {
	q := Question{Type: YesNo, Key: "Yes"}
	p := Parse(Trajectory{Question: q, Turn1: &Turn{think + "<no_tool/>", "stop"}, Turn2: &Turn{think + "<answer>Yes</answer>", "length"}})
	if !slices.Equal(p.Reasons, []Reason{Truncated}) || !p.Correct || p.Reasoning != "a" {
		t.Errorf("got %+v", p)
	}
}

// TestCategories holds the limits of profile calibrated, bounds inside, and the reading of
// profile table.
func TestCategories(t *testing.T) {
	c := DefaultCalibration()
	for _, r := range []struct {
		m    Measurement
		v    float64
		want Category
	}{
		{CTR, 0.50, Normal}, {CTR, 0.504, Normal}, {CTR, 0.506, Enlarged}, {LungAsymmetry, 0.25, Symmetric}, {LungAsymmetry, 0.2501, LeftSmaller},
		{LungAsymmetry, -0.10, Symmetric}, {LungAsymmetry, -0.11, RightSmaller}, {ThoracicShift, 0.025, Midline}, {ThoracicShift, 0.026, ShiftedLeft},
		{ThoracicShift, -0.055, Midline}, {ThoracicShift, -0.056, ShiftedRight},
	} {
		if got, err := c.Categorize(r.m, r.v); got != r.want || err != nil {
			t.Errorf("%s %v: got %s %v, want %s", r.m, r.v, got, err, r.want)
		}
	}
	for _, r := range []struct {
		m    Measurement
		v    Verified
		want Category
	}{
		{CTR, Verified{Category: "mild"}, Enlarged}, {CTR, Verified{Category: "severe"}, Enlarged},
		{LungAsymmetry, Verified{Category: "mild", Side: "left"}, LeftSmaller}, {LungAsymmetry, Verified{Category: "marked", Side: "right"}, RightSmaller},
		{ThoracicShift, Verified{Category: "none"}, Midline}, {ThoracicShift, Verified{Category: "marked", Side: "left"}, ShiftedLeft},
		{ThoracicShift, Verified{Category: "marked"}, ""}, {CTR, Verified{Category: "marked"}, ""},
	} {
		got, err := r.v.Read(r.m)
		if got != r.want || (err == nil) != (r.want != "") {
			t.Errorf("%s %+v: got %q %v, want %q", r.m, r.v, got, err, r.want)
		}
	}
}

// TestFromTable holds both profiles on the same block: a CTR of 0.50 is mild in the table
// and normal when calibrated.
func TestFromTable(t *testing.T) {
	in := &chexstruct.Bundle{Exposed: true, CTR: &chexstruct.Graded{Value: 0.501, Rounded: 0.5, Category: chexstruct.CategoryMild},
		Asymmetry: &chexstruct.Graded{Value: 0.2, Rounded: 0.2, Category: chexstruct.CategoryMild, Side: "left"}}
	for profile, want := range map[Profile][2]Category{ProfileTable: {Enlarged, LeftSmaller}, ProfileCalibrated: {Normal, Symmetric}} {
		b, err := FromTable(in, profile, DefaultCalibration())
		if err != nil || b.Exposed(ThoracicShift) {
			t.Fatalf("%s: %+v %v", profile, b, err)
		}
		for i, w := range want {
			if got, err := b.Values[i].Read(Measurements()[i]); got != w || err != nil {
				t.Errorf("%s %s: got %s %v, want %s", profile, Measurements()[i], got, err, w)
			}
		}
	}
	if b, err := FromTable(&chexstruct.Bundle{Reason: chexstruct.ReasonView}, ProfileTable, DefaultCalibration()); err != nil || b.Exposed(CTR) || b.Reason == "" {
		t.Errorf("withheld: %+v %v", b, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(think+crop, think+"<answer>A</answer>")
	f.Add("<think><tool_call>", "</answer><answer>")
	f.Fuzz(func(t *testing.T, one, two string) {
		q := Question{Type: Lettered, Options: []string{"x", "y"}, Key: "A"}
		p := Parse(Trajectory{Question: q, Turn1: &Turn{one, "stop"}, Turn2: &Turn{two, "stop"}})
		if len(p.Plan) > MaxCalls || p.Correct && p.Answer != "A" {
			t.Errorf("%+v", p)
		}
		for _, m := range Measurements() {
			Compare(m, Normal, 0.4, two)
		}
	})
}
