package worker

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/responder"
)

// askedPrefix begins the names of recorded histories of evaluations.
const askedPrefix = "asked-"

// askedLab is a server, a worker with endpoints, and a small evaluation.
type askedLab struct {
	*lab
	*evaltest.Lab
}

func newAskedLab(t *testing.T, o evaltest.Options) *askedLab {
	t.Helper()
	conn := server(t)
	l := &lab{t: t, client: conn.Client, store: memstore.Open()}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(context.Background(), 3*time.Minute)
	a := &askedLab{lab: l, Lab: evaltest.New(t, l.store, o)}
	w, err := Start(Options{Client: l.client, Store: l.store, Name: "recorder", Queue: "record", Cache: t.TempDir(), Endpoints: a.Endpoints()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// ask starts the reproduction.
func (a *askedLab) ask(tuning contract.Tuning) string {
	a.t.Helper()
	in := a.Input("record", tuning)
	_, err := a.client.ExecuteWorkflow(a.ctx, client.StartWorkflowOptions{
		ID: contract.ReproductionWorkflowID(in.Reproduction), TaskQueue: contract.QueueCPU("record"),
	}, contract.Reproduction.Name, in)
	if err != nil {
		a.t.Fatal(err)
	}
	return in.Reproduction
}

func (a *askedLab) result(reproduction string) contract.ReproductionResult {
	a.t.Helper()
	var out contract.ReproductionResult
	if err := a.client.GetWorkflow(a.ctx, contract.ReproductionWorkflowID(reproduction), "").Get(a.ctx, &out); err != nil {
		a.t.Fatal(err)
	}
	return out
}

// asked is an evaluation in which every part of the protocol happens.
func asked() evaltest.Options {
	guided := responder.Model{Name: "guided", Behaviour: responder.Rates, Tables: map[string]map[string]responder.Table{"all": {"all": {
		Path1:   &responder.Numbers{Cases: 100, Unknown: 60, Initial: 30, Criteria: 30, Structures: 25, Measurement: 22, Final: 20, Consistent: 15},
		Path2:   &responder.Numbers{Cases: 60, Structures: 58, Measurement: 56, Final: 54, Consistent: 50},
		RePath1: &responder.Numbers{Cases: 54, Initial: 50, Criteria: 48, Structures: 44, Measurement: 42, Final: 40, Consistent: 38},
	}}}}
	return evaltest.Options{Cases: 5, Models: []responder.Model{guided}, Judge: &responder.Model{Name: evaltest.JudgeCard, Behaviour: responder.Judge}}
}

// TestRecordEvaluations runs one evaluation on a real server three ways: paused and cancelled on
// the way with a few events a run, so that dialogues continue as new, again to its end, and a
// last time from the ledger alone. Nothing is asked twice and all results are one. With -update
// it records the histories for the replay tests of package workflows.
func TestRecordEvaluations(t *testing.T) {
	o := asked()
	o.Latency = 20 * time.Millisecond
	a := newAskedLab(t, o)
	tuning := contract.DefaultTuning()
	tuning.Events, tuning.Calls.Open, tuning.Calls.Tasks = 40, 3, 1
	id := a.ask(tuning)
	a.until(30)
	for _, word := range []string{contract.UpdatePause, contract.UpdateResume} {
		if err := a.tell(id, word); err != nil {
			t.Error(err)
		}
		if word == contract.UpdatePause {
			a.quiet()
		}
	}
	a.until(60)
	if err := a.tell(id, contract.UpdateCancel); err != nil {
		t.Error(err)
	}
	if err := a.await(id); err == nil {
		t.Error("a cancelled reproduction ended well")
	}
	a.ask(tuning)
	first := a.result(id)
	n := a.Responder.Counts()
	second := a.result(a.ask(contract.DefaultTuning()))
	if m := a.Responder.Counts(); first.ResultDigest != second.ResultDigest || m.Requests != n.Requests || n.Repeated != 0 {
		t.Errorf("results %s and %s, %d and %d requests, %d of them again", first.ResultDigest, second.ResultDigest, n.Requests, m.Requests, n.Repeated)
	}
	continued := a.count("WorkflowType = 'Dialogues' AND ExecutionStatus = 'ContinuedAsNew'")
	if continued < 3 {
		t.Errorf("%d runs of dialogues continued as new, want more", continued)
	}
	m := measure(t, a.ctx, a.client)
	t.Logf("%d calls: %d runs of workflows, %d events in all, %d in the longest history, largest event %d bytes", n.Requests, m.runs, m.events, m.longest, m.largest)
	record(t, a.ctx, a.client, askedPrefix)
}

// until waits for the endpoint's n-th request.
func (a *askedLab) until(n int64) {
	a.t.Helper()
	for a.Responder.Counts().Requests < n {
		if a.ctx.Err() != nil {
			a.t.Fatalf("%d requests, waiting for %d", a.Responder.Counts().Requests, n)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// quiet holds that a pause ends requests within 5 s.
func (a *askedLab) quiet() {
	a.t.Helper()
	time.Sleep(time.Second)
	before := a.Responder.Counts().Requests
	time.Sleep(time.Second)
	if after := a.Responder.Counts().Requests; after != before {
		a.t.Errorf("%d requests while paused", after-before)
	}
}

func (a *askedLab) count(query string) int {
	a.t.Helper()
	n := 0
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && n == 0; time.Sleep(200 * time.Millisecond) {
		res, err := a.client.CountWorkflow(a.ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
		if err != nil {
			a.t.Fatal(err)
		}
		n = int(res.GetCount())
	}
	return n
}

func (a *askedLab) read(ref artifacts.Ref, v any) {
	a.t.Helper()
	data, err := a.store.Get(a.ctx, ref)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		a.t.Fatal(err)
	}
}
