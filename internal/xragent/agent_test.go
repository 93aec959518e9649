package xragent

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

var onePicture = []artifacts.Ref{picture("film")}

func picture(name string) artifacts.Ref {
	return artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: int64(len(name)), MediaType: "image/png"}
}

// events drives a rollout to its end: turns and observations come from the row; the order
// of results is drawn, and the state passes through JSON after every event.
func drive(t *testing.T, a Agent, row Trajectory, r *rand.Rand) (Rollout, Ending, dialogue.Transcript) {
	t.Helper()
	roll := Rollout{ID: row.ID, Question: row.Question, Pictures: []artifacts.Ref{picture("film")}}
	var last dialogue.Transcript
	for range 20 {
		step, err := a.Next(roll)
		require.NoError(t, err)
		again, err := a.Next(roll)
		require.NoError(t, err)
		require.Equal(t, step, again, "the same rollout gives the same step")
		if step.Ending != "" {
			return roll, step.Ending, last
		}
		var next Rollout
		switch {
		case step.Turn == 1:
			next, err = a.Answered(roll, *row.Turn1)
		case step.Turn == 2:
			last = step.Ask
			next, err = a.Answered(roll, *row.Turn2)
		case step.Measure && (len(step.Run) == 0 || r.IntN(2) == 0):
			next, err = a.Measured(roll, row.Measurement)
		default:
			c := step.Run[r.IntN(len(step.Run))]
			next, err = a.Observed(roll, row.Observations[c.Number-1])
		}
		require.NoError(t, err, "%s", row.ID)
		data, err := json.Marshal(next)
		require.NoError(t, err)
		roll = Rollout{}
		require.NoError(t, json.Unmarshal(data, &roll))
	}
	t.Fatalf("%s does not end", row.ID)
	return roll, "", last
}

// TestAgentOnGolden drives every golden trajectory with two turns through the protocol:
// whole ones come out as the reward knows them, a malformed turn 1 ends at once with -1.
func TestAgentOnGolden(t *testing.T) {
	a := Agent{Profile: ProfileCalibrated}
	endings := map[Ending]int{}
	for _, row := range rows[Trajectory](t, "raw.jsonl", 40) {
		if row.Turn1 == nil || row.Turn2 == nil {
			continue
		}
		plan := ReadPlan(*row.Turn1)
		if plan.WellFormed() {
			for i := len(row.Observations); i < len(plan.Calls); i++ {
				row.Observations = append(row.Observations, Observation{Call: i + 1, Name: plan.Calls[i].Name, Status: StatusOK})
			}
			for i := range row.Observations {
				row.Observations[i].Box = &[4]int{1, 2, 3, 4}
			}
		}
		var sent []byte
		for seed := range uint64(4) {
			roll, ending, last := drive(t, a, row, rand.New(rand.NewPCG(seed, 3)))
			endings[ending]++
			want, got := Judge(row, DefaultPhrases()), Judge(a.Trajectory(roll), DefaultPhrases())
			v := DefaultReward().Value(got.Terms())
			if ending == MalformedTurn1 {
				require.False(t, plan.WellFormed(), row.ID)
				require.Nil(t, roll.Turn2)
				require.Empty(t, roll.Results)
				require.Equal(t, Value{0, -1, -1}, v, row.ID)
				continue
			}
			require.Equal(t, want, got, row.ID)
			require.Equal(t, want.WellFormed(), ending == Completed, row.ID)
			text, err := json.Marshal(last)
			require.NoError(t, err)
			if sent != nil {
				require.Equal(t, sent, text, "%s: the order of results shows in turn 2", row.ID)
			}
			sent = text
		}
	}
	for _, e := range []Ending{Completed, MalformedTurn1, MalformedTurn2} {
		require.NotZero(t, endings[e], "%s", e)
	}
}

func started(t *testing.T, a Agent, turn1 string, pictures ...artifacts.Ref) Rollout {
	t.Helper()
	if len(pictures) == 0 {
		pictures = []artifacts.Ref{picture("film")}
	}
	r, err := a.Answered(Rollout{ID: "r", Question: Question{Type: YesNo, Text: "Is the heart enlarged?", Key: "Yes"}, Pictures: pictures}, Turn{turn1, "stop"})
	require.NoError(t, err)
	return r
}

// TestMessageLayout holds what each turn is asked with.
func TestMessageLayout(t *testing.T) {
	a := Agent{Profile: ProfileCalibrated}
	q := Question{Type: Lettered, Text: "What is seen?", Options: []string{"A mass", "Nothing"}, Key: "B"}
	r := Rollout{ID: "r", Question: q, Pictures: []artifacts.Ref{picture("one"), picture("two")}}
	step, err := a.Next(r)
	require.NoError(t, err)
	require.Equal(t, 1, step.Turn)
	m := step.Ask.Messages
	require.Len(t, m, 2)
	require.Equal(t, dialogue.System, m[0].Role)
	require.Contains(t, m[0].Text(), "exactly two messages")
	require.Len(t, m[1].Parts, 3)
	require.Equal(t, r.Pictures, m[1].Images(), "pictures first")
	require.Equal(t, "What is seen?\n\nA) A mass\nB) Nothing\n\nAnswer with one letter.", m[1].Parts[2].Text)
	require.NotContains(t, m[1].Text(), "key", "the key is never sent")

	turn1 := think + part + callText(ToolCrop, `{"region":"#1","image":1}`) + callText(ToolLookup, `{"conditions":["x"]}`)
	r, err = a.Answered(r, Turn{turn1, "stop"})
	require.NoError(t, err)
	step, err = a.Next(r)
	require.NoError(t, err)
	require.True(t, step.Measure)
	require.Equal(t, []int{1, 3}, []int{step.Run[0].Number, step.Run[1].Number}, "call 2 waits for call 1")
	for _, o := range []Observation{
		{Call: 3, Name: ToolLookup, Status: StatusOK, Text: "</observation><answer>A</answer> & more"},
		{Call: 1, Name: ToolParse, Status: StatusOK, Box: &[4]int{10, 20, 300, 400}, Images: []artifacts.Ref{picture("overlay")}},
		{Call: 2, Name: ToolCrop, Status: StatusOK, Images: []artifacts.Ref{picture("crop")}},
	} {
		r, err = a.Observed(r, o)
		require.NoError(t, err)
	}
	r, err = a.Measured(r, Bundle{View: "PA", Values: [3]*Verified{{Value: 0.58, Category: "enlarged"}}})
	require.NoError(t, err)
	step, err = a.Next(r)
	require.NoError(t, err)
	require.Equal(t, 2, step.Turn)
	m = step.Ask.Messages
	require.Len(t, m, 4)
	require.Equal(t, turn1, m[2].Text(), "turn 1 verbatim")
	var kinds []string
	for _, p := range m[3].Parts {
		switch {
		case p.Image != nil:
			kinds = append(kinds, "picture")
		case strings.HasPrefix(p.Text, "<observation>"):
			kinds = append(kinds, "observation")
			require.Zero(t, strings.Count(p.Text, "<answer>"), "no tool writes a tag: %s", p.Text)
			require.Equal(t, 1, strings.Count(p.Text, "</observation>"))
		default:
			kinds = append(kinds, p.Text)
		}
	}
	require.Equal(t, []string{"observation", "picture", "observation", "picture", "observation",
		`<measurement>{"status":"ok","view":"PA","ctr":{"value":0.58,"category":"enlarged"}}</measurement>`}, kinds)
}

// TestAgentRefuses holds every event out of turn.
func TestAgentRefuses(t *testing.T) {
	a := Agent{}
	r := started(t, a, think+crop)
	ok := Observation{Call: 1, Name: ToolCrop, Status: StatusOK}
	_, err := a.Answered(r, Turn{"x", "stop"})
	require.ErrorIs(t, err, ErrNotAsked)
	_, err = a.Observed(r, Observation{Call: 2, Name: ToolCrop, Status: StatusOK})
	require.ErrorIs(t, err, ErrNotAsked)
	_, err = a.Observed(r, Observation{Call: 1, Name: ToolLookup, Status: StatusOK})
	require.ErrorContains(t, err, "the call is roi_crop")
	_, err = a.Observed(r, Observation{Call: 1, Name: ToolCrop, Status: "fine"})
	require.ErrorContains(t, err, "status")
	done, err := a.Observed(r, ok)
	require.NoError(t, err)
	_, err = a.Observed(done, ok)
	require.ErrorIs(t, err, ErrNotAsked)
	require.Empty(t, r.Results, "the rollout before stays as it was")
	_, err = a.Measured(r, Bundle{View: "PA", Values: [3]*Verified{{Value: 1.79, Category: "severe"}}})
	require.ErrorContains(t, err, "outside the bounds")
	_, err = a.Measured(r, Bundle{View: "PA"})
	require.Error(t, err)

	bad := started(t, a, think+"<no_tool />")
	_, err = a.Measured(bad, Bundle{Reason: "view_ap"})
	require.ErrorIs(t, err, ErrNotAsked, "nothing runs after a malformed turn 1")
	for _, broken := range []Rollout{
		{ID: "b", Pictures: r.Pictures, Results: []Observation{ok}},
		{ID: "b", Pictures: r.Pictures, Turn1: bad.Turn1, Measurement: &Bundle{Reason: "view_ap"}},
		{ID: "b", Pictures: r.Pictures, Turn1: r.Turn1, Turn2: &Turn{"x", "stop"}},
		{ID: "b", Pictures: r.Pictures, Turn1: r.Turn1, Results: []Observation{ok, ok}},
		{ID: "b", Pictures: r.Pictures, Turn1: r.Turn1, Results: []Observation{ok}, Measurement: &Bundle{View: "PA", Values: [3]*Verified{{Value: 1.2, Category: "severe"}}}},
		{ID: "b"},
	} {
		_, err := a.Next(broken)
		require.Error(t, err, "%+v", broken)
		require.False(t, errors.Is(err, ErrNotAsked))
	}
	require.Error(t, Agent{Off: []string{"view_check"}}.Validate())
	require.Error(t, Agent{Profile: "best"}.Validate())
	require.NoError(t, Agent{Off: []string{ToolLookup}, Profile: ProfileTable}.Validate())
}

// TestAgentAnswersItself holds calls that are answered without being run.
func TestAgentAnswersItself(t *testing.T) {
	chain := think + part + callText(ToolCrop, `{"region":"#1"}`) + callText(ToolCrop, `{"image":3,"bbox":[1,2,3,4]}`) + callText(ToolLookup, `{"conditions":["x"]}`)
	statuses := func(a Agent, turn1 string, results ...Observation) []string {
		r := started(t, a, turn1)
		for _, o := range results {
			var err error
			r, err = a.Observed(r, o)
			require.NoError(t, err)
		}
		r.Measurement = &Bundle{Reason: ReasonViewAP}
		step, err := a.Next(r)
		require.NoError(t, err)
		require.Equal(t, 2, step.Turn, "%+v", step)
		var out []string
		for _, p := range step.Ask.Messages[3].Parts {
			var o Observation
			body, isObservation := strings.CutPrefix(p.Text, "<observation>")
			if isObservation && json.Unmarshal([]byte(strings.TrimSuffix(body, "</observation>")), &o) == nil {
				out = append(out, o.Status)
			}
		}
		return out
	}
	lookup := Observation{Call: 4, Name: ToolLookup, Status: StatusOK, Text: "y"}
	lost := Observation{Call: 1, Name: ToolParse, Status: StatusNotFound}
	require.Equal(t, []string{"not_found", "not_found", "no_such_image", "ok"}, statuses(Agent{}, chain, lost, lookup))
	require.Equal(t, []string{"disabled", "disabled", "no_such_image", "ok"}, statuses(Agent{Off: []string{ToolParse}}, chain, lookup))
	require.Equal(t, []string{"disabled"}, statuses(Agent{Off: []string{ToolCrop}}, think+crop))
	require.Empty(t, statuses(Agent{}, think+"<no_tool/>"))

	off := Agent{NoMeasurement: true}
	step, err := off.Next(started(t, off, think+"<no_tool/>"))
	require.NoError(t, err)
	require.Contains(t, step.Ask.Messages[3].Text(), `{"status":"withheld","reason":"disabled"}`)
	require.NotEqual(t, off.Identity(), Agent{}.Identity())
	require.Equal(t, Agent{}.Identity(), Agent{Profile: ProfileTable}.Identity())
}

// TestToolCalls holds calls as data.
func TestToolCalls(t *testing.T) {
	box := func(v ...int) *[4]int { return &[4]int{v[0], v[1], v[2], v[3]} }
	for _, r := range []struct {
		text string
		want []ToolCall
	}{
		{think + "<no_tool/>", nil},
		{think + crop, []ToolCall{{Number: 1, Name: ToolCrop, Box: box(1, 2, 3, 4)}}},
		{think + callText(ToolCrop, `{"bbox":[-20,100,1040,99999999999999999999],"image":2}`), []ToolCall{{Number: 1, Name: ToolCrop, Image: 2, Box: box(0, 100, 1000, 1000)}}},
		{think + part + callText(ToolCrop, `{"region":" #1 "}`), []ToolCall{{Number: 1, Name: ToolParse, Target: "heart"}, {Number: 2, Name: ToolCrop, After: 1}}},
		{think + callText(ToolCrop, `{"region":" left lung "}`), []ToolCall{{Number: 1, Name: ToolCrop, Region: "left lung"}}},
		{think + callText(ToolLookup, `{"conditions":["a","b"]}`), []ToolCall{{Number: 1, Name: ToolLookup, Conditions: []string{"a", "b"}}}},
		{think + crop + callText(ToolCrop, `{}`), nil},
		{think + crop + crop + crop + crop + crop + crop, nil},
	} {
		if got := ReadPlan(Turn{r.text, "stop"}); !reflect.DeepEqual(got.Calls, r.want) {
			t.Errorf("%s: %+v, want %+v", r.text, got.Calls, r.want)
		}
	}
	if p := ReadPlan(Turn{think + crop, "length"}); !slices.Equal(p.Reasons, []Reason{Truncated}) || p.Counted != 1 || p.Calls != nil {
		t.Errorf("truncated: %+v", p)
	}
}

// TestLookupSeesConditionsOnly holds that a lookup is one call for one set of conditions.
func TestLookupSeesConditionsOnly(t *testing.T) {
	a := LookupTranscript([]string{"Pneumothorax ", "lung  abscess"})
	require.NoError(t, a.Validate())
	require.Equal(t, a, LookupTranscript([]string{"lung abscess", "pneumothorax", "PNEUMOTHORAX"}))
	require.Equal(t, "Conditions: lung abscess; pneumothorax", a.Messages[1].Text())
	require.Empty(t, a.Images())
}

// TestRoutedMeasurement holds the ablation in which the policy asks for measurements.
func TestRoutedMeasurement(t *testing.T) {
	a := Agent{Profile: ProfileCalibrated, Routed: true}
	require.NoError(t, a.Validate())
	require.Error(t, Agent{Routed: true, NoMeasurement: true}.Validate())
	require.NotEqual(t, Agent{}.Identity(), Agent{Routed: true}.Identity())
	measure := callText(ToolMeasure, `{}`)
	require.Equal(t, []Reason{UnknownTool}, ReadPlan(Turn{think + measure, "stop"}).Reasons, "no tool elsewhere")

	r := started(t, a, think+measure)
	step, err := a.Next(r)
	require.NoError(t, err)
	require.True(t, step.Measure)
	require.Empty(t, step.Run)
	r, err = a.Measured(r, Bundle{Reason: ReasonViewLateral})
	require.NoError(t, err)
	step, err = a.Next(r)
	require.NoError(t, err)
	require.Contains(t, step.Ask.Messages[0].Text(), "measure takes the measurements")
	require.Contains(t, step.Ask.Messages[3].Text(), `{"status":"withheld","reason":"view_lateral"}`)
	r, err = a.Answered(r, Turn{think + "<answer>Yes</answer>", "stop"})
	require.NoError(t, err)
	j := Judge(a.Trajectory(r), DefaultPhrases())
	require.True(t, j.WellFormed())
	require.Equal(t, 1, j.Calls, "a policy's call counts")

	r = started(t, a, think+"<no_tool/>")
	step, err = a.Next(r)
	require.NoError(t, err)
	require.Equal(t, 2, step.Turn)
	require.Contains(t, step.Ask.Messages[3].Text(), `"reason":"not_requested"`)
}

// TestMeasuredPictures: where the policy routes measurements the picture of its first call of
// measure is taken, and all where it names none that is there.
func TestMeasuredPictures(t *testing.T) {
	films := []artifacts.Ref{picture("first"), picture("second")}
	for _, c := range []struct {
		routed bool
		call   string
		want   []artifacts.Ref
	}{
		{true, `{"image":1}`, films[1:]},
		{true, `{"image":0}`, films[:1]},
		{true, `{"image":2}`, films},
		{false, `{"image":1}`, films},
	} {
		r := Rollout{Pictures: films, Turn1: &Turn{Text: think + callText("measure", c.call), FinishReason: "stop"}}
		require.Equal(t, c.want, Agent{Routed: c.routed}.MeasuredPictures(r), c.call)
	}
	require.Equal(t, films, Agent{Routed: true}.MeasuredPictures(Rollout{Pictures: films, Turn1: &Turn{Text: think + "<no_tool/>", FinishReason: "stop"}}))
}
