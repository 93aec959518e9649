package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cxrepro/internal/contract"
)

// policyServer answers as a policy of two turns does, and as a reference book; what it says
// follows from the request alone. fail, if set, answers in its place.
type policyServer struct {
	*httptest.Server
	mu       sync.Mutex // guards what follows
	requests int
	fail     func(n int, system string) (status int)
}

func newPolicyServer(t *testing.T) *policyServer {
	s := &policyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *policyServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *policyServer) handle(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in struct {
		Model    string
		Messages []struct{ Content any }
	}
	if err := json.Unmarshal(body, &in); err != nil || len(in.Messages) < 2 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	system := fmt.Sprint(in.Messages[0].Content)
	s.mu.Lock()
	s.requests++
	n, fail := s.requests, s.fail
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if fail != nil {
		if status := fail(n, system); status != 0 {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":{"message":"not now"}}`)
			return
		}
	}
	d := sha256.Sum256(body)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "x", "object": "chat.completion", "created": 1, "model": in.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": policySays(system, len(in.Messages), d)}}},
		"usage":   map[string]any{"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59},
	})
}

// plans are first turns: one malformed, the others with every tool that asks or computes.
var plans = []string{
	`<think>a look</think><no_tool/>`,
	`<think>a look</think><tool_call>{"name":"region_parse","arguments":{"target":"heart"}}</tool_call><tool_call>{"name":"roi_crop","arguments":{"region":"#1"}}</tool_call>`,
	`<think>a look</think><tool_call>{"name":"roi_crop","arguments":{"bbox":[10,10,600,600]}}</tool_call><tool_call>{"name":"evidence_lookup","arguments":{"conditions":["velmara"]}}</tool_call>`,
	`no tags at all`,
}

func policySays(system string, messages int, d [32]byte) string {
	switch {
	case !strings.Contains(system, "tool_call"):
		return "The answer is " + string('A'+d[0]%3) + "."
	case messages == 2:
		return plans[d[1]%4]
	}
	return "<think>the heart is not enlarged</think><answer>" + string('A'+d[2]%3) + "</answer>"
}

const agentSpec = `name: xragent-test
paper: X-Ragent, on drawn questions
preset: corrected
dataset: {name: quiz, layout: quiz, data_use: synthetic, quiz: {seed: 3, split: held-out, pictures: 2}}
masks: {source: onnx, card: ../models/phantomseg.yaml, provider: cpu}
agent:
  view: ../models/phantomview.yaml
  profile: calibrated
  policies: [{card: policy.yaml, role: full}]
  arms: [default, force_all, direct.v4]
  sampling: greedy
  repeats: 1
  seed: 1
  scorer: strict
  bootstrap: 10
  reward: {lambda_c: 0.2, lambda_t: 0.05, gated: true, malformed_counts_as_wrong: true}
`

const agentPolicy = `name: policy
title: A policy
adapter: openai
identity: {provider: test, snapshot: policy-1}
pictures: original
greedy: {temperature: 0, max_tokens: 300, seed: 5}
retries: 0
simulated: true
`

// newAgentBench is a state directory with an agent's spec and the endpoint where its policy
// answers one request at a time.
func newAgentBench(t *testing.T, url string) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	b := &bench{t: t, dir: t.TempDir(), spec: filepath.Join("experiments", "agent", "spec.yaml")}
	b.state, b.data = filepath.Join(b.dir, "state"), []string{"--endpoints", "endpoints.yaml"}
	if err := writeExperiments(filepath.Join(b.dir, "experiments")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		b.spec: agentSpec, filepath.Join("experiments", "agent", "policy.yaml"): agentPolicy,
		"endpoints.yaml": "endpoints:\n  - name: here\n    adapter: openai\n    url: " + url + "/v1/\n    models: {policy: policy}\n    limits: {concurrency: 1, timeout: 20s}\n    attestation: {local: true}\n",
	} {
		path := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestRolloutsKilled kills an agent's run at the boundaries of calls, again while it resumes, and
// in the middle of writing a record: the result is the undisturbed one, a kill costs at most what
// was in hand, and no recorded call is made again.
func TestRolloutsKilled(t *testing.T) {
	still := newPolicyServer(t)
	calm := newAgentBench(t, still.URL)
	code, want, talk := calm.run()
	if code != exitOK || want.Rollouts == nil || want.Calls == nil {
		t.Fatalf("undisturbed: exit %d\n%s", code, talk)
	}
	needed := still.count()
	if want.Rollouts.Rollouts != 3*8 || want.Rollouts.Undetermined != 0 || want.Calls.Run != needed || calm.recorded() != needed || needed < 20 {
		t.Fatalf("%d requests, %d recorded, receipt %+v %+v", needed, calm.recorded(), want.Rollouts, want.Calls)
	}
	if steps := want.Steps; steps.Repeated != 0 || steps.Reused != 0 || steps.Run < 2*3+8 {
		t.Errorf("steps %+v of a first run", steps)
	}
	disturbed := newPolicyServer(t)
	b := newAgentBench(t, disturbed.URL)
	kills, requests, recorded := 0, 0, 0
	for _, at := range []struct {
		point string
		n     int
	}{{"after-reply", needed / 3}, {"before-index-put", 4}, {"after-call-commit", 3}} {
		if b.killedAt(at.point, at.n) {
			kills++
		}
		requests, recorded = disturbed.count(), b.recorded()
	}
	code, got, talk := b.run()
	if code != exitOK {
		t.Fatalf("killed %d times: exit %d\n%s", kills, code, talk)
	}
	lost := requests - recorded
	if kills != 3 || got.ResultDigest != want.ResultDigest || disturbed.count() != needed+lost || lost > kills*inHand {
		t.Errorf("killed %d times: result %s after %d requests, %d of them lost; undisturbed %s after %d",
			kills, got.ResultDigest, disturbed.count(), lost, want.ResultDigest, needed)
	}
	sameCallsBut(t, want, got, kills*inHand)
	if got.Steps.Needed != want.Steps.Needed {
		t.Errorf("steps %+v, undisturbed %+v", got.Steps, want.Steps)
	}
	t.Logf("%d kills over %d calls cost %d requests", kills, needed, lost)
	again := disturbed.count()
	if code, same, _ := b.run(); code != exitOK || same.ResultDigest != want.ResultDigest || disturbed.count() != again {
		t.Errorf("a finished run: exit %d, %d requests more", code, disturbed.count()-again)
	}
	agentVerbs(t, b, got)
	agentLineage(t, b, got)
}

// agentVerbs looks at a finished agent's run with every verb that reads one.
func agentVerbs(t *testing.T, b *bench, r *contract.Receipt) {
	t.Helper()
	sets := fmt.Sprint(len(r.RolloutSets))
	for _, v := range []struct {
		args []string
		want []string
	}{
		{[]string{"status"}, []string{r.Reproduction, "xragent-test", "done"}},
		{[]string{"status", r.Reproduction}, []string{"Right answers", "rollouts", "24 = 24 done"}},
		{[]string{"receipt", r.Reproduction}, []string{"tool: ", "model: "}},
		{[]string{"report", r.Reproduction}, []string{"| policy | arm |", "Simulated", `force\_all`}},
		{[]string{"report", r.Reproduction, "--format", "csv"}, []string{"direct.v4"}},
		{[]string{"report", r.Reproduction, "--format", "html", "--out", "page.html"}, []string{"page.html"}},
		{[]string{"report", r.Reproduction, "--json"}, []string{`"complete":true`, `"simulated":true`}},
		{[]string{"verify", r.Reproduction}, []string{sets + " sets of rollouts from their pages", sets + " of " + sets + " sets of rollouts from the records"}},
	} {
		code, out, talk := b.ask(v.args...)
		if code != exitOK {
			t.Errorf("%v: exit %d\n%s%s", v.args, code, out, talk)
		}
		for _, w := range v.want {
			if !strings.Contains(out, w) {
				t.Errorf("%v: %q is not in\n%s", v.args, w, out)
			}
		}
	}
}

// agentLineage walks from a set of rollouts down to pictures, and from a picture up to rollouts.
func agentLineage(t *testing.T, b *bench, r *contract.Receipt) {
	t.Helper()
	code, out, talk := b.ask("artifacts", "cat", r.Questions.Digest.String())
	var q contract.Questions
	if err := json.Unmarshal([]byte(out), &q); code != exitOK || err != nil {
		t.Fatalf("question set: exit %d, %v\n%s", code, err, talk)
	}
	for _, v := range []struct {
		digest, way string
		want        []string
	}{
		{r.RolloutSets[0].Digest.Hex(), "--down", []string{"page of rollouts", "calls", "observation", "measurement", "picture", "policy"}},
		{q.Items[0].Pictures[0].Image.Digest.Hex(), "--up", []string{"measurement", "calls", "page of rollouts"}},
	} {
		code, out, talk := b.ask("lineage", v.digest[:16], v.way)
		for _, w := range v.want {
			if code != exitOK || !strings.Contains(out, w) {
				t.Errorf("lineage %s: exit %d, %q is not in\n%s%s", v.way, code, w, out, talk)
			}
		}
	}
}

// TestRolloutsUndetermined: an endpoint that fails leaves rollouts undetermined, never wrong, and
// the same command asks what is missing; one without money left pauses the run.
func TestRolloutsUndetermined(t *testing.T) {
	s := newPolicyServer(t)
	b := newAgentBench(t, s.URL)
	s.fail = func(_ int, system string) int {
		if !strings.Contains(system, "tool_call") {
			return http.StatusInternalServerError // direct prompts alone
		}
		return 0
	}
	code, first, talk := b.run("--call-patience", "2s")
	if code != exitQuarantined || first.Rollouts.Undetermined != 8 || first.Rollouts.Done != 16 || !strings.Contains(talk, "8 rollouts are undetermined") {
		t.Fatalf("exit %d, receipt %+v\n%s", code, first, talk)
	}
	s.fail = func(n int, _ string) int { return http.StatusPaymentRequired }
	if code, _, talk := b.run(); code != exitPaused || !strings.Contains(talk, "paused: ") {
		t.Fatalf("out of money: exit %d\n%s", code, talk)
	}
	s.fail = nil
	asked := s.count()
	code, got, talk := b.run()
	if code != exitOK || got.Reproduction != first.Reproduction || got.Rollouts.Undetermined != 0 || s.count()-asked != 8 {
		t.Fatalf("exit %d after %d requests more, receipt %+v\n%s", code, s.count()-asked, got, talk)
	}
}
