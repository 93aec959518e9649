package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/report/agent"
	"cxrepro/internal/responder"
	"cxrepro/internal/rewardserver"
	"cxrepro/internal/xragent"
)

const serveToken = "a-token-of-the-tests"

// TestDemoAgent runs the demo of the agent on three pictures, holds its tables against what the
// policies' script says without any protocol, and serves its items to a trainer.
func TestDemoAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an embedded server")
	}
	state := filepath.Join(t.TempDir(), "state")
	code, out, errs := ran(t, "demo", "--paper", "xragent", "--n", "3", "--state", state, "--json")
	require.Equal(t, exitOK, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var receipt contract.Receipt
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &receipt))
	store, err := storeurl.Open(t.Context(), filepath.Join(state, "store"), storeurl.Options{})
	require.NoError(t, err)
	var questions contract.Questions
	require.NoError(t, readJSON(t.Context(), store, receipt.Questions, &questions))
	require.Len(t, questions.Items, 12)
	var tables contract.AgentTables
	require.NoError(t, readJSON(t.Context(), store, receipt.AgentTables, &tables))
	requireScripted(t, store, &receipt, questions.Items)

	page, err := os.ReadFile(filepath.Join(state, "reports", receipt.Reproduction, "agent.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "Simulated")
	require.Contains(t, string(page), "<h2>Transcripts</h2>")
	require.NotContains(t, string(page), "src=\"http")

	code, out, errs = ran(t, "demo", "--paper", "xragent", "--n", "3", "--state", state, "--json")
	require.Equal(t, exitOK, code, errs)
	again := strings.Split(strings.TrimSpace(out), "\n")
	require.Equal(t, lines[len(lines)-1], again[len(again)-1], "a finished demo prints its receipt again")

	serveDemo(t, state, questions.Items)
}

// requireScripted holds every rollout against the script of its policy.
func requireScripted(t *testing.T, store *artifacts.Repository, r *contract.Receipt, items []xragent.Item) {
	t.Helper()
	data, err := experiments.Files.ReadFile(agentProfiles + "/xragent.yaml")
	require.NoError(t, err)
	profile, err := responder.ParseProfile("xragent.yaml", data)
	require.NoError(t, err)
	q, err := responder.NewQuestions(items, nil)
	require.NoError(t, err)
	sim, err := responder.New(responder.Options{Profile: profile, Questions: q})
	require.NoError(t, err)
	n := 0
	require.NoError(t, tellRollouts(t.Context(), store, r, func(told agent.Told) {
		item, policy, d := told.Item, told.Policy, told.Doc
		arm, err := xragent.ArmOf(told.Arm, xragent.ProfileCalibrated)
		require.NoError(t, err)
		observed := d.Trajectory.Observations
		want, _, err := sim.PlayAgent(policy, arm.Agent, item, -1, responder.Given{
			Bundle: d.Trajectory.Measurement,
			Observe: func(c xragent.ToolCall, _ []xragent.Observation) xragent.Observation {
				for _, o := range observed {
					if o.Call == c.Number {
						return o
					}
				}
				t.Fatalf("%s: call %d was not observed", item.ID, c.Number)
				return xragent.Observation{}
			},
		})
		require.NoError(t, err)
		require.Equal(t, want.Turn1, d.Trajectory.Turn1, "%s %s %s", policy, arm.Name, item.ID)
		require.Equal(t, want.Turn2, d.Trajectory.Turn2, "%s %s %s", policy, arm.Name, item.ID)
		n++
	}))
	require.Equal(t, 12*2*2, n)
}

// serveDemo asks `xragent serve` for observations and a reward, as a trainer does.
func serveDemo(t *testing.T, state string, items []xragent.Item) {
	t.Helper()
	t.Setenv(rewardTokenEnv, serveToken)
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	var errw bytes.Buffer
	go func() {
		ended <- execute(ctx, []string{"xragent", "serve", "latest", "--state", state, "--json"}, strings.NewReader(""), write, &errw)
		write.Close()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err, errw.String())
	var ready rewardsReady
	require.NoError(t, json.Unmarshal([]byte(line), &ready))
	require.Equal(t, len(items), ready.Items)
	post := func(path string, body, reply any) int {
		data, err := json.Marshal(body)
		require.NoError(t, err)
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ready.URL+path, bytes.NewReader(data))
		require.NoError(t, err)
		q.Header.Set("Authorization", "Bearer "+serveToken)
		r, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, reply), "%s", text)
		return r.StatusCode
	}
	item := items[0]
	turn1 := `<think>x</think><tool_call>{"name":"region_parse","arguments":{"target":"heart"}}</tool_call><tool_call>{"name":"roi_crop","arguments":{"bbox":[0,0,500,500]}}</tool_call>`
	var seen rewardserver.ObserveReply
	require.Equal(t, 200, post("/v1/observations", rewardserver.ObserveRequest{Schema: 1, RunID: "r", ItemID: item.ID, Turn1: &turn1, FinishReason: "stop"}, &seen))
	require.Len(t, seen.Observations, 2)
	require.NotNil(t, seen.Measurement)
	turn2, step := "<think>I weigh it.</think><answer>"+item.Question.Key+"</answer>", 3
	sample := rewardserver.Sample{SampleID: "s", ItemID: item.ID, GroupID: "g", Step: &step, GroundTruth: item.Question.Key,
		Trajectory: rewardserver.Trajectory{Turn1: &turn1, Turn2: &turn2, FinishReasons: []string{"stop", "stop"}, Observations: seen.Observations, Measurement: seen.Measurement}}
	var reply rewardserver.RewardReply
	require.Equal(t, 200, post("/v1/rewards", rewardserver.RewardRequest{Schema: 1, RunID: "r", RewardConfig: ready.RewardConfig.String(), Samples: []rewardserver.Sample{sample}}, &reply))
	require.Equal(t, 1, reply.Results[0].Acc)
	require.Equal(t, 2, reply.Results[0].Calls)
	var refused struct{ Error rewardserver.Fault }
	lookup := `<think>x</think><tool_call>{"name":"evidence_lookup","arguments":{"conditions":["what nobody asked"]}}</tool_call>`
	require.Equal(t, 409, post("/v1/observations", rewardserver.ObserveRequest{Schema: 1, RunID: "r", ItemID: item.ID, Turn1: &lookup, FinishReason: "stop"}, &refused))
	require.Equal(t, "lookup_not_recorded", refused.Error.Code)
	cancel()
	select {
	case code := <-ended:
		require.Equal(t, exitOK, code, errw.String())
	case <-time.After(20 * time.Second):
		t.Fatal("the service does not stop")
	}
	require.NotContains(t, errw.String(), serveToken)
}

// TestServeRefuses holds what is no way to serve.
func TestServeRefuses(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv(rewardTokenEnv, "")
	code, _, errs := ran(t, "xragent", "serve", "--state", state)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "holds no token")
	t.Setenv(rewardTokenEnv, serveToken)
	for _, c := range []struct {
		says string
		args []string
	}{
		{"no reproduction", nil},
		{"--token-file", []string{"--token-file", filepath.Join(state, "none")}},
		{"certificate", []string{"--tls-cert", filepath.Join(state, "none")}},
	} {
		code, _, errs := ran(t, append([]string{"xragent", "serve", "--state", state}, c.args...)...)
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, c.says)
	}
	code, _, errs = ran(t, "demo", "--paper", "other", "--state", state)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "xragent")
}
