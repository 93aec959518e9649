package workflows_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
	"cxrepro/worker"
)

// lab is a store with a planned experiment over golden cases, and the ways to run it with
// the SDK's test environment and the real activities.
type lab struct {
	t     *testing.T
	store *artifacts.Repository
	data  map[string]fs.FS
	plan  artifacts.Ref
	spec  *experiments.Spec
	// wrap, if set, replaces activities in an environment.
	wrap func(env *testsuite.TestWorkflowEnvironment, acts *activities.Activities)
	name string
	// engine is the model of a plan that has one; copyInputs is the worker's.
	engine     func(context.Context, *experiments.Plan) (*activities.Engine, error)
	copyInputs bool
}

func newLab(t *testing.T, cases int, sets ...string) *lab {
	t.Helper()
	l := &lab{t: t, store: memstore.Open(), name: "tester"}
	l.data = map[string]fs.FS{"golden-cases": casedata.FS(casedata.Files(t, cases))}
	l.replan(sets...)
	return l
}

// replan plans the experiment anew, on the same store.
func (l *lab) replan(sets ...string) {
	l.t.Helper()
	var err error
	if l.spec, err = experiments.Parse("golden.yaml", []byte(casedata.Spec), sets...); err != nil {
		l.t.Fatal(err)
	}
	p, err := experiments.NewPlan(l.spec, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	text, err := p.Encode()
	if err != nil {
		l.t.Fatal(err)
	}
	if l.plan, err = l.store.Put(context.Background(), text, experiments.PlanMediaType); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) common() contract.Common {
	t := contract.DefaultTuning()
	t.Page, t.Shard = 2, 3
	return contract.Common{Plan: l.plan, Spec: contract.SpecID(l.plan.Digest), Paper: l.spec.Paper, DataUse: l.spec.Dataset.DataUse, Queue: "test", Tuning: t}
}

// env returns a fresh test environment with workflows and activities.
func (l *lab) env() *testsuite.TestWorkflowEnvironment {
	l.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(2 * time.Minute)
	worker.Register(env)
	acts, err := activities.New(activities.Options{
		Store: l.store, Owner: artifacts.Owner{Worker: l.name}, Now: time.Now, Data: l.data, Engine: l.engine, CopyInputs: l.copyInputs, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	r := registry{env}
	acts.RegisterCPU(r)
	acts.RegisterGPU(r)
	if l.wrap != nil {
		l.wrap(env, acts)
	}
	return env
}

// ingest runs IngestDataset.
func (l *lab) ingest() contract.IngestResult {
	l.t.Helper()
	var out contract.IngestResult
	env := l.env()
	env.ExecuteWorkflow(contract.IngestDataset.Name, contract.IngestInput{Common: l.common()})
	if err := env.GetWorkflowError(); err != nil {
		l.t.Fatal(err)
	}
	if err := env.GetWorkflowResult(&out); err != nil {
		l.t.Fatal(err)
	}
	return out
}

func (l *lab) input(in contract.IngestResult) contract.ReproductionInput {
	return contract.ReproductionInput{Common: l.common(), Reproduction: in.Manifest.Reproduction, Ingest: in, Launched: time.Now()}
}

// run runs ingest and reproduction and returns the receipt and the summary.
func (l *lab) run() (contract.Receipt, contract.Summary) {
	l.t.Helper()
	in := l.input(l.ingest())
	env := l.env()
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	return l.receipt(env)
}

func (l *lab) receipt(env *testsuite.TestWorkflowEnvironment) (contract.Receipt, contract.Summary) {
	l.t.Helper()
	if err := env.GetWorkflowError(); err != nil {
		l.t.Fatal(err)
	}
	var out contract.ReproductionResult
	if err := env.GetWorkflowResult(&out); err != nil {
		l.t.Fatal(err)
	}
	var r contract.Receipt
	l.get(out.Receipt, &r)
	if wrong := r.Check(); len(wrong) > 0 {
		l.t.Errorf("receipt: %v", wrong)
	}
	var s contract.Summary
	l.get(r.Summary, &s)
	return r, s
}

func (l *lab) get(ref artifacts.Ref, v any) {
	l.t.Helper()
	data, err := l.store.Get(context.Background(), ref)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		l.t.Fatal(err)
	}
}

// registry passes activities to a test environment.
type registry struct {
	*testsuite.TestWorkflowEnvironment
}

var _ sdkworker.ActivityRegistry = registry{}

// quiet drops the SDK's talk.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
