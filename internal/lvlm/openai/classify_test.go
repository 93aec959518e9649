package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire/wiretest"
)

// shows reports what of the request's secrets a value shows in any printed form.
func shows(v any) string {
	return wiretest.Shows(v, plantedKey, plantedKey[:12], plantedKey[10:], "heart of this patient", "You read radiographs", "did you use for this first")
}

func choice(message, finish string, more ...string) string {
	return `{"id":"x","model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish + strings.Join(more, "") + `}],"usage":{"prompt_tokens":10,"completion_tokens":2}}`
}

// TestOutcomes: every success becomes an answer of a closed outcome.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       lvlm.Answer
	}{
		{"text", choice(`{"content":"(a) Yes"}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Answered, Text: "(a) Yes", Finish: "stop"}},
		{"text kept as it is", choice(`{"content":" (a)\n\u00e9\ud83d\ude00 "}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Answered, Text: " (a)\né😀 ", Finish: "stop"}},
		{"end without a word", choice(`{"content":"(a)"}`, `null`), lvlm.Answer{Outcome: lvlm.Answered, Text: "(a)"}},
		{"end of another server", choice(`{"content":"(a)"}`, `"eos_token"`), lvlm.Answer{Outcome: lvlm.Answered, Text: "(a)", Finish: "eos_token"}},
		{"text in parts", choice(`{"content":[{"type":"text","text":"(a) "},{"type":"text","text":"Yes"}]}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Answered, Text: "(a) Yes", Finish: "stop"}},
		{"refusal", choice(`{"content":null,"refusal":"I cannot help with that."}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Refusal, Text: "I cannot help with that.", Finish: "stop"}},
		{"refusal and text", choice(`{"content":"No.","refusal":"I cannot"}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Refusal, Text: "No.", Finish: "stop"}},
		{"blocked reply", choice(`{"content":""}`, `"content_filter"`, `,"content_filter_results":{"sexual":{"filtered":true,"severity":"medium"},"hate":{"filtered":false,"severity":"safe"}}`),
			lvlm.Answer{Outcome: lvlm.SafetyBlock, Finish: "content_filter", Detail: "reply withheld: sexual medium"}},
		{"blocked in the middle", choice(`{"content":"The heart"}`, `"content_filter"`), lvlm.Answer{Outcome: lvlm.SafetyBlock, Text: "The heart", Finish: "content_filter", Detail: "reply withheld"}},
		{"limit, no text", choice(`{"content":""}`, `"length"`), lvlm.Answer{Outcome: lvlm.Truncated, Finish: "length"}},
		{"limit, some text", choice(`{"content":"(a) Ye"}`, `"length"`), lvlm.Answer{Outcome: lvlm.Truncated, Text: "(a) Ye", Finish: "length"}},
		{"no text", choice(`{"content":""}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Empty, Finish: "stop"}},
		{"blanks", choice(`{"content":" \n"}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Empty, Text: " \n", Finish: "stop"}},
		{"null", choice(`{"content":null}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Empty, Finish: "stop"}},
		{"reasoning only", choice(`{"content":null,"reasoning_content":"hm"}`, `"stop"`), lvlm.Answer{Outcome: lvlm.Empty, Finish: "stop", Detail: "the server's reasoning parser left no text"}},
		{"tool call", choice(`{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `"tool_calls"`), lvlm.Answer{Outcome: lvlm.Empty, Finish: "tool_calls", Detail: "the reply is a tool call"}},
	} {
		s := newStandIn(t, wiretest.Respond(200, c.body))
		got, err := client(t, options(s)).Ask(context.Background(), request(), pictures.Open)
		c.want.Format = lvlm.AnswerFormat
		if err != nil || got.Answer != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got.Answer, err, c.want)
		}
		if got.Served.Usage.Calls != 1 || got.Served.Usage.Prompt != 10 {
			t.Errorf("%s: usage %+v", c.name, got.Served.Usage)
		}
	}
}

// TestUnfiltered: a content filter out of order is noted, and the reply counts.
func TestUnfiltered(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, choice(`{"content":"(a)"}`, `"stop"`, `,"content_filter_results":{"error":{"code":"content_filter_error","message":"The contents are not filtered"}}`)))
	got, err := client(t, options(s)).Ask(context.Background(), request(), pictures.Open)
	if err != nil || got.Answer.Outcome != lvlm.Answered || !got.Served.Unfiltered {
		t.Errorf("%+v, %v", got, err)
	}
	s = newStandIn(t, wiretest.Respond(200, `{"choices":[{"message":{"content":"(a)"},"finish_reason":"stop"}]}`))
	got, err = client(t, options(s)).Ask(context.Background(), request(), pictures.Open)
	if err != nil || got.Served.Unfiltered || got.Served.Usage.Unreported != 1 || got.Served.Usage.Calls != 0 {
		t.Errorf("a reply without usage: %+v, %v", got.Served, err)
	}
}

func openAIError(code, kind, param, message string) string {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"code": code, "type": kind, "param": param, "message": message}})
	return string(b)
}

// TestRejections: every status and code has one class; secrets and prompts show nowhere.
func TestRejections(t *testing.T) {
	azureBlock := `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,
"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"self_harm":{"filtered":true,"severity":"medium"},"jailbreak":{"filtered":false,"detected":false}}}}}`
	for _, c := range []struct {
		name    string
		status  int
		body    string
		header  []string
		class   lvlm.Class
		outcome lvlm.Outcome
		wait    time.Duration
	}{
		{name: "throttled, seconds", status: 429, body: openAIError("rate_limit_exceeded", "requests", "", "slow down"), header: []string{"Retry-After", "40"}, class: lvlm.Throttled, wait: 40 * time.Second},
		{name: "throttled, milliseconds win", status: 429, body: `{}`, header: []string{"Retry-After", "40", "Retry-After-Ms", "1500"}, class: lvlm.Throttled, wait: 1500 * time.Millisecond},
		{name: "throttled, a date against the reply's own", status: 429, body: ``, header: []string{"Retry-After", "Wed, 21 Oct 2026 07:28:30 GMT", "Date", "Wed, 21 Oct 2026 07:28:00 GMT"}, class: lvlm.Throttled, wait: 30 * time.Second},
		{name: "throttled, nothing said", status: 429, body: `not json`, class: lvlm.Throttled},
		{name: "throttled, nonsense", status: 429, body: `{}`, header: []string{"Retry-After", "soon"}, class: lvlm.Throttled},
		{name: "throttled, retries forbidden", status: 429, body: `{}`, header: []string{"Retry-After", "2", "X-Should-Retry", "true"}, class: lvlm.Throttled, wait: 2 * time.Second},
		{name: "purse empty as 429", status: 429, body: openAIError("insufficient_quota", "insufficient_quota", "", "You exceeded your current quota"), class: lvlm.Quota},
		{name: "purse empty by type alone", status: 429, body: openAIError("", "insufficient_quota", "", "x"), class: lvlm.Quota},
		{name: "payment required", status: 402, body: `{}`, class: lvlm.Quota},
		{name: "billing limit as 400", status: 400, body: openAIError("billing_hard_limit_reached", "", "", "x"), class: lvlm.Quota},
		{name: "key wrong", status: 401, body: openAIError("invalid_api_key", "", "", "Incorrect API key provided: "+plantedKey+"."), class: lvlm.Denied},
		{name: "key wrong, half shown", status: 401, body: openAIError("invalid_api_key", "", "", "Incorrect API key provided: "+plantedKey[:14]+"*** in Bearer "+plantedKey[8:]), class: lvlm.Denied},
		{name: "forbidden", status: 403, body: `{"error":"forbidden"}`, class: lvlm.Denied},
		{name: "no such model", status: 404, body: openAIError("model_not_found", "invalid_request_error", "", "no"), class: lvlm.Configured},
		{name: "no such deployment", status: 404, body: `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, class: lvlm.Configured},
		{name: "no such route", status: 405, body: `<html>`, class: lvlm.Configured},
		{name: "proxy asks", status: 407, body: ``, class: lvlm.Configured},
		{name: "time-out", status: 408, body: `{}`, class: lvlm.Transient},
		{name: "conflict", status: 409, body: `{}`, class: lvlm.Transient},
		{name: "server error", status: 500, body: openAIError("", "server_error", "", "The server had an error"), class: lvlm.Transient},
		{name: "gateway page", status: 502, body: `<html><body>Bad Gateway heart of this patient</body></html>`, class: lvlm.Transient},
		{name: "overloaded with a wait", status: 503, body: `{}`, header: []string{"Retry-After", "7"}, class: lvlm.Transient, wait: 7 * time.Second},
		{name: "gateway time-out", status: 504, body: ``, class: lvlm.Transient},
		{name: "other overload", status: 529, body: ``, class: lvlm.Transient},
		{name: "not implemented", status: 501, body: ``, class: lvlm.Configured},
		{name: "elsewhere", status: 307, body: `{}`, header: []string{"Location", "http://127.0.0.1:1/"}, class: lvlm.Configured},
		{name: "prompt blocked", status: 400, body: azureBlock, outcome: lvlm.SafetyBlock},
		{name: "prompt against the rules", status: 400, body: openAIError("content_policy_violation", "", "", "x"), outcome: lvlm.SafetyBlock},
		{name: "too long", status: 400, body: openAIError("context_length_exceeded", "invalid_request_error", "messages", "This model's maximum context length is 128000 tokens."), outcome: lvlm.Invalid},
		{name: "too long at vLLM", status: 400, body: `{"object":"error","message":"This model's maximum context length is 30000 tokens. However, you requested 31000 tokens","type":"BadRequestError","param":null,"code":400}`, outcome: lvlm.Invalid},
		{name: "too long at vLLM, new form", status: 400, body: `{"error":{"message":"The decoder prompt (length 31000) is longer than the maximum model length of 30000.","type":"BadRequestError","param":null,"code":400}}`, outcome: lvlm.Invalid},
		{name: "bad picture", status: 400, body: openAIError("invalid_image_format", "invalid_request_error", "", "unsupported"), outcome: lvlm.Invalid},
		{name: "bad picture at vLLM", status: 400, body: `{"message":"cannot identify image file <_io.BytesIO object>","type":"BadRequestError","code":400}`, outcome: lvlm.Invalid},
		{name: "too large", status: 413, body: `<html>Request Entity Too Large</html>`, outcome: lvlm.Invalid},
		{name: "invalid, nothing more", status: 400, body: openAIError("", "invalid_request_error", "", "Invalid request."), outcome: lvlm.Invalid},
		{name: "invalid part", status: 422, body: openAIError("", "invalid_request_error", "messages[3].content", "bad"), outcome: lvlm.Invalid},
		{name: "parameter unknown to the model", status: 400, body: openAIError("unsupported_parameter", "invalid_request_error", "max_tokens", "Unsupported parameter"), class: lvlm.Configured},
		{name: "value out of range", status: 400, body: openAIError("", "invalid_request_error", "temperature", "bad"), class: lvlm.Configured},
		{name: "picture limit of the server", status: 400, body: `{"message":"At most 1 image(s) may be provided in one request.","type":"BadRequestError","code":400}`, class: lvlm.Configured},
		{name: "no pictures at all", status: 400, body: `{"message":"m is not a multimodal model","type":"BadRequestError","code":400}`, class: lvlm.Configured},
		{name: "the prompt in the message", status: 500, body: openAIError("", "", "", "failed on input 'Is the heart of this patient enlarged, <yes> & no?'"), class: lvlm.Transient},
		{name: "the prompt in the code", status: 400, body: openAIError("You read radiographs. You read radiographs. Is the heart of this patient", "", "", "x"), outcome: lvlm.Invalid},
		{name: "success that is an error", status: 200, body: `{"error":{"message":"upstream is down","code":503}}`, class: lvlm.Transient},
		{name: "success that is a denial", status: 200, body: `{"error":{"message":"no","code":401}}`, class: lvlm.Denied},
		{name: "success that is unknown", status: 200, body: `{"error":{"message":"hm"}}`, class: lvlm.Transient},
		{name: "no choices", status: 200, body: `{"id":"x","choices":[]}`, class: lvlm.Transient},
		{name: "given up", status: 200, body: choice(`{"content":"(a"}`, `"abort"`), class: lvlm.Transient},
		{name: "half a document", status: 200, body: `{"id":"x","choices":[{"index":0,"message":{"content":"(a) Ye`, class: lvlm.Transient},
		{name: "nothing", status: 200, body: ``, class: lvlm.Transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStandIn(t, wiretest.Respond(c.status, c.body, c.header...))
			got, err := client(t, options(s)).Ask(context.Background(), request(), pictures.Open)
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
			if text := shows(err) + shows(got); text != "" {
				t.Errorf("shows a secret or the prompt: %s", text)
			}
			var e *lvlm.CallError
			switch {
			case c.class == "" && (err != nil || got.Answer.Outcome != c.outcome):
				t.Errorf("%+v, %v, want outcome %s", got.Answer, err, c.outcome)
			case c.class != "" && (!errors.As(err, &e) || e.Class != c.class || e.RetryAfter != c.wait || !e.Sent || e.Status != c.status && c.status != 200):
				t.Errorf("%+v, %#v, want class %s, wait %s", got.Answer, e, c.class, c.wait)
			}
		})
	}
}

// TestNoJSON: a page where the API should be is a card's mistake, not an empty reply.
func TestNoJSON(t *testing.T) {
	s := newStandIn(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Sign in</html>"))
	})
	_, err := client(t, options(s)).Ask(context.Background(), request(), pictures.Open)
	var e *lvlm.CallError
	if !errors.As(err, &e) || e.Class != lvlm.Configured {
		t.Errorf("got %v", err)
	}
}

// TestNoJSONUnfinished: whoever stops reading such a page learns nothing about the card.
func TestNoJSONUnfinished(t *testing.T) {
	s := newStandIn(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	o := options(s)
	o.Timeout = 200 * time.Millisecond
	var e *lvlm.CallError
	if _, err := client(t, o).Ask(context.Background(), request(), pictures.Open); !errors.As(err, &e) || e.Class != lvlm.Transient || e.Status != 200 {
		t.Errorf("a page that stalls: %#v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := client(t, options(s)).Ask(ctx, request(), pictures.Open); !errors.As(err, &e) || e.Class != lvlm.Transient || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %#v", err)
	}
}

// TestConnections: everything that can break on the way is transient, one request each, and
// says whether the request may have arrived.
func TestConnections(t *testing.T) {
	long := make(chan struct{})
	defer close(long)
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		detail string
	}{
		{"closed without a word", wiretest.Raw(t, ""), "connection closed before the reply was complete"},
		{"reset", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}, "connection broken: connection reset by peer"},
		{"body cut, length stated", wiretest.Raw(t, head+"Content-Length: 400\r\n\r\n{\"id\":\"x\",\"choices\":[{\"index\":0"), "connection closed before the reply was complete"},
		{"body cut, chunked", wiretest.Raw(t, head+"Transfer-Encoding: chunked\r\n\r\n14\r\n{\"id\":\"x\",\"choices\":\r\n"), "connection closed before the reply was complete"},
		{"no HTTP", wiretest.Raw(t, "SSH-2.0-x\r\n"), "connection broken"},
		{"error body cut", wiretest.Raw(t, "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"error\""), ""},
		{"stalls", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-long:
			}
		}, "no complete reply within 400ms"},
		{"stalls in the body", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"id":`))
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-long:
			}
		}, "no complete reply within 400ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStandIn(t, c.answer)
			o := options(s)
			o.Timeout = 400 * time.Millisecond
			_, err := client(t, o).Ask(context.Background(), request(), pictures.Open)
			var e *lvlm.CallError
			if !errors.As(err, &e) || e.Class != lvlm.Transient || !e.Sent || e.Detail != c.detail || e.Cause != nil {
				t.Errorf("got %#v", err)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

// TestNothingListens: what never left is known not to have left.
func TestNothingListens(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, fine))
	o := options(s)
	s.Close()
	_, err := client(t, o).Ask(context.Background(), request(), pictures.Open)
	var e *lvlm.CallError
	if !errors.As(err, &e) || e.Class != lvlm.Transient || e.Sent || !strings.Contains(e.Detail, "nothing listens") {
		t.Errorf("got %#v", err)
	}
	o.URL = "https://no-such-host.invalid/v1/"
	_, err = client(t, o).Ask(context.Background(), request(), pictures.Open)
	if !errors.As(err, &e) || e.Sent || e.Class != lvlm.Configured && e.Class != lvlm.Transient {
		t.Errorf("got %#v", err)
	}
}

// TestTLS: a certificate that nobody here trusts, and http where https was said.
func TestTLS(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, fine))
	o := options(s)
	o.URL = strings.Replace(o.URL, "http:", "https:", 1)
	_, err := client(t, o).Ask(context.Background(), request(), pictures.Open)
	var e *lvlm.CallError
	if !errors.As(err, &e) || e.Class != lvlm.Configured || e.Sent {
		t.Errorf("got %#v", err)
	}
}

// TestInterrupted: the caller's end is told apart from the endpoint's.
func TestInterrupted(t *testing.T) {
	arrived := make(chan struct{})
	s := newStandIn(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := client(t, options(s)).Ask(ctx, request(), pictures.Open)
	var e *lvlm.CallError
	if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || !e.Sent || e.Class != lvlm.Transient {
		t.Errorf("got %#v", err)
	}
}

// TestRedirectCarriesNothing: pictures and credential stay with the endpoint of the card.
func TestRedirectCarriesNothing(t *testing.T) {
	other := newStandIn(t, wiretest.Respond(200, fine))
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := newStandIn(t, wiretest.Respond(status, ``, "Location", other.URL+"/v1/chat/completions"))
		_, err := client(t, options(s)).Ask(context.Background(), request(), pictures.Open)
		var e *lvlm.CallError
		if !errors.As(err, &e) || e.Class != lvlm.Configured || e.Status != status {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}
