package inprocess

import (
	"log/slog"
	"testing"
	"time"

	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/evaltest"
	"cxrepro/worker"
)

// registry lets the test environment take activities as a worker does.
type registry struct {
	*testsuite.TestWorkflowEnvironment
}

var _ sdkworker.ActivityRegistry = registry{}

// Run runs a lab's reproduction into its store and returns the receipt.
func Run(t testing.TB, lab *evaltest.Lab) artifacts.Ref {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(2 * time.Minute)
	// A machine that is busy with other things is no deadlock.
	env.SetWorkerOptions(sdkworker.Options{DeadlockDetectionTimeout: time.Minute})
	worker.Register(env)
	acts, err := activities.New(activities.Options{
		Store: lab.Store, Owner: artifacts.Owner{Worker: "tester"}, Now: time.Now, Endpoint: lab.Endpoint, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	acts.RegisterCPU(registry{env})
	acts.RegisterAsk(registry{env})
	env.ExecuteWorkflow(contract.Reproduction.Name, lab.Input("test", contract.DefaultTuning()))
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	var out contract.ReproductionResult
	if err := env.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	return out.Receipt
}
