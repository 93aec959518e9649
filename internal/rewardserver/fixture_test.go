package rewardserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/cxr"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

const token = "a-token-that-nobody-may-see"

// bundles are measurements by item; an item that is not there is not measured.
type bundles map[string]xragent.Bundle

func (b bundles) Bundle(_ context.Context, item *xragent.Item, _ []artifacts.Ref) (xragent.Bundle, error) {
	v, ok := b[item.ID]
	if !ok {
		return v, ErrNotMeasured
	}
	return v, nil
}

// cropper runs crops for real and looks conditions up in the item's notes.
type cropper struct {
	store *artifacts.Repository
	runs  *int
}

func (c cropper) Run(ctx context.Context, item *xragent.Item, call xragent.ToolCall, earlier []xragent.Observation) (xragent.Observation, error) {
	*c.runs++
	o := xragent.Observation{Call: call.Number, Name: call.Name, Status: xragent.StatusNotFound}
	if call.Name == xragent.ToolLookup {
		for _, name := range call.Conditions {
			if note, ok := item.Notes[name]; ok {
				o.Status, o.Text = xragent.StatusOK, note
			}
		}
		return o, nil
	}
	box, answer, ok := xragent.CropBox(call, earlier, nil)
	if !ok {
		return answer, nil
	}
	data, err := c.store.Get(ctx, item.Images()[call.Image])
	if err != nil {
		return o, err
	}
	m, err := cxr.Decode(data, cxr.Limits{})
	if err != nil {
		return o, err
	}
	part, used, err := xragent.Crop(m, box, xragent.CropOptions{})
	if err != nil {
		return o, err
	}
	png, err := cxr.EncodePNG(part)
	if err != nil {
		return o, err
	}
	ref, err := c.store.Put(ctx, png, "image/png")
	o.Status, o.Box, o.Images = xragent.StatusOK, &used, []artifacts.Ref{ref}
	return o, err
}

// fixture is a service over three pictures of the quiz, in a store of its own.
type fixture struct {
	*Service
	items   []xragent.Item
	bundles bundles
	store   *artifacts.Repository
	runs    int
	url     string
}

func newFixture(t testing.TB, change func(*Options)) *fixture {
	t.Helper()
	f := &fixture{store: memstore.Open(), bundles: bundles{}}
	for n := range 3 {
		s, err := quiz.Draw(1, quiz.Train, n)
		require.NoError(t, err)
		_, err = f.store.Put(t.Context(), s.PNG, "image/png")
		require.NoError(t, err)
		f.items = append(f.items, s.Items...)
		for _, item := range s.Items {
			f.bundles[item.ID] = xragent.Bundle{View: "PA", Values: [3]*xragent.Verified{
				{Value: 0.58, Category: "enlarged"}, {Value: 0.1, Category: "symmetric"}, {Value: 0.01, Category: "midline"}}}
		}
	}
	f.bundles[f.items[4].ID] = xragent.Bundle{Reason: xragent.ReasonViewLateral}
	o := Options{Questions: f.items, Agent: xragent.Agent{Profile: xragent.ProfileCalibrated}, Measurements: f.bundles, Tools: cropper{f.store, &f.runs},
		Pictures: f.store, Records: &Records{Store: f.store, Now: func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }}}
	if change != nil {
		change(&o)
	}
	var err error
	f.Service, err = New(o)
	require.NoError(t, err)
	server := httptest.NewServer(f.Handler(Access{Token: token, MaxBytes: 1 << 20}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// do sends a request with the token and returns status and body.
func (f *fixture) do(t testing.TB, method, path string, body any) (int, http.Header, string) {
	t.Helper()
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	default:
		var err error
		data, err = json.Marshal(b)
		require.NoError(t, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, f.url+path, bytes.NewReader(data))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	return sent(t, r)
}

func sent(t testing.TB, r *http.Request) (int, http.Header, string) {
	t.Helper()
	reply, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, reply.Header, string(text)
}

// sample is a well-formed sample of an item: right or wrong, with so many crops.
func (f *fixture) sample(item int, draw int, right bool, crops int) Sample {
	it := f.items[item]
	letter := it.Question.Key
	if !right {
		letter = string(rune('A' + (letter[0]-'A'+1)%3))
	}
	plan := "<no_tool/>"
	if crops > 0 {
		plan = ""
		for range crops {
			plan += `<tool_call>{"name":"roi_crop","arguments":{"bbox":[100,100,500,500]}}</tool_call>`
		}
	}
	turn1 := "<think>I look.</think>" + plan
	turn2 := "<think>The heart is enlarged.</think><answer>" + letter + "</answer>"
	step := 7
	return Sample{SampleID: fmt.Sprintf("s-%d-%d", item, draw), ItemID: it.ID, GroupID: fmt.Sprintf("g-%d", item), Step: &step, Draw: &draw, GroundTruth: it.Question.Key,
		Trajectory: Trajectory{Turn1: &turn1, Turn2: &turn2, FinishReasons: []string{"stop", "stop"}}}
}

func (f *fixture) request(samples ...Sample) RewardRequest {
	return RewardRequest{Schema: 1, RunID: "run-1", RewardConfig: f.Config().String(), Samples: samples}
}

// objects counts what the store holds.
func (f *fixture) objects(t testing.TB) int {
	t.Helper()
	n := 0
	require.NoError(t, f.store.Bucket().List(t.Context(), "", "", func(artifacts.Info) error { n++; return nil }))
	return n
}
