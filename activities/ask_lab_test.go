package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/datause"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/openai"
)

// secret is planted as the credential of every endpoint of these tests.
const secret = "sk-planted-0123456789abcdef"

// endpoint is a chat-completions server on loopback that answers as a test says and remembers
// what it was sent, and when.
type chatServer struct {
	*httptest.Server
	answer func(n int, r *http.Request, body string) reply
	// model, if set, is the name that replies carry.
	model func() string

	mu     sync.Mutex // guards what follows
	bodies []string
	times  []time.Time
	opened int
}

// reply is what the server says: a text, or a status with a body.
type reply struct {
	text, finish string
	status       int
	header       map[string]string
	body         string
	refusal      string
	wait         time.Duration
}

func serve(t testing.TB, answer func(n int, r *http.Request, body string) reply) *chatServer {
	t.Helper()
	s := &chatServer{answer: answer}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.handle))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.opened++
			s.mu.Unlock()
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *chatServer) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // no whole request
	}
	s.mu.Lock()
	n := len(s.bodies)
	s.bodies = append(s.bodies, string(body))
	s.times = append(s.times, time.Now())
	s.mu.Unlock()
	out := s.answer(n, r, string(body))
	time.Sleep(out.wait)
	for k, v := range out.header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", "application/json")
	if out.status != 0 {
		w.WriteHeader(out.status)
		fmt.Fprint(w, out.body)
		return
	}
	if out.finish == "" {
		out.finish = "stop"
	}
	name := "served-model"
	if s.model != nil {
		name = s.model()
	}
	message := map[string]any{"role": "assistant", "content": out.text}
	if out.refusal != "" {
		message["refusal"], message["content"] = out.refusal, nil
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": fmt.Sprint("chat-", n), "object": "chat.completion", "created": 1, "model": name,
		"choices": []any{map[string]any{"index": 0, "finish_reason": out.finish, "message": message}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
	})
}

func (s *chatServer) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

func (s *chatServer) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// always answers the same.
func always(r reply) func(int, *http.Request, string) reply {
	return func(int, *http.Request, string) reply { return r }
}

// askLab is a benchmark of some cases of one task, a plan over it, and what activities need.
type askLab struct {
	t         testing.TB
	store     *artifacts.Repository
	plan      experiments.Plan
	benchmark contract.Benchmark
	cases     []contract.CaseDoc
	log       bytes.Buffer
	logs      sync.Mutex
}

func dirRepository(t testing.TB, dir string) *artifacts.Repository {
	t.Helper()
	bucket, err := dirstore.Open(dir, dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func newAskLab(t testing.TB) *askLab { return newAskLabIn(t, memstore.Open()) }

func newAskLabIn(t testing.TB, store *artifacts.Repository) *askLab {
	t.Helper()
	temperature := 0.0
	warm, seed := 0.7, int64(0)
	card := experiments.ModelCard{
		Name: "model-a", Title: "Model A", Adapter: lvlm.OpenAI, Identity: lvlm.Identity{Weights: artifacts.Sum([]byte("weights a"))},
		Pictures: "original", Greedy: lvlm.Decoding{Temperature: &temperature, MaxTokens: 200},
		Draws: &lvlm.Decoding{Temperature: &warm, MaxTokens: 200, Seed: &seed}, Retries: 2,
	}
	judge := experiments.ModelCard{
		Name: "judge", Title: "Judge", Adapter: lvlm.OpenAI, Identity: lvlm.Identity{Provider: "p", Snapshot: "judge-1"},
		Pictures: "original", Greedy: lvlm.Decoding{Temperature: &temperature, MaxTokens: 500}, Retries: 1,
	}
	l := &askLab{t: t, store: store}
	l.plan = experiments.Plan{Format: "cxrepro-plan-1", Models: []experiments.ModelCard{card}, Judge: &judge}
	l.plan.Spec.Preset = "corrected"
	l.plan.Spec.Evaluation = &experiments.Evaluation{Scoring: experiments.ScoringJudge, Sampling: []string{experiments.Greedy, experiments.Draws3},
		Paths: []string{"path1"}, Seed: 7}
	l.benchmark = contract.Benchmark{Format: contract.BenchmarkFormat, Source: "build", Rules: "corrected", System: "You read chest radiographs.", DataUse: "synthetic"}
	for i := range 3 {
		l.cases = append(l.cases, l.oneCase(i))
	}
	return l
}

// oneCase has the diagnostic question with a picture and the last question without.
func (l *askLab) oneCase(i int) contract.CaseDoc {
	path := fmt.Sprintf("p%d/s%d/picture.png", i, i)
	options := []cxreasonbench.Option{{Letter: "a", Text: "Yes", Means: "yes"}, {Letter: "b", Text: "No", Means: "no"}, {Letter: "c", Text: "I don't know", Means: "idk"}}
	question := func(stage cxreasonbench.Stage, text string, pictures ...cxreasonbench.Picture) cxreasonbench.Item {
		key := cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: stage}
		return cxreasonbench.Item{Task: chexstruct.Cardiomegaly, Case: fmt.Sprint("case-", i), Path: cxreasonbench.Path1, Stage: stage, Format: cxreasonbench.FormatBasic,
			Questions: []cxreasonbench.Question{{Key: key, Text: text, Pictures: pictures, Options: options, Rule: cxreasonbench.AllOf, Accepted: []string{"a"}, Answer: "(a) Yes"}}}
	}
	return contract.CaseDoc{
		Format: contract.CaseDocFormat, Task: chexstruct.Cardiomegaly, ID: fmt.Sprint("case-", i),
		Items: []cxreasonbench.Item{
			question(cxreasonbench.StageInit, fmt.Sprintf("Case %d: is the heart large?\n(a) Yes\n(b) No\n(c) I don't know", i), cxreasonbench.Picture{Kind: cxreasonbench.Radiograph, Path: path}),
			question(cxreasonbench.StageFinal, fmt.Sprintf("Case %d: and now?\n(a) Yes\n(b) No", i)),
		},
		Pictures: map[string]artifacts.Ref{path: l.put(pixels(i), "image/png")},
	}
}

func pixels(i int) []byte {
	img := image.NewGray(image.Rect(0, 0, 40, 30))
	for p := range img.Pix {
		img.Pix[p] = byte(p*7 + i*13)
	}
	img.Set(3, 3, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func (l *askLab) put(data []byte, mediaType string) artifacts.Ref {
	l.t.Helper()
	ref, err := l.store.Put(context.Background(), data, mediaType)
	if err != nil {
		l.t.Fatal(err)
	}
	return ref
}

func (l *askLab) putJSON(v any, mediaType string) artifacts.Ref {
	l.t.Helper()
	ref, err := putJSON(context.Background(), l.store, v, mediaType)
	if err != nil {
		l.t.Fatal(err)
	}
	return ref
}

// input asks the first question of a case, greedily.
func (l *askLab) input(number int) contract.AskInput {
	l.t.Helper()
	b := l.benchmark
	b.Cases = nil
	for _, c := range l.cases {
		b.Cases = append(b.Cases, contract.BenchmarkCase{Task: c.Task, ID: c.ID, Doc: l.putJSON(c, contract.CaseMediaType)})
	}
	return contract.AskInput{
		Plan: l.putJSON(l.plan, experiments.PlanMediaType), Benchmark: l.putJSON(b, contract.BenchmarkMediaType), Reproduction: "r1",
		Case: number, Call: cxreasonbench.Call{Kind: cxreasonbench.CallModel, Key: cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageInit}},
	}
}

// place is a price and what else an endpoint card may say.
type place struct {
	limits      limit.Limits
	price       ledger.Price
	attestation datause.Attestation
	timeout     time.Duration
	patience    time.Duration
}

type testPrice struct{}

func (testPrice) Cost(u dialogue.Usage) int64 { return 2*u.Prompt + 8*u.Completion }
func (testPrice) Unit() string                { return "USD" }

// endpoint makes what a worker makes of an endpoint card.
func (l *askLab) endpoint(url string, p place) *AskEndpoint {
	l.t.Helper()
	if p.timeout == 0 {
		p.timeout = 20 * time.Second
	}
	client, err := openai.New(openai.Options{Endpoint: "here", URL: url + "/v1/", Model: "served", Key: lvlm.NewSecret(secret), Timeout: p.timeout, Concurrency: 64})
	if err != nil {
		l.t.Fatal(err)
	}
	return &AskEndpoint{Name: "here", Asker: client, Price: p.price, Attestation: p.attestation, Timeout: p.timeout,
		Gate: limit.New(limit.Options{Limits: p.limits, Now: time.Now, Patience: p.patience, Backoff: 50 * time.Millisecond})}
}

func (l *askLab) Write(p []byte) (int, error) {
	l.logs.Lock()
	defer l.logs.Unlock()
	return l.log.Write(p)
}

func (l *askLab) logged() string {
	l.logs.Lock()
	defer l.logs.Unlock()
	return l.log.String()
}

// worker returns the activities of one worker process over an endpoint.
func (l *askLab) worker(name string, e *AskEndpoint, change ...func(*Options)) *Activities {
	l.t.Helper()
	o := Options{Store: l.store, Owner: localhost.New().Owner(artifacts.Owner{Worker: name}), Now: time.Now, Log: slog.New(slog.NewTextHandler(l, nil)),
		Endpoint: func(string) (*AskEndpoint, error) { return e, nil }}
	for _, c := range change {
		c(&o)
	}
	a, err := New(o)
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

// ask runs one attempt of the activity as a worker does, with the errors that a workflow sees.
func ask(a *Activities, in contract.AskInput) (out contract.AskResult, err error) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute)
	a.RegisterAsk(env)
	v, err := env.ExecuteActivity(contract.Ask.Name, in)
	if err != nil {
		return out, err
	}
	return out, v.Get(&out)
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// mustAsk fails the test on an error.
func (l *askLab) mustAsk(a *Activities, in contract.AskInput) contract.AskResult {
	l.t.Helper()
	out, err := ask(a, in)
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// failure returns the error as a workflow sees it.
func failure(t testing.TB, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("%v (%T) is no application error", err, err)
	}
	return app
}

// entry reads the ledger's record of a call.
func (l *askLab) entry(a *Activities, in contract.AskInput) ledger.Entry {
	l.t.Helper()
	q, err := a.asks.question(a, context.Background(), in)
	if err != nil {
		l.t.Fatal(err)
	}
	e, err := ledger.Find(context.Background(), l.store, q.Ledger, q.Retry)
	if err != nil {
		l.t.Fatal(err)
	}
	return e
}

// objects lists every object below a prefix, with its bytes.
func objects(t testing.TB, store *artifacts.Repository, prefix string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := store.Bucket().List(context.Background(), prefix, "", func(i artifacts.Info) error {
		data, _, err := store.Bucket().Read(context.Background(), i.Name)
		out[i.Name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func contains(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
