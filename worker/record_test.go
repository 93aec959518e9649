package worker

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
)

var update = flag.Bool("update", false, "record the histories of workflows/testdata/histories anew")

// TestRecordHistories runs reproductions of tiny images on a real server: one in a single
// page, one in pages that continue as new with a pause in between, one that is cancelled.
// With -update it records every history for the replay tests of package workflows:
//
//	go test ./worker -run TestRecordHistories -update
func TestRecordHistories(t *testing.T) {
	l := newLab(t, 600)
	tuning := contract.DefaultTuning()
	if err := l.await(l.start(tuning)); err != nil {
		t.Error(err)
	}
	tuning.Page, tuning.Shard, tuning.Events, tuning.InFlight = 1, 2, 1, 2
	paged := l.start(tuning, "tasks=[inclusion]", "name=paged")
	if err := l.tell(paged, contract.UpdatePause); err != nil {
		t.Error(err)
	}
	if err := l.tell(paged, contract.UpdatePause); err == nil || !strings.Contains(err.Error(), "paused already") {
		t.Errorf("a second pause was answered %v, want a refusal", err)
	}
	if err := l.tell(paged, contract.UpdateResume); err != nil {
		t.Error(err)
	}
	if err := l.await(paged); err != nil {
		t.Error(err)
	}
	cancelled := l.start(tuning, "tasks=[rotation]", "name=cancelled")
	if err := l.tell(cancelled, contract.UpdateCancel); err != nil {
		t.Error(err)
	}
	if err := l.await(cancelled); err == nil {
		t.Error("a cancelled reproduction ended well")
	}
	record(t, l.ctx, l.client, "")
}

// TestPausesWhilePagesTurn pauses and resumes while every window ends a run of its stage: no
// word may be lost between two runs, and none may overtake another. One lost resume leaves
// a stage paused for ever.
func TestPausesWhilePagesTurn(t *testing.T) {
	l := newLab(t, 600)
	tuning := contract.DefaultTuning()
	tuning.Page, tuning.Shard, tuning.Events, tuning.InFlight = 1, 2, 1, 2
	for round := range 6 {
		id := l.start(tuning, "tasks=[inclusion]", fmt.Sprintf("name=round-%d", round))
		for _, word := range []string{contract.UpdatePause, contract.UpdateResume} {
			if err := l.tell(id, word); err != nil {
				t.Errorf("round %d: %s: %v", round, word, err)
			}
		}
		if err := l.await(id); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// lab is a server, a worker and a data set of tiny images.
type lab struct {
	t      *testing.T
	ctx    context.Context
	client client.Client
	store  *artifacts.Repository
}

func newLab(t *testing.T, images int) *lab {
	t.Helper()
	conn := server(t)
	l := &lab{t: t, client: conn.Client, store: memstore.Open()}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(context.Background(), 3*time.Minute)
	w, err := Start(Options{
		Client: l.client, Store: l.store, Name: "recorder", Queue: "record", Cache: t.TempDir(),
		Data: map[string]fs.FS{"golden-cases": casedata.FS(casedata.Tiny(t, images))},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// start launches the tiny experiment and returns its reproduction's id.
func (l *lab) start(tuning contract.Tuning, sets ...string) string {
	l.t.Helper()
	spec, err := experiments.Parse("golden.yaml", []byte(casedata.Spec), append(casedata.TinySets(), sets...)...)
	if err != nil {
		l.t.Fatal(err)
	}
	p, err := experiments.NewPlan(spec, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	text, err := p.Encode()
	if err != nil {
		l.t.Fatal(err)
	}
	plan, err := l.store.Put(l.ctx, text, experiments.PlanMediaType)
	if err != nil {
		l.t.Fatal(err)
	}
	common := contract.Common{Plan: plan, Spec: contract.SpecID(plan.Digest), Paper: spec.Paper, DataUse: spec.Dataset.DataUse, Queue: "record", Tuning: tuning}
	run, err := l.client.ExecuteWorkflow(l.ctx, client.StartWorkflowOptions{ID: contract.LaunchWorkflowID(common.Spec), TaskQueue: contract.QueueCPU("record")},
		contract.Launch.Name, contract.LaunchInput{Common: common})
	if err != nil {
		l.t.Fatal(err)
	}
	var out contract.LaunchResult
	if err := run.Get(l.ctx, &out); err != nil {
		l.t.Fatal(err)
	}
	return out.Reproduction
}

func (l *lab) await(reproduction string) error {
	return l.client.GetWorkflow(l.ctx, contract.ReproductionWorkflowID(reproduction), "").Get(l.ctx, nil)
}

func (l *lab) tell(reproduction, what string) error {
	h, err := l.client.UpdateWorkflow(l.ctx, client.UpdateWorkflowOptions{
		WorkflowID: contract.ReproductionWorkflowID(reproduction), UpdateName: what, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return h.Get(l.ctx, nil)
}

// recorded is how many histories of one kind of workflow are kept.
const recorded = 12

// prefixOf is the prefix of a recorded history's name, empty for reproductions.
func prefixOf(name string) string {
	for _, prefix := range []string{askedPrefix, trainedPrefix} {
		if strings.HasPrefix(name, prefix) {
			return prefix
		}
	}
	return ""
}

// record writes every history of the namespace, by workflow type and number, below a prefix.
func record(t *testing.T, ctx context.Context, c client.Client, prefix string) {
	t.Helper()
	res, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 500})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.GetExecutions()) < 12 {
		t.Errorf("%d runs of workflows, want at least 12", len(res.GetExecutions()))
	}
	if !*update {
		return
	}
	dir := filepath.Join("..", "workflows", "testdata", "histories")
	old, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		base := filepath.Base(name)
		if prefixOf(base) == prefix && !strings.HasPrefix(base, "bad-") {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int{}
	for i := len(res.GetExecutions()) - 1; i >= 0; i-- {
		e := res.GetExecutions()[i]
		var h historypb.History
		it := c.GetWorkflowHistory(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for it.HasNext() {
			event, err := it.Next()
			if err != nil {
				t.Fatal(err)
			}
			h.Events = append(h.Events, event)
		}
		text, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		var compact any
		if err := json.Unmarshal(text, &compact); err != nil {
			t.Fatal(err)
		}
		if text, err = json.Marshal(compact); err != nil {
			t.Fatal(err)
		}
		kind := strings.ToLower(e.GetType().GetName())
		if numbers[kind]++; numbers[kind] > recorded {
			continue
		}
		name := fmt.Sprintf("%s%s-%02d-%s.json", prefix, kind, numbers[kind], strings.ToLower(e.GetStatus().String()))
		if err := os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
