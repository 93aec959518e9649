package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
)

// beats runs work under a pulse in an activity environment and counts heartbeats.
func beats(t *testing.T, opts Options, work func(p *pulse) error) (n int64, last contract.Beat, err error) {
	t.Helper()
	opts.Store, opts.Owner, opts.Now = memstore.Open(), artifacts.Owner{Worker: "tester"}, time.Now
	opts.Beat = 10 * time.Millisecond
	// The SDK passes only some heartbeats on; the fault point sees them all.
	var count atomic.Int64
	opts.Fault = func(string) { count.Add(1) }
	a, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		if err := details.Get(&last); err != nil {
			t.Error(err)
		}
	})
	fn := func(ctx context.Context) error {
		p := a.beat(ctx, 3)
		defer p.close()
		return work(p)
	}
	env.RegisterActivity(fn)
	_, err = env.ExecuteActivity(fn)
	return count.Load(), last, err
}

// TestStuckWorkStopsTheHeartbeat holds that a heartbeat means progress.
func TestStuckWorkStopsTheHeartbeat(t *testing.T) {
	wait := func(p *pulse) error { time.Sleep(400 * time.Millisecond); return nil }
	stuck, _, err := beats(t, Options{Stall: 60 * time.Millisecond}, wait)
	if err != nil {
		t.Fatal(err)
	}
	slow, _, err := beats(t, Options{Stall: time.Minute}, wait)
	if err != nil {
		t.Fatal(err)
	}
	// Stuck work beats for 60 of 400 ms; slow work within its limit all the time.
	if stuck == 0 || stuck > 10 || slow < 2*stuck {
		t.Errorf("%d heartbeats of stuck work, %d of slow work", stuck, slow)
	}
	_, last, err := beats(t, Options{}, func(p *pulse) error {
		p.step(2)
		time.Sleep(60 * time.Millisecond)
		return nil
	})
	if err != nil || last != (contract.Beat{Done: 2, Total: 3}) {
		t.Errorf("last heartbeat %+v, %v; want 2 of 3", last, err)
	}
}

// TestTakenClaimStopsTheWork: an attempt whose key was taken over must not go on.
func TestTakenClaimStopsTheWork(t *testing.T) {
	_, _, err := beats(t, Options{}, func(p *pulse) error {
		store := p.a.opts.Store
		key := artifacts.Key{Step: "segment", Digest: artifacts.Sum([]byte("k"))}
		claim, err := store.Claim(p.work, key, artifacts.Owner{Worker: "a"}, time.Nanosecond)
		if err != nil {
			return err
		}
		p.hold(claim)
		time.Sleep(time.Millisecond)
		if _, err := store.Claim(p.work, key, artifacts.Owner{Worker: "b"}, time.Minute); err != nil {
			return err
		}
		p.renew()
		if p.work.Err() == nil {
			return errors.New("the work goes on")
		}
		var stale *artifacts.StaleClaimError
		if !errors.As(context.Cause(p.work), &stale) {
			return errors.New("the cause is not the claim")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
