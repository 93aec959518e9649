package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/responder"
	"cxrepro/worker"
)

// asked is an evaluation lab with the SDK's test environment and the real activities.
type asked struct {
	*evaltest.Lab
	t      *testing.T
	tuning contract.Tuning
}

func newAsked(t *testing.T, store *artifacts.Repository, o evaltest.Options) *asked {
	t.Helper()
	return &asked{Lab: evaltest.New(t, store, o), t: t, tuning: contract.DefaultTuning()}
}

func (a *asked) env() *testsuite.TestWorkflowEnvironment {
	a.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(2 * time.Minute)
	worker.Register(env)
	acts, err := activities.New(activities.Options{
		Store: a.Store, Owner: artifacts.Owner{Worker: "tester"}, Now: time.Now, Endpoint: a.Endpoint, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	r := registry{env}
	acts.RegisterCPU(r)
	acts.RegisterAsk(r)
	return env
}

// run runs the reproduction and returns its receipt and tables.
func (a *asked) run() (contract.Receipt, contract.EvaluationSummary) {
	a.t.Helper()
	env := a.env()
	env.ExecuteWorkflow(contract.Reproduction.Name, a.Input("test", a.tuning))
	r := a.ended(env)
	var s contract.EvaluationSummary
	a.get(r.Tables, &s)
	return r, s
}

func (a *asked) get(ref artifacts.Ref, v any) {
	a.t.Helper()
	data, err := a.Store.Get(context.Background(), ref)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		a.t.Fatal(err)
	}
}

// mixed answers differently from case to case; guided never knows, and succeeds under guidance.
func mixed(name string) responder.Model {
	return responder.Model{Name: name, Behaviour: responder.Rates, Tables: map[string]map[string]responder.Table{"all": {"all": {
		Path1:   &responder.Numbers{Cases: 100, Unknown: 40, Initial: 40, Criteria: 50, Rejected: 10, Structures: 30, Measurement: 24, Final: 18, Consistent: 12},
		Path2:   &responder.Numbers{Cases: 50, Structures: 45, Measurement: 40, Final: 36, Consistent: 30},
		RePath1: &responder.Numbers{Cases: 36, Initial: 30, Criteria: 26, Structures: 22, Measurement: 20, Final: 15, Consistent: 12},
	}}}}
}

var judge = responder.Model{Name: evaltest.JudgeCard, Behaviour: responder.Judge}

// TestEvaluation asks two simulated models in both ways of sampling, judged, and again: every
// call is made once, the account fits what the endpoint counted, and a second run asks nothing.
func TestEvaluation(t *testing.T) {
	a := newAsked(t, memstore.Open(), evaltest.Options{
		Cases: 5, Models: []responder.Model{mixed("mixed"), {Name: "oracle", Behaviour: responder.Oracle}}, Judge: &judge,
		Sampling: []string{"greedy", "draws3"},
	})
	r, s := a.run()
	n := a.Responder.Counts()
	if r.Calls == nil || r.Calls.Run != int(n.Requests) || n.Repeated != 0 || r.Calls.Attempts != r.Calls.Run || r.Calls.Needed <= r.Calls.Run {
		t.Errorf("calls %+v, the endpoint counted %+v", r.Calls, n)
	}
	if r.Tokens == nil || r.Tokens.Prompt != n.PromptTokens || r.Tokens.Completion != n.CompletionTokens {
		t.Errorf("tokens %+v, the endpoint counted %d and %d", r.Tokens, n.PromptTokens, n.CompletionTokens)
	}
	if d := r.Dialogues; d == nil || d.Undetermined != 0 || d.Done < 2*2*2*5+2 || contract.Total(d.Calls) != r.Calls.Needed {
		t.Errorf("dialogues %+v, calls %+v", d, r.Calls)
	}
	if len(s.Evaluations) != 4 || r.Tables.IsZero() || len(r.Evaluations) != 4 || r.Incomplete() {
		t.Errorf("%d evaluations, tables %s, %d documents", len(s.Evaluations), r.Tables, len(r.Evaluations))
	}
	// The receipt is recorded, so a further run would find it; the workflow itself reuses
	// everything.
	again, _ := a.run()
	if m := a.Responder.Counts(); m.Requests != n.Requests || again.ResultDigest != r.ResultDigest {
		t.Errorf("a second run asked %d calls more; result %s, first %s", m.Requests-n.Requests, again.ResultDigest, r.ResultDigest)
	}
}

// guided has everybody guided, and most succeed: Path 2 and the re-evaluation are as long as
// they can be.
func guided(name string) responder.Model {
	return responder.Model{Name: name, Behaviour: responder.Rates, Tables: map[string]map[string]responder.Table{"all": {"all": {
		Path1:   &responder.Numbers{Cases: 100, Unknown: 60, Initial: 30, Criteria: 30, Structures: 25, Measurement: 22, Final: 20, Consistent: 15},
		Path2:   &responder.Numbers{Cases: 60, Structures: 58, Measurement: 56, Final: 54, Consistent: 50},
		RePath1: &responder.Numbers{Cases: 54, Initial: 50, Criteria: 48, Structures: 44, Measurement: 42, Final: 40, Consistent: 38},
	}}}}
}

// small is an evaluation in which every part of the protocol happens.
func small() evaltest.Options {
	return evaltest.Options{Cases: 4, Models: []responder.Model{guided("guided")}, Judge: &judge}
}

// requests is how many the endpoint got.
func (a *asked) requests() int { return int(a.Responder.Counts().Requests) }

// everyCall, if set, has tests stop evaluations at every call instead of at a few.
const everyCall = "CXREPRO_EVERY_CALL"

// TestEvaluationCancelled ends the reproduction at a call and twice on the way of its resumption:
// the result is the undisturbed one, and no call is ever made twice.
func TestEvaluationCancelled(t *testing.T) {
	calm := newAsked(t, memstore.Open(), small())
	want, _ := calm.run()
	needed := calm.requests()
	if needed < 60 {
		t.Fatalf("%d calls, want more", needed)
	}
	step := needed / 3
	if os.Getenv(everyCall) != "" {
		step = 1
	}
	for at := 1; at < needed; at += step {
		a := newAsked(t, memstore.Open(), small())
		for _, stop := range []int{at, 3, 3} {
			env, n := a.env(), 0
			env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, err error) {
				if info.ActivityType.Name == contract.Ask.Name && err == nil {
					if n++; n == stop {
						env.CancelWorkflow()
					}
				}
			})
			env.ExecuteWorkflow(contract.Reproduction.Name, a.Input("test", a.tuning))
			var cancelled *temporal.CanceledError
			if err := env.GetWorkflowError(); err != nil && !errors.As(err, &cancelled) {
				t.Fatal(err)
			}
		}
		r, _ := a.run()
		if n := a.Responder.Counts(); r.ResultDigest != want.ResultDigest || n.Repeated != 0 || int(n.Requests) != needed {
			t.Errorf("stopped at call %d and twice on the way: result %s after %d requests, %d of them again; undisturbed %s after %d",
				at, r.ResultDigest, n.Requests, n.Repeated, want.ResultDigest, needed)
		}
	}
}

// TestEvaluationReversed lists the cases the other way round: same questions, same population,
// same result.
func TestEvaluationReversed(t *testing.T) {
	a := newAsked(t, memstore.Open(), small())
	want, _ := a.run()
	o := small()
	o.Reversed = true
	b := newAsked(t, memstore.Open(), o)
	b.tuning.Calls.Open, b.tuning.Calls.Tasks = 1, 1
	if got, _ := b.run(); got.ResultDigest != want.ResultDigest {
		t.Errorf("reversed %s, want %s", got.ResultDigest, want.ResultDigest)
	}
}

// TestEvaluationReadings runs the evaluation without a judge, and under the released programs'
// reading with draws that do not agree: no call of a judge in the one, no case lost in the other.
func TestEvaluationReadings(t *testing.T) {
	o := brief()
	o.Judge = nil
	parsed := newAsked(t, memstore.Open(), o)
	r, _ := parsed.run()
	if kinds := parsed.Responder.Counts().Kinds; kinds["judge"]+kinds["extract"] != 0 || kinds["model"] == 0 || r.Incomplete() {
		t.Errorf("calls %v, dialogues %+v", kinds, r.Dialogues)
	}
	for _, d := range parsed.dialogues(&r) {
		for i, turn := range d.Turns {
			for k, draw := range turn.Draws {
				if s := d.State.Turns[d.State.Replayed+i].Draws[k]; s.Terminal == 0 && draw.Parsed != s.Score || !draw.Verdict.IsZero() {
					t.Errorf("case %d, %s: parsed %s, scored %s", d.Case, turn.Key, draw.Parsed, s.Score)
				}
			}
		}
	}
	o = brief()
	o.Preset, o.Sampling = "as_released", []string{"draws3"}
	o.Models[0].Dissent = 0.5
	released := newAsked(t, memstore.Open(), o)
	r, _ = released.run()
	reviews := 0
	for _, d := range released.dialogues(&r) {
		if d.Review >= 0 && len(d.State.Turns) > d.State.Replayed+5 {
			reviews++
		}
	}
	if r.Incomplete() || reviews == 0 || released.Responder.Counts().Repeated != 0 {
		t.Errorf("dialogues %+v, %d with a long re-evaluation", r.Dialogues, reviews)
	}
}

// TestTouchedCalls changes one thing of a card at a time, on the store of a finished evaluation:
// exactly the calls that depend on it are made again. The responder's wording follows from the
// body of a request: where that stays, the judge is asked about the same replies.
func TestTouchedCalls(t *testing.T) {
	store := memstore.Open()
	first := newAsked(t, store, brief())
	want, _ := first.run()
	kinds := first.Responder.Counts().Kinds
	models, judges := kinds["model"], kinds["judge"]+kinds["extract"]
	for _, c := range []struct {
		name          string
		card          string
		change        func(c *experiments.ModelCard)
		models, judge int64
	}{
		{"nothing but the address", "guided", func(*experiments.ModelCard) {}, 0, 0},
		{"title and note", "guided", func(c *experiments.ModelCard) { c.Title, c.Note = "another title", "seen" }, 0, 0},
		{"a decoding parameter", "guided", func(c *experiments.ModelCard) { c.Greedy.MaxTokens = 500 }, models, -1},
		{"the snapshot", "guided", func(c *experiments.ModelCard) { c.Identity.Snapshot = "later" }, models, 0},
		{"the picture rule", "guided", func(c *experiments.ModelCard) { c.Pictures = "long1024" }, models, 0},
		{"the judge's snapshot", evaltest.JudgeCard, func(c *experiments.ModelCard) { c.Identity.Snapshot = "later" }, 0, judges},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := brief()
			o.Change = func(card *experiments.ModelCard) {
				if card.Name == c.card {
					c.change(card)
				}
			}
			a := newAsked(t, store, o)
			r, _ := a.run()
			kinds := a.Responder.Counts().Kinds
			if m, j := kinds["model"], kinds["judge"]+kinds["extract"]; m != c.models || (j != c.judge && c.judge >= 0) {
				t.Errorf("%d calls of the model and %d of the judge were made, want %d and %d", m, j, c.models, c.judge)
			}
			if r.Dialogues.Done != want.Dialogues.Done || r.Calls.Needed != want.Calls.Needed {
				t.Errorf("dialogues %+v, calls %+v", r.Dialogues, r.Calls)
			}
		})
	}
}
