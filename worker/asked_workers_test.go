package worker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/evaltest"
)

// TestEvaluationWorkers runs one evaluation with one, three and seven workers that all have the
// endpoint, the last time with the cases listed the other way round: one of them holds the lease
// at a time, nothing is asked twice, and Path 2 has the same cases.
func TestEvaluationWorkers(t *testing.T) {
	conn := server(t)
	var want contract.Receipt
	for _, workers := range []int{1, 3, 7} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			o := asked()
			o.Reversed = workers == 7
			store := memstore.Open()
			a := &askedLab{lab: &lab{t: t, client: conn.Client, store: store}, Lab: evaltest.New(t, store, o)}
			var cancel context.CancelFunc
			a.ctx, cancel = context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			queue := fmt.Sprintf("workers-%d", workers)
			for i := range workers {
				w, err := Start(Options{
					Client: conn.Client, Store: store, Name: fmt.Sprintf("worker-%d", i), Queue: queue, Cache: t.TempDir(), Endpoints: a.Endpoints(), NoGPU: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := w.Stop(); err != nil {
						t.Error(err)
					}
				}()
			}
			in := a.Input(queue, contract.DefaultTuning())
			run, err := conn.Client.ExecuteWorkflow(a.ctx, client.StartWorkflowOptions{
				ID: contract.ReproductionWorkflowID(in.Reproduction), TaskQueue: contract.QueueCPU(queue),
			}, contract.Reproduction.Name, in)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			var out contract.ReproductionResult
			if err := run.Get(a.ctx, &out); err != nil {
				t.Fatal(err)
			}
			t.Log("ran ", time.Since(began))
			var got contract.Receipt
			a.read(out.Receipt, &got)
			n := a.Responder.Counts()
			if workers == 1 {
				want = got
			}
			if got.ResultDigest != want.ResultDigest || got.Calls.Run != want.Calls.Run || int(n.Requests) != want.Calls.Run || n.Repeated != 0 {
				t.Errorf("result %s with %+v after %d requests, %d again; with one worker %s with %+v", got.ResultDigest, got.Calls, n.Requests, n.Repeated, want.ResultDigest, want.Calls)
			}
		})
	}
}
