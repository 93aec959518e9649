package workflows_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm/openai"
	"cxrepro/internal/phantom"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
	"cxrepro/internal/xragent/radcot/fixture"
	"cxrepro/worker"
)

const constructionSpec = `name: construction
paper: X-Ragent
preset: corrected
dataset: {name: set, layout: radcot, data_use: synthetic}
masks: {source: onnx, card: masks.yaml, provider: cpu}
agent:
  view: view.yaml
  profile: calibrated
  policies: [{card: teacher.yaml}]
  lookup: book.yaml
  arms: [default]
  sampling: draws
  repeats: 1
  seed: 0
  scorer: strict
  bootstrap: 20
  reward: {lambda_c: 0.2, lambda_t: 0.05, gated: true, malformed_counts_as_wrong: true}
`

// construction is a small candidate set with its plan, and the teacher of the fixture behind a
// real connection.
type construction struct {
	t     *testing.T
	store *artifacts.Repository
	data  map[string]fs.FS
	plan  *derive.Plan
	url   string
	// asked counts the requests that the teacher and the book got.
	asked atomic.Int64
	// place is what the endpoint attests.
	place datause.Attestation
	set   *radcot.Set
}

// memory collects files.
type memory struct{ fstest.MapFS }

func (m memory) WriteFile(name string, data []byte) error {
	m.MapFS[name] = &fstest.MapFile{Data: data}
	return nil
}

func newConstruction(t *testing.T) *construction {
	t.Helper()
	c := &construction{t: t, store: memstore.Open(), place: datause.Attestation{Local: true}}
	files := memory{fstest.MapFS{}}
	if err := fixture.Write(files, fixture.Options{Seed: 5, Studies: 60, Slake: 12, OpenI: 12, Long: 160}); err != nil {
		t.Fatal(err)
	}
	sub := func(name string) fs.FS {
		s, err := fs.Sub(files, name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	labels, err := dataset.OpenLabels(files, fixture.MIMIC+"/mimic-cxr-2.0.0-chexpert.csv", "subject_id", "study_id")
	if err != nil {
		t.Fatal(err)
	}
	src := radcot.Sources{LLaVARad: sub(fixture.LLaVARad), MIMIC: sub(fixture.MIMIC), Labels: labels, Slake: sub(fixture.Slake), OpenI: sub(fixture.OpenI), RadReStruct: sub(fixture.RadReStruct)}
	spec := radcot.DefaultSpec()
	spec.Waiver = "a fixture"
	spec.Amounts = radcot.Amounts{Report: radcot.Amount{Draw: 8, Want: 6}, Choice: radcot.Amount{Draw: 8, Want: 4}, ChoiceRL: radcot.Amount{Draw: 3, Want: 2},
		Closed: radcot.Amount{Draw: 6, Want: 4}, Binary: radcot.Amount{Draw: 6, Want: 4}}
	ex, err := radcot.NewExclusions(src.Slake, nil, spec.Waiver)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := radcot.Gather(spec, src, ex)
	if err != nil {
		t.Fatal(err)
	}
	if c.set, err = radcot.Draw(spec, pool); err != nil {
		t.Fatal(err)
	}
	folders := map[radcot.Source]fs.FS{radcot.SourceMIMIC: src.MIMIC, radcot.SourceSlake: src.Slake, radcot.SourceRadReStruct: src.OpenI}
	err = c.set.Pin(ex, func(at *radcot.Candidate) (artifacts.Ref, error) {
		data, err := fs.ReadFile(folders[at.Source], at.Picture.Path)
		if err != nil {
			return artifacts.Ref{}, err
		}
		h, err := cxr.ReadHeader(bytes.NewReader(data))
		return artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: h.Format.MediaType()}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	exclusions, err := json.Marshal(ex)
	if err != nil {
		t.Fatal(err)
	}
	c.set.Exclusions = artifacts.Sum(exclusions)
	text, err := c.set.Encode()
	if err != nil {
		t.Fatal(err)
	}
	c.data = map[string]fs.FS{
		"set":           fstest.MapFS{activities.CandidatesFile: {Data: text}, activities.ExclusionsFile: {Data: exclusions}},
		"mimic-cxr-jpg": src.MIMIC, "slake": src.Slake, "openi": src.OpenI,
	}
	c.pin()
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(server.Close)
	c.url = server.URL + "/v1/"
	return c
}

// pin stores the plan. The models of masks and view are named by digests of words; what they are
// is the worker's below.
func (c *construction) pin() {
	c.t.Helper()
	spec, err := experiments.Parse("construction.yaml", []byte(constructionSpec))
	if err != nil {
		c.t.Fatal(err)
	}
	model := func(name string) *experiments.Model {
		ref := artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: int64(len(name)), MediaType: "text/plain"}
		return &experiments.Model{Name: name, Card: ref, Weights: ref, Settings: ref.Digest, Preprocessing: "test/1"}
	}
	card := func(name string) *experiments.ModelCard {
		m, err := experiments.ParseModelCard(name+".yaml", []byte("name: "+name+"\ntitle: "+name+` of a fixture
adapter: openai
identity: {provider: fixture, snapshot: `+name+`}
pictures: original
greedy: {temperature: 0, top_p: 1, max_tokens: 512, seed: 0}
draws: {temperature: 0.7, top_p: 0.95, max_tokens: 512, seed: 0}
retries: 1
simulated: true
`))
		if err != nil {
			c.t.Fatal(err)
		}
		return m
	}
	p, err := experiments.Pin(spec, experiments.Pins{Model: model("masks"), View: model("view"), Models: []experiments.ModelCard{*card("teacher")}, Lookup: card("book")})
	if err != nil {
		c.t.Fatal(err)
	}
	data, err := p.Encode()
	if err != nil {
		c.t.Fatal(err)
	}
	ref, err := c.store.Put(context.Background(), data, experiments.PlanMediaType)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.plan, err = derive.NewPlan(p, ref); err != nil {
		c.t.Fatal(err)
	}
}

// serve answers chat completions as the fixture's teacher does; the draw is the seed.
func (c *construction) serve(w http.ResponseWriter, r *http.Request) {
	c.asked.Add(1)
	var body struct {
		Model    string
		Seed     int
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var t dialogue.Transcript
	for _, m := range body.Messages {
		var role dialogue.Role
		_ = role.UnmarshalText([]byte(m.Role)) // an unknown role stays invalid
		out := dialogue.Message{Role: role}
		var text string
		var parts []struct {
			Text  string
			Image struct{ URL string } `json:"image_url"`
		}
		if json.Unmarshal(m.Content, &text) == nil {
			out.Parts = append(out.Parts, dialogue.Part{Text: text})
		} else if json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				if _, data, ok := strings.Cut(p.Image.URL, ";base64,"); ok {
					raw, _ := base64.StdEncoding.DecodeString(data)
					out.Parts = append(out.Parts, dialogue.Part{Image: &artifacts.Ref{Digest: artifacts.Sum(raw)}})
					continue
				}
				out.Parts = append(out.Parts, dialogue.Part{Text: p.Text})
			}
		}
		t.Messages = append(t.Messages, out)
	}
	turn := fixture.Reply(t, body.Seed)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "x", "object": "chat.completion", "created": 1, "model": body.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": turn.FinishReason, "message": map[string]any{"role": "assistant", "content": turn.Text}}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
	})
}

// drawnMasks gives every picture the masks of a phantom, chosen by its pixels.
type drawnMasks struct{}

func (drawnMasks) Segment(_ context.Context, img *cxr.Image) (*anatomy.Masks, error) {
	p, err := phantom.New(7, int(artifacts.Sum(img.Pix)[0])%3, phantom.Options{Aspect: 1}).Picture(img.Width, img.Height)
	if err != nil {
		return nil, err
	}
	return p.Masks, nil
}

func (drawnMasks) View(context.Context, *cxr.Image) (xragent.ViewReading, error) {
	return xragent.AssertedView(cxr.ViewPA), nil
}

func (c *construction) endpoint(name string) (*activities.AskEndpoint, error) {
	asker, err := openai.New(openai.Options{Endpoint: "fixture", URL: c.url, Model: name, Timeout: 10 * time.Second, Concurrency: 16})
	if err != nil {
		return nil, err
	}
	return &activities.AskEndpoint{Name: "fixture", Asker: asker, Gate: limit.New(limit.Options{Limits: limit.Limits{Concurrency: 16}, Now: time.Now}),
		Attestation: c.place, Timeout: 10 * time.Second}, nil
}

// run runs the workflow; wrap, if set, changes activities.
func (c *construction) run(wrap func(env *testsuite.TestWorkflowEnvironment, a *activities.Activities)) (contract.RadCoTResult, error) {
	c.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(3 * time.Minute)
	worker.Register(env)
	a, err := activities.New(activities.Options{
		Store: c.store, Owner: artifacts.Owner{Worker: "tester"}, Now: time.Now, Data: c.data, Endpoint: c.endpoint, Log: slog.New(slog.DiscardHandler),
		Engine: func(context.Context, *experiments.Plan) (*activities.Engine, error) {
			return &activities.Engine{Segmenter: drawnMasks{}, Identity: c.plan.Inference(), Runtime: "test"}, nil
		},
		Viewer: func(context.Context, *experiments.Plan) (*activities.ViewEngine, error) {
			return &activities.ViewEngine{Viewer: drawnMasks{}, Identity: c.plan.View(), Runtime: "test"}, nil
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	r := registry{env}
	a.RegisterCPU(r)
	a.RegisterGPU(r)
	a.RegisterAsk(r)
	if wrap != nil {
		wrap(env, a)
	}
	tuning := contract.DefaultTuning()
	tuning.Calls.Open = 3 // some are in hand when it stops, most are not
	env.ExecuteWorkflow(contract.RadCoT.Name, contract.RadCoTInput{Common: contract.Common{
		Plan: c.plan.Ref, Spec: contract.SpecID(c.plan.Ref.Digest), Paper: "X-Ragent", DataUse: "synthetic", Queue: "test", Tuning: tuning,
	}})
	if err := env.GetWorkflowError(); err != nil {
		return contract.RadCoTResult{}, err
	}
	var out contract.RadCoTResult
	return out, env.GetWorkflowResult(&out)
}

func (c *construction) get(ref artifacts.Ref, v any) {
	c.t.Helper()
	data, err := c.store.Get(context.Background(), ref)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		c.t.Fatal(err)
	}
}

// TestRadCoT holds a whole construction over real calls: it ends with examples of every part; run
// again it asks nothing and gives the same documents; stopped in the middle and taken up again it
// gives them too, and no call is made twice.
func TestRadCoT(t *testing.T) {
	c := newConstruction(t)
	first, err := c.run(nil)
	if err != nil {
		t.Fatal(err)
	}
	requests := c.asked.Load()
	if first.Undetermined != 0 || first.SFT == 0 || first.GRPO == 0 || first.Candidates != len(c.set.Candidates) {
		t.Errorf("result %+v", first)
	}
	var doc contract.RadCoTDoc
	c.get(first.Doc, &doc)
	var calls contract.CallsDoc
	c.get(first.Account, &calls)
	if int64(len(calls.Calls)) != requests {
		t.Errorf("%d requests for %d calls", requests, len(calls.Calls))
	}
	var sheet radcot.Datasheet
	c.get(doc.Datasheet, &sheet)
	if sheet.Overlap != 0 || sheet.SFT != first.SFT {
		t.Errorf("datasheet: overlap %d, %d examples", sheet.Overlap, sheet.SFT)
	}
	data, err := c.store.Get(context.Background(), doc.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := radcot.ReadLedger(data)
	if err != nil || len(ledger.Entries) < first.Candidates {
		t.Errorf("ledger: %v", err)
	}
	for _, f := range doc.Files {
		if f.Ref.Size == 0 {
			t.Errorf("%s is empty", f.Name)
		}
	}
	c.collected(first)
	again, err := c.run(nil)
	if err != nil || again.Doc != first.Doc || c.asked.Load() != requests {
		t.Errorf("again: %v, %d further requests, doc %s and %s", err, c.asked.Load()-requests, first.Doc, again.Doc)
	}

	d := newConstruction(t)
	var begun atomic.Int64
	_, err = d.run(func(env *testsuite.TestWorkflowEnvironment, a *activities.Activities) {
		env.RegisterActivityWithOptions(func(ctx context.Context, in contract.CandidateInput) (contract.CandidateResult, error) {
			out, err := a.BuildCandidate(ctx, in)
			if begun.Add(1) > 9 && err == nil {
				return out, temporal.NewNonRetryableApplicationError("the machine went away", contract.ErrTypeDigest, nil)
			}
			return out, err
		}, activity.RegisterOptions{Name: contract.BuildCandidate.Name, DisableAlreadyRegisteredCheck: true})
	})
	if err == nil {
		t.Fatal("a construction that was stopped says that it is done")
	}
	if n := d.asked.Load(); n == 0 || n >= requests {
		t.Fatalf("%d requests before it stopped, %d in all", n, requests)
	}
	last, err := d.run(nil)
	if err != nil || last.Doc != first.Doc {
		t.Errorf("taken up again: %v, doc %s and %s", err, last.Doc, first.Doc)
	}
	if d.asked.Load() != requests {
		t.Errorf("%d requests with a stop, %d without", d.asked.Load(), requests)
	}
}

// collected collects garbage after a construction: its pin keeps all that it rests on, so that it
// is made again without a request.
func (c *construction) collected(res contract.RadCoTResult) {
	c.t.Helper()
	pin, err := c.store.Pin(context.Background(), contract.RadCoTPinPrefix+res.Reproduction)
	if err != nil || pin.Open {
		c.t.Fatalf("pin of the construction: %+v, %v", pin, err)
	}
	var rests contract.RadCoTRecords
	c.get(res.Records, &rests)
	if len(rests.Candidates) != res.Candidates || len(rests.Candidates[0].Records) == 0 {
		c.t.Errorf("%d candidates rest on records, of %d", len(rests.Candidates), res.Candidates)
	}
	if _, err := c.store.Put(context.Background(), []byte("rubbish"), "text/plain"); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	report, err := c.store.GC(context.Background(), artifacts.GCOptions{Apply: true, Grace: time.Millisecond, Each: func(kind, name string, _ int64) {
		if strings.Contains(name, contract.StepCall) || strings.Contains(name, contract.StepMeasure) || strings.Contains(name, contract.StepTool) {
			c.t.Errorf("%s %s was collected", kind, name)
		}
	}})
	if err != nil || report.Since != (time.Time{}) || len(report.OpenPins) != 0 || report.Blobs.Count == 0 {
		c.t.Errorf("garbage collection: %+v, %v", report, err)
	}
}

// TestRadCoTStaysLocal holds that candidates of credentialed data reach no endpoint that is not
// local, whatever it attests: nothing is sent.
func TestRadCoTStaysLocal(t *testing.T) {
	c := newConstruction(t)
	for i := range c.set.Candidates {
		c.set.Candidates[i].DataUse = datause.Credentialed
	}
	text, err := c.set.Encode()
	if err != nil {
		t.Fatal(err)
	}
	set := c.data["set"].(fstest.MapFS)
	set[activities.CandidatesFile] = &fstest.MapFile{Data: text}
	c.place = datause.Attestation{Class: datause.Credentialed, ZeroRetention: true, NoTraining: true, NoHumanReview: true, Date: time.Now().Format(datause.DateLayout), Reference: "contract 1"}
	_, err = c.run(nil)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != contract.ErrTypeRefused && app.Type() != contract.ErrTypeSpec {
		t.Errorf("error %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "teacher teacher") || !strings.Contains(err.Error(), "lookup book") {
		t.Errorf("refusal %v names not both", err)
	}
	if n := c.asked.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
