package activities

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/ledger/limit"
)

// cancelled runs one attempt and cancels the activity after d; stop closes the worker's stop
// channel instead.
func cancelled(t *testing.T, a *Activities, in contract.AskInput, d time.Duration, stop bool) (out contract.AskResult, took time.Duration, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute)
	stopping := make(chan struct{})
	env.SetWorkerStopChannel(stopping)
	begin := time.Now()
	fn := func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		time.AfterFunc(d, func() {
			if stop {
				close(stopping)
			} else {
				cancel()
			}
		})
		out, err = a.Ask(ctx, in)
		return nil // what the SDK makes of the error is not the question here
	}
	env.RegisterActivity(fn)
	if _, err := env.ExecuteActivity(fn); err != nil {
		t.Fatal(err)
	}
	return out, time.Since(begin), err
}

// TestStopping: a request in hand is finished and recorded, whether the activity is cancelled or
// the worker stops; who waits for the endpoint's limits ends at once, and nothing is sent.
func TestStopping(t *testing.T) {
	for _, stop := range []bool{false, true} {
		l := newAskLab(t)
		s := serve(t, always(reply{text: "(a)", wait: 500 * time.Millisecond}))
		e := l.endpoint(s.URL, place{})
		a := l.worker("one", e)
		out, _, err := cancelled(t, a, l.input(0), 100*time.Millisecond, stop)
		if err != nil || out.Score != cxreasonbench.Right {
			t.Errorf("stop %t: a request in hand ended with %+v, %v", stop, out, err)
		}
		if recorded := objects(t, l.store, "index/"+contract.StepCall+"/"); len(recorded) != 1 || len(objects(t, l.store, "claims/")) != 0 {
			t.Errorf("stop %t: %d records", stop, len(recorded))
		}
		e.Gate.Close(time.Now().Add(15 * time.Second))
		_, took, err := cancelled(t, a, l.input(1), 50*time.Millisecond, stop)
		want := context.Canceled
		if stop {
			want = errDraining
		}
		if !errors.Is(err, want) || took > 3*time.Second || s.requests() != 1 || len(objects(t, l.store, "claims/")) != 0 {
			t.Errorf("stop %t: who waits ended after %s with %v, %d requests", stop, took, err, s.requests())
		}
	}
}

// TestLostLease: without the lease nothing is sent; another worker may try.
func TestLostLease(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	e := l.endpoint(s.URL, place{})
	e.Gate.Hold(time.Now().Add(-time.Second))
	_, err := ask(l.worker("one", e), l.input(0))
	if app := failure(t, err); app.Type() != contract.ErrTypeDraining || app.NonRetryable() || s.requests() != 0 {
		t.Errorf("%s after %d requests", app.Type(), s.requests())
	}
}

// TestTakenOver: whose claim was taken over while the reply was on its way records nothing.
func TestTakenOver(t *testing.T) {
	l := newAskLab(t)
	var slow atomic.Bool
	slow.Store(true)
	hold := make(chan struct{})
	s := serve(t, always(reply{text: "(a)"}))
	in := l.input(0)
	dead := l.worker("stuck", l.endpoint(s.URL, place{}), func(o *Options) {
		o.Owner = artifacts.Owner{Worker: "stuck"}
		o.Fault = func(name string) {
			if name == FaultAfterReply && slow.CompareAndSwap(true, false) {
				<-hold
			}
		}
	})
	stuck := make(chan error, 1)
	go func() {
		_, err := ask(dead, in)
		stuck <- err
	}()
	for s.requests() == 0 {
		time.Sleep(time.Millisecond)
	}
	expire(t, l.store)
	out := l.mustAsk(l.worker("heir", l.endpoint(s.URL, place{})), in)
	close(hold)
	if app := failure(t, <-stuck); app.Type() != contract.ErrTypeHeld || app.NonRetryable() {
		t.Errorf("the stuck attempt: %s: %s", app.Type(), app.Message())
	}
	if out.Count.Attempts != 2 || out.Count.MaybeBilled != 1 || s.requests() != 2 || l.entry(dead, in).Invocation.Worker != "heir" {
		t.Errorf("%+v after %d requests", out.Count, s.requests())
	}
}

// expire makes every claim run out.
func expire(t *testing.T, store *artifacts.Repository) {
	t.Helper()
	for name, text := range objects(t, store, "claims/") {
		var doc map[string]any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		doc["expires"] = time.Now().Add(-time.Hour).UTC()
		body, err := artifacts.Canonical(doc)
		if err == nil {
			_, err = store.Bucket().Put(context.Background(), name, bytes.NewReader(body), artifacts.PutOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPreparedPictures: a picture is prepared once, recorded, and sent byte for byte as recorded.
func TestPreparedPictures(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	big := image.NewGray(image.Rect(0, 0, 1500, 900))
	for i := range big.Pix {
		big.Pix[i] = byte(i / 37)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, big); err != nil {
		t.Fatal(err)
	}
	ref := l.put(b.Bytes(), "image/png")
	for i := range l.cases {
		for path := range l.cases[i].Pictures {
			l.cases[i].Pictures[path] = ref
		}
	}
	l.plan.Models[0].Pictures = "long1024"
	a := l.worker("one", l.endpoint(s.URL, place{limits: limit.Limits{Concurrency: 4}}))
	done := make(chan error, len(l.cases))
	for i := range l.cases {
		in := l.input(i)
		go func() {
			_, err := ask(a, in)
			done <- err
		}()
	}
	for range l.cases {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	records := objects(t, l.store, "index/"+contract.StepPreparePicture+"/")
	if len(records) != 1 || s.requests() != len(l.cases) {
		t.Fatalf("%d preparations for one picture, %d requests", len(records), s.requests())
	}
	var rec artifacts.Record
	for _, text := range records {
		if err := json.Unmarshal([]byte(text), &rec); err != nil {
			t.Fatal(err)
		}
	}
	_, rest, _ := strings.Cut(s.bodies[0], "data:image/png;base64,")
	encoded, _, _ := strings.Cut(rest, `"`)
	sent, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || artifacts.Sum(sent) != rec.Result.Digest {
		t.Errorf("sent %d bytes, %s, recorded %s: %v", len(sent), artifacts.Sum(sent).Short(), rec.Result, err)
	}
	if h, err := png.DecodeConfig(bytes.NewReader(sent)); err != nil || h.Width != 1024 || h.Height != 614 {
		t.Errorf("sent %d x %d, %v", h.Width, h.Height, err)
	}
	damaged := l.put([]byte("no picture"), "image/png")
	for path := range l.cases[0].Pictures {
		l.cases[0].Pictures[path] = damaged
	}
	_, err = ask(a, l.input(0))
	if app := failure(t, err); app.Type() != contract.ErrTypeDataset || !app.NonRetryable() || s.requests() != len(l.cases) {
		t.Errorf("a damaged picture: %s: %s", app.Type(), app.Message())
	}
}
