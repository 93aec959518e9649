package responder

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
)

// TestFaults holds every fault as a client sees it, and that the third attempt at the same
// request goes through where a rule takes the first two.
func TestFaults(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	for _, x := range []struct {
		rule   Rule
		status int
		says   string
		holds  func(r response) bool
	}{
		{Rule{Do: Throttle, After: 1500 * time.Millisecond}, 429, "rate_limit_exceeded", func(r response) bool {
			return r.header.Get("Retry-After") == "2" && r.header.Get("Retry-After-Ms") == "1500"
		}},
		{Rule{Do: Throttle}, 429, "rate_limit_exceeded", func(r response) bool { return r.header.Get("Retry-After") == "" }},
		{Rule{Do: ServerError}, 500, "server_error", nil},
		{Rule{Do: ServerError, Status: 503, After: time.Second}, 503, "server_error", func(r response) bool { return r.header.Get("Retry-After") == "1" }},
		{Rule{Do: OutOfQuota}, 402, "insufficient_quota", nil},
		{Rule{Do: OutOfQuota, Status: 429}, 429, "insufficient_quota", nil},
		{Rule{Do: Denied}, 401, "invalid_api_key", nil},
		{Rule{Do: Denied, Status: 403, Code: "forbidden"}, 403, `"forbidden"`, nil},
		{Rule{Do: TooLong}, 400, "context_length_exceeded", nil},
		{Rule{Do: PromptFiltered}, 400, "content_filter", func(r response) bool { return strings.Contains(r.body, "innererror") }},
		{Rule{Do: Empty}, 200, `"content":""`, func(r response) bool { return r.Usage.Completion == 0 && r.Choices[0].Finish == "stop" }},
		{Rule{Do: Truncated, Keep: 5}, 200, `"content":"FINAL"`, func(r response) bool { return r.Choices[0].Finish == "length" }},
		{Rule{Do: Truncated}, 200, `"content":""`, func(r response) bool { return r.Choices[0].Finish == "length" }},
		{Rule{Do: Refusal}, 200, `"content":null`, func(r response) bool { return *r.Choices[0].Message.Refusal == refusalText }},
		{Rule{Do: RefusalText}, 200, "I'm sorry", func(r response) bool { return r.Choices[0].Message.Refusal == nil }},
		{Rule{Do: Filtered}, 200, `"content":null`, func(r response) bool { return r.Choices[0].Finish == "content_filter" }},
		{Rule{Do: Filtered, Keep: 5}, 200, `"content":"FINAL"`, func(r response) bool { return r.Choices[0].Finish == "content_filter" }},
		{Rule{Do: Garbage}, 200, garbageText, nil},
		{Rule{Do: Garbage, Text: "?"}, 200, `"content":"?"`, nil},
		{Rule{Do: Stall, For: 20 * time.Millisecond}, 200, "FINAL ANSWER", nil},
	} {
		x.rule.Attempts = 2
		s := serve(t, m, &Faults{Rules: []Rule{x.rule}}, Model{Name: "oracle", Behaviour: Oracle})
		c := open(t, m, s)
		for attempt := 1; attempt <= 3; attempt++ {
			r := c.ask(c.first(chexstruct.Rotation, "oracle"))
			if attempt == 3 {
				if r.status != http.StatusOK || !strings.Contains(r.text(), "FINAL ANSWER") {
					t.Errorf("%s: the third attempt: %s", x.rule.Do, r.body)
				}
			} else if r.status != x.status || !strings.Contains(r.body, x.says) || (x.holds != nil && !x.holds(r)) {
				t.Errorf("%s: %d %v %s", x.rule.Do, r.status, r.header, r.body)
			}
		}
		if n := s.Counts(); n.Requests != 3 || n.Distinct != 1 || n.Faults[string(x.rule.Do)] != 2 {
			t.Errorf("%s: counts %+v", x.rule.Do, n)
		}
	}
}

// TestBrokenConnections holds what a client sees of a cut, a reset, and a stall that it does
// not wait for.
func TestBrokenConnections(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	s := serve(t, m, &Faults{Rules: []Rule{{Do: Cut, Nth: []int{1}}, {Do: Reset, Nth: []int{2}}, {Do: Stall, Nth: []int{3}}}}, Model{Name: "oracle", Behaviour: Oracle})
	c := open(t, m, s)
	body := c.first(chexstruct.Rotation, "oracle").body(t)
	if _, err := c.post(body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut: %v", err)
	}
	if _, err := c.post(body); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("a reset: %v", err)
	}
	c.http.Timeout = 50 * time.Millisecond
	if _, err := c.post(body); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stall: %v", err)
	}
	c.http.Timeout = 0
	if r, err := c.post(body); err != nil || r.status != http.StatusOK {
		t.Errorf("afterwards: %v, %s", err, r.body)
	}
	if n := s.Counts(); n.Answered != 1 || n.Requests != 4 || n.Repeated != 0 {
		t.Errorf("counts %+v", n)
	}
}

// TestWhen holds the conditions of rules.
func TestWhen(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	k := m.bench.byTask[chexstruct.Rotation][0]
	q := k.question(cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageCriteria})
	question := func(n int64) *about { return &about{number: n, attempt: 1, model: "m", place: place{k, k, q}} }
	judged := &about{number: 1, attempt: 1, model: "j", prompt: cxreasonbench.JudgeFinal}
	extracted := &about{number: 1, attempt: 3, model: "j", prompt: cxreasonbench.ExtractValue}
	for _, x := range []struct {
		rule Rule
		a    *about
		want bool
	}{
		{Rule{}, question(1), true},
		{Rule{Nth: []int{2, 4}}, question(4), true}, {Rule{Nth: []int{2, 4}}, question(3), false},
		{Rule{From: 3, To: 5}, question(5), true}, {Rule{From: 3, To: 5}, question(2), false}, {Rule{From: 3, To: 5}, question(6), false},
		{Rule{Every: 3}, question(6), true}, {Rule{Every: 3}, question(7), false},
		{Rule{Kind: "model"}, question(1), true}, {Rule{Kind: "judge"}, question(1), false}, {Rule{Kind: "judge"}, judged, true},
		{Rule{Kind: "judge"}, extracted, true}, {Rule{Kind: "extract"}, judged, false}, {Rule{Kind: "extract"}, extracted, true},
		{Rule{Model: "m"}, question(1), true}, {Rule{Model: "m"}, judged, false},
		{Rule{Task: "rotation"}, question(1), true}, {Rule{Task: "inclusion"}, question(1), false}, {Rule{Task: "rotation"}, judged, false},
		{Rule{Path: "path1"}, question(1), true}, {Rule{Path: "path2"}, question(1), false},
		{Rule{Stage: "criteria"}, question(1), true}, {Rule{Stage: "init"}, question(1), false},
		{Rule{Attempts: 2}, question(1), true}, {Rule{Attempts: 2}, extracted, false},
	} {
		if got := x.rule.fits(x.a, 1, 0); got != x.want {
			t.Errorf("%+v on request %d: %t", x.rule, x.a.number, got)
		}
	}
	hit := 0
	for n := range 1000 {
		a := question(1)
		a.print[0], a.print[1] = byte(n), byte(n>>8)
		rule := Rule{Share: 0.1}
		got := rule.fits(a, 1, 0)
		if a.number = 99; rule.fits(a, 1, 0) != got {
			t.Error("a share depends on the number of the request")
		}
		if got {
			hit++
		}
	}
	if hit < 70 || hit > 130 {
		t.Errorf("a share of 0.1 hits %d of 1000", hit)
	}
	s := serve(t, m, &Faults{Rules: []Rule{{Do: Empty, Times: 2}}}, Model{Name: "m", Behaviour: Oracle})
	for n, want := range []bool{true, true, false, false} {
		if got := s.fault(question(int64(n))) != nil; got != want {
			t.Errorf("a rule for 2 times at request %d: %t", n+1, got)
		}
	}
}

// TestParseFaults holds a script with everything in it, and that faults of scripts are named
// with their place.
func TestParseFaults(t *testing.T) {
	good := `format: cxrepro-responder-faults-1
seed: 1
limit: {requests_per_minute: 600, concurrency: 8}
rules:
- do: throttle
  share: 0.05
  attempts: 1
  after: 2s
- {do: stall, nth: [7, 9], for: 30s}
- {do: garbage, kind: judge, share: 0.01}
- {do: refusal, task: rotation, path: path1, stage: criteria, model: m}
`
	f, err := ParseFaults("f.yaml", []byte(good))
	if err != nil || len(f.Rules) != 4 || f.Rules[0].After != 2*time.Second || f.Limit.Concurrency != 8 {
		t.Fatalf("%+v, %v", f, err)
	}
	for from, to := range map[string]string{
		"do: throttle": "do: trottle", "share: 0.05": "share: 5", "for: 30s": "for: 30", "kind: judge": "kind: jury",
		"task: rotation": "task: rotating", "stage: criteria": "stage: 1", "attempts: 1": "attempts: -1", "faults-1": "faults-2",
		"after: 2s\n": "for: 2s\n", "seed: 1\n": "",
	} {
		_, err := ParseFaults("f.yaml", []byte(strings.Replace(good, from, to, 1)))
		if err == nil || !strings.Contains(err.Error(), "f.yaml") {
			t.Errorf("%s instead of %s: %v", to, from, err)
		}
	}
	// Several faults come in the order of the fields.
	_, err = ParseFaults("f.yaml", []byte(strings.Replace(good, "kind: judge, share: 0.01", "every: -1, from: -1, stage: x, path: x, kind: x", 1)))
	var fields []string
	for line := range strings.Lines(err.Error()) {
		_, rest, _ := strings.Cut(line, "rules[2].")
		name, _, _ := strings.Cut(rest, ":")
		fields = append(fields, name)
	}
	if got := strings.Join(fields, " "); got != "kind path stage from every" {
		t.Errorf("problems of %s: %v", got, err)
	}
}

// TestLimit holds that a limit is enforced and told, by a clock of the test.
func TestLimit(t *testing.T) {
	now := time.Unix(0, 0)
	l := newLimiter(Limit{RequestsPerMinute: 60, TokensPerMinute: 6000, Concurrency: 2}, func() time.Time { return now })
	h := http.Header{}
	if w := l.admit(h, 100); w != 0 || h.Get("X-Ratelimit-Remaining-Requests") != "59" || h.Get("X-Ratelimit-Remaining-Tokens") != "5900" {
		t.Errorf("the first request: %v, %v", w, h)
	}
	l.admit(h, 100)
	if w := l.admit(h, 100); w != time.Second {
		t.Errorf("a third at once: %v", w)
	}
	l.release()
	l.release()
	for range 58 {
		if w := l.admit(h, 1); w != 0 {
			t.Fatalf("within the minute: %v", w)
		}
		l.release()
	}
	if w := l.admit(h, 1); w != time.Second {
		t.Errorf("beyond 60 requests: %v", w)
	}
	now = now.Add(time.Second)
	if w := l.admit(h, 1); w != 0 {
		t.Errorf("a second later: %v", w)
	}
	l.release()
	now = now.Add(time.Minute)
	l.admit(h, 6000)
	l.release()
	if w := l.admit(h, 600); w != 6*time.Second {
		t.Errorf("600 tokens of a bucket that is empty: %v", w)
	}
	if w := newLimiter(Limit{}, time.Now).admit(h, 1<<30); w != 0 || h.Get("X-Ratelimit-Limit-Requests") != "1000000" {
		t.Errorf("without a limit: %v, %v", w, h)
	}
}
