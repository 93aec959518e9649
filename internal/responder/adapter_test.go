package responder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/openai"
)

// adapterAsk asks the first question of a case through the adapter of the evaluations, plainly or
// as Azure has it.
func adapterAsk(t *testing.T, m *made, url, version string) (lvlm.Reply, error) {
	t.Helper()
	c, err := openai.New(openai.Options{Endpoint: "test", URL: url, Model: "oracle", APIVersion: version,
		Key: lvlm.NewSecret("key"), Timeout: 2 * time.Second, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := m.bench.byTask[chexstruct.Rotation][0].question(cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageInit})
	data := m.picture(t, q.Pictures[0].Path)
	zero := 0.0
	r := lvlm.Request{Model: lvlm.Identity{Unpinned: "simulated"}, Adapter: lvlm.ChatVersion, Pictures: "original/1",
		Decoding:   lvlm.Decoding{Temperature: &zero, MaxTokens: 100},
		Transcript: dialogue.Transcript{}.System("Answer.").Ask(q.Text, artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: "image/png"})}
	return c.Ask(context.Background(), r, func(context.Context, artifacts.Ref) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	})
}

// TestAdapter holds that the adapter understands the responder: an answer with its usage, every
// outcome without one, and every failure by its class.
func TestAdapter(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	start := func(rules ...Rule) string {
		server := httptest.NewServer(serve(t, m, &Faults{Rules: rules}, Model{Name: "oracle", Behaviour: Oracle}))
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, version := range []string{"", "2025-01-01-preview"} {
		url := start()
		if version == "" {
			url += "/v1/"
		}
		got, err := adapterAsk(t, m, url, version)
		if err != nil || got.Answer.Outcome != lvlm.Answered || got.Served.Usage.Prompt == 0 || got.Served.Model != "oracle" {
			t.Errorf("API version %q: %+v, %v", version, got, err)
		}
	}
	for _, x := range []struct {
		rule    Rule
		outcome lvlm.Outcome
	}{
		{Rule{Do: Empty}, lvlm.Empty}, {Rule{Do: Truncated, Keep: 5}, lvlm.Truncated}, {Rule{Do: Refusal}, lvlm.Refusal},
		{Rule{Do: Filtered}, lvlm.SafetyBlock}, {Rule{Do: PromptFiltered}, lvlm.SafetyBlock}, {Rule{Do: TooLong}, lvlm.Invalid},
		{Rule{Do: Garbage}, lvlm.Answered},
	} {
		if got, err := adapterAsk(t, m, start(x.rule)+"/v1/", ""); err != nil || got.Answer.Outcome != x.outcome {
			t.Errorf("%s: %+v, %v, want %s", x.rule.Do, got.Answer, err, x.outcome)
		}
	}
	for _, x := range []struct {
		rule  Rule
		class lvlm.Class
		after time.Duration
	}{
		{Rule{Do: Throttle, After: 40 * time.Second}, lvlm.Throttled, 40 * time.Second}, {Rule{Do: Throttle, After: 1500 * time.Millisecond}, lvlm.Throttled, 1500 * time.Millisecond},
		{Rule{Do: ServerError}, lvlm.Transient, 0}, {Rule{Do: Cut}, lvlm.Transient, 0}, {Rule{Do: Reset}, lvlm.Transient, 0}, {Rule{Do: Stall}, lvlm.Transient, 0},
		{Rule{Do: OutOfQuota}, lvlm.Quota, 0}, {Rule{Do: OutOfQuota, Status: 429}, lvlm.Quota, 0},
		{Rule{Do: Denied}, lvlm.Denied, 0}, {Rule{Do: Denied, Status: 403}, lvlm.Denied, 0},
	} {
		_, err := adapterAsk(t, m, start(x.rule)+"/v1/", "")
		var call *lvlm.CallError
		if !errors.As(err, &call) || call.Class != x.class || call.RetryAfter != x.after {
			t.Errorf("%s: %v, want %s after %s", x.rule.Do, err, x.class, x.after)
		}
	}
	idle, err := New(Options{Profile: &Profile{Models: []Model{{Name: "oracle", Behaviour: Oracle}}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(idle)
	t.Cleanup(server.Close)
	var call *lvlm.CallError
	if _, err := adapterAsk(t, m, server.URL+"/v1/", ""); !errors.As(err, &call) || call.Class != lvlm.Transient || call.RetryAfter != time.Second {
		t.Errorf("without a benchmark: %v", err)
	}
	if err := idle.Answer(m.bench); err != nil {
		t.Fatal(err)
	}
	if got, err := adapterAsk(t, m, server.URL+"/v1/", ""); err != nil || got.Answer.Outcome != lvlm.Answered {
		t.Errorf("with one: %+v, %v", got, err)
	}
}
