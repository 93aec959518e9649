package rewardserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// TestObservations holds that a trainer gets the message which the agent asks turn 2 with, and
// that what it gets is taken back with the rewards.
func TestObservations(t *testing.T) {
	f := newFixture(t, nil)
	item := f.items[2] // a condition to look up
	var name string
	for name = range item.Notes {
	}
	turn1 := `<think>x</think><tool_call>{"name":"evidence_lookup","arguments":{"conditions":["` + name + `"]}}</tool_call>` +
		`<tool_call>{"name":"roi_crop","arguments":{"bbox":[0,0,500,500]}}</tool_call>`
	status, _, body := f.do(t, "POST", "/v1/observations", ObserveRequest{Schema: 1, RunID: "run-1", ItemID: item.ID, Turn1: &turn1, FinishReason: "stop"})
	require.Equal(t, 200, status, body)
	var got ObserveReply
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	require.Equal(t, 2, got.Calls)
	require.Empty(t, got.Ending)
	var kinds []string
	for _, p := range got.Parts {
		kinds = append(kinds, p.Type)
	}
	require.Equal(t, []string{"text", "text", "image_url", "text"}, kinds)
	require.Contains(t, got.Parts[0].Text, "<observation>")
	require.Contains(t, got.Parts[0].Text, item.Notes[name])
	require.Contains(t, got.Parts[3].Text, `<measurement>{"status":"ok","view":"PA","ctr":{"value":0.58`)
	picture, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(got.Parts[2].ImageURL.URL, "data:image/png;base64,"))
	require.NoError(t, err)
	require.Equal(t, "\x89PNG", string(picture[:4]))

	// the same as the agent's own transcript
	roll := f.rollout(&item, turn1, "stop")
	step, err := f.toTurn2(t.Context(), &item, &roll)
	require.NoError(t, err)
	parts, err := f.parts(t.Context(), step.Ask)
	require.NoError(t, err)
	require.Equal(t, parts, got.Parts)

	turn2 := "<think>As the note says.</think><answer>" + item.Question.Key + "</answer>"
	s := f.sample(2, 0, true, 0)
	s.Trajectory = Trajectory{Turn1: &turn1, Turn2: &turn2, FinishReasons: []string{"stop", "stop"}, Observations: got.Observations, Measurement: got.Measurement}
	status, _, body = f.do(t, "POST", "/v1/rewards", f.request(s))
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"score":0.9,`, "one answer and two calls")
}

// TestObservationsEnd holds that a malformed first turn runs nothing.
func TestObservationsEnd(t *testing.T) {
	f := newFixture(t, nil)
	turn1 := `<think>x</think><tool_call>{"name":"roi_crop","arguments":{}}</tool_call>`
	status, _, body := f.do(t, "POST", "/v1/observations", ObserveRequest{Schema: 1, RunID: "run-1", ItemID: f.items[0].ID, Turn1: &turn1, FinishReason: "stop"})
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"ending":"malformed_turn1","reasons":["bad_arguments"],"n_calls":1,"parts":[],"observations":[],"measurement":null}`, body)
	require.Zero(t, f.runs)

	turn1 = "<think>x</think><no_tool/>"
	for _, c := range []struct {
		r      ObserveRequest
		status int
	}{
		{ObserveRequest{Schema: 1, RunID: "r", ItemID: "who", Turn1: &turn1, FinishReason: "stop"}, 422},
		{ObserveRequest{Schema: 1, RunID: "r", ItemID: f.items[0].ID, Turn1: &turn1}, 400},
		{ObserveRequest{RunID: "r", ItemID: f.items[0].ID, Turn1: &turn1, FinishReason: "stop"}, 400},
	} {
		status, _, body := f.do(t, "POST", "/v1/observations", c.r)
		require.Equal(t, c.status, status, body)
	}
	delete(f.bundles, f.items[0].ID)
	status, header, _ := f.do(t, "POST", "/v1/observations", ObserveRequest{Schema: 1, RunID: "r", ItemID: f.items[0].ID, Turn1: &turn1, FinishReason: "stop"})
	require.Equal(t, 503, status)
	require.NotEmpty(t, header.Get("Retry-After"))
	none := newFixture(t, func(o *Options) { o.Tools = nil })
	status, _, _ = none.do(t, "POST", "/v1/observations", ObserveRequest{Schema: 1, RunID: "r", ItemID: f.items[0].ID, Turn1: &turn1, FinishReason: "stop"})
	require.Equal(t, 404, status)
}

// TestNewRefuses holds what no service can be made of.
func TestNewRefuses(t *testing.T) {
	f := newFixture(t, nil)
	for name, change := range map[string]func(*Options){
		"no questions":    func(o *Options) { o.Questions = nil },
		"an item twice":   func(o *Options) { o.Questions = append(o.Questions, o.Questions[0]) },
		"no measurements": func(o *Options) { o.Measurements = nil },
		"no records":      func(o *Options) { o.Records = nil },
		"group of one":    func(o *Options) { o.GroupSize = 1 },
		"cost too high": func(o *Options) {
			o.Setting = &xragent.Setting{Reward: xragent.Reward{Weights: xragent.Weights{Cost: 1}}}
		},
		"unknown profile": func(o *Options) { o.Agent.Profile = "best" },
		"one turn":        func(o *Options) { o.Agent = xragent.Agent{Direct: "v0"} },
	} {
		o := f.o
		change(&o)
		_, err := New(o)
		require.Error(t, err, name)
	}
}

// TestListen holds that nobody else can read the token.
func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		_, err := Listen(t.Context(), address, nil)
		require.ErrorIs(t, err, ErrNeedsTLS, address)
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(t.Context(), address, nil)
		require.NoError(t, err, address)
		require.NoError(t, l.Close())
	}
	_, err := Listen(t.Context(), "nonsense", nil)
	require.Error(t, err)
}

// asksFor notes whose measurements are asked for.
type asksFor struct {
	bundles
	pictures *[]artifacts.Ref
}

func (a asksFor) Bundle(ctx context.Context, item *xragent.Item, pictures []artifacts.Ref) (xragent.Bundle, error) {
	*a.pictures = pictures
	return a.bundles.Bundle(ctx, item, pictures)
}

// TestRoutedPicture: where the policy routes measurements, those of the picture that it names are
// asked for, as in every other rollout.
func TestRoutedPicture(t *testing.T) {
	var asked []artifacts.Ref
	f := newFixture(t, func(o *Options) {
		o.Agent.Routed = true
		o.Questions[0].Pictures = append(slices.Clone(o.Questions[0].Pictures), o.Questions[4].Pictures...)
		o.Measurements = asksFor{o.Measurements.(bundles), &asked}
	})
	item := &f.items[0]
	roll := f.rollout(item, `<think>a</think><tool_call>{"name":"measure","arguments":{"image":1}}</tool_call>`, "stop")
	_, err := f.measured(t.Context(), item, roll)
	require.NoError(t, err)
	require.Equal(t, item.Images()[1:], asked)
}
