package rewardserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/artifacts/faultstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// TestRewards holds the reply to a request to the byte, that asking again changes nothing, and
// what is recorded.
func TestRewards(t *testing.T) {
	f := newFixture(t, nil)
	malformed := f.sample(1, 1, true, 0)
	text := "no tags at all"
	malformed.Trajectory.Turn1, malformed.Trajectory.Turn2, malformed.Trajectory.FinishReasons = &text, nil, []string{"stop"}
	r := f.request(f.sample(0, 0, true, 1), f.sample(0, 1, true, 1), f.sample(0, 2, true, 1), f.sample(0, 3, true, 1), f.sample(1, 0, false, 2), malformed, f.sample(4, 0, true, 0))
	status, _, body := f.do(t, "POST", "/v1/rewards", r)
	require.Equal(t, 200, status, body)
	right := func(id string) string {
		return `{"sample_id":"` + id + `","score":1.15,"acc":1,"format":0,"cxr":1,"n_calls":1,"eligible":1,"reasons":[]},`
	}
	require.Equal(t, `{"results":[`+right("s-0-0")+right("s-0-1")+right("s-0-2")+right("s-0-3")+
		`{"sample_id":"s-1-0","score":0,"acc":0,"format":0,"cxr":0,"n_calls":2,"eligible":0,"reasons":[]},`+
		`{"sample_id":"s-1-1","score":-1,"acc":0,"format":-1,"cxr":0,"n_calls":0,"eligible":0,"reasons":["turn_missing","stray_text","think_missing","plan_missing"]},`+
		`{"sample_id":"s-4-0","score":1,"acc":1,"format":0,"cxr":0,"n_calls":0,"eligible":0,"reasons":[]}],`+
		`"groups":[{"group_id":"g-0","step":7,"size":4,"complete":true,"degenerate":true},`+
		`{"group_id":"g-1","step":7,"size":2,"complete":false,"degenerate":false},{"group_id":"g-4","step":7,"size":1,"complete":false,"degenerate":false}]}`+"\n", body)

	before := f.objects(t)
	for range 2 {
		status, _, again := f.do(t, "POST", "/v1/rewards", r)
		require.Equal(t, 200, status)
		require.Equal(t, body, again)
	}
	require.Equal(t, before, f.objects(t), "a repeated request writes nothing")
	// cut in another way it is still the same samples
	for i := range r.Samples {
		status, _, _ = f.do(t, "POST", "/v1/rewards", f.request(r.Samples[i]))
		require.Equal(t, 200, status)
	}

	list, err := Recorded(t.Context(), f.store, "run-1")
	require.NoError(t, err)
	require.Len(t, list, 7)
	require.Equal(t, []string{"s-0-0", "s-0-1", "s-0-2", "s-0-3", "s-1-0", "s-1-1", "s-4-0"}, sampleIDs(list))
	require.Equal(t, f.items[0].ID, list[0].Item)
	require.Equal(t, 7, list[0].Step)
	require.Equal(t, 1.15, list[0].Score)
	require.Equal(t, xragent.ReasonNotReached, list[5].Trajectory.Measurement.Reason)
	require.Equal(t, xragent.ReasonViewLateral, list[6].Trajectory.Measurement.Reason)
	// the record alone gives the reward again
	require.Equal(t, list[4].Score, xragent.ScoreTrajectory(list[4].Trajectory, xragent.DefaultSetting()).R)
	other, err := Recorded(t.Context(), f.store, "run-2")
	require.NoError(t, err)
	require.Empty(t, other)
	// every request of the run is on record, and none of another
	pages, err := Pages(t.Context(), f.store, "run-1")
	require.NoError(t, err)
	require.Len(t, pages, 8)
	none, err := Pages(t.Context(), f.store, "run-2")
	require.NoError(t, err)
	require.Empty(t, none)
}

func sampleIDs(list []contract.RewardedSample) (out []string) {
	for _, d := range list {
		out = append(out, d.Sample)
	}
	return out
}

// TestGeneratedAnew holds that a trainer which goes on from a checkpoint and generates a step
// anew is paid for what it generated, and that both texts are on record.
func TestGeneratedAnew(t *testing.T) {
	f := newFixture(t, nil)
	for _, right := range []bool{true, false} {
		status, _, body := f.do(t, "POST", "/v1/rewards", f.request(f.sample(1, 0, right, 0)))
		require.Equal(t, 200, status, body)
	}
	list, err := Recorded(t.Context(), f.store, "run-1")
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.ElementsMatch(t, []float64{1, 0}, []float64{list[0].Score, list[1].Score})
}

// TestGroupsOfARun holds what the records say of groups that came in several requests.
func TestGroupsOfARun(t *testing.T) {
	f := newFixture(t, nil)
	for draw := range 4 {
		for item, right := range []bool{true, draw == 2} {
			status, _, body := f.do(t, "POST", "/v1/rewards", f.request(f.sample(item, draw, right, 0)))
			require.Equal(t, 200, status, body)
		}
	}
	status, _, body := f.do(t, "GET", "/v1/groups?run_id=run-1&step=7", nil)
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"run_id":"run-1","samples":8,"complete":2,"degenerate":1,"groups":[
		{"group_id":"g-0","step":7,"size":4,"complete":true,"degenerate":true},{"group_id":"g-1","step":7,"size":4,"complete":true,"degenerate":false}]}`, body)
	_, _, body = f.do(t, "GET", "/v1/groups?run_id=run-1&step=8", nil)
	require.JSONEq(t, `{"run_id":"run-1","samples":0,"complete":0,"degenerate":0,"groups":[]}`, body)
}

// TestGroupsAfterAResume: what a trainer makes anew after it went on from a checkpoint does not make
// a group larger, and pages that were read once are not read again.
func TestGroupsAfterAResume(t *testing.T) {
	f := newFixture(t, nil)
	ask := func(draw int, right bool) {
		status, _, body := f.do(t, "POST", "/v1/rewards", f.request(f.sample(0, draw, right, 0)))
		require.Equal(t, 200, status, body)
	}
	for draw := range 4 {
		ask(draw, true)
	}
	_, _, body := f.do(t, "GET", "/v1/groups?run_id=run-1", nil)
	require.JSONEq(t, `{"run_id":"run-1","samples":4,"complete":1,"degenerate":1,"groups":[{"group_id":"g-0","step":7,"size":4,"complete":true,"degenerate":true}]}`, body)
	ask(0, true) // the same again: recorded once
	ask(1, false)
	for range 2 {
		_, _, body = f.do(t, "GET", "/v1/groups?run_id=run-1", nil)
		require.JSONEq(t, `{"run_id":"run-1","samples":5,"complete":1,"degenerate":0,"groups":[{"group_id":"g-0","step":7,"size":4,"complete":true,"degenerate":false,"again":1}]}`, body)
	}
	reads := 0
	r := f.o.Records
	require.NoError(t, f.store.Keys(t.Context(), contract.StepReward, func(key artifacts.Key, _ artifacts.Info) error {
		_, err := r.known.Load(key.Digest, func() (knownPage, int64, error) { reads++; return knownPage{}, 0, nil })
		return err
	}))
	require.Zero(t, reads)
}

// TestFaults holds every refusal: its status, its code, and that it names the field.
func TestFaults(t *testing.T) {
	f := newFixture(t, nil)
	delete(f.bundles, f.items[8].ID)
	ok := f.sample(0, 0, true, 0)
	with := func(change func(r *RewardRequest)) RewardRequest {
		r := f.request(f.sample(0, 0, true, 0))
		change(&r)
		return r
	}
	text, minus, five := "x", -1, 5
	for _, c := range []struct {
		name        string
		body        any
		status      int
		code, field string
	}{
		{"no JSON", "{", 400, "schema", ""},
		{"empty", "", 400, "schema", ""},
		{"two objects", `{"schema":1}{}`, 400, "schema", ""},
		{"unknown field", `{"schema":1,"rum_id":"x"}`, 400, "schema", "rum_id"},
		{"another type", `{"schema":"one"}`, 400, "schema", "schema"},
		{"another schema", with(func(r *RewardRequest) { r.Schema = 2 }), 400, "schema", "schema"},
		{"no run", with(func(r *RewardRequest) { r.RunID = "" }), 400, "schema", "run_id"},
		{"no samples", with(func(r *RewardRequest) { r.Samples = nil }), 400, "schema", "samples"},
		{"no sample id", with(func(r *RewardRequest) { r.Samples[0].SampleID = "" }), 400, "schema", "samples[0].sample_id"},
		{"no step", with(func(r *RewardRequest) { r.Samples[0].Step = nil }), 400, "schema", "samples[0].step"},
		{"step before the first", with(func(r *RewardRequest) { r.Samples[0].Step = &minus }), 400, "schema", "samples[0].step"},
		{"no turn", with(func(r *RewardRequest) { r.Samples[0].Trajectory.Turn1 = nil }), 400, "schema", "samples[0].trajectory.turn1"},
		{"no finish reason", with(func(r *RewardRequest) { r.Samples[0].Trajectory.FinishReasons = []string{"stop"} }), 400, "schema", "samples[0].trajectory.finish_reasons"},
		{"bundle of no category", strings.Replace(marshalledText(t, with(func(r *RewardRequest) { r.Samples[0].Trajectory.Measurement = &xragent.Bundle{Reason: "x"} })), `"withheld"`, `"maybe"`, 1), 400, "schema", ""},
		{"no setting", with(func(r *RewardRequest) { r.RewardConfig = "" }), 409, "config_differs", "reward_config"},
		{"another setting", with(func(r *RewardRequest) { r.RewardConfig = artifacts.Sum([]byte("x")).String() }), 409, "config_differs", "reward_config"},
		{"too many", f.request(make([]Sample, MostSamples+1)...), 422, "too_many_samples", "samples"},
		{"the same sample twice", f.request(ok, ok), 422, "duplicate_sample", "samples[1].sample_id"},
		{"the same draw twice", with(func(r *RewardRequest) {
			two := ok
			two.SampleID = "other"
			r.Samples = append(r.Samples, two)
		}), 422, "duplicate_draw", "samples[1].draw"},
		{"five of a group", with(func(r *RewardRequest) {
			for i, id := range []string{"b", "c", "d", "e"} {
				s := f.sample(0, i, true, 0)
				s.SampleID, s.Draw = id, nil
				r.Samples = append(r.Samples, s)
			}
		}), 422, "group_too_large", "samples[4].group_id"},
		{"a draw beyond the group", with(func(r *RewardRequest) { r.Samples[0].Draw = &five }), 422, "draw", "samples[0].draw"},
		{"two items in a group", with(func(r *RewardRequest) {
			s := f.sample(1, 1, true, 0)
			s.GroupID = "g-0"
			r.Samples = append(r.Samples, s)
		}), 422, "group_mixed", "samples[1].group_id"},
		{"unknown item", with(func(r *RewardRequest) { r.Samples[0].ItemID = "who" }), 422, "unknown_item", "samples[0].item_id"},
		{"another key", with(func(r *RewardRequest) { r.Samples[0].GroundTruth = f.items[0].Question.Options[0] }), 422, "ground_truth_differs", "samples[0].ground_truth"},
		{"another bundle", with(func(r *RewardRequest) {
			r.Samples[0].Trajectory.Measurement = &xragent.Bundle{Reason: xragent.ReasonViewAP}
		}), 422, "measurement_differs", "samples[0].trajectory.measurement"},
		{"a bundle after a malformed plan", with(func(r *RewardRequest) {
			r.Samples[0].Trajectory.Turn1 = &text
			b := f.bundles[f.items[0].ID]
			r.Samples[0].Trajectory.Measurement = &b
		}), 422, "measurement_differs", "samples[0].trajectory.measurement"},
		{"not measured", f.request(ok, f.sample(8, 0, true, 0)), 503, "not_measured", "samples[1].item_id"},
	} {
		before := f.objects(t)
		status, header, body := f.do(t, "POST", "/v1/rewards", c.body)
		var reply struct{ Error Fault }
		require.NoError(t, json.Unmarshal([]byte(body), &reply), "%s: %s", c.name, body)
		require.Equal(t, c.status, status, "%s: %s", c.name, body)
		require.Equal(t, c.code, reply.Error.Code, "%s: %s", c.name, body)
		require.Equal(t, c.field, reply.Error.Field, "%s: %s", c.name, body)
		require.NotEmpty(t, reply.Error.Message)
		require.Equal(t, status == 503, header.Get("Retry-After") != "", c.name)
		require.Equal(t, before, f.objects(t), "%s: nothing of a refused request is recorded", c.name)
	}
	f.bundles[f.items[8].ID] = xragent.Bundle{Reason: xragent.ReasonViewAP}
	status, _, body := f.do(t, "POST", "/v1/rewards", f.request(ok, f.sample(8, 0, true, 0)))
	require.Equal(t, 200, status, "once it is measured: %s", body)
}

func marshalledText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// TestAccess holds who is let in, and that the token is nowhere but in the request.
func TestAccess(t *testing.T) {
	f := newFixture(t, nil)
	r := marshalledText(t, f.request(f.sample(0, 0, true, 0)))
	for _, header := range []string{"", "Bearer ", "Bearer another", "Basic " + token, token, "Bearer " + token + "x"} {
		q, err := http.NewRequestWithContext(t.Context(), "POST", f.url+"/v1/rewards", strings.NewReader(r))
		require.NoError(t, err)
		q.Header.Set("Authorization", header)
		status, answer, body := sent(t, q)
		require.Equal(t, 401, status, "%q", header)
		require.Equal(t, "Bearer", answer.Get("WWW-Authenticate"))
		require.NotContains(t, body, token)
	}
	q, err := http.NewRequestWithContext(t.Context(), "GET", f.url+"/healthz", nil)
	require.NoError(t, err)
	status, _, body := sent(t, q)
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"status":"ok"}`, body)

	status, header, _ := f.do(t, "GET", "/v1/rewards", nil)
	require.Equal(t, 405, status)
	require.Equal(t, "POST", header.Get("Allow"))
	status, _, _ = f.do(t, "POST", "/v2/rewards", r)
	require.Equal(t, 404, status)
	status, _, body = f.do(t, "POST", "/v1/rewards", `{"schema":1,"run_id":"`+strings.Repeat("x", 1<<20)+`"}`)
	require.Equal(t, 413, status)
	require.Contains(t, body, "too_large")
	status, _, body = f.do(t, "GET", "/v1/config", nil)
	require.Equal(t, 200, status)
	require.Contains(t, body, `"reward_config":"`+f.Config().String()+`"`)

	status, _, body = f.do(t, "POST", "/v1/rewards", r)
	require.Equal(t, 200, status, body)
	require.NoError(t, f.store.Bucket().List(t.Context(), "", "", func(i artifacts.Info) error {
		o, _, err := f.store.Bucket().Open(t.Context(), i.Name)
		require.NoError(t, err)
		defer o.Close()
		data, err := io.ReadAll(o)
		require.NoError(t, err)
		require.False(t, bytes.Contains(data, []byte(token)), i.Name)
		return nil
	}))
}

// TestInterrupted holds that a request of which only a part was recorded is recorded whole when
// it comes again, whichever write failed.
func TestInterrupted(t *testing.T) {
	for _, fault := range []faultstore.Fault{
		{Name: "pins/", Err: artifacts.ErrUnreachable}, {Name: "blobs/", Err: artifacts.ErrUnreachable}, {Name: "index/", Err: artifacts.ErrUnreachable},
		{Name: "blobs/", ErrAfter: artifacts.ErrUnreachable},
	} {
		bucket := faultstore.New(memstore.New("interrupted"), faultstore.Lies{})
		store, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New()})
		require.NoError(t, err)
		f := newFixture(t, func(o *Options) { o.Records.Store = store })
		bucket.Inject(faultstore.Put, fault)
		r := f.request(f.sample(0, 0, true, 1), f.sample(0, 1, false, 1), f.sample(1, 0, true, 0), f.sample(1, 1, true, 3))
		status, header, body := f.do(t, "POST", "/v1/rewards", r)
		require.Equal(t, 503, status, "%+v: %s", fault, body)
		require.NotEmpty(t, header.Get("Retry-After"))
		status, _, body = f.do(t, "POST", "/v1/rewards", r)
		require.Equal(t, 200, status, "%+v: %s", fault, body)
		list, err := Recorded(t.Context(), store, "run-1")
		require.NoError(t, err)
		require.Len(t, list, 4)
	}
}

// TestAtOnce holds that equal requests at once get equal replies and one record a sample.
func TestAtOnce(t *testing.T) {
	f := newFixture(t, nil)
	r := f.request(f.sample(0, 0, true, 1), f.sample(0, 1, false, 1), f.sample(1, 0, true, 0))
	replies := make([]string, 8)
	var wait sync.WaitGroup
	for i := range replies {
		wait.Add(1)
		go func() {
			defer wait.Done()
			_, _, replies[i] = f.do(t, "POST", "/v1/rewards", r)
		}()
	}
	wait.Wait()
	for _, body := range replies {
		require.Equal(t, replies[0], body)
		require.Contains(t, body, "results")
	}
	list, err := Recorded(t.Context(), f.store, "run-1")
	require.NoError(t, err)
	require.Len(t, list, 3)
}
