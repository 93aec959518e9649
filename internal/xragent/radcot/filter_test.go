package radcot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/datause"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
)

// words makes n different words.
func words(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = "w" + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + strings.Repeat("x", i/676)
	}
	return strings.Join(out, " ")
}

func reply(think, answer string) string {
	return "<think>" + think + "</think><answer>" + answer + "</answer>"
}

const findings = "The heart is mildly enlarged. There is a small left pleural effusion."

// TestRationale holds every rule of a teacher's reply for a report, both sides of each limit.
func TestRationale(t *testing.T) {
	good := words(40)
	// 2M/T = 2*41/100: 41 words shared of 59 and 41.
	shared := words(41)
	at := reply(shared+" "+strings.Repeat("other ", 18), "done")
	cases := []struct {
		name   string
		text   string
		finish string
		codes  []radcot.Code
		words  int
		kept   int
	}{
		{name: "forty words pass", text: reply(good, "done"), words: 40, kept: 1},
		{name: "thirty-nine do not", text: reply(words(39), "done"), codes: []radcot.Code{radcot.TooShort}, words: 39},
		{name: "nine hundred pass", text: reply(words(900), "done"), words: 900, kept: 1},
		{name: "nine hundred and one do not", text: reply(words(901), "done"), codes: []radcot.Code{radcot.TooLong}, words: 901},
		{name: "white space between", text: "\n <think>" + good + "</think>\n\n<answer>done</answer>\n", words: 40, kept: 1},
		{name: "nothing", text: " \n", codes: []radcot.Code{radcot.NoReply}},
		{name: "cut off", text: reply(good, "done"), finish: "length", codes: []radcot.Code{radcot.Truncated}},
		{name: "no tags", text: good, codes: []radcot.Code{radcot.MalformedMissing}},
		{name: "no answer", text: "<think>" + good + "</think>", codes: []radcot.Code{radcot.MalformedMissing}},
		{name: "no think", text: "<answer>" + good + "</answer>", codes: []radcot.Code{radcot.MalformedMissing}},
		{name: "answer first", text: "<answer>a</answer><think>" + good + "</think>", codes: []radcot.Code{radcot.MalformedOrder}},
		{name: "two thinks", text: "<think>a</think><think>" + good + "</think><answer>a</answer>", codes: []radcot.Code{radcot.MalformedRepeated}},
		{name: "two answers", text: reply(good, "a") + "<answer>b</answer>", codes: []radcot.Code{radcot.MalformedRepeated}},
		{name: "empty think", text: reply(" ", "a"), codes: []radcot.Code{radcot.MalformedEmpty}},
		{name: "empty answer", text: reply(good, " "), codes: []radcot.Code{radcot.MalformedEmpty}, words: 40},
		{name: "preface", text: "Sure. " + reply(good, "a"), codes: []radcot.Code{radcot.MalformedStray}},
		{name: "tool", text: reply(good, "a") + "<no_tool/>", codes: []radcot.Code{radcot.MalformedStray}},
		{name: "not closed", text: "<think>" + good + "<answer>a</answer>", codes: []radcot.Code{radcot.MalformedNested}},
		{name: "tag inside", text: reply(good+" <answer>", "a"), codes: []radcot.Code{radcot.MalformedNested}},
		{name: "copied", text: reply(strings.Repeat(findings+" ", 1)+words(2), "a"), codes: []radcot.Code{radcot.TooShort, radcot.TooSimilar}, words: 14},
		{name: "template token", text: reply(good+" <|im_end|>", "a"), codes: []radcot.Code{radcot.ControlToken}, words: 42},
		{name: "echo", text: reply(good+" The Reference-Findings say so.", "a"), codes: []radcot.Code{radcot.LeakPrompt}, words: 45},
		{name: "ground truth", text: reply(good+". Ground truth agrees.", "a"), codes: []radcot.Code{radcot.LeakPrompt}, words: 43},
		{name: "file", text: reply(good+". See film.jpg for it.", "a"), codes: []radcot.Code{radcot.LeakIdentifier}, words: 45},
		{name: "patient", text: reply(good+". It is p10000032 again.", "a"), codes: []radcot.Code{radcot.LeakIdentifier}, words: 44},
		{name: "blank of a report", text: reply(good+". Seen on ___ too.", "a"), codes: []radcot.Code{radcot.LeakIdentifier}, words: 43},
		{name: "report is taken out", text: reply(good+". According to the report it is so.", "a"), words: 40, kept: 1},
		{name: "prior is taken out", text: reply(good+". This is new since the prior film.", "a"), words: 40, kept: 1},
		{name: "too little is left", text: reply(words(38)+". Compared to prior it has improved.", "a"), codes: []radcot.Code{radcot.TooShort}, words: 38},
		{name: "the longest stays", text: reply(words(41), "a") + reply(words(60), "b") + reply(words(60), "c"), words: 60, kept: 2},
		{name: "the longest valid one stays", text: reply(words(950), "a") + reply(words(41), "b"), words: 41, kept: 2},
		{name: "none is valid", text: reply(words(5), "a") + reply(words(6), "b"), codes: []radcot.Code{radcot.TooShort}, words: 6},
	}
	rules := radcot.DefaultSpec().Rules
	c := &radcot.Candidate{Part: radcot.Report, Findings: findings}
	for _, x := range cases {
		if x.finish == "" {
			x.finish = "stop"
		}
		v, text := rules.Rationale(c, xragent.Turn{Text: x.text, FinishReason: x.finish})
		require.Equal(t, x.codes, v.Codes, x.name)
		require.Equal(t, len(x.codes) == 0, v.Accepted, x.name)
		require.Equal(t, v.Accepted, text != "", x.name)
		require.Equal(t, x.words, v.Words, x.name)
		require.Equal(t, x.kept, v.Kept, x.name)
		require.NotContains(t, text, "report", x.name)
		require.NotContains(t, text, "prior", x.name)
	}
	like := &radcot.Candidate{Part: radcot.Report, Findings: shared}
	v, _ := rules.Rationale(like, xragent.Turn{Text: at, FinishReason: "stop"})
	require.True(t, v.Accepted, "0.82 itself passes")
	require.InDelta(t, 0.82, v.Similarity.Ratio, 1e-12)
	require.NotZero(t, v.Similarity.Jaccard*v.Similarity.RougeLF*v.Similarity.FourGramShare, "all four are stored")
	v, _ = rules.Rationale(like, xragent.Turn{Text: strings.Replace(at, "other ", "", 1), FinishReason: "stop"})
	require.Equal(t, []radcot.Code{radcot.TooSimilar}, v.Codes)

	compared := &radcot.Candidate{Part: radcot.Report, Findings: "Compared to the prior study the effusion is smaller.", Prior: true}
	v, text := rules.Rationale(compared, xragent.Turn{Text: reply(good+". It has improved since the prior film.", "a"), FinishReason: "stop"})
	require.True(t, v.Accepted)
	require.Contains(t, text, "prior", "findings that speak of a prior allow it")

	rules.Leakage = radcot.LeakageReject
	v, _ = rules.Rationale(c, xragent.Turn{Text: reply(good+". According to the report it is so.", "a"), FinishReason: "stop"})
	require.Equal(t, []radcot.Code{radcot.LeakReport}, v.Codes)
	rules.Leakage = radcot.LeakageStrip
	v, text = rules.Rationale(c, xragent.Turn{Text: reply(good+". Ground truth agrees.", "a"), FinishReason: "stop"})
	require.True(t, v.Accepted)
	require.NotContains(t, text, "truth")
}

// TestIdentifiers holds what is an identifier, and what only looks like one.
func TestIdentifiers(t *testing.T) {
	rules := radcot.DefaultSpec().Rules
	c := &radcot.Candidate{Part: radcot.Report, Findings: findings}
	for text, want := range map[string]bool{
		"See 0123abcd-01234567-89abcdef-01234567-89abcdef here.": true, "It is s50414267.": true, "Number 50414267 is it.": true, "In xmlab102 it lies.": true,
		"In CXR12_1 it lies.": true, "In a_b-c.PNG it lies.": true, "(film.dcm)": true, "The patient ID is unknown.": true, "Dated ____.": true,
		"It measures 1.5 cm.": false, "Ratio 0.47.": false, "The CXR shows 12345678901 things.": false, "Seen at T12-L1.": false, "CXR 12 shows it.": false, "Normal.Jpgs are not.": false,
		"A code of 1234567 is short.": false, "deadbeef-deadbeef is two groups.": false, "1. Heart 2. Lungs": false, "A dicom viewer.": false,
	} {
		v, _ := rules.Rationale(c, xragent.Turn{Text: reply(words(40)+". "+text, "a"), FinishReason: "stop"})
		require.Equal(t, want, v.Code() == radcot.LeakIdentifier, "%s %v", text, v.Codes)
	}
}

// TestQuestion holds every rule of a question that is written from hidden findings.
func TestQuestion(t *testing.T) {
	spec := radcot.DefaultSpec()
	c := &radcot.Candidate{Part: radcot.Choice, Source: radcot.SourceMIMIC, Findings: "There is a small left pleural effusion with adjacent collapse of the lower lobe."}
	const good = `{"question": "What fills the left angle?", "correct": "Fluid", "wrong": ["Air", "Tumour", "Bone"]}`
	cases := []struct {
		name, answer string
		codes        []radcot.Code
	}{
		{"good", good, nil},
		{"no JSON", "A) Fluid", []radcot.Code{radcot.QuestionJSON}},
		{"two objects", good + good, []radcot.Code{radcot.QuestionJSON}},
		{"another field", strings.Replace(good, `"question"`, `"key": "A", "question"`, 1), []radcot.Code{radcot.QuestionJSON}},
		{"empty option", strings.Replace(good, `"Air"`, `" . "`, 1), []radcot.Code{radcot.QuestionFields}},
		{"no question", strings.Replace(good, `What fills the left angle?`, ``, 1), []radcot.Code{radcot.QuestionFields, radcot.QuestionCue}},
		{"three options", strings.Replace(good, `, "Bone"`, ``, 1), []radcot.Code{radcot.QuestionOptions}},
		{"the same option twice", strings.Replace(good, `"Bone"`, `"fluid."`, 1), []radcot.Code{radcot.QuestionOptions}},
		{"cites the report", strings.Replace(good, `What fills`, `According to the report, what fills`, 1), []radcot.Code{radcot.QuestionCue}},
		{"no question is left", strings.Replace(good, `What fills the left angle?`, `Look at the left.`, 1), []radcot.Code{radcot.QuestionCue}},
		{"says the answer", strings.Replace(strings.Replace(good, `Fluid`, `Pleural fluid`, 1), `angle`, `angle, pleural fluid`, 1), []radcot.Code{radcot.QuestionCue}},
		{"answer says more", strings.Replace(good, `"Fluid"`, `"Fluid along the wall up to the middle"`, 1), []radcot.Code{radcot.QuestionCue}},
		{"speaks of a prior", strings.Replace(good, `What fills`, `Compared to the prior, what fills`, 1), []radcot.Code{radcot.LeakPrior}},
		{"picture mark", strings.Replace(good, `What`, `<image> What`, 1), []radcot.Code{radcot.ControlToken}},
	}
	for _, x := range cases {
		v, q := spec.Question(c, xragent.Turn{Text: reply("I think.", x.answer), FinishReason: "stop"})
		require.Equal(t, x.codes, v.Codes, x.name)
		require.Equal(t, x.codes == nil, q != nil, x.name)
	}
	v, q := spec.Question(c, xragent.Turn{Text: reply("I think.", strings.Replace(good, "What", "The text has a small left pleural effusion with adjacent collapse. What", 1)), FinishReason: "stop"})
	require.True(t, v.Accepted)
	require.Equal(t, "What fills the left angle?", q.Text, "a sentence that repeats the findings is taken out")
	require.Equal(t, "Fluid", q.Options[q.Key[0]-'A'])
	require.NoError(t, q.Validate())
	v, _ = spec.Question(c, xragent.Turn{Text: reply("a", good) + reply("a", good), FinishReason: "stop"})
	require.Equal(t, []radcot.Code{radcot.MalformedRepeated}, v.Codes)
}

// TestTrajectory holds every rule of a routed attempt.
func TestTrajectory(t *testing.T) {
	spec := radcot.DefaultSpec()
	shown := xragent.Bundle{View: "PA", Values: [3]*xragent.Verified{{Value: 0.47, Category: "normal"}, {Value: 0.08, Category: "symmetric"}, {Value: 0, Category: "midline"}}}
	withheld := xragent.Bundle{Reason: "view_ap"}
	box := [4]int{100, 200, 300, 400}
	call := `<tool_call>{"name": "region_parse", "arguments": {"target": "heart"}}</tool_call>`
	cases := []struct {
		name         string
		turn1, turn2 string
		bundle       xragent.Bundle
		codes        []radcot.Code
	}{
		{"good", "<think>a</think><no_tool/>", reply("The heart is of normal size, the ratio is 0.47.", "Yes"), shown, nil},
		{"box as given", "<think>a</think>" + call, reply("It lies in [100, 200, 300, 400], as call 1 says.", "Yes"), withheld, nil},
		{"wrong answer", "<think>a</think><no_tool/>", reply("b", "No"), shown, []radcot.Code{radcot.AnswerMismatch}},
		{"another value", "<think>a</think><no_tool/>", reply("The cardiothoracic ratio is 0.61.", "Yes"), shown, []radcot.Code{radcot.Misquoted}},
		{"another category", "<think>a</think><no_tool/>", reply("The heart is enlarged.", "Yes"), shown, []radcot.Code{radcot.Misquoted}},
		{"withheld value", "<think>a</think><no_tool/>", reply("The cardiothoracic ratio is 0.47.", "Yes"), withheld, []radcot.Code{radcot.Misquoted}},
		{"withheld, seen by eye", "<think>a</think><no_tool/>", reply("The heart looks normal; no measurement was available.", "Yes"), withheld, nil},
		{"another box", "<think>a</think>" + call, reply("It lies in [100, 200, 300, 401].", "Yes"), shown, []radcot.Code{radcot.Misquoted}},
		{"another call", "<think>a</think>" + call, reply("As call 2 says.", "Yes"), shown, []radcot.Code{radcot.Misquoted}},
		{"tool not called", "<think>a</think><no_tool/>", reply("The evidence_lookup says so.", "Yes"), shown, []radcot.Code{radcot.Misquoted}},
		{"six calls", "<think>a</think>" + strings.Repeat(call, 6), "", shown, []radcot.Code{radcot.OverBudget}},
		{"arguments", `<think>a</think><tool_call>{"name": "roi_crop", "arguments": {"zoom": 2}}</tool_call>`, "", shown, []radcot.Code{radcot.SchemaInvalid}},
		{"unknown tool", `<think>a</think><tool_call>{"name": "ct", "arguments": {}}</tool_call>`, "", shown, []radcot.Code{radcot.SchemaInvalid}},
		{"no plan", "<think>a</think>", "", shown, []radcot.Code{radcot.MalformedTurn1}},
		{"answer early", "<think>a</think><no_tool/><answer>Yes</answer>", "", shown, []radcot.Code{radcot.MalformedTurn1}},
		{"no answer", "<think>a</think><no_tool/>", "<think>b</think>", shown, []radcot.Code{radcot.MalformedTurn2}},
		{"call in turn 2", "<think>a</think><no_tool/>", reply("b", "Yes") + call, shown, []radcot.Code{radcot.MalformedTurn2}},
		{"echo", "<think>a</think><no_tool/>", reply("The ground truth is yes.", "Yes"), shown, []radcot.Code{radcot.LeakPrompt}},
		{"report in turn 1", "<think>The report states it.</think><no_tool/>", reply("b", "Yes"), shown, []radcot.Code{radcot.LeakReport}},
		{"too long", "<think>a</think><no_tool/>", reply(words(901), "Yes"), shown, []radcot.Code{radcot.TooLong}},
		{"nothing", " ", "", shown, []radcot.Code{radcot.NoReply, radcot.MalformedTurn1}},
	}
	used := map[radcot.Code]bool{}
	for _, x := range cases {
		r := xragent.Rollout{ID: "x/0", Question: xragent.Question{Type: xragent.YesNo, Text: "Is it?", Key: "Yes"}, Turn1: &xragent.Turn{Text: x.turn1, FinishReason: "stop"}}
		for i, c := range xragent.ReadPlan(*r.Turn1).Calls {
			r.Results = append(r.Results, xragent.Observation{Call: i + 1, Name: c.Name, Status: xragent.StatusOK, Box: &box})
		}
		if x.turn2 != "" {
			r.Measurement, r.Turn2 = &x.bundle, &xragent.Turn{Text: x.turn2, FinishReason: "stop"}
		}
		v := spec.Trajectory(r)
		require.Equal(t, x.codes, v.Codes, x.name)
		for _, c := range v.Codes {
			used[c] = true
		}
	}
	require.Len(t, used, 10, "codes of trajectories that no case reaches")
}

// TestPlanCheck holds that nothing of MIMIC reaches an endpoint that is not local, attested or
// not.
func TestPlanCheck(t *testing.T) {
	attested := datause.Attestation{Class: datause.Credentialed, ZeroRetention: true, NoTraining: true, NoHumanReview: true, Date: "2026-11-30", Reference: "contract 1"}
	local := datause.Attestation{Local: true}
	open := []radcot.Candidate{{Source: radcot.SourceSlake, DataUse: datause.PublicAttribution}}
	mixed := append(open, radcot.Candidate{Source: radcot.SourceMIMIC, DataUse: datause.Credentialed})
	require.NoError(t, radcot.CheckPlan(open, radcot.Endpoint{Role: radcot.Teacher, Card: "t"}))
	require.NoError(t, radcot.CheckPlan(mixed, radcot.Endpoint{Role: radcot.Teacher, Card: "t", Attestation: local}, radcot.Endpoint{Role: radcot.Lookup, Card: "l", Attestation: local}))
	for _, role := range []radcot.Role{radcot.Teacher, radcot.Lookup, radcot.Policy} {
		err := radcot.CheckPlan(mixed, radcot.Endpoint{Role: radcot.Teacher, Card: "ok", Attestation: local}, radcot.Endpoint{Role: role, Card: "far", Attestation: attested})
		var refused *radcot.RefusedError
		require.ErrorAs(t, err, &refused)
		require.ErrorContains(t, err, string(role)+" far")
		require.ErrorContains(t, err, "; hint: ")
	}
	require.ErrorContains(t, radcot.CheckPlan(append(open, radcot.Candidate{}), radcot.Endpoint{Role: radcot.Policy, Card: "p"}), "policy p", "an unknown class is not free")
	require.Error(t, radcot.CheckPlan(mixed, radcot.Endpoint{Card: "p", Attestation: local}))
}
