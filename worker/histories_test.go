package worker

import (
	"context"
	"fmt"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/proto"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// mimic is the number of frontal images of MIMIC-CXR-JPG.
const mimic = 243334

// TestHistoriesOfMIMIC drives a reproduction of MIMIC-CXR-JPG's size through the real
// workflows on a real server. The activities touch no pixel but answer with as much as real
// ones do, and some fail once. Bars: 4,096 events a history, 64 KiB an event.
func TestHistoriesOfMIMIC(t *testing.T) {
	conn := server(t)
	c := conn.Client
	w := sdk.New(c, contract.QueueCPU("sim"), sdk.Options{MaxConcurrentActivityExecutionSize: 64, StickyScheduleToStartTimeout: time.Second})
	g := sdk.New(c, contract.QueueGPU("sim"), sdk.Options{MaxConcurrentActivityExecutionSize: 64, DisableWorkflowWorker: true})
	Register(w)
	simulate(w)
	simulate(g)
	for _, s := range []sdk.Worker{w, g} {
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
	}
	tuning := contract.DefaultTuning()
	tuning.Shard, tuning.InFlight = 640, 32 // one shard long enough to continue as new
	common := contract.Common{
		Plan: ref("plan"), Spec: "0123456789abcdef", Paper: "a simulation", DataUse: "synthetic", Queue: "sim", Tuning: tuning,
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: contract.LaunchWorkflowID(common.Spec), TaskQueue: contract.QueueCPU("sim")},
		contract.Launch.Name, contract.LaunchInput{Common: common})
	if err != nil {
		t.Fatal(err)
	}
	var launched contract.LaunchResult
	if err := run.Get(ctx, &launched); err != nil {
		t.Fatal(err)
	}
	var out contract.ReproductionResult
	if err := c.GetWorkflow(ctx, contract.ReproductionWorkflowID(launched.Reproduction), "").Get(ctx, &out); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	m := measure(t, ctx, c)
	t.Logf("%d images: %d runs of workflows, %d events in all, %d in the longest history, largest event %d bytes, %s",
		mimic, m.runs, m.events, m.longest, m.largest, took.Round(time.Second))
	if m.longest > 4096 {
		t.Errorf("the longest history has %d events, want at most 4,096", m.longest)
	}
	if m.largest > 64<<10 {
		t.Errorf("the largest event has %d bytes, want at most 64 KiB", m.largest)
	}
	if m.continued == 0 {
		t.Error("no workflow continued as new; the simulation is too short")
	}
}

type measured struct{ runs, events, longest, largest, continued int }

// measure reads every history of the namespace.
func measure(t *testing.T, ctx context.Context, c client.Client) measured {
	t.Helper()
	var m measured
	var page []byte
	for {
		res, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 500, NextPageToken: page})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range res.GetExecutions() {
			m.runs++
			n := 0
			it := c.GetWorkflowHistory(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for it.HasNext() {
				event, err := it.Next()
				if err != nil {
					t.Fatal(err)
				}
				n++
				m.largest = max(m.largest, proto.Size(event))
				if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW {
					m.continued++
				}
			}
			m.events += n
			m.longest = max(m.longest, n)
		}
		if page = res.GetNextPageToken(); len(page) == 0 {
			return m
		}
	}
}

func ref(name string) artifacts.Ref {
	return artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: 123456, MediaType: "application/vnd.cxrepro.simulated+json"}
}

// counts returns as many counts as real chunks can have at most.
func counts(what string, kinds int) []contract.Count {
	var out []contract.Count
	for i := range kinds {
		out = contract.AddCount(out, fmt.Sprintf("%s_of_some_length_%d", what, i), i+1)
	}
	return out
}

func totals(step string, items, kinds int) contract.ChunkTotals {
	return contract.ChunkTotals{
		Items: items, Quarantined: counts("reason", kinds), Notes: counts("note", 2*kinds), Workers: counts("worker", 8),
		Steps:   []contract.StepCount{{Step: step, Needed: items, Run: items, Causes: counts("cause", 5), Bytes: 1 << 20, Busy: 1.25}},
		Started: time.Now(), Ended: time.Now(),
	}
}

// simulate registers activities that do nothing and answer like the real ones.
func simulate(r sdk.ActivityRegistry) {
	const windows = 1180 // 243,334 images in windows cut by prefix, about 206 each
	reg := func(name string, fn any) {
		r.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	reg(contract.ScanTables.Name, func(context.Context, contract.ScanInput) (contract.ScanResult, error) {
		return contract.ScanResult{Rows: ref("rows"), Count: mimic, In: 377110, Filtered: counts("view", 4), Ingest: "i-0123456789abcdef", Lungs: ref("lungs")}, nil
	})
	reg(contract.IngestChunk.Name, func(ctx context.Context, in contract.IngestChunkInput) (contract.ChunkResult, error) {
		if activity.GetInfo(ctx).Attempt == 1 && in.Offset%(50*contract.WindowImages) == 0 {
			return contract.ChunkResult{}, fmt.Errorf("a passing fault")
		}
		return contract.ChunkResult{Output: ref(fmt.Sprint("chunk", in.Offset)), Totals: totals(contract.StepPixelFacts, in.Count, 13)}, nil
	})
	reg(contract.PackRefs.Name, func(_ context.Context, in contract.PackInput) (contract.PackResult, error) {
		return contract.PackResult{List: ref(fmt.Sprint("pack", len(in.Add)))}, nil
	})
	reg(contract.BuildManifest.Name, func(context.Context, contract.ManifestInput) (contract.ManifestResult, error) {
		return contract.ManifestResult{Manifest: ref("manifest"), Reproduction: "fedcba9876543210", Windows: windows, Images: mimic, In: 377110, Filtered: counts("view", 4), Quarantined: counts("reason", 13)}, nil
	})
	reg(contract.FindReceipt.Name, func(context.Context, contract.FindReceiptInput) (contract.FindReceiptResult, error) {
		return contract.FindReceiptResult{}, nil
	})
	window := func(step string) any {
		return func(ctx context.Context, in contract.WindowInput) (contract.ChunkResult, error) {
			if activity.GetInfo(ctx).Attempt == 1 && in.Window%50 == 0 {
				return contract.ChunkResult{}, fmt.Errorf("a passing fault")
			}
			return contract.ChunkResult{Output: ref(fmt.Sprint(step, in.Window)), Totals: totals(step, 206, 0)}, nil
		}
	}
	reg(contract.SegmentChunk.Name, window(contract.StepSegment))
	reg(contract.AssessWindow.Name, window(contract.StepAssess))
	reg(contract.ReconcilePage.Name, func(_ context.Context, in contract.ReconcileInput) (contract.ReconcileResult, error) {
		return contract.ReconcileResult{Keys: in.End - in.Begin}, nil
	})
	reg(contract.Summarise.Name, func(context.Context, contract.SummariseInput) (contract.SummariseResult, error) {
		return contract.SummariseResult{Summary: ref("summary"), Results: ref("results"), ResultDigest: ref("results").Digest, Totals: totals(contract.StepSummarise, 1, 0)}, nil
	})
	reg(contract.WriteReceipt.Name, func(context.Context, contract.ReceiptInput) (contract.ReceiptResult, error) {
		return contract.ReceiptResult{Receipt: ref("receipt")}, nil
	})
}
