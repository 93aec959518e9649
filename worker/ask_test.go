package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/endpoint"
)

// asking is a server of workflows, a model endpoint, and one question.
type asking struct {
	*lab
	url      string
	requests atomic.Int64
	// refuse is how many requests are refused at first, last when the last one came.
	refuse, last atomic.Int64
	plan         experiments.Plan
	in           contract.AskInput
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	conn := server(t)
	a := &asking{lab: &lab{t: t, client: conn.Client, store: memstore.Open()}}
	var cancel context.CancelFunc
	a.ctx, cancel = context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := a.requests.Add(1)
		a.last.Store(time.Now().UnixNano())
		if n <= a.refuse.Load() {
			w.Header().Set("Retry-After", "4")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"(a)"}}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`)
	}))
	t.Cleanup(s.Close)
	a.url = s.URL
	cold, seed := 0.7, int64(0)
	a.plan = experiments.Plan{Format: "cxrepro-plan-1", Models: []experiments.ModelCard{{
		Name: "model-a", Adapter: lvlm.OpenAI, Identity: lvlm.Identity{Weights: artifacts.Sum([]byte("w"))}, Pictures: "original",
		Draws: &lvlm.Decoding{Temperature: &cold, Seed: &seed},
	}}}
	a.plan.Spec.Preset = "corrected"
	a.plan.Spec.Evaluation = &experiments.Evaluation{Scoring: experiments.ScoringParser, Sampling: []string{experiments.Draws3}}
	key := cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageFinal}
	options := []cxreasonbench.Option{{Letter: "a", Text: "Yes", Means: "yes"}, {Letter: "b", Text: "No", Means: "no"}}
	doc := contract.CaseDoc{Format: contract.CaseDocFormat, Task: chexstruct.Rotation, ID: "c", Items: []cxreasonbench.Item{{
		Task: chexstruct.Rotation, Case: "c", Path: key.Path, Stage: key.Stage, Format: cxreasonbench.FormatBasic,
		Questions: []cxreasonbench.Question{{Key: key, Text: "Well?", Options: options, Rule: cxreasonbench.AllOf, Accepted: []string{"a"}, Answer: "(a) Yes"}},
	}}}
	b := contract.Benchmark{Format: contract.BenchmarkFormat, DataUse: "synthetic", Cases: []contract.BenchmarkCase{{Task: chexstruct.Rotation, ID: "c", Doc: a.put(doc, contract.CaseMediaType)}}}
	a.in = contract.AskInput{Plan: a.put(a.plan, experiments.PlanMediaType), Benchmark: a.put(b, contract.BenchmarkMediaType), Reproduction: "r",
		Call: cxreasonbench.Call{Kind: cxreasonbench.CallModel, Key: key}}
	w := worker.New(a.client, "asking", worker.Options{})
	w.RegisterWorkflowWithOptions(askMany, workflow.RegisterOptions{Name: "askMany"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return a
}

func (a *asking) put(v any, mediaType string) artifacts.Ref {
	a.t.Helper()
	data, err := artifacts.Canonical(v)
	if err != nil {
		a.t.Fatal(err)
	}
	ref, err := a.store.Put(a.ctx, data, mediaType)
	if err != nil {
		a.t.Fatal(err)
	}
	return ref
}

// askMany asks for some draws at a time.
func askMany(ctx workflow.Context, in contract.AskInput, from, count int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: contract.QueueAsk("ask", "model-a"), StartToCloseTimeout: 10 * time.Second, ScheduleToCloseTimeout: time.Minute,
		HeartbeatTimeout: 5 * time.Second, RetryPolicy: &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 1},
	})
	var calls []workflow.Future
	for i := range count {
		mine := in
		mine.Call.Draw = from + i
		calls = append(calls, workflow.ExecuteActivity(ctx, contract.Ask.Name, mine))
	}
	var failed []error
	for _, c := range calls {
		failed = append(failed, c.Get(ctx, nil))
	}
	return errors.Join(failed...)
}

func (a *asking) ask(from, count int) error {
	a.t.Helper()
	run, err := a.client.ExecuteWorkflow(a.ctx, client.StartWorkflowOptions{TaskQueue: "asking"}, "askMany", a.in, from, count)
	if err != nil {
		a.t.Fatal(err)
	}
	return run.Get(a.ctx, nil)
}

// worker starts a worker for the endpoint and stops it with the test.
func (a *asking) worker(name string, change func(*Options)) *Worker {
	a.t.Helper()
	set, err := endpoint.Parse("endpoints.yaml", fmt.Appendf(nil, `endpoints:
  - name: here
    adapter: openai
    url: %s/v1/
    credential_env: KEY_OF_TEST
    models: {model-a: served}
    limits: {concurrency: 8, timeout: 5s}
`, a.url))
	if err != nil {
		a.t.Fatal(err)
	}
	o := Options{Client: a.client, Store: a.store, Name: name, Queue: "ask", NoCPU: true, NoGPU: true, Cache: a.t.TempDir(), Endpoints: set, Lease: 5 * time.Second,
		Getenv: func(string) string { return "sk-test" }}
	change(&o)
	w, err := Start(o)
	if err != nil {
		a.t.Fatal(err)
	}
	return w
}

func (a *asking) stop(w *Worker) {
	a.t.Helper()
	if err := w.Stop(); err != nil {
		a.t.Error(err)
	}
}

// makers counts records by the worker that made them.
func (a *asking) makers() map[string]int {
	a.t.Helper()
	out := map[string]int{}
	err := a.store.Bucket().List(a.ctx, "index/"+contract.StepCall+"/", "", func(i artifacts.Info) error {
		data, _, err := a.store.Bucket().Read(a.ctx, i.Name)
		if err != nil {
			return err
		}
		var stored struct {
			Inline json.RawMessage `json:"inline"`
		}
		if err := json.Unmarshal(data, &stored); err != nil {
			return err
		}
		e, err := ledger.ReadEntry(artifacts.Record{}, stored.Inline)
		out[e.Invocation.Worker]++
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}

// TestOneWorkerAsks: of two workers with one endpoint and credential one asks, and the other goes
// on when it stops.
func TestOneWorkerAsks(t *testing.T) {
	a := newAsking(t)
	first := a.worker("first", func(*Options) {})
	if err := a.ask(0, 4); err != nil {
		t.Fatal(err)
	}
	second := a.worker("second", func(*Options) {})
	defer a.stop(second)
	// Long enough that the second one looks for the lease several times.
	for from := 4; from < 40; from += 12 {
		if err := a.ask(from, 12); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
	if got := a.makers(); got["first"] != 40 || len(got) != 1 {
		t.Errorf("records by worker: %v", got)
	}
	a.stop(first)
	begin := time.Now()
	if err := a.ask(40, 10); err != nil {
		t.Fatal(err)
	}
	if got := a.makers(); got["second"] != 10 || a.requests.Load() != 50 {
		t.Errorf("records by worker %v after %d requests", got, a.requests.Load())
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("the second worker took over after %s", d)
	}
	// Asked again, all of it comes from the ledger.
	if err := a.ask(0, 50); err != nil || a.requests.Load() != 50 {
		t.Errorf("%v, %d requests", err, a.requests.Load())
	}
}

// TestNextHolderWaits: what an endpoint asked the last holder for is not forgotten with it.
func TestNextHolderWaits(t *testing.T) {
	a := newAsking(t)
	a.refuse.Store(1)
	first := a.worker("first", func(*Options) {})
	run, err := a.client.ExecuteWorkflow(a.ctx, client.StartWorkflowOptions{TaskQueue: "asking"}, "askMany", a.in, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	for a.requests.Load() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	refused := time.Now()
	time.Sleep(300 * time.Millisecond)
	others := a.requests.Load() - 1 // those that were on their way
	a.stop(first)
	second := a.worker("second", func(*Options) {})
	defer a.stop(second)
	for a.requests.Load() == 1+others {
		time.Sleep(5 * time.Millisecond)
	}
	if d := time.Since(refused); d < 3900*time.Millisecond {
		t.Errorf("the next holder sent a request %s after the refusal", d)
	}
	if err := run.Get(a.ctx, nil); err != nil || a.requests.Load() != 5 {
		t.Errorf("%v after %d requests", err, a.requests.Load())
	}
}

// TestNoCredential: a worker without the credential says so to whoever asks.
func TestNoCredential(t *testing.T) {
	a := newAsking(t)
	w := a.worker("poor", func(o *Options) { o.Getenv = func(string) string { return "" } })
	err := a.ask(0, 1)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || !strings.Contains(err.Error(), contract.ErrTypeEndpointDenied) || !strings.Contains(err.Error(), "KEY_OF_TEST") || a.requests.Load() != 0 {
		t.Errorf("%v after %d requests", err, a.requests.Load())
	}
	a.stop(w)
}

// TestRecorded: what is in the ledger is answered without an endpoint, and nothing else is.
func TestRecorded(t *testing.T) {
	a := newAsking(t)
	w := a.worker("live", func(*Options) {})
	if err := a.ask(0, 3); err != nil {
		t.Fatal(err)
	}
	a.stop(w)
	w = a.worker("replay", func(o *Options) { o.Endpoints, o.Recorded = nil, []string{"model-a"} })
	defer a.stop(w)
	if err := a.ask(0, 3); err != nil || a.requests.Load() != 3 {
		t.Errorf("%v, %d requests", err, a.requests.Load())
	}
	if err := a.ask(3, 1); err == nil || !strings.Contains(err.Error(), contract.ErrTypeEndpoint) || !strings.Contains(err.Error(), "not_in_ledger") || a.requests.Load() != 3 {
		t.Errorf("a call that is not recorded: %v", err)
	}
}

// TestEndpointAndRecorded cannot both be asked for.
func TestEndpointAndRecorded(t *testing.T) {
	set := &endpoint.Set{Endpoints: []endpoint.Card{{Name: "here", Adapter: lvlm.OpenAI, URL: "http://127.0.0.1:1/v1/", Models: map[string]string{"m": "m"}, Limits: endpoint.Limits{Concurrency: 1, Timeout: time.Second}}}}
	if _, err := newAskers(Options{Store: memstore.Open(), Endpoints: set, Recorded: []string{"m"}, Name: "w"}); err == nil {
		t.Error("a model has two ways to be answered")
	}
}
