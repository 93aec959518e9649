package activities

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger/limit"
)

// persist runs attempts of a call as the server does: again after the delay that the failure
// names, as long as it can be tried again.
func persist(t testing.TB, a *Activities, in contract.AskInput) (contract.AskResult, error) {
	t.Helper()
	for begin := time.Now(); ; {
		out, err := ask(a, in)
		if err == nil {
			return out, nil
		}
		app := failure(t, err)
		if app.NonRetryable() || time.Since(begin) > 30*time.Second {
			return out, err
		}
		time.Sleep(app.NextRetryDelay())
	}
}

// TestRetryAfterHoldsEverybody: after a refusal with a delay nothing is sent to the endpoint
// before, by anybody, and few are sent at once afterwards.
func TestRetryAfterHoldsEverybody(t *testing.T) {
	l := newAskLab(t)
	var mu sync.Mutex
	var refused time.Time
	s := serve(t, func(n int, _ *http.Request, _ string) reply {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 {
			refused = time.Now()
			return reply{status: 429, header: map[string]string{"Retry-After": "2"}, body: `{"error":{"message":"slow down"}}`}
		}
		return reply{text: "(a)"}
	})
	e := l.endpoint(s.URL, place{limits: limit.Limits{Concurrency: 8}, patience: 300 * time.Millisecond})
	a := l.worker("one", e)
	first, err := ask(a, l.input(0))
	app := failure(t, err)
	if app.Type() != contract.ErrTypeThrottled || app.NonRetryable() || app.NextRetryDelay() < 1900*time.Millisecond || contract.Pauses(app.Type()) {
		t.Errorf("%+v: %s, delay %s", first, app.Type(), app.NextRetryDelay())
	}
	var wg sync.WaitGroup
	for number := range 3 {
		wg.Go(func() {
			if _, err := persist(t, a, l.input(number)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, at := range s.times[1:] {
		if d := at.Sub(refused); d < 2*time.Second {
			t.Errorf("request %d was sent %s after the refusal", i+1, d)
		}
	}
	if len(s.times) != 4 {
		t.Errorf("%d requests for three calls and one refusal", len(s.times))
	}
	out := l.mustAsk(a, l.input(0))
	if out.Count.Attempts != 2 || contract.Total(out.Count.Failures) != 1 || out.Count.Failures[0].Name != "throttled" || out.Count.MaybeBilled != 0 || out.Count.Repeated != 0 {
		t.Errorf("the account of the throttled call: %+v", out.Count)
	}
}

// TestRequestsAreBounded: an endpoint that refuses for a while gets little more than what is
// needed, and every call is answered in the end.
func TestRequestsAreBounded(t *testing.T) {
	l := newAskLab(t)
	begin := time.Now()
	refused := 0
	var mu sync.Mutex
	s := serve(t, func(int, *http.Request, string) reply {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(begin) < time.Second {
			refused++
			return reply{status: 429, body: `{"error":{"message":"slow down"}}`}
		}
		return reply{text: "(a)"}
	})
	a := l.worker("one", l.endpoint(s.URL, place{limits: limit.Limits{Concurrency: 16}, patience: 100 * time.Millisecond}))
	in := l.input(0)
	in.Evaluation = 1
	const calls = 48
	var wg sync.WaitGroup
	for draw := range calls {
		mine := in
		mine.Call.Draw = draw
		wg.Go(func() {
			if out, err := persist(t, a, mine); err != nil || out.Score != cxreasonbench.Right {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	wg.Wait()
	if n := s.requests(); n != calls+refused || refused > 2*16+4 {
		t.Errorf("%d requests for %d calls, %d refused", n, calls, refused)
	}
}

// TestFailuresHaveTypes: what a person must cure pauses and is not tried again; what time cures
// is tried again, as often as time allows. Nothing of it is recorded.
func TestFailuresHaveTypes(t *testing.T) {
	body := func(code string) string { return fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code) }
	for _, c := range []struct {
		name   string
		reply  reply
		want   string
		pauses bool
	}{
		{"unauthorised", reply{status: 401, body: body("invalid_api_key")}, contract.ErrTypeEndpointDenied, true},
		{"forbidden", reply{status: 403, body: body("")}, contract.ErrTypeEndpointDenied, true},
		{"payment", reply{status: 402, body: body("")}, contract.ErrTypeQuota, true},
		{"quota in disguise", reply{status: 429, body: body("insufficient_quota")}, contract.ErrTypeQuota, true},
		{"no model", reply{status: 404, body: body("model_not_found")}, contract.ErrTypeEndpoint, true},
		{"bad parameter", reply{status: 400, body: body("unsupported_parameter")}, contract.ErrTypeEndpoint, true},
		{"server error", reply{status: 500, body: body("")}, contract.ErrTypeUnreachable, false},
		{"overloaded", reply{status: 503, body: "busy"}, contract.ErrTypeUnreachable, false},
		{"throttled", reply{status: 429, body: body("rate_limit_exceeded")}, contract.ErrTypeThrottled, false},
		{"too slow", reply{text: "(a)", wait: 600 * time.Millisecond}, contract.ErrTypeUnreachable, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newAskLab(t)
			s := serve(t, always(c.reply))
			a := l.worker("one", l.endpoint(s.URL, place{timeout: 300 * time.Millisecond}))
			_, err := ask(a, l.input(0))
			app := failure(t, err)
			if app.Type() != c.want || app.NonRetryable() != c.pauses || contract.Pauses(app.Type()) != c.pauses || s.requests() != 1 {
				t.Errorf("%s (permanent %t) after %d requests: %s", app.Type(), app.NonRetryable(), s.requests(), app.Message())
			}
			if !c.pauses && app.NextRetryDelay() <= 0 {
				t.Error("no delay before the next attempt")
			}
			if c.pauses && !strings.Contains(app.Message(), "hint: ") {
				t.Errorf("no way out: %s", app.Message())
			}
			if n := len(objects(t, l.store, "index/call")); n != 0 {
				t.Errorf("%d records of a failure", n)
			}
			// The way out: the same call to an endpoint that answers.
			good := serve(t, always(reply{text: "(a)"}))
			out := l.mustAsk(l.worker("two", l.endpoint(good.URL, place{})), l.input(0))
			if out.Score != cxreasonbench.Right || out.Count.Attempts != 2 || contract.Total(out.Count.Failures) != 1 {
				t.Errorf("afterwards %+v", out)
			}
			if billed := c.name == "too slow"; (out.Count.MaybeBilled == 1) != billed {
				t.Errorf("%d maybe billed", out.Count.MaybeBilled)
			}
		})
	}
}

// TestUnreachableGoesOn however often nobody answers: there is no limit by count.
func TestUnreachableGoesOn(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	s.Close()
	a := l.worker("one", l.endpoint(s.URL, place{}))
	for range 3 * maxUnknown {
		_, err := ask(a, l.input(0))
		if app := failure(t, err); app.Type() != contract.ErrTypeUnreachable || app.NonRetryable() {
			t.Fatalf("%s: %s", app.Type(), app.Message())
		}
	}
	good := serve(t, always(reply{text: "(a)"}))
	out := l.mustAsk(l.worker("two", l.endpoint(good.URL, place{})), l.input(0))
	if out.Count.Attempts != 1 || contract.Total(out.Count.Failures) != 3*maxUnknown || out.Count.MaybeBilled != 0 {
		t.Errorf("requests that reached nobody were counted as sent: %+v", out.Count)
	}
}

// TestBackoffGrows with attempts, up to a minute.
func TestBackoffGrows(t *testing.T) {
	last := time.Duration(0)
	for attempt := 1; attempt < 40; attempt++ {
		d := (&endpointError{attempt: attempt}).after()
		if d < last || d < backoffFirst || d > backoffMost {
			t.Errorf("attempt %d: %s after %s", attempt, d, last)
		}
		last = d
	}
}

// TestRefusedData: where the endpoint is not cleared for the class, no connection is opened, the
// refusal is permanent, and the log tells it without a word of the conversation.
func TestRefusedData(t *testing.T) {
	cleared := datause.Attestation{Class: datause.Credentialed, ZeroRetention: true, NoTraining: true, NoHumanReview: true,
		Date: time.Now().Format(datause.DateLayout), Reference: "contract 1"}
	stale := cleared
	stale.Date = time.Now().AddDate(-2, 0, 0).Format(datause.DateLayout)
	keeps := cleared
	keeps.ZeroRetention = false
	for _, c := range []struct {
		name        string
		class       string
		attestation datause.Attestation
		allowed     bool
	}{
		{"nothing attested", "credentialed", datause.Attestation{}, false},
		{"it keeps what is sent", "credentialed", keeps, false},
		{"attested long ago", "credentialed", stale, false},
		{"unknown class", "odd", cleared, false},
		{"no class", "", datause.Attestation{Local: true}, false},
		{"cleared", "credentialed", cleared, true},
		{"local", "credentialed", datause.Attestation{Local: true}, true},
		{"free data", "synthetic", datause.Attestation{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newAskLab(t)
			s := serve(t, always(reply{text: "(a) secret answer"}))
			l.benchmark.DataUse = c.class
			in := l.input(0)
			a := l.worker("one", l.endpoint(s.URL, place{attestation: c.attestation}))
			out, err := ask(a, in)
			if c.allowed {
				if err != nil || s.requests() != 1 {
					t.Errorf("%v after %d requests", err, s.requests())
				}
				// The judge's prompt has the same class.
				strict := l.worker("two", l.endpoint(s.URL, place{}))
				judge := in
				judge.Call.Kind, judge.Reply = cxreasonbench.CallJudge, out.Answer
				judge.Judgement = cxreasonbench.Judgement{Prompt: cxreasonbench.JudgeInit, Reply: in.Call.Key}
				_, err := ask(strict, judge)
				if refused := c.class == "credentialed"; refused != (err != nil) || refused && s.requests() != 1 {
					t.Errorf("the judge at an endpoint that attests nothing: %v", err)
				}
				return
			}
			if app := failure(t, err); app.Type() != contract.ErrTypeRefused || !app.NonRetryable() || !strings.Contains(app.Message(), "nothing was sent") {
				t.Errorf("%s: %s", app.Type(), app.Message())
			}
			if s.connections() != 0 {
				t.Errorf("%d connections were opened", s.connections())
			}
			logged := l.logged()
			if !contains(logged, "call refused", "endpoint=here", "case 0") {
				t.Errorf("log: %s", logged)
			}
			for _, word := range []string{"is the heart large", "case-0", "picture.png", "You read"} {
				if strings.Contains(logged, word) || strings.Contains(err.Error(), word) {
					t.Errorf("%q is in log or error", word)
				}
			}
			if len(objects(t, l.store, "claims/")) != 0 {
				t.Error("a refused call left a claim")
			}
		})
	}
}

// TestSecretsStayHidden: the planted credential is in no object, log line or error, also when
// the endpoint sends it back.
func TestSecretsStayHidden(t *testing.T) {
	l := newAskLab(t)
	seen := false
	s := serve(t, func(n int, r *http.Request, _ string) reply {
		key := r.Header.Get("Authorization")
		seen = seen || strings.Contains(key, secret)
		switch n {
		case 0:
			return reply{status: 401, body: fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s","code":"invalid_api_key"}}`, key)}
		case 1:
			return reply{status: 500, body: key, header: map[string]string{"X-Request-Id": key}}
		case 2:
			return reply{refusal: "no", header: map[string]string{"X-Request-Id": key}}
		}
		return reply{text: "(a)", header: map[string]string{"X-Request-Id": key}}
	})
	a := l.worker("one", l.endpoint(s.URL, place{}))
	var said []string
	for range 3 {
		if _, err := ask(a, l.input(0)); err != nil {
			said = append(said, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		}
	}
	if !seen || s.requests() != 4 || len(said) != 4 {
		t.Fatalf("the credential was sent: %t; %d requests, %d errors", seen, s.requests(), len(said)/2)
	}
	said = append(said, l.logged(), fmt.Sprintf("%+v", a.opts))
	for name, data := range objects(t, l.store, "") {
		said = append(said, name, data)
	}
	for _, text := range said {
		if strings.Contains(text, secret) || strings.Contains(text, "planted") {
			t.Errorf("the credential is in %.300s", text)
		}
	}
}

// TestNoEndpoint names the card and the way out, and pauses.
func TestNoEndpoint(t *testing.T) {
	l := newAskLab(t)
	a := l.worker("one", nil, func(o *Options) { o.Endpoint = nil })
	_, err := ask(a, l.input(0))
	if app := failure(t, err); app.Type() != contract.ErrTypeEndpoint || !contains(app.Message(), "model-a", "--endpoints") {
		t.Errorf("%s: %s", app.Type(), app.Message())
	}
	gone := errors.New("gone")
	a = l.worker("one", nil, func(o *Options) { o.Endpoint = func(string) (*AskEndpoint, error) { return nil, gone } })
	if _, err := ask(a, l.input(0)); err == nil {
		t.Error("asked without an endpoint")
	}
}

// TestAbsurdRetryAfter: a pause of thousands of years is one of a day, and the failure names the
// endpoint and the end of the pause.
func TestAbsurdRetryAfter(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{status: 429, header: map[string]string{"Retry-After": "99999999999"}, body: `{"error":{"message":"slow down"}}`}))
	e := l.endpoint(s.URL, place{})
	a := l.worker("one", e)
	for range 2 {
		_, err := ask(a, l.input(0))
		until := e.Gate.Closed()
		app := failure(t, err)
		// Who waits comes back a little apart from others.
		if d := app.NextRetryDelay(); app.Type() != contract.ErrTypeThrottled || app.NonRetryable() || d < 23*time.Hour || d > 25*time.Hour {
			t.Errorf("%s, delay %s", app.Type(), d)
		}
		if !contains(app.Message(), "endpoint here", until.UTC().Format(time.RFC3339)) || time.Until(until) > 24*time.Hour {
			t.Errorf("closed until %s: %s", until, app.Message())
		}
	}
	if n := s.requests(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestRefusedKeyIsTriedOnce: one dialogue finds out, the others that wait stop without sending;
// after a person acted calls go again.
func TestRefusedKeyIsTriedOnce(t *testing.T) {
	for _, c := range []struct {
		status  int
		errType string
	}{{401, contract.ErrTypeEndpointDenied}, {402, contract.ErrTypeQuota}, {404, contract.ErrTypeEndpoint}} {
		l := newAskLab(t)
		var cured atomic.Bool
		s := serve(t, func(int, *http.Request, string) reply {
			if cured.Load() {
				return reply{text: "(a)"}
			}
			return reply{status: c.status, body: `{"error":{"message":"no"}}`, wait: 300 * time.Millisecond}
		})
		a := l.worker("one", l.endpoint(s.URL, place{limits: limit.Limits{Concurrency: 2}}))
		in := l.input(0)
		in.Evaluation = 1
		round := func() (failed int) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for draw := range 12 {
				mine := in
				mine.Call.Draw = draw
				wg.Go(func() {
					_, err := ask(a, mine)
					if err == nil {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					failed++
					if app := failure(t, err); app.Type() != c.errType || !contains(app.Message(), "endpoint here", fmt.Sprint(c.status)) {
						t.Errorf("%s: %s", app.Type(), app.Message())
					}
				})
			}
			wg.Wait()
			return failed
		}
		if failed := round(); failed != 12 || s.requests() > 3 {
			t.Errorf("%d: %d calls failed with %d requests, at two at a time", c.status, failed, s.requests())
		}
		before := s.requests()
		cured.Store(true)
		if failed := round(); failed != 0 || s.requests() != before+12 {
			t.Errorf("%d: cured, %d calls failed with %d requests", c.status, failed, s.requests()-before)
		}
	}
}
